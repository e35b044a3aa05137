/*
 * part.h: the interface to tokens, wherever they lie. A *part* is one opened source of tokens: facts, where its bytes
 * lie, and a table of functions (struct part_kind). leat's own two files are the last kind. A dataset is one part or a
 * list of parts, joined. Numbers here count within the part. What a part returns has been checked and can be used; that
 * is, reading gives no id beyond the vocabulary where part_may_hold_wrong_ids() (leat's own are verified instead, by
 * the loader page by page).
 *
 * A kind may lack page hashes, document starts, or an index with origins and metadata. Opening does not complain about
 * that; a call that needs them fails.
 *
 * To add a kind: part_NAME.c with a struct part_kind that says what it has, its name here, and its row in part.c;
 * gather, plans, verify, adopt and the loader only ask. A file of tokens one after another, perhaps after a header, is
 * a section of part_flat.c instead. A name without a scheme is taken only by what is certain. Files of other tools
 * share part_foreign.h (names, facts, identity), and documents that have to be found part_found.c. Rows in
 * test_foreign*.c and fuzz_foreign.c. People read of names in leat/dataset.h, docs/other-tools.md and the help of
 * commands (commands/common/common.h; of leat adopt, commands/main.c).
 */
#ifndef LEAT_PART_H
#define LEAT_PART_H

#include <stdint.h>

#include "file_map.h"
#include "format/format.h"

/* Bytes of a file; `file` NULL: no bytes. */
struct part_extent {
    struct file_map *file;
    uint64_t offset, bytes;
};

struct part_index; /* part_index.h */
struct part_kind;

/* The kind's open() sets everything from `tokens` to `index`, which never changes after that. */
struct part {
    const struct part_kind *kind;
    char *name; /* name as it was opened, but without .leat or .tokens for leat's own files */
    const struct checksum_kernels *kernels;
    void *own;                           /* the kind's */
    const struct leat_open_options *how; /* the caller's options, while the part is opened */
    struct mounts *mounts;               /* mounts of its dataset; NULL: none */
    bool offline;                        /* the part is on a server that could not be reached */

    uint64_t tokens;
    uint64_t documents; /* LEAT_NONE: not known */
    uint64_t sequences; /* number of sequences, for kinds with sequence_starts() */
    uint64_t inputs;    /* number of inputs; 0 without an index */
    uint64_t vocabulary;
    uint64_t end_token, begin_token; /* LEAT_NONE: none */
    uint32_t token_width;            /* 2 or 4; of a column's bytes, those of an entry */
    bool adopted;                    /* another tool's files with an index: its first and last document may be cut */
    bool foreign;    /* another tool's files: `vocabulary` is what ids can be, and any fact that is not set is not
                        known */
    char *tokenizer; /* tokenizer that the name of another tool's files gives; NULL: none */
    uint8_t fingerprint[16]; /* fingerprint of the tokenizer */
    struct hash128 identity; /* identity of the content */

    struct part_extent data;   /* tokens: tokens * token_width bytes, little-endian; they may begin at any byte */
    struct part_extent hashes; /* page hashes: u32 for each page of FORMAT_PAGE_BYTES of `data`, counted from its
                                  first byte */
    struct part_extent lookup; /* bytes that every sample needs, so they are worth having in memory */
    struct part_extent ends;   /* document ends: u64 for each document; some kinds have none */
    struct part_extent mask;   /* mask of another tool, a byte for each token: 1, or 0 without loss; `index` may have a
                                mask, too */
    struct part_index *index;  /* leat's index, with origins, tokenizer, metadata; NULL: none of these is stored */

    uint64_t first_token, first_document, first_input, first_sequence; /* in the list */
};

struct part_kind {
    const char *name;     /* name of the kind for callers that ask: "leat" */
    const char *suffix;   /* files of a folder with it are parts, named without it; NULL for all but leat's own */
    const char *remedy;   /* remedy for damage; NULL: restore the files */
    bool finds_documents; /* documents are found by end= or begin= in the name: the files do not record them */

    /* Sets *takes if a name is of this kind; fails if a file that is there cannot be read. Not called for the last
     * kind. */
    enum leat_status (*takes)(const char *name, bool *takes, struct leat_error *err);

    /* Opens p->name: sets what struct part says. After a failure close() is called, and closes what is still open. */
    enum leat_status (*open)(struct part *p, enum leat_access access, struct leat_error *err);
    void (*close)(struct part *p);

    /* For parts with known documents: see part_starts() and the calls after it. The last two may be NULL: a binary
     * search over starts() then answers. */
    enum leat_status (*starts)(struct part *p, uint64_t first, uint64_t count, uint64_t *starts,
                               struct leat_error *err);
    enum leat_status (*document_at)(struct part *p, uint64_t token, uint64_t *document, struct leat_error *err);
    enum leat_status (*near)(struct part *p, uint64_t first, uint64_t end, uint64_t *from, uint64_t *to,
                             struct leat_error *err);

