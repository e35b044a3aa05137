/* normalizer.c: see normalizer.h. */
#include "normalizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "byte_alphabet.h"
#include "char_tests.h"
#include "charsmap.h"
#include "matcher.h"
#include "normalize_unicode.h"
#include "unicode.h"
#include "utf8.h"

/* What a step needs besides its description. */
struct step {
    const struct spec_normalizer *spec;
    struct charsmap *charsmap;
    struct matcher matcher;
};

struct normalizer {
    struct step *steps;
    uint32_t count;
    struct byte_alphabet alphabet;
};

void normalizer_scratch_free(struct normalizer_scratch *s)
{
    buffer_free(&s->buffers[0]);
    buffer_free(&s->buffers[1]);
}

enum leat_status normalizer_make(struct normalizer **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct normalizer *n = calloc(1, sizeof *n);
    enum leat_status s = LEAT_OK;

    *out = NULL;
    if (n)
        n->steps = calloc(spec->normalizer_count + 1, sizeof *n->steps);
    if (!n || !n->steps) {
        free(n);
        return status_no_memory(err, spec->normalizer_count * sizeof *n->steps);
    }
    byte_alphabet_init(&n->alphabet);
    for (uint32_t i = 0; s == LEAT_OK && i < spec->normalizer_count; i++) {
        struct step *step = &n->steps[n->count++];

        step->spec = &spec->normalizers[i];
        if (step->spec->kind == SPEC_NORM_PRECOMPILED)
            s = charsmap_create(&step->charsmap, step->spec->content.bytes, step->spec->content.length, err);
        else if (step->spec->kind == SPEC_NORM_REPLACE)
            s = matcher_make(&step->matcher, &step->spec->pattern, spec->dialect, err);
    }
    if (s != LEAT_OK) {
        normalizer_free(n);
        return s;
    }
    *out = n;
    return LEAT_OK;
}

void normalizer_free(struct normalizer *n)
{
    if (!n)
        return;
    for (uint32_t i = 0; i < n->count; i++) {
        charsmap_free(n->steps[i].charsmap);
        matcher_free(&n->steps[i].matcher);
    }
    free(n->steps);
    free(n);
}

/* ---- The steps; each appends to `out`, or leaves *changed false ---- */

static enum leat_status unicode_form(const struct step *step, const uint8_t *text, size_t bytes, struct buffer *out,
                                     bool *changed, struct leat_error *err)
{
    enum normalize_form form = (enum normalize_form)(step->spec->kind - SPEC_NORM_NFC + NORMALIZE_NFC);
    size_t prefix = normalize_prefix(form, text, bytes);
    enum leat_status s;

    if (prefix == bytes)
        return LEAT_OK;
    *changed = true;
    s = buffer_append(out, text, prefix, err);
    return s == LEAT_OK ? normalize_append(out, form, text + prefix, bytes - prefix, err) : s;
}

static enum leat_status lowercase(const uint8_t *text, size_t bytes, struct buffer *out, bool *changed,
                                  struct leat_error *err)
{
    size_t prefix = lowercase_prefix(text, bytes);
    enum leat_status s;

    if (prefix == bytes)
        return LEAT_OK;
    *changed = true;
    s = buffer_append(out, text, prefix, err);
    return s == LEAT_OK ? lowercase_append(out, text + prefix, bytes - prefix, err) : s;
}

/* The start of the last character before `end`. */
static size_t before(const uint8_t *text, size_t end)
{
    do
        end--;
    while (end > 0 && (text[end] & 0xc0) == 0x80);
    return end;
}

static enum leat_status strip(const struct step *step, const uint8_t *text, size_t bytes, struct buffer *out,
                              bool *changed, struct leat_error *err)
{
    size_t from = 0, to = bytes, length;

    while (step->spec->strip_left && from < to && (char_tests(unicode_decode(text + from, &length)) & CHAR_WHITESPACE))
        from += length;
    while (step->spec->strip_right && to > from &&
           (char_tests(unicode_decode(text + before(text, to), &length)) & CHAR_WHITESPACE))
        to = before(text, to);
    *changed = from > 0 || to < bytes;
    return *changed ? buffer_append(out, text + from, to - from, err) : LEAT_OK;
}

