/* engine.c: see engine.h. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "char_tests.h"
#include "decoder.h"
#include "normalizer.h"
#include "pretokenizer.h"
#include "sentencepiece_normalizer.h"
#include "string_finder.h"
#include "unicode.h"
#include "utf8.h"

struct engine {
    struct tokenizer_spec *spec;
    struct model *model;
    struct normalizer *normalizer;
    struct sentencepiece_normalizer *sentencepiece;
    struct pretokenizer *pretokenizer;
    struct decoder *decoder;
    struct string_finder *raw, *normalized; /* added tokens, by place in spec->added */
};

struct encoder {
    const struct engine *engine;
    struct encoder_options options;
    struct model_scratch *model;
    struct pretokenizer_scratch *pretokenizer;
    struct normalizer_scratch normalizer;
    struct buffer repaired;
    struct id_list ids;
    uint64_t special_strings;
};

/* ---- Making ---- */

/* Added tokens looked for in normalized text are normalized themselves, as the reference does. */
static enum leat_status add_normalized(struct engine *e, uint32_t place, struct leat_error *err)
{
    const struct spec_string *content = &e->spec->added[place].content;
    struct normalizer_scratch scratch = { 0 };
    const uint8_t *text;
    size_t bytes;
    enum leat_status s = normalizer_run(e->normalizer, &scratch, content->bytes, content->length, &text, &bytes, err);

    if (s == LEAT_OK && bytes == 0)
        s = status_set(err, LEAT_E_UNSUPPORTED, "the added token \"%.*s\" is normalized to nothing: not supported",
                       (int)(content->length < 60 ? content->length : 60), (const char *)content->bytes);
    if (s == LEAT_OK)
        s = string_finder_add(e->normalized, text, bytes, place, err);
    normalizer_scratch_free(&scratch);
    return s;
}

static enum leat_status make_finders(struct engine *e, struct leat_error *err)
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

enum leat_status engine_make(struct engine **out, struct tokenizer_spec *spec, struct leat_error *err)
{
    struct engine *e = calloc(1, sizeof *e);
    enum leat_status s;

    *out = NULL;
    if (!e) {
        spec_free(spec);
        return status_no_memory(err, sizeof *e);
    }
    e->spec = spec;
    if ((s = model_make(&e->model, spec, err)) != LEAT_OK ||
        (s = normalizer_make(&e->normalizer, spec, err)) != LEAT_OK ||
        (s = pretokenizer_make(&e->pretokenizer, spec, err)) != LEAT_OK ||
        (s = decoder_make(&e->decoder, spec, e->normalizer, err)) != LEAT_OK || (s = make_finders(e, err)) != LEAT_OK ||
        (spec->model == SPEC_SCORES && (s = sentencepiece_normalizer_make(&e->sentencepiece, spec, err)) != LEAT_OK)) {
        engine_free(e);
        return s;
    }
    *out = e;
    return LEAT_OK;
}

void engine_free(struct engine *e)
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
    spec_free(e->spec);
    free(e);
}

const struct tokenizer_spec *engine_spec(const struct engine *e)
{
    return e->spec;
}

const struct decoder *engine_decoder(const struct engine *e)
{
    return e->decoder;
}

enum leat_status encoder_make(struct encoder **out, const struct engine *engine, const struct encoder_options *options,
                              struct leat_error *err)
{
    struct encoder *e = calloc(1, sizeof *e);
    enum leat_status s;

    *out = NULL;
    if (!e)
        return status_no_memory(err, sizeof *e);
    e->engine = engine;
    e->options = *options;
    s = model_scratch_make(&e->model, options->most_bytes, err);
    if (s == LEAT_OK)
        s = pretokenizer_scratch_make(&e->pretokenizer, engine->pretokenizer, err);
    if (s == LEAT_OK)
        s = id_list_reserve(&e->ids, 1, err);
    if (s != LEAT_OK) {
        encoder_free(e);
        return s;
    }
    *out = e;
    return LEAT_OK;
}

void encoder_free(struct encoder *e)
{
    if (!e)
        return;
    model_scratch_free(e->model);
    pretokenizer_scratch_free(e->pretokenizer);
    normalizer_scratch_free(&e->normalizer);
    buffer_free(&e->repaired);
    id_list_free(&e->ids);
    free(e);
}

uint64_t encoder_special_strings(const struct encoder *e)
{
    return e->special_strings;
}

/* ---- Added tokens ---- */

/* A stretch of text between added tokens. `first`: it begins where the whole text does. */
typedef enum leat_status handle_segment(struct encoder *e, const uint8_t *text, size_t bytes, bool first,
                                        struct leat_error *err);

static size_t character_before(const uint8_t *text, size_t end)
{
    do
        end--;
    while (end > 0 && (text[end] & 0xc0) == 0x80);
    return end;
}

static bool is_word(const uint8_t *text)
{
    size_t length;

    return (unicode_class(&unicode_classes[UNICODE_RUST], unicode_decode(text, &length)) & UNICODE_WORD) != 0;
}

static bool is_space(const uint8_t *text, size_t *length)
{
    return (unicode_class(&unicode_classes[UNICODE_RUST], unicode_decode(text, length)) & UNICODE_SPACE) != 0;
}

