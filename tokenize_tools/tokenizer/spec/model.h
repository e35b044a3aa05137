/*
 * model.h: models, as the other rooms see them. A model turns pretokens into ids. Its kind is a row of the table in
 * model.c, with functions that read it from a file, hash it for the fingerprint, make it, and encode. Code outside of
 * models/ and the models' own rooms calls a kind's functions and never asks which kind it is.
 *
 * The comment of each function says what NULL means; a kind needs only `make`, `free` and `encode`.
 *
 * To add one: a file in models/, its number in enum spec_model (spec.h), its name and row in model.c; of a
 * tokenizer.json, its row in docs/tokenizers.md, and a file with it in tests/docs/test_tokenizer_options.py; and in
 * fingerprint.h what `hash` adds. test_models.c checks the rows.
 *
 * Thread rules: a model never changes after it is made; each thread encodes with a scratch of its own.
 */
#ifndef LEAT_TOKENIZER_MODEL_H
#define LEAT_TOKENIZER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "leat.h"
#include "spec.h"
#include "tokenizer/containers/id_list.h"

struct fingerprint_hash;
struct load_hf;
struct word_store;

/* Pretokens of a text that follow each other without gaps: the first begins at text[begin], and each ends before
 * text[ends[i]], which is below 2^31. None is empty. text[0..bytes) can be read. */
struct model_pretokens {
    const uint8_t *text;
    size_t bytes;
    uint32_t begin;
    const uint32_t *ends;
    size_t count;
};

/* A bit in the end of a pretoken that is no text: it is a token already, or ends one of several texts. */
#define MODEL_FIXED ((uint32_t)1 << 31)

/* A chunk of a pretoken. */
struct model_chunk {
    const uint8_t *text;
    size_t bytes;
    bool begins; /* true for the first chunk of the pretoken */
    bool last;   /* true for the last chunk of the pretoken */
};

/* A stretch of a text: a pretoken, or a token that is known already. */
struct model_span {
    uint32_t end; /* end of the span; it begins at the end of the span before */
    uint32_t id;  /* id of the token; MODEL_PRETOKEN for a pretoken, which may be empty */
};
#define MODEL_PRETOKEN UINT32_MAX
#define MODEL_SPAN_MAX ((size_t)1 << 17) /* most bytes of all spans of a call */

/* Spans that follow each other; the first begins with the text. text[0..bytes) can be read. */
struct model_spans {
    const uint8_t *text;
    size_t bytes;
    const struct model_span *spans;
    size_t count;
};

/* A model: the first member of a struct of its kind. */
struct model {
    const struct model_kind *kind; /* set by model_make() */
    struct word_store *words;      /* pretokens that threads share (bpe/word_store.h); may be NULL */
};

struct model_kind {
    /* ---- Files ---- */

    /* The "type" of its section in a tokenizer.json, or NULL if that format does not have the kind. A section
     * without a type is of the first kind that can read it, as in the reference; if none can, an error names the
     * kind whose `member` it has. */
    const char *type, *member;
    /* Reads the section, `node` of the file, which is an object, into the spec: its tokens, and the kind's own data
     * (spec->model_data). load_hf.h has the functions that it may call. NULL if `type` is NULL. */
    enum leat_status (*read)(struct load_hf *h, uint32_t node);
    /* Number of its type in a sentencepiece model, whose tokens and scores are then in the spec; 0 if it has none. */
    unsigned sentencepiece;
    /* True if the kind finds user-defined tokens in the text itself; otherwise they cut the text before the model. */
    bool finds_defined;

    /* ---- The spec ---- */

    /* True if tokens may write spaces in another way (normalize/spaced.h), because the kind knows text only by its
     * tokens. */
    bool spaced;
    /* True if they may do so, too, after normalizers and Metaspace. */
    bool spaced_words;
    /* True if they may do so, too, after sentencepiece's normalizer. */
    bool spaced_normalized;
    /* Hashes the other parts of the spec that decide on ids, after the tokens (fingerprint.h). NULL if there are
     * none. */
    void (*hash)(struct fingerprint_hash *h, const struct tokenizer_spec *spec);

    /* ---- Making ---- */