    /* For kinds whose documents may consist of several sequences: where these start. */
    enum leat_status (*sequence_starts)(struct part *p, uint64_t first, uint64_t count, uint64_t *starts,
                                        struct leat_error *err);
};

extern const struct part_kind part_remote, part_megatron, part_raw, part_llmc, part_pbin, part_datatrove, part_leat;

/* Returns the length of "SCHEME:", with which name[0..length) says which kind it is of; 0 if it has no scheme. */
size_t part_scheme_length(const char *name, size_t length);

/* Finds the kind that a name belongs to. */
enum leat_status part_kind_of(const struct part_kind **kind, const char *name, struct leat_error *err);

/* Opens a part. `how` has the caller's options; its access is that of file_map_access(). `mounts` are the dataset's,
 * or NULL. On failure nothing stays open. */
enum leat_status part_open(struct part *p, const char *name, const struct leat_open_options *how, struct mounts *mounts,
                           struct leat_error *err);

/* Opens tokens of another tool that have an index of leat's, as they were without it. Opens the index if the name does
 * not say what the tokens are (raw:), and for a dataset of leat's own. */
enum leat_status part_open_beside(struct part *p, const char *name, const struct leat_open_options *how,
                                  struct mounts *mounts, struct leat_error *err);

/* Opens leat's own files in memory; the bytes must stay valid. */
enum leat_status part_open_memory(struct part *p, const void *index, uint64_t index_bytes, const void *tokens,
                                  uint64_t token_bytes, struct leat_error *err);

/* Opens the index NAME.leat for tokens that are `bytes` bytes at `offset` of another file. */
enum leat_status part_open_at(struct part *p, const char *name, const char *token_path, uint64_t offset, uint64_t bytes,
                              enum leat_access access, struct leat_error *err);

void part_close(struct part *p);

/* Returns LEAT_E_NOT_FOUND unless the part knows its documents. */
enum leat_status part_need_documents(const struct part *p, struct leat_error *err);

/* Reads the starts of documents [first, first + count), first + count <= documents + 1. They are checked never to
 * fall, and to be at most `tokens`. */
enum leat_status part_starts(struct part *p, uint64_t first, uint64_t count, uint64_t *starts, struct leat_error *err);

/* Return the number of sequences, and where they start, as part_starts() does. In most kinds, documents are the
 * sequences. */
static inline uint64_t part_sequences(const struct part *p)
{
    return p->kind->sequence_starts ? p->sequences : p->documents;
}
enum leat_status part_sequence_starts(struct part *p, uint64_t first, uint64_t count, uint64_t *starts,
                                      struct leat_error *err);

/* Finds the document that holds token `token`, which must be below the number of tokens. */
enum leat_status part_document_at(struct part *p, uint64_t token, uint64_t *document, struct leat_error *err);

/* Finds documents [*from, *to), which include all that begin in tokens [first, end), and perhaps others that begin
 * close by. The part must know its documents (part_need_documents()). */
enum leat_status part_documents_near(struct part *p, uint64_t first, uint64_t end, uint64_t *from, uint64_t *to,
                                     struct leat_error *err);

/* Finds the first document that begins at or after token `token`; the number of documents if none does. */
enum leat_status part_first_from(struct part *p, uint64_t token, uint64_t *document, struct leat_error *err);

/* Reads the stored hashes of pages [first, first + count), as they lie in the file. The part must have hashes. */
enum leat_status part_hashes(struct part *p, uint64_t first, uint64_t count, uint8_t *hashes, struct leat_error *err);

/* Returns true if reading must check the ids: a foreign file of 4 bytes per id may hold negative ones, and has no
 * hashes. */
static inline bool part_may_hold_wrong_ids(const struct part *p)
{
    return p->foreign && p->token_width == 4 && !p->hashes.file;
}

/* Checks that `count` ids, from token `first` on, are below the vocabulary size. LEAT_E_TOKEN names the first that
 * is not, and its document. `ids` has them as they lie in the file. */
enum leat_status part_check_ids(struct part *p, uint64_t first, const void *ids, uint64_t count,
                                struct leat_error *err);

/* Returns LEAT_E_INCOMPATIBLE unless both parts can be in one list: they must agree in all facts that both know. */
enum leat_status part_check_agreement(const struct part *a, const struct part *b, struct leat_error *err);

/* Checks pages [first, first + count) of the tokens. Returns LEAT_E_NOT_FOUND if the part has no hashes. */
enum leat_status part_check_pages(struct part *p, uint64_t first, uint64_t count, struct leat_error *err);

/* Returns what to do about damage of a file, or of `both` files, for the end of a sentence. */
const char *part_remedy(const struct part *p, bool both);

/* Fills `err` for page `page`, whose hash is wrong. Names its documents and also returns them (LEAT_NONE: their starts
 * cannot be read). */
enum leat_status part_damaged_page(struct part *p, uint64_t page, uint64_t *document, uint64_t *documents,
                                   struct leat_error *err);

#endif
