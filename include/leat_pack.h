/*
 * leat_pack.h: the offline library (libleat_pack), which makes datasets; and its manual. It stands on libleat
 * (leat.h), whose rules hold here too: statuses, struct leat_error, structs that begin with their size.
 *
 * It has the tokenizers, and joins, deduplicates, splits and shuffles finished datasets. The packer of text is not there yet.
 */
#ifndef LEAT_PACK_H
#define LEAT_PACK_H

#include "leat.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tokenizers ------------------------------------------------------------------------------------------------- */

struct leat_tokenizer;

struct leat_tokenizer_options {
    size_t size;
    const char *pattern; /* the pattern's name, for a *.tiktoken whose name does not tell it; NULL: none */
};
#define LEAT_TOKENIZER_OPTIONS_INIT { .size = sizeof(struct leat_tokenizer_options) }

/*
 * Opens a tokenizer. `spec` is a built-in name (bytes, gpt2, cl100k_base, o200k_base); a path to a tokenizer.json,
 * *.tiktoken, tekken.json or tokenizer.model, each plain or compressed with zstd, or to a folder that holds one; or a
 * Hugging Face model id that lies in the local hub cache. Its ids are exactly those of the vocabulary's reference
 * library, or it is refused with the reason.
 *
 * On success *out is the caller's until leat_tokenizer_close(). An open tokenizer never changes: share it freely.
 * Returns LEAT_E_NO_FILE (the sentence says where was looked), _VOCABULARY, _UNSUPPORTED, _ARGUMENT (a pattern's name
 * is missing or unknown), _IO, _PERMISSION or _NO_MEMORY.
 */
LEAT_API enum leat_status leat_tokenizer_open(struct leat_tokenizer **out, const char *spec,
                                              const struct leat_tokenizer_options *options, struct leat_error *err);

/* The same from what a dataset keeps (leat_dataset_tokenizer()). The bytes are not kept. */
LEAT_API enum leat_status leat_tokenizer_open_stored(struct leat_tokenizer **out,
                                                     const struct leat_stored_tokenizer *stored,
                                                     struct leat_error *err);

/* NULL is fine. Its encoders must be closed before. */
LEAT_API void leat_tokenizer_close(struct leat_tokenizer *t);

#define LEAT_END_CANDIDATES 8
struct leat_tokenizer_info {
    size_t size;
    uint64_t vocabulary;     /* the highest id plus 1 */
    uint64_t end_token;      /* that ends a document; LEAT_NONE: not known */
    uint8_t fingerprint[16]; /* of the vocabulary and all that decides how text is encoded, not of the file's form */
    uint64_t candidate_count;
    uint64_t candidates[LEAT_END_CANDIDATES]; /* if the end token is not known: tokens that are called like one */
};
#define LEAT_TOKENIZER_INFO_INIT { .size = sizeof(struct leat_tokenizer_info) }
LEAT_API void leat_tokenizer_info(const struct leat_tokenizer *t, struct leat_tokenizer_info *info);

/* What a dataset keeps of it, for struct leat_writer_options. The pointers are the tokenizer's. */
LEAT_API void leat_tokenizer_stored(const struct leat_tokenizer *t, struct leat_stored_tokenizer *stored);

/* The id of the token that is written so, special tokens first. LEAT_E_NOT_FOUND. */
LEAT_API enum leat_status leat_tokenizer_find(const struct leat_tokenizer *t, const char *text, uint64_t bytes,
                                              uint32_t *id, struct leat_error *err);

/* An encoder is a thread's own: its caches and buffers. */
struct leat_encoder;

struct leat_encoder_options {
    size_t size;
    int special;         /* strings of special tokens in a text become these tokens; else they are ordinary text */
    int reject_invalid;  /* malformed UTF-8 is LEAT_E_TEXT; else each malformed part becomes U+FFFD, as in Python */
    uint64_t most_bytes; /* of memory for a piece that cannot be cut; 0: 2 GiB */
};
#define LEAT_ENCODER_OPTIONS_INIT { .size = sizeof(struct leat_encoder_options) }

LEAT_API enum leat_status leat_encoder_open(struct leat_encoder **out, const struct leat_tokenizer *t,
                                            const struct leat_encoder_options *options, struct leat_error *err);
LEAT_API void leat_encoder_close(struct leat_encoder *e);

/*
 * Encodes a text. No begin or end token is added. *ids and *count are the encoder's until its next call.
 * Returns LEAT_E_TEXT (malformed, or the vocabulary's expression takes too many steps) or LEAT_E_NO_MEMORY (also for a
 * piece that needs more than most_bytes); the encoder can be used on.
 */
LEAT_API enum leat_status leat_encoder_encode(struct leat_encoder *e, const char *text, uint64_t bytes,
                                              const uint32_t **ids, uint64_t *count, struct leat_error *err);

