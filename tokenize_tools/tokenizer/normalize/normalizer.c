/*
 * normalizer.c: see normalizer.h. A step gets a chunk and says how much of it is done: it passes bytes on as they are,
 * or appends its result to a buffer; what further text may still change it leaves, and that is held back (held.h) and
 * put before the next chunk. So the chunks' results are those of the whole text, and an unchanged text is never copied.
 */
#include "normalizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "by_character.h"
#include "charsmap.h"
#include "tokenizer/split/matcher.h"
#include "tokenizer/unicode/byte_alphabet.h"
#include "tokenizer/unicode/char_tests.h"
#include "tokenizer/unicode/normalize_unicode.h"
#include "tokenizer/unicode/unicode.h"

/* What a step needs in addition to its description. */
struct step {
    const struct spec_normalizer *spec;
    struct charsmap *charsmap;
    struct matcher matcher;
};

struct normalizer {
    const struct tokenizer_spec *spec;
    struct step *steps;
    uint32_t count;
    struct byte_alphabet alphabet;
};

/* What images.h needs to normalize a text by the steps. */
struct stepping {
    const struct normalizer *n;
    struct normalizer_scratch *s;
};
static images_normalize normalize_all;

enum leat_status normalizer_scratch_make(struct normalizer_scratch *s, const struct normalizer *n, struct bound *bound,
                                         struct pattern_steps *steps, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    *s = (struct normalizer_scratch) { .buffers = { { .bound = bound }, { .bound = bound } }, .steps = steps };
    s->states = calloc((size_t)n->count + 1, sizeof *s->states);
    if (!s->states)
        return status_no_memory(err, n->count * sizeof *s->states);
    for (s->count = 0; status == LEAT_OK && s->count < n->count; s->count++) {
        s->states[s->count].held.text.bound = bound;
        status = matcher_run_make(&s->states[s->count].run, &n->steps[s->count].matcher, bound, steps, err);
    }
    if (status == LEAT_OK && images_can(n->spec))
        status = images_make(&s->images, n->spec, bound, normalize_all, &(struct stepping) { n, s }, err);
    return status;
}

void normalizer_scratch_free(struct normalizer_scratch *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        held_free(&s->states[i].held);
        pattern_run_free(s->states[i].run);
    }
    free(s->states);
    images_free(&s->images);
    buffer_free(&s->buffers[0]);
    buffer_free(&s->buffers[1]);
    *s = (struct normalizer_scratch) { 0 };
}

void normalizer_scratch_clear(struct normalizer_scratch *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        held_clear(&s->states[i].held);
        s->states[i].begun = s->states[i].after_match = false;
    }
    held_clear(&s->images.held);
}

void normalizer_scratch_trim(struct normalizer_scratch *s)
{
    for (unsigned i = 0; i < 2; i++) {
        s->buffers[i].size = 0;
        buffer_trim(&s->buffers[i]);
    }
    s->images.out.size = 0;
    buffer_trim(&s->images.out);
    held_trim(&s->images.held);
    for (uint32_t i = 0; i < s->count; i++)
        held_trim(&s->states[i].held);
}

/* Where text is put before a text's first character, and nothing replaced, ByteLevel of tokenizers 0.23.3 fails on most
 * texts, and gives others ids of other bytes. */
static enum leat_status check_before_byte_level(const struct tokenizer_spec *spec, const struct step *step,
                                                struct leat_error *err)
{
    const struct pattern *pattern = step->matcher.pattern;

