/* tokenizer.h: tokenizers: texts to ids, and back. */
#ifndef LEAT_PUBLIC_TOKENIZER_H
#define LEAT_PUBLIC_TOKENIZER_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Tokenizers ------------------------------------------------------------------------------------------------- */

struct leat_tokenizer;

struct leat_tokenizer_options {
    size_t size;
    const char *pattern; /* the pattern's name, for a *.tiktoken file whose name does not say it; NULL: none */
    /* If not NULL: called some ten times per second, on the caller's thread, while a model's files are fetched: the Hub
     * may say to wait for minutes. `why` says that, once per wait, and is NULL otherwise. Nonzero ends the call, with
     * LEAT_E_STOPPED. */
    uint32_t (*waiting)(void *context, const char *why);
    void *waiting_context;
};
#define LEAT_TOKENIZER_OPTIONS_INIT { sizeof(struct leat_tokenizer_options), NULL, NULL, NULL }

/*
 * Opens a tokenizer. `spec` is a built-in name (bytes, gpt2 or r50k_base, p50k_base, p50k_edit, cl100k_base,
 * o200k_base, o200k_harmony); a path to a tokenizer.json, *.tiktoken, tekken.json, tokenizer.model, or vocab.json
 * beside merges.txt, plain or compressed with zstd, or to a folder that holds one (docs/tokenizers.md has the order);
 * or the id of a Hugging Face model, ORG/NAME or ORG/NAME@REVISION, which is looked for in the local hub cache, and
 * else fetched into it (HF_HUB_OFFLINE=1: never). The tokenizer gives exactly the ids that the vocabulary's reference
 * library gives; a vocabulary for which it cannot is refused, with the reason.
 *
 * A file may also be a JSON object of the arguments of tiktoken's Encoding: "pat_str", "mergeable_ranks" (a string, the
 * lines of a *.tiktoken) and "special_tokens" (an object of ids).
 *
 * On success *out is the caller's until leat_tokenizer_close(). An open tokenizer never changes: share it freely.
 * Returns LEAT_E_NO_FILE (the message says where it looked), _VOCABULARY, _UNSUPPORTED, _ARGUMENT (the pattern's name
 * is missing or unknown), _IO, _PERMISSION (also of the Hub), _STOPPED or _NO_MEMORY.
 */
LEAT_API enum leat_status leat_tokenizer_open(struct leat_tokenizer **out, const char *spec,
                                              const struct leat_tokenizer_options *options, struct leat_error *err);

/* Opens the tokenizer that a dataset stores (leat_dataset_tokenizer()). `stored` is not kept. */
LEAT_API enum leat_status leat_tokenizer_open_stored(struct leat_tokenizer **out,
                                                     const struct leat_stored_tokenizer *stored,
                                                     struct leat_error *err);

/* Closes and frees. NULL is fine. Close its encoders first. */
LEAT_API void leat_tokenizer_close(struct leat_tokenizer *t);

#define LEAT_END_CANDIDATES 8
struct leat_tokenizer_info {
    size_t size;
    uint64_t vocabulary;     /* the highest id plus 1 */
    uint64_t end_token;      /* token that ends a document; LEAT_NONE: not known */
    uint8_t fingerprint[16]; /* fingerprint of the vocabulary and of everything else that decides how text is encoded,
                              * not of the file's form */
    uint64_t candidate_count;
    uint64_t candidates[LEAT_END_CANDIDATES]; /* if the end token is not known: tokens with a name like one */
    uint64_t begin_token; /* token that begins a document: the one token that the post-processor of a tokenizer.json
                           * puts before each text, if it puts nothing but perhaps end_token after it; LEAT_NONE:
                           * none */
    /* Tokens that a post-processor puts before and after a text that is encoded alone, if it puts one each; LEAT_NONE:
     * none. leat_encoder_encode() adds neither. */
    uint64_t text_before;
    uint64_t text_after;
    uint32_t text_other;  /* 1: the post-processor puts something else there, and the two above are LEAT_NONE */
    uint32_t reserved;    /* 0 */
    const char *path; /* path of the file that it was opened from; the tokenizer's; NULL: a built-in, or opened from
                       * what a dataset stores */
};
#define LEAT_TOKENIZER_INFO_INIT { sizeof(struct leat_tokenizer_info), 0, 0, { 0 }, 0, { 0 }, 0, 0, 0, 0, 0, NULL }
LEAT_API void leat_tokenizer_info(const struct leat_tokenizer *t, struct leat_tokenizer_info *info);

