/*
 * normalizer.c: runs the normalizers as steps. A step gets a chunk and says how much of it is done: it passes bytes
 * on unchanged, or appends its result to a buffer. It leaves text that further text may still change; this is held
 * back (held.h) and put before the next chunk. So the chunks' results are those of the whole text, and an unchanged
 * text is never copied.
 *
 * If Metaspace will ask for it, each step also says how many bytes at the beginning of its result come from the
 * first character of the whole text, as the reference has it, which keeps the place in the text of each byte: the
 * replacement of a match stands where the match ends, and a text that is put before the text, or before its first
 * character, stands with that character.
 */
#include "normalizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/bytes64.h"
#include "base/status.h"
#include "base/utf8.h"
#include "charsmap.h"
#include "tokenizer/spec/spec.h"
#include "tokenizer/split/matcher.h"
#include "tokenizer/unicode/normalize_unicode.h"
#include "tokenizer/unicode/unicode.h"

/* ---- Character by character -------------------------------------------------------------------------------------- */

/* Normalizes by single characters, whatever stands around them: StripAccents, and the parts of a BertNormalizer. */

/* What becomes of a character. */
enum verdict { STAYS, GOES, BECOMES_SPACE, GETS_SPACES };

/* Returns true for the blocks of Unicode that the reference lists, not for the script. */
static bool is_chinese(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } blocks[] = { { 0x4e00, 0x9fff },   { 0x3400, 0x4dbf },   { 0x20000, 0x2a6df }, { 0x2a700, 0x2b73f },
                   { 0x2b740, 0x2b81f }, { 0x2b920, 0x2ceaf }, { 0xf900, 0xfaff },   { 0x2f800, 0x2fa1f } };

    for (size_t i = 0; c >= 0x3400 && i < sizeof blocks / sizeof blocks[0]; i++)
        if (c >= blocks[i].first && c <= blocks[i].last)
            return true;
    return false;
}

static enum verdict judge(enum spec_normalizer_kind kind, uint32_t c)
{
    uint8_t tests;

    switch (kind) {
    case SPEC_NORM_SPACE_HAN:
        return is_chinese(c) ? GETS_SPACES : STAYS;
    case SPEC_NORM_STRIP_ACCENTS:
        return char_tests(c) & CHAR_MARK ? GOES : STAYS;
    case SPEC_NORM_NONSPACING:
        return char_tests(c) & CHAR_NONSPACING ? GOES : STAYS;
    default: /* SPEC_NORM_CLEAN */
        tests = char_tests(c);
        return tests & CHAR_CONTROL ? GOES : (tests & CHAR_WHITESPACE) && c != ' ' ? BECOMES_SPACE : STAYS;
    }
}

/* Skips printable ASCII, which all of them leave: eight bytes at a time, then one by one. Returns how much. */
static size_t skip_ascii(const uint8_t *text, size_t bytes)
{
    size_t at = 0;

    for (; bytes - at >= 8; at += 8) {
        uint64_t word = bytes_load64(text + at);

        if ((word | (word + BYTES_EACH(1)) | ~(word + BYTES_EACH(0x60))) & BYTES_EACH(0x80))
            break;
    }
    while (at < bytes && text[at] >= ' ' && text[at] < 0x7f)
        at++;
    return at;
}

/* Returns the length of the prefix that stays as it is: `bytes`, if all of the text does. */
static size_t by_character_prefix(enum spec_normalizer_kind kind, const uint8_t *text, size_t bytes)
{
    size_t at = skip_ascii(text, bytes), length;

    while (at < bytes && judge(kind, unicode_decode(text + at, &length)) == STAYS) {
        at += length;
        at += skip_ascii(text + at, bytes - at);
    }
    return at;
}

/* Appends the result of a text, which is valid UTF-8. */
static enum leat_status by_character_append(struct buffer *out, enum spec_normalizer_kind kind, const uint8_t *text,
                                            size_t bytes, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && bytes > 0) {
        size_t same = by_character_prefix(kind, text, bytes), length = 0;
        uint8_t put[6] = { ' ' };

        s = buffer_append(out, text, same, err);
        text += same;
        bytes -= same;
        if (s != LEAT_OK || bytes == 0)
            return s;
        switch (judge(kind, unicode_decode(text, &length))) {
        case BECOMES_SPACE:
            s = buffer_append(out, put, 1, err);
            break;
        case GETS_SPACES:
            memcpy(put + 1, text, length);
            put[1 + length] = ' ';
            s = buffer_append(out, put, length + 2, err);
            break;
        default:
            break;
        }
        text += length;
        bytes -= length;
    }
    return s;
}

