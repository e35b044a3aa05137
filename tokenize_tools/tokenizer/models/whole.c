/*
 * whole.c: the models of types Word and Character of sentencepiece, two rows of the table. lookup/ does the work.
 */
#include "tokenizer/lookup/whole.h"

#include <stdlib.h>

#include "base/status.h"
#include "tokenizer/spec/model.h"

static const struct whole *of(const struct model *m)
{
    return (const struct whole *)(const void *)m;
}

static enum leat_status make(struct model **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct whole *m;
    enum leat_status s = whole_make(&m, spec, spec->model == SPEC_WORDS, err);

    *out = (struct model *)(void *)m;
    return s;
}

static void free_model(struct model *m)
{
    whole_free((struct whole *)(void *)m);
}

static enum leat_status scratch_make(void **out, struct bound *bound, size_t cache_bytes, struct leat_error *err)
{
    (void)bound;
    (void)cache_bytes;
    *out = calloc(1, sizeof(struct whole_scratch));
    return *out ? LEAT_OK : status_no_memory(err, sizeof(struct whole_scratch));
}

static enum leat_status encode(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                               struct id_list *out, struct leat_error *err)
{
    (void)scratch;
    return whole_encode(of(m), text, bytes, out, err);
}

static enum leat_status encode_chunk(const struct model *m, void *scratch, const uint8_t *text, size_t bytes,
                                     bool begins, bool last, struct id_list *out, size_t *used, struct leat_error *err)
{
    return whole_encode_chunk(of(m), scratch, text, bytes, begins, last, out, used, err);
}

#define WHOLE                                                                                                          \
    .make = make, .free = free_model, .scratch_make = scratch_make, .scratch_free = free, .encode = encode,            \
    .encode_chunk = encode_chunk

const struct model_kind model_words = { .sentencepiece = 3, .finds_defined = true, WHOLE };
const struct model_kind model_characters = { .sentencepiece = 4, WHOLE };
