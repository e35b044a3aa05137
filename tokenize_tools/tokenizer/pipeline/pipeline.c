/* pipeline.c: makes the stations of a spec one after another. */
#include "pipeline.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/tiny.h"

/*
 * Memory for the names of added tokens and for making them: normalizers may make any text of them (31 that replace an a
 * by two once took 9.4 GB when a file was opened). NFKC, at its worst, makes 11 bytes of one. What finds the names in a
 * text takes some 60 bytes for each of their bytes.
 */
#define NAMES_BASE ((uint64_t)TINY_OR(32 << 10, 256 << 10))
#define NAMES_BYTE 64

static struct bound bound_of_names(const struct tokenizer_spec *spec)
{
    struct bound b = { .max = NAMES_BASE };

    for (uint32_t i = 0; i < spec->added_count; i++)
        b.max += (uint64_t)spec->added[i].content.length * NAMES_BYTE;
    return b;
}

static enum leat_status refuse_added(const struct spec_string *content, const char *what, struct leat_error *err)
{
    return status_set(err, LEAT_E_UNSUPPORTED, "the added token \"%.*s\" %s when normalized, which is not supported",
                      (int)(content->length < 60 ? content->length : 60), (const char *)content->bytes, what);
}

/* Adds the added tokens that are looked for in normalized text. They are normalized themselves, as in the reference,
 * and get the result as their name. */
static enum leat_status add_normalized(struct pipeline *e, uint32_t place, struct normalizer_scratch *scratch,
                                       struct bound *bound, struct leat_error *err)
{
    struct spec_added *added = &e->spec->added[place];
    const struct spec_string *content = &added->content;
    const uint8_t *text = content->bytes;
    size_t bytes = content->length;
    enum leat_status s = normalizer_run(e->normalizer, scratch, &text, &bytes, true, err);

    if (s == LEAT_E_PRETOKEN || (s == LEAT_OK && !bound_take(bound, bytes)))
        return refuse_added(content, "becomes too long", err);
    if (s == LEAT_E_TEXT)
        return refuse_added(content, "has something put before it, or takes too many steps,", err);
    if (s == LEAT_OK && bytes == 0)
        return refuse_added(content, "becomes empty", err);
    if (s == LEAT_OK)
        s = string_finder_add(e->normalized, text, bytes, place, err);
    if (s == LEAT_OK && (bytes != content->length || memcmp(text, content->bytes, bytes) != 0) &&
        !spec_copy(e->spec, &added->name, text, bytes))
        s = status_no_memory(err, bytes);
    return s;
}

static enum leat_status fill_finders(struct pipeline *e, struct leat_error *err)
{
    struct bound bound = bound_of_names(e->spec);
    struct normalizer_scratch scratch;
    struct pattern_steps steps = { .left = 0 };
    enum leat_status s = normalizer_scratch_make(&scratch, e->normalizer, &bound, &steps, err);

    pattern_steps_begin(&steps); /* the steps of one text, however many tokens there are */
    for (uint32_t i = 0; s == LEAT_OK && i < e->spec->added_count; i++) {
        const struct spec_added *a = &e->spec->added[i];

        s = a->normalized ? add_normalized(e, i, &scratch, &bound, err)
                          : string_finder_add(e->raw, a->content.bytes, a->content.length, i, err);
    }
    normalizer_scratch_free(&scratch);
    if (s == LEAT_OK)
        s = string_finder_end(e->raw, err);
    return s == LEAT_OK ? string_finder_end(e->normalized, err) : s;
}

static enum leat_status make_finders(struct pipeline *e, struct leat_error *err)
{
    enum leat_status s = string_finder_make(&e->raw, err);

    if (s == LEAT_OK)
        s = string_finder_make(&e->normalized, err);
    return s == LEAT_OK ? fill_finders(e, err) : s;
}

static enum leat_status make_model(struct pipeline *e, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    e->prefix = spaced_find(e->spec);
    if (e->prefix != SPACED_NOT || spaced_after_normalizer(e->spec) || spaced_after_pretokenizer(e->spec))
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
    if (s == LEAT_OK && e->prefix == SPACED_NOT && spaced_after_pretokenizer(spec))
        pretokenizer_write_spaces(e->pretokenizer);
    if (s == LEAT_OK)
        s = make_finders(e, err);
    if (s == LEAT_OK)
        s = decoder_make(&e->decoder, spec, err);
    if (s == LEAT_OK && spec->reference == SPEC_SENTENCEPIECE)
        s = sentencepiece_normalizer_make(&e->sentencepiece, spec, spaced_after_normalizer(spec), err);
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