/* Gets what a dataset stores of it, for struct leat_writer_options. The memory is the tokenizer's. */
LEAT_API void leat_tokenizer_stored(const struct leat_tokenizer *t, struct leat_stored_tokenizer *stored);

/* Finds the id of the token with this text, special tokens first. LEAT_E_NOT_FOUND. Compares with each token in turn:
 * for very many texts, make a table with leat_tokenizer_token(). */
LEAT_API enum leat_status leat_tokenizer_find(const struct leat_tokenizer *t, const char *text, uint64_t bytes,
                                              uint32_t *id, struct leat_error *err);

/* A token of the vocabulary. */
struct leat_token {
    size_t size;
    const char *text;  /* its text, or its name, as leat_tokenizer_find() takes it; the tokenizer's */
    uint64_t bytes;
    uint32_t bytewise; /* 1: `text` is any bytes, and a tokenizer.json writes each as a letter; 0: it is UTF-8 */
    uint32_t added;    /* 1: looked for in a text before anything else happens to it */
    uint32_t special;  /* 1: looked for only if the encoder's `special` is set; or a control token of a
                          tokenizer.model, which no text becomes */
    uint32_t reserved; /* 0 */
    const char *name;  /* its name in the package tokenizers, if that is not `text`: the normalized text of an added
                        * token that is looked for in normalized text. Else NULL. The tokenizer's */
    uint64_t name_bytes;
};
#define LEAT_TOKEN_INIT { sizeof(struct leat_token), NULL, 0, 0, 0, 0, 0, NULL, 0 }

/* Describes a token. LEAT_E_RANGE for an id that the vocabulary does not have; there may be gaps below its size. */
LEAT_API enum leat_status leat_tokenizer_token(const struct leat_tokenizer *t, uint32_t id, struct leat_token *token,
                                               struct leat_error *err);

/* An encoder has caches and buffers, and belongs to one thread at a time. */
struct leat_encoder;

struct leat_encoder_options {
    size_t size;
    uint32_t special;         /* strings of special tokens in a text become these tokens; else they are ordinary text */
    uint32_t reject_invalid;  /* malformed UTF-8 is LEAT_E_TEXT; else it becomes U+FFFD, as in Python */
    uint64_t max_bytes; /* limit on memory that grows with the text, see leat_encoder_part(); 0: 2 GiB */

    /* A text of more than 1 MiB, and one that the vocabulary's expression takes long for, asks this now and then, on
     * the encoder's thread: 1 ends it with LEAT_E_STOPPED. Other texts do not ask. NULL: nothing stops them. */
    uint32_t (*stop)(void *context);
    void *stop_context;
};
#define LEAT_ENCODER_OPTIONS_INIT { sizeof(struct leat_encoder_options), 0, 0, 0, NULL, NULL }

LEAT_API enum leat_status leat_encoder_open(struct leat_encoder **out, const struct leat_tokenizer *t,
                                            const struct leat_encoder_options *options, struct leat_error *err);
LEAT_API void leat_encoder_close(struct leat_encoder *e);

/*
 * Encodes a text, and adds no begin or end token. *ids is the encoder's until its next call.
 * Returns LEAT_E_TEXT (malformed, or the vocabulary's expressions or replacements take too many steps), LEAT_E_PRETOKEN
 * (a stretch that cannot be cut needs more than max_bytes), LEAT_E_STOPPED (by options.stop) or LEAT_E_NO_MEMORY; the
 * encoder stays usable.
 */