/* A step: a normalizer of the spec with its matcher or map. */
struct step {
    const struct spec_normalizer *spec;
    struct charsmap *charsmap;
    struct matcher matcher;
    bool before_bytes; /* the step writes something, and ByteLevel comes later */
};

struct normalizer {
    const struct tokenizer_spec *spec;
    struct step *steps;
    uint32_t count;
    bool follows; /* the text's first character follows */
    struct byte_alphabet alphabet;
};

/* The context with which images.h normalizes a text by the steps. */
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
    if (status == LEAT_OK && images_can(n->spec) && !n->follows)
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

/* Prepares for the next text. `of_first`: it begins where the whole text does. */
static void state_begin(struct normalizer_state *s, bool of_first)
{
    s->begun = s->after_match = false;
    s->first = 0;
    s->awaited = 0;
    s->of_first = s->after_first = of_first;
    s->places = (struct charsmap_places) { 0 };
}

void normalizer_scratch_clear(struct normalizer_scratch *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        held_clear(&s->states[i].held);
        state_begin(&s->states[i], false);
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
    for (uint32_t i = 0; i < spec->pre_tokenizer_count; i++)
        n->follows = n->follows || spec->pre_tokenizers[i].prepend == SPEC_PREPEND_FIRST;
    for (uint32_t i = 0; s == LEAT_OK && i < spec->normalizer_count; i++) {
        struct step *step = &n->steps[n->count++];

        step->spec = &spec->normalizers[i];
        if (step->spec->kind == SPEC_NORM_PRECOMPILED)
            s = charsmap_create(&step->charsmap, step->spec->content.bytes, step->spec->content.length, err);
        else if (step->spec->kind == SPEC_NORM_REPLACE)
            s = matcher_make(&step->matcher, &step->spec->pattern, spec->dialect, "normalizer Replace", err);
        step->before_bytes = step->spec->content.length > 0 && spec_maps_bytes(spec, i);
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

/* ---- The steps --------------------------------------------------------------------------------------------------- */

/* A step's text: held text, and new text. A step either moves `text` and sets `bytes` to the chunk that it passes on
 * unchanged, or sets `changed` and appends its result to `out`; `used` is how much it is done with. */
struct chunk {
    const struct step *step;
    struct normalizer_state *state;
    const uint8_t *text;
    size_t bytes, used;
    size_t first; /* bytes of `text`, and later of the result, that come from the first character of the whole */
    bool last, changed;
    struct buffer *out;
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Returns the last place where the text can be cut, whatever follows it. */
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
    size_t prefix, first;
    enum leat_status s;

    if (!p->last)
        p->bytes = p->used = form_boundary(form, p->text, p->bytes);
    prefix = normalize_prefix(form, p->text, p->bytes);
    if (prefix == p->bytes)
        return LEAT_OK;
    p->changed = true;
    s = buffer_append(p->out, p->text, prefix, err);
    if (s == LEAT_OK)
        s = normalize_append(p->out, form, p->text + prefix, p->bytes - prefix, err);
    if (s == LEAT_OK && p->first > prefix) {
        s = normalize_first(&first, form, p->text + prefix, p->bytes - prefix, least(p->first, p->bytes) - prefix,
                            p->out->bound, err);
        p->first = prefix + first;
    }
    return s;
}

/* ---- Those that change each character by itself ------------------------------------------------------------------ */

static size_t same_prefix(const struct chunk *p)
{
    return p->step->spec->kind == SPEC_NORM_LOWERCASE    ? lowercase_prefix(p->text, p->bytes)
           : p->step->spec->kind == SPEC_NORM_BYTE_LEVEL ? 0
                                                         : by_character_prefix(p->step->spec->kind, p->text, p->bytes);
}

static enum leat_status append_changed(const struct normalizer *n, struct chunk *p, size_t from, size_t to,
                                       struct leat_error *err)
{
    switch (p->step->spec->kind) {
    case SPEC_NORM_LOWERCASE:
        return lowercase_append(p->out, p->text + from, to - from, err);
    case SPEC_NORM_BYTE_LEVEL:
        return byte_alphabet_append(p->out, &n->alphabet, p->text + from, to - from, err);
    default:
        return by_character_append(p->out, p->step->spec->kind, p->text + from, to - from, err);
    }
}

static enum leat_status by_character(const struct normalizer *n, struct chunk *p, struct leat_error *err)
{
    size_t prefix = same_prefix(p), first = p->first;
    enum leat_status s;

    if (prefix == p->bytes)
        return LEAT_OK;
    p->changed = true;
    if (prefix < first)
        prefix = 0;
    s = buffer_append(p->out, p->text, prefix, err);
    if (s == LEAT_OK && prefix == 0 && first > 0) {
        s = append_changed(n, p, 0, first, err);
        prefix = first;
        p->first = p->out->size;
    }
    return s == LEAT_OK ? append_changed(n, p, prefix, p->bytes, err) : s;
}

static bool is_space(const uint8_t *text)
{
    size_t length;

    return (char_tests(unicode_decode(text, &length)) & CHAR_WHITESPACE) != 0;
}

/* Strips white space. White space at the end of a chunk may end the text, so it is held back until something else
 * comes. */
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

/* Returns how many bytes of the text from `begin` to `end`, which stays, come from the first character. */
static size_t first_of(size_t first, size_t begin, size_t end)
{
    return first > begin ? least(first, end) - begin : 0;
}

static enum leat_status replace(struct chunk *p, struct leat_error *err)
{
    const struct spec_string *content = &p->step->spec->content;
    struct normalizer_state *state = p->state;
    struct matcher_pass pass;
    size_t start, end, copied = 0, first = 0;
    bool found = true, matched = state->after_match, begins = !state->begun;
    enum leat_status s;

    if (begins && p->bytes == 0) /* the reference finds no match in an empty text, not even an empty one */
        return LEAT_OK;
    s = matcher_begin(&pass, &p->step->matcher, state->run, &(struct scan_window) { p->text, p->bytes, p->last },
                      matched, err);
    while (s == LEAT_OK) {
        s = matcher_next(&pass, &start, &end, &found, err);
        if (s != LEAT_OK || !found)
            break;
        /* A match there has no place in the text: ByteLevel of tokenizers 0.23.3 fails on most such texts, and gives
         * others ids of other bytes. */
        if (begins && end == 0 && p->step->before_bytes)
            return status_set(err, LEAT_E_TEXT,
                              "a Replace before ByteLevel puts something before this text without replacing anything, "
                              "where tokenizers fails");
        matched = p->changed = true;
        s = buffer_append(p->out, p->text + copied, start - copied, err);
        if (s == LEAT_OK)
            s = buffer_append(p->out, content->bytes, content->length, err);
        first += first_of(p->first, copied, start);
        first += (end > 0 ? end <= p->first : state->after_first) ? content->length : 0;
        copied = end;
    }
    if (s != LEAT_OK)
        return s;
    p->bytes = p->used = matcher_used(&pass);
    state->after_match = matched && p->used == copied;
    if (p->used > 0) {
        state->begun = true;
        state->after_first = p->used <= p->first;
    }
    p->first = first + first_of(p->first, copied, p->used);
    return p->changed ? buffer_append(p->out, p->text + copied, p->used - copied, err) : LEAT_OK;
}

static enum leat_status prepend(struct chunk *p, struct leat_error *err)
{
    const struct spec_string *content = &p->step->spec->content;
    enum leat_status s;

    if (p->state->begun || p->bytes == 0)
        return LEAT_OK;
    p->state->begun = true;
    if (content->length == 0 && p->first == 0 && p->state->of_first)
        unicode_decode(p->text, &p->first); /* in the reference, a mark is put anew before all others */
    if (content->length == 0)
        return LEAT_OK;
    p->changed = true;
    p->first += p->first > 0 ? content->length : 0;
    s = buffer_append(p->out, content->bytes, content->length, err);
    return s == LEAT_OK ? buffer_append(p->out, p->text, p->bytes, err) : s;
}

/*
 * Bytes after the text's first character that are waited for. The character and what decides its place must be seen
 * together. This many bytes are mostly enough; if not, twice as many each time, so that a long text is gone through
 * only a few times.
 */
#define AFTER_FIRST 64

static void await_more(struct chunk *p)
{
    p->out->size = p->used = p->first = 0;
    p->changed = true;
}

static enum leat_status precompiled(struct chunk *p, struct leat_error *err)
{
    const struct charsmap *map = p->step->charsmap;
    struct charsmap_places *places = &p->state->places, before = *places;
    bool follows = p->first > 0 || (places->first > 0 && !places->done);
    size_t first = p->first;
    enum leat_status s;

    if (follows && !p->last && p->bytes - first < (size_t)AFTER_FIRST << p->state->awaited) {
        await_more(p);
        return LEAT_OK;
    }
    if (p->last && charsmap_prefix(map, CHARSMAP_GRAPHEMES, p->text, p->bytes) == p->bytes && places->first == 0)
        return LEAT_OK;
    p->changed = true;
    s = charsmap_append_graphemes(p->out, map, p->text, p->bytes, p->last, &p->used, err);
    places->first += utf8_characters(p->text, least(first, p->used));
    p->first = places->first > 0 ? charsmap_first(map, p->text, p->bytes, p->last, p->used, places) : 0;
    if (follows && places->open && !p->last) {
        *places = before;
        p->state->awaited++;
        await_more(p);
    }
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
    case SPEC_NORM_STRIP:
        strip(p);
        return LEAT_OK;
    case SPEC_NORM_REPLACE:
        return replace(p, err);
    case SPEC_NORM_PREPEND:
        return prepend(p, err);
    case SPEC_NORM_PRECOMPILED:
        return precompiled(p, err);
    case SPEC_NORM_LOWERCASE:
    case SPEC_NORM_BYTE_LEVEL:
    case SPEC_NORM_STRIP_ACCENTS:
    case SPEC_NORM_CLEAN:
    case SPEC_NORM_SPACE_HAN:
    case SPEC_NORM_NONSPACING:
        return by_character(n, p, err);
    }
    return LEAT_OK;
}

/* Runs one step on the text that has come. *text and *bytes become what it passes on. */
static enum leat_status take_chunk(const struct normalizer *n, struct chunk *p, const uint8_t **text, size_t *bytes,
                                   struct leat_error *err)
{
    struct held *held = &p->state->held;
    const uint8_t *all;
    bool ready;
    enum leat_status s;

    if (p->first > 0)
        p->state->first = held->text.size - held->begin + p->first;
    p->first = 0;
    s = held_join(held, text, bytes, p->last, &ready, err);
    if (s != LEAT_OK || !ready || (*bytes == 0 && !p->last)) {
        *bytes = 0;
        return s;
    }
    all = p->text = *text;
    p->bytes = p->used = *bytes;
    p->first = least(p->state->first, *bytes);
    p->out->size = 0;
    s = take_step(n, p, err);
    if (s == LEAT_OK)
        s = held_keep(held, all, *bytes, p->last ? *bytes : p->used, err);
    p->state->first -= least(p->state->first, p->used);
    if (!p->changed)
        p->first = first_of(p->first, (size_t)(p->text - all), (size_t)(p->text - all) + p->bytes);
    *text = p->changed ? p->out->bytes : p->text;
    *bytes = p->changed ? p->out->size : p->bytes;
    return s;
}

static enum leat_status run_steps(const struct normalizer *n, struct normalizer_scratch *s, const uint8_t **text,
                                  size_t *bytes, bool last, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;
    unsigned turn = 0;

    for (uint32_t i = 0; n->follows && s->first > 0 && i < n->count; i++)
        state_begin(&s->states[i], true);
    for (uint32_t i = 0; status == LEAT_OK && i < n->count; i++) {
        struct chunk p = { .step = &n->steps[i], .state = &s->states[i], .last = last, .out = &s->buffers[turn] };

        p.first = n->follows ? s->first : 0;
        status = take_chunk(n, &p, text, bytes, err);
        s->first = p.first;
        if (!*text) /* nothing is left, and there never was a buffer */
            *text = (const uint8_t *)"";
        if (status == LEAT_OK)
            status = matcher_wrote(s->steps, *bytes, err);
        turn ^= p.changed;
        if (last)
            state_begin(p.state, false);
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
