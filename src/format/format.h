/*
 * format.h: parses and builds the bytes of an index's first page (FORMAT.md). Pure: no files, no memory. What passes
 * parsing is consistent: every size and offset can be used without further checks against the header. The contents of
 * the sections still need checks.
 *
 * The room src/format/ has what FORMAT.md says about bytes, without files or threads; it includes src/base/ and
 * src/checksum/ only.
 *
 * Words of the format: a *page* is 4096 bytes of a file, with a hash of its own; the last one may be shorter. A *cell*
 * is 64 KiB of tokens; the directory has an entry per cell. A *section* is a table in the index. A *document* is the
 * tokens of one record, with begin and end token; a *token* is an occurrence of an entry of the vocabulary, whose
 * number is its *id*.
 *
 * To add a section: its bytes in FORMAT.md first; a number and a rule here; writing, reading, verifying; a golden file;
 * a seed of the fuzzer. A kind that old readers must not ignore has the must-understand flag. Finished golden files
 * never change.
 */
#ifndef LEAT_FORMAT_H
#define LEAT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "checksum/checksum.h"
#include "leat.h"

#define FORMAT_VERSION        1u
#define FORMAT_HEADER_BYTES   4096u
#define FORMAT_ALIGNMENT      64u
#define FORMAT_CELL_BYTES     65536u /* bytes of the token file per entry of the directory */
#define FORMAT_PAGE_BYTES     CHECKSUM_PAGE

#define FORMAT_MAX_VOCABULARY ((uint64_t)1 << 32)
#define FORMAT_MAX_BYTES                                                                                               \
    ((uint64_t)1 << 62) /* the longest token file or index; so sums of a few lengths cannot
                                                     overflow */
#define FORMAT_MAX_SECTIONS 55u

/* Kinds of sections; FORMAT.md has their contents. Sections lie in the file in the order of these numbers. */
enum format_section {
    FORMAT_DOCUMENTS = 1,   /* u64 x (documents + 1): where each begins, in tokens; last = tokens */
    FORMAT_DIRECTORY = 2,   /* u64 per 64 KiB of tokens: the first document that begins in or after it */
    FORMAT_PAGES = 3,       /* u32 per 4 KiB of tokens: its hash */
    FORMAT_INPUTS = 4,      /* 64 bytes per input */
    FORMAT_INPUT_PATHS = 5, /* their paths */
    FORMAT_ORIGINS = 6,     /* u64 offset, u64 input per document */
    FORMAT_LINES = 7,       /* u64 per document */
    FORMAT_ID_ENDS = 8,     /* u64 per document: where its id ends */
    FORMAT_IDS = 9,         /* the ids */
    FORMAT_TOKENIZER = 10,
    FORMAT_METADATA = 11,
    FORMAT_COLUMN = 12,      /* reserved */
    FORMAT_TEXT_HASHES = 13, /* u128 per document: XXH3-128 of its text */
    FORMAT_TOKEN_FILE = 14,  /* u64 where the tokens begin, and the path of their file; with FORMAT_ELSEWHERE only */
    FORMAT_MASK = 15,        /* a byte per token: 0: not to be learned */
    FORMAT_MASK_PAGES = 16,  /* u32 per 4 KiB of the mask: its hash */
    FORMAT_KINDS = 17
};

/* A must-understand bit: the tokens lie in a file of another tool. */
#define FORMAT_ELSEWHERE 1u

/* Flags of a section. */
#define FORMAT_MUST_UNDERSTAND 1u /* a reader that does not know this kind must refuse the index */
#define FORMAT_ORDERED         2u /* origins: (input, offset) never falls from document to document */

/* Sizes of records. */
#define FORMAT_INPUT_BYTES     64u
#define FORMAT_ORIGIN_BYTES    16u
#define FORMAT_TOKENIZER_BYTES 32u /* the fixed part */
#define FORMAT_HASH_BYTES      16u