LEAT_API enum leat_status leat_encoder_encode(struct leat_encoder *e, const char *text, uint64_t bytes,
                                              const uint32_t **ids, uint64_t *count, struct leat_error *err);

/*
 * Encodes one or more of `count` texts, from the first on; *done says how many. Call it again for the rest. Texts of up
 * to 16 KiB go together where the vocabulary allows it: the shorter they are, the more time that saves. Each text has
 * the ids that it has alone; *ids has those of all, one text after the other, counts[i] of text i. `count` is at least
 * 1, and `counts` has room for as many.
 * Returns the statuses of leat_encoder_encode() for the first text.
 */
struct leat_text {
    const char *text;
    uint64_t bytes;
};
LEAT_API enum leat_status leat_encoder_encode_texts(struct leat_encoder *e, const struct leat_text *texts,
                                                    uint64_t count, uint64_t *done, const uint32_t **ids,
                                                    uint64_t *counts, struct leat_error *err);

/*
 * Encodes a text that comes in chunks of any size, cut anywhere, even inside characters: begin, any number of chunks,
 * end. leat_encoder_part() takes the first *used bytes of its text, at most 1 MiB, and more than 0 if there are any:
 * call it again with the rest. Each call gives the ids that have become certain, which are the encoder's until its next
 * call. All of them together are exactly those that leat_encoder_encode() gives for the whole text.
 *
 * The encoder keeps what the end of a chunk leaves open until more text comes: an unfinished word, a run of white
 * space, a stretch of any length in which the vocabulary has no place to cut. The memory for this, all buffers and the
 * ids of a call stay within max_bytes, except about 2 MiB that every encoder has, and what all encoders of a tokenizer
 * share: words that they have met, at most an eighth of max_bytes and 192 MiB. leat_encoder_encode() keeps to the
 * same limit, but its ids may take 128 bytes more per byte of the text. A text that needs more is LEAT_E_PRETOKEN,
 * with the length of the stretch that cannot be cut. Such a stretch takes about 8 bytes of memory per byte, at worst
 * 80.
 *
 * Returns the statuses of leat_encoder_encode(), and LEAT_E_STATE for a chunk or an end without a begin. Offsets in an
 * error count from the start of the text. After a failure, go on with a begin or leat_encoder_encode(); each of these
 * forgets an unfinished text. A chunk's text need not stay after the call.
 */
LEAT_API enum leat_status leat_encoder_begin(struct leat_encoder *e, struct leat_error *err);
LEAT_API enum leat_status leat_encoder_part(struct leat_encoder *e, const char *text, uint64_t bytes, uint64_t *used,
                                            const uint32_t **ids, uint64_t *count, struct leat_error *err);
LEAT_API enum leat_status leat_encoder_end(struct leat_encoder *e, const uint32_t **ids, uint64_t *count,
                                           struct leat_error *err);

/* Counts strings of special tokens, encoded as such or not: in the last text, in all texts of the last call of
 * leat_encoder_encode_texts(), or in what has come of a text in parts. */
LEAT_API uint64_t leat_encoder_special_strings(const struct leat_encoder *e);

/*
 * Decodes ids to the bytes that they stand for. Special tokens become their names, and so do control tokens of a
 * tokenizer.model, which sentencepiece leaves out. The bytes need not be valid UTF-8: ids may stop inside a character.
 * *text is the encoder's until its next call; a NUL, not counted, ends it. LEAT_E_RANGE for an unknown id.
 * LEAT_E_VOCABULARY: the tokenizer makes so much text of the ids that decoding takes more than 64 MiB and 256 bytes per
 * id. LEAT_E_TEXT: its expressions or replacements take too many steps.
 */
LEAT_API enum leat_status leat_encoder_decode(struct leat_encoder *e, const uint32_t *ids, uint64_t count,
                                              const char **text, uint64_t *bytes, struct leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