    if (!spec_maps_bytes(spec) || step->spec->content.length == 0 || !pattern || !pattern_may_be_empty(pattern))
        return LEAT_OK;
    return status_set(err, LEAT_E_UNSUPPORTED,
                      "normalizer Replace: with ByteLevel, a pattern that can match no characters is not supported: "
                      "tokenizers fails there");
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
    n->spec = spec;
    byte_alphabet_init(&n->alphabet);
    for (uint32_t i = 0; s == LEAT_OK && i < spec->normalizer_count; i++) {
        struct step *step = &n->steps[n->count++];

        step->spec = &spec->normalizers[i];
        if (step->spec->kind == SPEC_NORM_PRECOMPILED)
            s = charsmap_create(&step->charsmap, step->spec->content.bytes, step->spec->content.length, err);
        else if (step->spec->kind == SPEC_NORM_REPLACE)
            s = matcher_make(&step->matcher, &step->spec->pattern, spec->dialect, "normalizer Replace", err);
        if (s == LEAT_OK)
            s = check_before_byte_level(spec, step, err);
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

/* ---- The steps ---- */

/* A step's text: what it held back, and what has come. A step either moves `text` and sets `bytes` to the chunk that it
 * passes on unchanged, or sets `changed` and appends its result to `out`; `used` is what it is done with. */
struct chunk {
    const struct step *step;
    struct normalizer_state *state;
    const uint8_t *text;
    size_t bytes, used;
    bool last, changed;
    struct buffer *out;
};

/* The last place where the text can be cut, whatever follows it. */
static size_t form_boundary(enum normalize_form form, const uint8_t *text, size_t bytes)
{
    size_t at = bytes, length;

    while (at > 0) {
        at = utf8_before(text, at);
        if (normalize_boundary_before(form, unicode_decode(text + at, &length)))
            break;
    }
    return at;
}

static enum leat_status unicode_form(struct chunk *p, struct leat_error *err)
{
    enum normalize_form form = (enum normalize_form)(p->step->spec->kind - SPEC_NORM_NFC + NORMALIZE_NFC);
    size_t prefix;
    enum leat_status s;

    if (!p->last)
        p->bytes = p->used = form_boundary(form, p->text, p->bytes);
    prefix = normalize_prefix(form, p->text, p->bytes);
    if (prefix == p->bytes)
        return LEAT_OK;
    p->changed = true;
    s = buffer_append(p->out, p->text, prefix, err);
    return s == LEAT_OK ? normalize_append(p->out, form, p->text + prefix, p->bytes - prefix, err) : s;
}

static enum leat_status lowercase(struct chunk *p, struct leat_error *err)
{
    size_t prefix = lowercase_prefix(p->text, p->bytes);
    enum leat_status s;

    if (prefix == p->bytes)
        return LEAT_OK;
    p->changed = true;
    s = buffer_append(p->out, p->text, prefix, err);
    return s == LEAT_OK ? lowercase_append(p->out, p->text + prefix, p->bytes - prefix, err) : s;
}

static enum leat_status by_character(struct chunk *p, struct leat_error *err)
{
    size_t prefix = by_character_prefix(p->step->spec->kind, p->text, p->bytes);
    enum leat_status s;

    if (prefix == p->bytes)
        return LEAT_OK;
    p->changed = true;
    s = buffer_append(p->out, p->text, prefix, err);
    return s == LEAT_OK ? by_character_append(p->out, p->step->spec->kind, p->text + prefix, p->bytes - prefix, err)
                        : s;
}

static bool is_space(const uint8_t *text)
{
    size_t length;

    return (char_tests(unicode_decode(text, &length)) & CHAR_WHITESPACE) != 0;
}

/* White space at the end of a chunk may end the text: it is held back until something else comes. */
static void strip(struct chunk *p)
{
    size_t from = 0, to = p->bytes, length;

    while (p->step->spec->strip_left && !p->state->begun && from < to && is_space(p->text + from)) {
        unicode_decode(p->text + from, &length);
        from += length;
    }
    p->state->begun = p->state->begun || from < to;
    while (p->step->spec->strip_right && to > from && is_space(p->text + utf8_before(p->text, to)))
        to = utf8_before(p->text, to);
    p->text += from;
    p->bytes = to - from;
    p->used = to;
}

static enum leat_status replace(struct chunk *p, struct leat_error *err)
{
    const struct spec_string *content = &p->step->spec->content;
    struct matcher_pass pass;
    size_t start, end, copied = 0;
    bool found = true, matched = p->state->after_match;
    enum leat_status s =
        matcher_begin(&pass, &p->step->matcher, p->state->run, p->text, p->bytes, !p->last, matched, err);

    while (s == LEAT_OK) {
        s = matcher_next(&pass, &start, &end, &found, err);
        if (s != LEAT_OK || !found)
            break;
        matched = p->changed = true;
        s = buffer_append(p->out, p->text + copied, start - copied, err);
        if (s == LEAT_OK)
            s = buffer_append(p->out, content->bytes, content->length, err);
        copied = end;
    }
    if (s != LEAT_OK)
        return s;
    p->bytes = p->used = matcher_used(&pass);
    p->state->after_match = matched && p->used == copied;
    return p->changed ? buffer_append(p->out, p->text + copied, p->used - copied, err) : LEAT_OK;
}

static enum leat_status prepend(struct chunk *p, struct leat_error *err)
{
    enum leat_status s;

    if (p->state->begun || p->bytes == 0 || p->step->spec->content.length == 0)
        return LEAT_OK;
    p->state->begun = p->changed = true;
    s = buffer_append(p->out, p->step->spec->content.bytes, p->step->spec->content.length, err);
    return s == LEAT_OK ? buffer_append(p->out, p->text, p->bytes, err) : s;
}

static enum leat_status precompiled(struct chunk *p, struct leat_error *err)
{
    if (p->last && charsmap_prefix(p->step->charsmap, CHARSMAP_GRAPHEMES, p->text, p->bytes) == p->bytes)
        return LEAT_OK;
    p->changed = true;
    return charsmap_append_graphemes(p->out, p->step->charsmap, p->text, p->bytes, p->last, &p->used, err);
}

static enum leat_status byte_level(const struct normalizer *n, struct chunk *p, struct leat_error *err)
{
    struct buffer *out = p->out;
    enum leat_status s =
        p->bytes < SIZE_MAX / 2 ? buffer_reserve(out, 2 * p->bytes, err) : status_no_memory(err, p->bytes);

    for (size_t i = 0; s == LEAT_OK && i < p->bytes; i++)
        out->size += utf8_encode(out->bytes + out->size, n->alphabet.code_of[p->text[i]]);
    p->changed = true;
    return s;
}

static enum leat_status take_step(const struct normalizer *n, struct chunk *p, struct leat_error *err)
{
    switch (p->step->spec->kind) {
    case SPEC_NORM_NFC:
    case SPEC_NORM_NFD:
    case SPEC_NORM_NFKC:
    case SPEC_NORM_NFKD:
        return unicode_form(p, err);
    case SPEC_NORM_LOWERCASE:
        return lowercase(p, err);
    case SPEC_NORM_STRIP:
        strip(p);
        return LEAT_OK;
    case SPEC_NORM_REPLACE:
        return replace(p, err);
    case SPEC_NORM_PREPEND:
        return prepend(p, err);
    case SPEC_NORM_PRECOMPILED:
        return precompiled(p, err);
    case SPEC_NORM_BYTE_LEVEL:
        return byte_level(n, p, err);
    case SPEC_NORM_STRIP_ACCENTS:
    case SPEC_NORM_CLEAN:
    case SPEC_NORM_SPACE_HAN:
    case SPEC_NORM_NONSPACING:
        return by_character(p, err);
    }
    return LEAT_OK;
}

/* One step on what has come; *text and *bytes become what it passes on. */
static enum leat_status take_chunk(const struct normalizer *n, struct chunk *p, const uint8_t **text, size_t *bytes,
                                   struct leat_error *err)
{
    struct held *held = &p->state->held;
    const uint8_t *all;
    bool ready;
    enum leat_status s = held_join(held, text, bytes, p->last, &ready, err);

    if (s != LEAT_OK || !ready || (*bytes == 0 && !p->last)) {
        *bytes = 0;
        return s;
    }
    all = p->text = *text;
    p->bytes = p->used = *bytes;
    p->out->size = 0;
    s = take_step(n, p, err);
    if (s == LEAT_OK)
        s = held_keep(held, all, *bytes, p->last ? *bytes : p->used, err);
    *text = p->changed ? p->out->bytes : p->text;
    *bytes = p->changed ? p->out->size : p->bytes;
    return s;
}

static enum leat_status run_steps(const struct normalizer *n, struct normalizer_scratch *s, const uint8_t **text,
                                  size_t *bytes, bool last, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;
    unsigned turn = 0;

    for (uint32_t i = 0; status == LEAT_OK && i < n->count; i++) {
        struct chunk p = { .step = &n->steps[i], .state = &s->states[i], .last = last, .out = &s->buffers[turn] };

        status = take_chunk(n, &p, text, bytes, err);
        if (!*text) /* nothing is left, and there was never a buffer */
            *text = (const uint8_t *)"";
        if (status == LEAT_OK)
            status = matcher_wrote(s->steps, *bytes, err);
        turn ^= p.changed;
        if (last)
            p.state->begun = p.state->after_match = false;
    }
    return status;
}

static enum leat_status normalize_all(void *context, const uint8_t **text, size_t *bytes, struct leat_error *err)
{
    struct stepping *stepping = context;

    return run_steps(stepping->n, stepping->s, text, bytes, true, err);
}

enum leat_status normalizer_run(const struct normalizer *n, struct normalizer_scratch *s, const uint8_t **text,
                                size_t *bytes, bool last, struct leat_error *err)
{
    enum leat_status status;

    matcher_take(s->steps, *bytes);
    if (!s->images.of)
        return run_steps(n, s, text, bytes, last, err);
    status = images_run(&s->images, normalize_all, &(struct stepping) { n, s }, text, bytes, last, err);
    return status == LEAT_OK ? matcher_wrote(s->steps, *bytes, err) : status;
}
