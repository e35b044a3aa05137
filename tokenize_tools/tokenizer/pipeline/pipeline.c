/* pipeline.c: see pipeline.h. */
#include "pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* Added tokens looked for in normalized text are normalized themselves, as the reference does, and called so. */
static enum leat_status add_normalized(struct pipeline *e, uint32_t place, struct leat_error *err)
{
    struct spec_added *added = &e->spec->added[place];
    const struct spec_string *content = &added->content;
    struct normalizer_scratch scratch;
    const uint8_t *text = content->bytes;
    size_t bytes = content->length;
    enum leat_status s = normalizer_scratch_make(&scratch, e->normalizer, NULL, err);

    if (s == LEAT_OK)
        s = normalizer_run(e->normalizer, &scratch, &text, &bytes, true, err);
    if (s == LEAT_OK && bytes == 0)
        s = status_set(err, LEAT_E_UNSUPPORTED,
                       "the added token \"%.*s\" becomes empty when normalized, which is not supported",
                       (int)(content->length < 60 ? content->length : 60), (const char *)content->bytes);
    if (s == LEAT_OK)
        s = string_finder_add(e->normalized, text, bytes, place, err);
    if (s == LEAT_OK && (bytes != content->length || memcmp(text, content->bytes, bytes) != 0) &&
        !spec_copy(e->spec, &added->name, text, bytes))
        s = status_no_memory(err, bytes);
    normalizer_scratch_free(&scratch);
    return s;
}

static enum leat_status make_finders(struct pipeline *e, struct leat_error *err)
{
    enum leat_status s = string_finder_make(&e->raw, err);

    if (s == LEAT_OK)
        s = string_finder_make(&e->normalized, err);
    for (uint32_t i = 0; s == LEAT_OK && i < e->spec->added_count; i++) {
        const struct spec_added *a = &e->spec->added[i];

        s = a->normalized ? add_normalized(e, i, err)
                          : string_finder_add(e->raw, a->content.bytes, a->content.length, i, err);
    }
    return s;
}

static enum leat_status make_model(struct pipeline *e, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    e->prefix = spaced_find(e->spec);
    if (e->prefix != SPACED_NOT)
        s = spaced_make(&e->spaced, e->spec, err);
    return s == LEAT_OK ? model_make(&e->model, e->spaced ? e->spaced : e->spec, err) : s;
}

enum leat_status pipeline_make(struct pipeline **out, struct tokenizer_spec *spec, struct leat_error *err)
{
    struct pipeline *e = calloc(1, sizeof *e);
    enum leat_status s;

    *out = NULL;
    if (!e) {
        spec_free(spec);
        return status_no_memory(err, sizeof *e);
    }
    e->spec = spec;
    s = make_model(e, err);
    if (s == LEAT_OK)
        s = normalizer_make(&e->normalizer, spec, err);
    if (s == LEAT_OK)
        s = pretokenizer_make(&e->pretokenizer, spec, err);
    if (s == LEAT_OK)
        s = decoder_make(&e->decoder, spec, e->normalizer, err);
    if (s == LEAT_OK)
        s = make_finders(e, err);
    if (s == LEAT_OK && spec->reference == SPEC_SENTENCEPIECE)
        s = sentencepiece_normalizer_make(&e->sentencepiece, spec, err);
    if (s != LEAT_OK) {
        pipeline_free(e);
        return s;
    }
    *out = e;
    return LEAT_OK;
}

void pipeline_free(struct pipeline *e)
{
    if (!e)
        return;
    model_free(e->model);
    normalizer_free(e->normalizer);
    sentencepiece_normalizer_free(e->sentencepiece);
    pretokenizer_free(e->pretokenizer);
    decoder_free(e->decoder);
    string_finder_free(e->raw);
    string_finder_free(e->normalized);
    spaced_free(e->spaced);
    spec_free(e->spec);
    free(e);
}
