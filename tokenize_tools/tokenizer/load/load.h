/*
 * load.h: the readers of vocabulary files. Each fills an empty spec (spec_new()) from the bytes of one format; after a
 * failure the spec is half filled, and the caller frees it. `path` names the file in sentences. Nothing here opens
 * files.
 *
 * Statuses: LEAT_E_VOCABULARY for a file that is broken or contradicts itself; LEAT_E_UNSUPPORTED for one that needs
 * something that leat does not do, which the sentence names; LEAT_E_ARGUMENT if a pattern's name is missing or unknown;
 * LEAT_E_NO_MEMORY.
 *
 * The room load/ finds vocabularies and reads their files into a spec, a file per format; only locate.h and spec_open.h
 * open files or look for them. Nothing here encodes.
 */
#ifndef LEAT_TOKENIZER_LOAD_H
#define LEAT_TOKENIZER_LOAD_H

#include "base/jsontree.h"
#include "leat.h"
#include "tokenizer/spec/spec.h"

enum load_format { LOAD_TOKENIZER_JSON = 1, LOAD_TEKKEN, LOAD_TIKTOKEN, LOAD_SENTENCEPIECE, LOAD_ENCODING };

struct load_source {
    const char *path; /* for sentences; the file's name may give the pattern of a *.tiktoken */
    const uint8_t *bytes;
    uint64_t size;
    const char *pattern; /* --pattern, or NULL */
    /* tokenizer_config.json beside it, or NULL: its added_tokens_decoder holds a *.tiktoken's special tokens */
    const struct jsontree *config;
};

/* Recognises the format by the bytes and loads. On success *out is the caller's; on failure NULL. */
enum leat_status load_spec(struct tokenizer_spec **out, enum load_format *format, const struct load_source *source,
                           struct leat_error *err);

/* Returns the start of the text, after a byte-order mark. */
const uint8_t *load_after_mark(const struct load_source *source);

static inline bool load_is_space(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Returns true if a text begins with a line of base64, white space and a digit, as files *.tiktoken do. */
bool load_is_tiktoken(const uint8_t *p, const uint8_t *end);

/* Loads a parsed tokenizer.json. */
enum leat_status load_hf(struct tokenizer_spec *spec, const struct jsontree *j, struct leat_error *err);

/* Loads a parsed tekken.json. */
enum leat_status load_tekken(struct tokenizer_spec *spec, const struct jsontree *j, struct leat_error *err);

/* Loads a *.tiktoken: lines of a token in base64, a space and its rank. */
enum leat_status load_tiktoken(struct tokenizer_spec *spec, const struct load_source *source, struct leat_error *err);

/* Returns the object in a tokenizer_config.json (may be NULL) that holds the special tokens of a *.tiktoken, or
 * JSONTREE_NONE. */
uint32_t load_specials_of(const struct jsontree *config);

/* Loads a parsed object of the arguments of tiktoken's Encoding: "pat_str"; "mergeable_ranks", a string of the lines of
 * a *.tiktoken; and "special_tokens", an object of ids. "nfc": true is leat's own: the text is normalized first. */
enum leat_status load_encoding(struct tokenizer_spec *spec, const struct jsontree *j, struct leat_error *err);

/* Loads sentencepiece's ModelProto. */
enum leat_status load_sentencepiece(struct tokenizer_spec *spec, const struct load_source *source,
                                    struct leat_error *err);

#endif
