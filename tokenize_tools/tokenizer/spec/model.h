/*
 * model.h: models, as the other rooms see them. A model turns pretokens into ids. Its kind is a row of the table in
 * model.c: how it is read from a file, what of it the fingerprint hashes, how it is made, and how it encodes. Code
 * outside of models/ and the models' own rooms calls a kind's functions and never asks which kind it is.
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

/* In the end of a pretoken that is not text: it is a token already, or ends one of several texts. */
#define MODEL_FIXED ((uint32_t)1 << 31)

/* A chunk of a pretoken. */
struct model_chunk {
    const uint8_t *text;
    size_t bytes;
    bool begins; /* nothing of the pretoken has been encoded yet */
    bool last;   /* the pretoken ends here */
};

/* A stretch of a text: a pretoken, or a token that is known already. */
struct model_span {
    uint32_t end; /* it begins where the one before ends */
    uint32_t id;  /* of the token; MODEL_PRETOKEN: it is a pretoken, perhaps of no bytes */
};
#define MODEL_PRETOKEN UINT32_MAX
#define MODEL_SPAN_MAX ((size_t)1 << 17) /* bytes of all */

/* Spans that follow each other; the first begins with the text. text[0..bytes) can be read. */
struct model_spans {
    const uint8_t *text;
    size_t bytes;
    const struct model_span *spans;
    size_t count;
};

/* What a kind makes of a spec: the first member of a struct of its own. */
struct model {
    const struct model_kind *kind; /* set by model_make() */
    struct word_store *words;      /* what the threads have met (bpe/word_store.h); NULL: they share nothing */
};

struct model_kind {
    /* ---- Files ---- */

    /* The "type" of its section in a tokenizer.json; NULL: that format does not have it. A section without a type is of
     * the first kind that can read it, as in the reference; if none can, of the one whose `member` it has, for a
     * sentence. */
    const char *type, *member;
    /* Reads the section, `node` of the file, which is an object, into the spec: its tokens, and what else the kind
     * needs (spec->model_data). See load_hf.h for what it may use. NULL if type is. */
    enum leat_status (*read)(struct load_hf *h, uint32_t node);
    /* The number of its type in a sentencepiece model, whose tokens and scores are in the spec then; 0: none */
    unsigned sentencepiece;
    /* It finds user-defined tokens in the text itself; otherwise they cut the text before it comes to the model. */
    bool finds_defined;

    /* ---- The spec ---- */

    /* It knows text only by its tokens, so these may write spaces in another way (normalize/spaced.h). */
    bool spaced;
    /* The same after normalizers and Metaspace. */
    bool spaced_words;
    /* The same after sentencepiece's normalizer. */
    bool spaced_normalized;
    /* Hashes what else of the spec decides on ids, after the tokens (fingerprint.h). NULL: nothing. */
    void (*hash)(struct fingerprint_hash *h, const struct tokenizer_spec *spec);

    /* ---- Making ---- */

    /* What distinguishes it from other kinds that are made by the same functions; NULL: nothing. */
    const void *variant;
    /* The spec outlives the model. On failure *out is NULL. */
    enum leat_status (*make)(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err);
    void (*free)(struct model *m);

    /* A thread's memory. What grows with a pretoken is counted in `bound`, if that is not NULL; `cache_bytes` is the
     * most that its cache may take after much text. NULL: it needs no memory, and `scratch` is NULL. */
    enum leat_status (*scratch_make)(void **out, struct bound *bound, size_t cache_bytes, struct leat_error *err);
    void (*scratch_free)(void *scratch);
    /* How much of `max_bytes` a cache takes in the end. NULL: no cache. */
    size_t (*cache_bytes)(size_t max_bytes);
    /* How much memory all threads may have together for `words`. NULL: they share nothing. */
    void (*share)(const struct model *m, size_t bytes);

    /* ---- Encoding; ids are appended to `out` ---- */

    /* Encodes a pretoken: bytes of a byte-level spec, else valid UTF-8 as normalized. LEAT_E_PRETOKEN: a stretch of it
     * that cannot be cut needs more memory than the scratch's bound. */
    enum leat_status (*encode)(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                               struct id_list *out, struct leat_error *err);

    /* Encodes many pretokens. Most of the time is spent here: one call encodes thousands of pretokens. NULL: each is
     * encoded by itself. */
    enum leat_status (*encode_batch)(const struct model *m, void *scratch, const struct model_pretokens *p,
                                     struct id_list *out, struct leat_error *err);

    /* The same for pretokens each of which may begin with white space that is not part of it. They are all that comes
     * to the scratch. NULL: the kind does not take such. */
    enum leat_status (*encode_words)(const struct model *m, void *scratch, const struct model_pretokens *p,
                                     struct id_list *out, struct leat_error *err);

    /* A pretoken that comes in chunks. Sets *used to how much is done with, which is nothing if the pretoken cannot be
     * cut there: the next chunk must begin at that place. NULL: no cut is safe. */
    enum leat_status (*encode_chunk)(const struct model *m, void *scratch, const struct model_chunk *c,
                                     struct id_list *out, size_t *used, struct leat_error *err);

    /* Encodes spans. If tokens are close together, for example if each newline is one, this is what makes batches of
     * the pretokens between them. `takes_spans` says whether that is worthwhile for this model; both NULL: it never
     * is. */
    bool (*takes_spans)(const struct model *m);
    enum leat_status (*encode_spans)(const struct model *m, void *scratch, const struct model_spans *spans,
                                     struct id_list *out, struct leat_error *err);

    /* Encodes the pretokens of several texts, which lie one after the other. Behind each is a byte that is the text's
     * last pretoken, marked with MODEL_FIXED, and has no ids. Appends to `counts` how many ids each text has.
     * `takes_texts` says whether this model can do that; both NULL: it cannot. */
    bool (*takes_texts)(const struct model *m);
    enum leat_status (*encode_texts)(const struct model *m, void *scratch, const struct model_pretokens *p,
                                     struct id_list *counts, struct id_list *out, struct leat_error *err);
};

/* The rows, in turn; the kind is NULL after the last. */
struct model_row {
    enum spec_model number;
    const struct model_kind *kind;
};
struct model_row model_row(size_t i);

/* The kind of a spec. */
const struct model_kind *model_kind_of(const struct tokenizer_spec *spec);

/* Call a kind's functions, and do what NULL stands for. */
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