/* How many strings of special tokens the last text held, encoded as such or not. */
LEAT_API uint64_t leat_encoder_special_strings(const struct leat_encoder *e);

/*
 * The bytes that ids stand for, special tokens by their names. They need not be valid UTF-8: ids may stop inside a
 * character. *text (NUL at its end, not counted) and *bytes are the encoder's until its next call. LEAT_E_RANGE for an
 * id that the vocabulary does not have.
 */
LEAT_API enum leat_status leat_encoder_decode(struct leat_encoder *e, const uint32_t *ids, uint64_t count,
                                              const char **text, uint64_t *bytes, struct leat_error *err);

/* ---- Joining and arranging datasets ----------------------------------------------------------------------------- */

/* A dataset OUTPUT.name of those documents whose text falls into its share; see leat_merge(). */
struct leat_split {
    const char *name;     /* letters, digits, '-' and '_', and not leat, tokens, partial or packed */
    const char *fraction; /* of all texts: a decimal number above 0 and up to 1, read exactly: "0.01" */
};

struct leat_merge_report {
    size_t size;
    uint64_t documents;    /* of all parts */
    uint64_t deduplicated; /* of these: left out, because one before has the same text */
    struct leat_info *splits; /* the caller's, one for each split, begun by LEAT_INFO_INIT; NULL: not wanted */
};
#define LEAT_MERGE_REPORT_INIT { .size = sizeof(struct leat_merge_report) }

struct leat_merge_options {
    size_t size;
    int replace;      /* existing datasets of the outputs' names are replaced */
    uint64_t created; /* as in struct leat_writer_options */
    /* If not NULL: called now and then with the token bytes done; nonzero stops, nothing is left behind, and
     * leat_merge() returns LEAT_E_STATE. */
    int (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
    int shuffle;      /* the documents of each output are put into an order that `seed` chooses */
    uint64_t seed;
    int dedup;        /* of documents with the same text only the first one is kept */
    const struct leat_split *splits; /* NULL: none */
    size_t split_count;
    uint64_t memory;  /* bound for sorting, in bytes; 0: 2 GiB; less than 64 KiB counts as that */
    struct leat_merge_report *report; /* filled on success; NULL: not wanted */
};
#define LEAT_MERGE_OPTIONS_INIT { .size = sizeof(struct leat_merge_options) }

/*
 * Joins datasets to a new one, `output`: the documents of parts[0], then of parts[1], and so on, with their inputs
 * and origins; nothing is encoded again. Each part is what leat_dataset_open() takes: a dataset, a folder, a list.
 * Metadata on which all datasets agree is kept; where they differ, the value of dataset i (from 1, those of a list one by
 * one) is kept as "KEY.i". A path or metadata with a zero byte, or a "KEY.i" that is a key already: LEAT_E_UNSUPPORTED.
 *
 * Parts of one run (`leat pack --part I/N`, which their metadata "leat.part" tells) become what the whole run would have
 * written, byte by byte; an input that was cut between two of them is one again. They must come in order and without
 * gaps: LEAT_E_INCOMPATIBLE names the one that is missing or misplaced. Some of them that follow each other may be
 * joined first, but not shuffled or deduplicated. An input is taken for cut if a part's metadata "leat.part.cut" is "1";
 * without it, if the offsets of its documents go on from those of the part before.
 *
 * Then, in this order, as the options ask for:
 *   dedup    documents with the same text, told by its stored hash, are left out but for the first one.
 *   splits   each document goes to one output by its text alone: the high half of its hash, as a fraction of 2^64, lies
 *            in one of the intervals that the fractions divide [0, 1) into, one after another; what lies behind them all
 *            goes to `output`. All outputs list all inputs.
 *   shuffle  document n of an output, counted from 0 as it would be without shuffling, has the key XXH3-64, with `seed`,
 *            of n as 8 little-endian bytes; documents are ordered by key, then by n.
 * They are noted in the metadata "leat.dedup" ("1"), "leat.splits" ("NAME=FRACTION,..."), "leat.split" (NAME; not in the
 * rest) and "leat.shuffle" (the seed). The first two need text hashes in all parts: LEAT_E_NOT_FOUND if they are not there.
 *
 * The bytes depend on the parts and these options only, not on `memory`. Memory beyond that: 16 MiB, about 8 MiB for each
 * output, and 100 bytes and the path of each input. What does not fit lies in files without names on the disk of
 * `output`: as much as the documents take, for shuffling. `info` may be NULL. Several outputs are all completed before the
 * first one gets its name; if then a name cannot be given, the message says which are finished.
 * Returns what opening, reading and writing return; LEAT_E_INCOMPATIBLE names what two parts disagree on, and
 * LEAT_E_ARGUMENT what is wrong with a split.
 */
LEAT_API enum leat_status leat_merge(const char *output, const char *const *parts, size_t count,
                                     const struct leat_merge_options *options, struct leat_info *info,
                                     struct leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