    /* The difference to other kinds that share its functions; may be NULL. */
    const void *variant;
    /* Makes a model; the spec outlives it. On failure *out is NULL. */
    enum leat_status (*make)(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err);
    void (*free)(struct model *m);

    /* Makes a thread's memory. `bound` (or NULL) counts the part that grows with a pretoken; `cache_bytes` is the
     * most that its cache may take after much text. NULL if the kind needs no memory; `scratch` is then NULL, too. */
    enum leat_status (*scratch_make)(void **out, struct bound *bound, size_t cache_bytes, struct leat_error *err);
    void (*scratch_free)(void *scratch);
    /* Returns how many of `max_bytes` a cache takes in the end. NULL if there is no cache. */
    size_t (*cache_bytes)(size_t max_bytes);
    /* Sets the bytes that all threads may have together for `words`. NULL if they share nothing. */
    void (*share)(const struct model *m, size_t bytes);

    /* ---- Encoding; ids are appended to `out` ---- */

    /* Encodes a pretoken: bytes of a byte-level spec, else valid UTF-8 as normalized. Returns LEAT_E_PRETOKEN if a
     * stretch of it that cannot be cut needs more memory than the scratch's bound. */
    enum leat_status (*encode)(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                               struct id_list *out, struct leat_error *err);

    /* Encodes many pretokens. Most of the time is spent here: one call encodes thousands of pretokens. NULL if each is
     * encoded by itself. */
    enum leat_status (*encode_batch)(const struct model *m, void *scratch, const struct model_pretokens *p,
                                     struct id_list *out, struct leat_error *err);

    /* Encodes many pretokens that may begin with white space, which is no part of them. No other function uses the
     * scratch then. NULL if the kind does not take such pretokens. */
    enum leat_status (*encode_words)(const struct model *m, void *scratch, const struct model_pretokens *p,
                                     struct id_list *out, struct leat_error *err);

    /* Encodes a chunk of a pretoken. Sets *used to the bytes that are encoded, 0 if the pretoken cannot be cut there:
     * the next chunk must begin at that place. NULL if no cut is safe. */
    enum leat_status (*encode_chunk)(const struct model *m, void *scratch, const struct model_chunk *c,
                                     struct id_list *out, size_t *used, struct leat_error *err);

    /* Encodes spans, so that pretokens between tokens that are close together, for example newlines, make batches.
     * `takes_spans` returns true if that is worthwhile for this model. Both are NULL if it never is. */
    bool (*takes_spans)(const struct model *m);
    enum leat_status (*encode_spans)(const struct model *m, void *scratch, const struct model_spans *spans,
                                     struct id_list *out, struct leat_error *err);

    /* Encodes the pretokens of several texts, which lie one after the other. After each text comes one byte that
     * counts as the text's last pretoken, is marked with MODEL_FIXED, and has no ids. Appends the number of ids of
     * each text to `counts`. `takes_texts` returns true if this model can do that. Both are NULL if no model of the
     * kind can. */
    bool (*takes_texts)(const struct model *m);
    enum leat_status (*encode_texts)(const struct model *m, void *scratch, const struct model_pretokens *p,
                                     struct id_list *counts, struct id_list *out, struct leat_error *err);
};

/* A row of the table; the kind is NULL after the last. */
struct model_row {
    enum spec_model number;
    const struct model_kind *kind;
};
struct model_row model_row(size_t i);

/* Returns the kind of a spec. */
const struct model_kind *model_kind_of(const struct tokenizer_spec *spec);

/* Call a kind's functions, or do the default of a function that is NULL. */
enum leat_status model_make(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err);
void model_free(struct model *m);
enum leat_status model_scratch_make(void **out, const struct model *m, struct bound *bound, size_t cache_bytes,
                                    struct leat_error *err);
void model_scratch_free(const struct model *m, void *scratch);
size_t model_cache_bytes(const struct model *m, size_t max_bytes);
bool model_takes_spans(const struct model *m);
bool model_takes_texts(const struct model *m);
enum leat_status model_encode_batch(const struct model *m, void *scratch, const struct model_pretokens *p,
                                    struct id_list *out, struct leat_error *err);
enum leat_status model_encode_chunk(const struct model *m, void *scratch, const struct model_chunk *c,
                                    struct id_list *out, size_t *used, struct leat_error *err);

#endif
