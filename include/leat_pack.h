/*
 * leat_pack.h: the offline library (libleat_pack), which makes datasets; and its manual. It stands on libleat
 * (leat.h), whose rules hold here too: statuses, struct leat_error, structs that begin with their size.
 *
 * It has the tokenizers, and joins finished datasets. The packer of text is not there yet.
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
    uint64_t most_bytes; /* of memory that grows with the text, see leat_encoder_part(); 0: 2 GiB */
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

/*
 * A text that comes in parts of any size, cut anywhere, inside characters too: begin, any number of parts, end.
 * leat_encoder_part() takes *used bytes of its text, all or as many as it does at a time (1 MiB), and never none of some:
 * call it again with the rest. Each call gives the ids that have become certain; all of them together are exactly those
 * that leat_encoder_encode() gives of the whole text. They are the encoder's until its next call.
 *
 * What a part's end leaves open is kept until more text comes: an unfinished word, a run of white space, a piece of any
 * length where the vocabulary has no place to cut. All memory that this takes, with all buffers and the ids of a call,
 * stays within most_bytes, but for some 2 MiB that every encoder has. leat_encoder_encode() keeps to the same bound, but
 * for its ids. A text that needs more is refused: LEAT_E_NO_MEMORY, with the length of the stretch that cannot be cut.
 * Such a stretch takes some 8 bytes of memory for each of its bytes, at worst 32.
 *
 * Statuses as leat_encoder_encode(), and LEAT_E_STATE for a part or an end without begin. Offsets in an error count from
 * the text's beginning. After a failure the encoder can be used on, from a begin or leat_encoder_encode() on; each of
 * these forgets a text that has not come to its end. The part's text need not stay after the call.
 */
LEAT_API enum leat_status leat_encoder_begin(struct leat_encoder *e, struct leat_error *err);
LEAT_API enum leat_status leat_encoder_part(struct leat_encoder *e, const char *text, uint64_t bytes, uint64_t *used,
                                            const uint32_t **ids, uint64_t *count, struct leat_error *err);
LEAT_API enum leat_status leat_encoder_end(struct leat_encoder *e, const uint32_t **ids, uint64_t *count,
                                           struct leat_error *err);

/* How many strings of special tokens the last text held, encoded as such or not; of a text in parts, so far. */
LEAT_API uint64_t leat_encoder_special_strings(const struct leat_encoder *e);

/*
 * The bytes that ids stand for, special tokens by their names. They need not be valid UTF-8: ids may stop inside a
 * character. *text (NUL at its end, not counted) and *bytes are the encoder's until its next call. LEAT_E_RANGE for an
 * id that the vocabulary does not have.
 */
LEAT_API enum leat_status leat_encoder_decode(struct leat_encoder *e, const uint32_t *ids, uint64_t count,
                                              const char **text, uint64_t *bytes, struct leat_error *err);

/* ---- Joining datasets ------------------------------------------------------------------------------------------- */

struct leat_merge_options {
    size_t size;
    int replace;      /* an existing dataset of the output's name is replaced */
    uint64_t created; /* as in struct leat_writer_options */
    /* If not NULL: called now and then with the token bytes done; nonzero stops, nothing is left behind, and
     * leat_merge() returns LEAT_E_STATE. */
    int (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};
#define LEAT_MERGE_OPTIONS_INIT { .size = sizeof(struct leat_merge_options) }

/*
 * Joins datasets to a new one, `output`: the documents of parts[0], then of parts[1], and so on, with their inputs
 * and origins; nothing is encoded again. Each part is what leat_dataset_open() takes: a dataset, a folder, a list.
 * Metadata on which all datasets agree is kept; where they differ, the value of dataset i (from 1, those of a list one by
 * one) is kept as "KEY.i". A path or metadata with a zero byte, or a "KEY.i" that is a key already: LEAT_E_UNSUPPORTED.
 * Memory does not grow with the parts, but for 100 bytes and the path of each input. `info` may be NULL.
 * Returns what opening, reading and writing return; LEAT_E_INCOMPATIBLE names what two parts disagree on.
 */
LEAT_API enum leat_status leat_merge(const char *output, const char *const *parts, size_t count,
                                     const struct leat_merge_options *options, struct leat_info *info,
                                     struct leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