struct format_place {
    uint64_t offset, bytes;
    uint64_t entries;
    struct hash128 sum;
    uint32_t flags;
    uint32_t present;
};

struct format_header {
    uint32_t version;
    uint64_t must_understand, ignorable;
    struct hash128 identity;
    struct hash128 checksum; /* hash of the page, as it was read */
    uint64_t index_bytes, token_file_bytes;
    uint64_t tokens, documents, vocabulary;
    uint64_t end_token, begin_token;
    uint32_t token_width;
    uint8_t fingerprint[16];
    struct hash128 token_sum;
    uint64_t created;
    struct format_place sections[FORMAT_KINDS];      /* sections by kind */
    struct format_place others[FORMAT_MAX_SECTIONS]; /* sections of unknown kinds that may be ignored */
    uint32_t other_count;
};

/* Returns the bytes of a token: two if the vocabulary has at most 65,536 entries, else four. */
uint32_t format_width(uint64_t vocabulary);

/* Returns where the next section begins after one that ends at `end`. */
static inline uint64_t format_align(uint64_t end)
{
    return (end + FORMAT_ALIGNMENT - 1) / FORMAT_ALIGNMENT * FORMAT_ALIGNMENT;
}

/* Returns the identity, which follows from the rest of the header and the documents section. */
struct hash128 format_identity(const struct format_header *h, const struct checksum_kernels *k);

/* Makes the first page of an index. Sections are taken in order of their kind, as they lie in the file. */
void format_encode(uint8_t page[FORMAT_HEADER_BYTES], const struct format_header *h, const struct checksum_kernels *k);

/* A first page as it was read, and the two files that it must fit: their real sizes, and their names for error
 * messages. */
struct format_found {
    const uint8_t *page;
    uint64_t count; /* bytes of the page that exist: less than a page if the file is shorter */
    uint64_t index_bytes, token_file_bytes;
    const char *path, *token_path;
};

/* Parses the first page and checks it against itself and the files. */
enum leat_status format_parse(struct format_header *h, const struct format_found *found,
                              const struct checksum_kernels *k, struct leat_error *err);

/* Reads from a first page that is not checked yet whether the tokens are in another tool's file, and how many bytes
 * they have. */
bool format_peek_elsewhere(const uint8_t page[FORMAT_HEADER_BYTES], uint64_t *token_bytes);

/* Fills in the facts of one dataset for the caller, as many as the caller's struct has room for. */
void format_info(const struct format_header *h, struct leat_info *info);

/* Returns the name of a section for error messages ("documents"). */
const char *format_section_name(unsigned kind);

/* ---- Records of sections ----------------------------------------------------------------------------------------- */

/* Parses and builds the records of an index that are not plain numbers: inputs, the tokenizer, metadata (FORMAT.md).
 * Nothing here reads files. */

struct records_input {
    uint64_t path_offset, path_bytes; /* place of the path in the section of input paths */
    uint64_t bytes, documents, tokens, rejects;
    uint8_t hash[16];
};

void records_store_input(uint8_t out[64], const struct records_input *input);
void records_load_input(struct records_input *input, const uint8_t in[64]);

/* The fixed part of the tokenizer section. Parsing returns false if its sizes do not fit a section of
 * `section_bytes`. */
struct records_tokenizer {
    uint64_t name_bytes, pattern_bytes, file_bytes;
    bool is_file;
};
void records_store_tokenizer(uint8_t out[32], const struct records_tokenizer *t);
bool records_load_tokenizer(struct records_tokenizer *t, const uint8_t in[32], uint64_t section_bytes);

/* Reads the pair at *at of a metadata section, whose bytes are `text`, and moves *at past it. Returns false if it is
 * malformed, or its key is not greater than the one in *pair (whose key is NULL before the first). */
bool records_next_pair(struct leat_metadata_pair *pair, const uint8_t *text, uint64_t bytes, uint64_t *at);

#endif