/* Whether the token may stand here at all. */
static bool stands_alone(const uint8_t *text, size_t bytes, size_t start, size_t end)
{
    return (start == 0 || !is_word(text + character_before(text, start))) && (end == bytes || !is_word(text + end));
}

/* White space that the token takes with it, but not what the one before has taken. */
static void widen(const struct spec_added *a, const uint8_t *text, size_t bytes, size_t from, size_t *start,
                  size_t *end)
{
    size_t length;

    while (a->lstrip && *start > from && is_space(text + character_before(text, *start), &length))
        *start = character_before(text, *start);
    while (a->rstrip && *end < bytes && is_space(text + *end, &length))
        *end += length;
}

static enum leat_status append_id(struct encoder *e, uint32_t id, struct leat_error *err)
{
    enum leat_status s = id_list_reserve(&e->ids, 1, err);

    if (s == LEAT_OK)
        e->ids.ids[e->ids.count++] = id;
    return s;
}

/* Cuts the text at the finder's tokens; ids of those go to the list, what lies between to `handle`. */
static enum leat_status cut(struct encoder *e, const struct string_finder *finder, const uint8_t *text, size_t bytes,
                            bool first, handle_segment *handle, struct leat_error *err)
{
    size_t done = 0, from = 0, start, end;
    enum leat_status s = LEAT_OK;
    uint32_t place;

    while (s == LEAT_OK && string_finder_next(finder, text, bytes, from, &start, &end, &place)) {
        const struct spec_added *a = &e->engine->spec->added[place];

        from = end;
        e->special_strings += a->special;
        if ((a->special && !e->options.special) || (a->single_word && !stands_alone(text, bytes, start, end)))
            continue;
        if (start < done)
            start = done;
        widen(a, text, bytes, done, &start, &end);
        if (a->lstrip && start >= end) /* white space that the token before has taken with it */
            continue;
        if (start > done)
            s = handle(e, text + done, start - done, first && done == 0, err);
        if (s == LEAT_OK)
            s = append_id(e, a->id, err);
        done = end;
    }
    if (s == LEAT_OK && done < bytes)
        s = handle(e, text + done, bytes - done, first && done == 0, err);
    return s;
}

/* ---- The way of a text, last station first ---- */

static enum leat_status encode_piece(void *context, const uint8_t *piece, size_t bytes, struct leat_error *err)
{
    struct encoder *e = context;

    return model_encode(e->engine->model, e->model, piece, bytes, &e->ids, err);
}

static enum leat_status encode_segment(struct encoder *e, const uint8_t *text, size_t bytes, bool first,
                                       struct leat_error *err)
{
    return pretokenizer_run(e->engine->pretokenizer, e->pretokenizer, text, bytes, first, encode_piece, e, err);
}

static enum leat_status encode_raw(struct encoder *e, const uint8_t *text, size_t bytes, bool first,
                                   struct leat_error *err)
{
    enum leat_status s = normalizer_run(e->engine->normalizer, &e->normalizer, text, bytes, &text, &bytes, err);

    return s == LEAT_OK ? cut(e, e->engine->normalized, text, bytes, first, encode_segment, err) : s;
}

/* sentencepiece knows no added tokens: its own user-defined pieces come out of the normalizer as stretches. */
static enum leat_status encode_sentencepiece(struct encoder *e, const uint8_t *text, size_t bytes,
                                             struct leat_error *err)
{
    struct sentencepiece_text normalized;
    enum leat_status s = sentencepiece_normalizer_run(e->engine->sentencepiece, &e->normalizer.buffers[0], text, bytes,
                                                      &normalized, err);
    size_t at = 0, start, end;
    uint32_t id;

    while (s == LEAT_OK && sentencepiece_next(e->engine->sentencepiece, &normalized, at, &start, &end, &id)) {
        if (start > at)
            s = encode_piece(e, normalized.bytes + at, start - at, err);
        if (s == LEAT_OK)
            s = append_id(e, id, err);
        at = end;
    }
    if (s == LEAT_OK && at < normalized.size)
        s = encode_piece(e, normalized.bytes + at, normalized.size - at, err);
    return s;
}

static enum leat_status repair(struct encoder *e, const uint8_t **text, size_t *bytes, struct leat_error *err)
{
    size_t valid = utf8_valid_prefix(*text, *bytes);
    enum leat_status s;

    if (valid == *bytes)
        return LEAT_OK;
    if (e->options.reject_invalid)
        return status_set_at(err, LEAT_E_TEXT, valid, "the text is not valid UTF-8 at byte %zu", valid);
    e->repaired.size = 0;
    s = utf8_repair(&e->repaired, *text, *bytes, NULL, err);
    *text = e->repaired.bytes;
    *bytes = e->repaired.size;
    return s;
}

enum leat_status encoder_run(struct encoder *e, const uint8_t *text, size_t bytes, const uint32_t **ids, size_t *count,
                             struct leat_error *err)
{
    enum leat_status s = repair(e, &text, &bytes, err);

    e->ids.count = 0;
    e->special_strings = 0;
    if (s != LEAT_OK)
        return s;
    if (e->engine->sentencepiece)
        s = encode_sentencepiece(e, text, bytes, err);
    else
        s = cut(e, e->engine->raw, text, bytes, true, encode_raw, err);
    *ids = e->ids.ids;
    *count = e->ids.count;
    return s;
}
