/*
 * model.h: what a model is to everybody else. A model turns pretokens into ids. Its kind is a row of model_rows.h: how
 * it is read from a file, what the fingerprint hashes of it, how it is made, and how it encodes. Code outside of
 * models/ and the models' own rooms asks a kind, never which one it is.
 *
 * What NULL means stands beside each function; a kind needs no more than `make`, `free` and `encode`.
 *
 * Thread rules: a made model does not change; each thread encodes with a scratch of its own.
 */
#ifndef LEAT_TOKENIZER_MODEL_H
#define LEAT_TOKENIZER_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bound.h"
#include "leat.h"
#include "spec.h"
#include "tokenizer/containers/id_list.h"

struct fingerprint_hash;
struct load_hf;

/* A stretch of a text: a pretoken, or a token that is known already. */
struct model_span {
    uint32_t end; /* it begins where the one before ends */
    uint32_t id;  /* of the token; MODEL_PRETOKEN: it is a pretoken, perhaps of no bytes */
};
#define MODEL_PRETOKEN UINT32_MAX
#define MODEL_SPAN_MAX ((size_t)1 << 17) /* bytes of all */

/* What a kind makes of a spec: the first member of a struct of its own. */
struct model {
    const struct model_kind *kind; /* set by model_make() */
};

struct model_kind {
    /* ---- Files ---- */

    /* The "type" of its section in a tokenizer.json; NULL: that format does not have it. A section without a type is of
     * the kind whose `member` it has (NULL: of none), as in the reference. */
    const char *type, *member;
    /* Reads the section, `node` of the file, which is an object, into the spec: its tokens, and what else the kind
     * needs (spec->model_data). See load_hf.h for what it may use. NULL if type is. */
    enum leat_status (*read)(struct load_hf *h, uint32_t node);
    /* The number of its type in a sentencepiece model, whose tokens and scores are in the spec then; 0: none */
    unsigned sentencepiece;

    /* ---- The spec ---- */

    /* It knows text by its tokens only, so that these may write spaces in another way (normalize/spaced.h). */
    bool spaced;
    /* Hashes what else of the spec decides on ids, after the tokens (fingerprint.h). NULL: nothing. */
    void (*hash)(struct fingerprint_hash *h, const struct tokenizer_spec *spec);

    /* ---- Making ---- */

    /* The spec outlives the model. On failure *out is NULL. */
    enum leat_status (*make)(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err);
    void (*free)(struct model *m);

    /* A thread's memory. What grows with a pretoken is counted in `bound`, if that is not NULL; `cache_bytes` is the
     * most that its cache may take once much text has come. NULL: it needs none, and is given NULL. */
    enum leat_status (*scratch_make)(void **out, struct bound *bound, size_t cache_bytes, struct leat_error *err);
    void (*scratch_free)(void *scratch);
    /* How much of `max_bytes` a cache takes in the end. NULL: no cache. */
    size_t (*cache_bytes)(size_t max_bytes);

    /* ---- Encoding; ids are appended to `out` ---- */

    /* A pretoken: bytes of a byte-level spec, else valid UTF-8 as normalized. LEAT_E_PIECE if a part of it that cannot
     * be cut needs more memory than the scratch's bound. */
    enum leat_status (*encode)(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                               struct id_list *out, struct leat_error *err);

    /* `count` pretokens of a text that follow each other without gaps: the first begins at text[begin], and each ends
     * before text[ends[i]], which is below 2^31. None is empty. text[0..bytes) can be read. This is where the time
     * goes: one call for thousands of pretokens. NULL: each is encoded by itself. */
    enum leat_status (*encode_batch)(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                                     uint32_t begin, const uint32_t *ends, size_t count, struct id_list *out,
                                     struct leat_error *err);

    /* A pretoken that comes in chunks. `begins`: nothing of it has been encoded yet; `last`: it ends here. *used is how
     * much is done with: the next chunk must begin there. Nothing, where it cannot be cut. NULL: no cut is safe. */
    enum leat_status (*encode_chunk)(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                                     bool begins, bool last, struct id_list *out, size_t *used, struct leat_error *err);

    /* Spans, of which the first begins with the text. Where tokens stand close to each other, as where each newline is
     * one, this is what makes batches out of what lies between them. `takes_spans` says whether a model is good at it;
     * both NULL: none is. */
    bool (*takes_spans)(const struct model *m);
    enum leat_status (*encode_spans)(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                                     const struct model_span *spans, size_t count, struct id_list *out,
                                     struct leat_error *err);
};

/* The rows, in turn; the kind is NULL after the last. */
struct model_row {
    enum spec_model number;
    const struct model_kind *kind;
};
struct model_row model_row(size_t i);

/* The kind of a spec. */
const struct model_kind *model_kind_of(const struct tokenizer_spec *spec);

/* A kind's functions, with what NULL stands for. */
enum leat_status model_make(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err);
void model_free(struct model *m);
enum leat_status model_scratch_make(void **out, const struct model *m, struct bound *bound, size_t cache_bytes,
                                    struct leat_error *err);
void model_scratch_free(const struct model *m, void *scratch);
size_t model_cache_bytes(const struct model *m, size_t max_bytes);
bool model_takes_spans(const struct model *m);
enum leat_status model_encode_batch(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                                    uint32_t begin, const uint32_t *ends, size_t count, struct id_list *out,
                                    struct leat_error *err);
enum leat_status model_encode_chunk(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                                    bool begins, bool last, struct id_list *out, size_t *used, struct leat_error *err);

#endif