static enum leat_status replace(const struct step *step, const uint8_t *text, size_t bytes, struct buffer *out,
                                bool *changed, struct leat_error *err)
{
    const struct spec_string *content = &step->spec->content;
    struct matcher_pass pass;
    size_t start, end, copied = 0;
    bool found = true;
    enum leat_status s = matcher_begin(&pass, &step->matcher, text, bytes, err);

    while (s == LEAT_OK && (s = matcher_next(&pass, &start, &end, &found, err)) == LEAT_OK && found) {
        *changed = true;
        s = buffer_append(out, text + copied, start - copied, err);
        if (s == LEAT_OK)
            s = buffer_append(out, content->bytes, content->length, err);
        copied = end;
    }
    if (s == LEAT_OK && *changed)
        s = buffer_append(out, text + copied, bytes - copied, err);
    matcher_end(&pass);
    return s;
}

static enum leat_status prepend(const struct step *step, const uint8_t *text, size_t bytes, struct buffer *out,
                                bool *changed, struct leat_error *err)
{
    enum leat_status s;

    if (bytes == 0 || step->spec->content.length == 0)
        return LEAT_OK;
    *changed = true;
    s = buffer_append(out, step->spec->content.bytes, step->spec->content.length, err);
    return s == LEAT_OK ? buffer_append(out, text, bytes, err) : s;
}

static enum leat_status precompiled(const struct step *step, const uint8_t *text, size_t bytes, struct buffer *out,
                                    bool *changed, struct leat_error *err)
{
    size_t prefix = charsmap_prefix(step->charsmap, CHARSMAP_GRAPHEMES, text, bytes);

    if (prefix == bytes)
        return LEAT_OK;
    *changed = true;
    return charsmap_append(out, step->charsmap, CHARSMAP_GRAPHEMES, text, bytes, err);
}

static enum leat_status byte_level(const struct normalizer *n, const uint8_t *text, size_t bytes, struct buffer *out,
                                   bool *changed, struct leat_error *err)
{
    enum leat_status s = bytes < SIZE_MAX / 2 ? buffer_reserve(out, 2 * bytes, err) : status_no_memory(err, bytes);

    for (size_t i = 0; s == LEAT_OK && i < bytes; i++)
        out->size += utf8_encode(out->bytes + out->size, n->alphabet.code_of[text[i]]);
    *changed = true;
    return s;
}

static enum leat_status run_step(const struct normalizer *n, const struct step *step, const uint8_t *text, size_t bytes,
                                 struct buffer *out, bool *changed, struct leat_error *err)
{
    switch (step->spec->kind) {
    case SPEC_NORM_NFC:
    case SPEC_NORM_NFD:
    case SPEC_NORM_NFKC:
    case SPEC_NORM_NFKD:
        return unicode_form(step, text, bytes, out, changed, err);
    case SPEC_NORM_LOWERCASE:
        return lowercase(text, bytes, out, changed, err);
    case SPEC_NORM_STRIP:
        return strip(step, text, bytes, out, changed, err);
    case SPEC_NORM_REPLACE:
        return replace(step, text, bytes, out, changed, err);
    case SPEC_NORM_PREPEND:
        return prepend(step, text, bytes, out, changed, err);
    case SPEC_NORM_PRECOMPILED:
        return precompiled(step, text, bytes, out, changed, err);
    case SPEC_NORM_BYTE_LEVEL:
        return byte_level(n, text, bytes, out, changed, err);
    }
    return LEAT_OK;
}

enum leat_status normalizer_run(const struct normalizer *n, struct normalizer_scratch *s, const uint8_t *text,
                                size_t bytes, const uint8_t **to, size_t *to_bytes, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;
    unsigned turn = 0;

    for (uint32_t i = 0; status == LEAT_OK && i < n->count; i++) {
        struct buffer *out = &s->buffers[turn];
        bool changed = false;

        out->size = 0;
        status = run_step(n, &n->steps[i], text, bytes, out, &changed, err);
        if (status == LEAT_OK && changed) {
            text = out->bytes ? out->bytes : (const uint8_t *)"";
            bytes = out->size;
            turn = !turn;
        }
    }
    *to = text;
    *to_bytes = bytes;
    return status;
}
