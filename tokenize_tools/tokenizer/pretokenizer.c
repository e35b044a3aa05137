/*
 * pretokenizer.c: see pretokenizer.h. The spec's list becomes a list of steps: a splitter, a change of the text, or
 * both. Several expressions in a row that a hand-made scanner knows together (DeepSeek's three) become one step.
 */
#include "pretokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/tiny.h"
#include "byte_alphabet.h"
#include "utf8.h"

/* A splitter numbers bytes in 32 bits; longer segments go through in windows, which grow for a piece that needs it. */
#define WINDOW_BYTES ((size_t)TINY_OR(64, 1 << 30))
#define WINDOW_LIMIT ((size_t)UINT32_MAX - 4)

/* A change of the text comes before the splitter of its step. */
enum change {
    CHANGE_NOTHING,
    CHANGE_PREFIX,    /* a space, unless the text begins with one */
    CHANGE_METASPACE, /* spaces become the mark, and a mark may be put before */
    CHANGE_BYTES      /* bytes become characters of the byte alphabet, since steps follow that see them */
};

struct step {
    enum change change;
    bool splits;
    struct splitter splitter;
    struct pattern *pattern;               /* owned */
    const struct spec_pre_tokenizer *spec; /* of CHANGE_METASPACE */
};

struct pretokenizer {
    struct step *steps;
    uint32_t count;
    bool unmaps; /* pieces come out as characters of the byte alphabet, and the model wants bytes */
    struct byte_alphabet alphabet;
};

/* One level of the way through the steps. */
struct level {
    struct buffer changed;
    struct split_run run;
    struct pattern_run *pattern_run;
};

struct pretokenizer_scratch {
    uint32_t count;
    size_t window_bytes; /* of the first window of a segment */
    struct buffer bytes; /* of an unmapped piece */
    struct level levels[];
};

/* ---- Making ---- */

static const enum split_behavior behaviors[] = {
    [SPEC_REMOVED] = SPLIT_REMOVED,
    [SPEC_ISOLATED] = SPLIT_ISOLATED,
    [SPEC_MERGED_WITH_PREVIOUS] = SPLIT_MERGED_WITH_PREVIOUS,
    [SPEC_MERGED_WITH_NEXT] = SPLIT_MERGED_WITH_NEXT,
    [SPEC_CONTIGUOUS] = SPLIT_CONTIGUOUS,
};

static enum scan_dialect dialect_of(const struct tokenizer_spec *spec)
{
    return spec->dialect == SPEC_ONIGURUMA ? SCAN_ONIGURUMA : SCAN_RUST;
}

static bool is_expression(const struct spec_pre_tokenizer *pre)
{
    return pre->kind == SPEC_PRE_SPLIT && pre->pattern.regex;
}

static bool keeps_all(const struct spec_pre_tokenizer *pre)
{
    return is_expression(pre) && pre->behavior == SPEC_ISOLATED && !pre->invert;
}

/* Looks for a scanner that does what `count` steps from this one on do. */
static bool find_scanner(const struct tokenizer_spec *spec, uint32_t at, uint32_t count, struct splitter *out)
{
    const struct spec_pre_tokenizer *pre = &spec->pre_tokenizers[at];
    bool matches_only = count == 1 && is_expression(pre) && pre->behavior == SPEC_REMOVED && pre->invert;
    const char *texts[3];
    size_t bytes[3];

    if (count > 3 || count > spec->pre_tokenizer_count - at)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        if (!keeps_all(&pre[i]) && !matches_only)
            return false;
        texts[i] = (const char *)pre[i].pattern.text.bytes;
        bytes[i] = pre[i].pattern.text.length;
    }
    *out = (struct splitter) { .matcher = SPLIT_BY_SCANNER, .behavior = SPLIT_ISOLATED };
    return scanner_find(&out->scanner, texts, bytes, count, dialect_of(spec), matches_only);
}

static enum leat_status make_split(struct step *step, const struct spec_pre_tokenizer *pre,
                                   const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct splitter *s = &step->splitter;

    step->splits = true;
    *s = (struct splitter) { .matcher = SPLIT_BY_STRING,
                             .behavior = behaviors[pre->behavior],
                             .invert = pre->invert,
                             .string = pre->pattern.text.bytes,
                             .string_bytes = pre->pattern.text.length };
    if (!pre->pattern.regex)
        return LEAT_OK;
    s->matcher = SPLIT_BY_PATTERN;
    return pattern_compile(&step->pattern, (const char *)pre->pattern.text.bytes, pre->pattern.text.length,
                           dialect_of(spec), err);
}

static void make_byte_level(struct step *step, const struct spec_pre_tokenizer *pre)
{
    step->change = pre->add_prefix_space ? CHANGE_PREFIX : CHANGE_NOTHING;
    if (!pre->use_regex)
        return;
    step->splits = true;
    step->splitter = (struct splitter) { .matcher = SPLIT_BY_SCANNER, .behavior = SPLIT_ISOLATED };
    scanner_named(&step->splitter.scanner, "gpt2", SCAN_ONIGURUMA);
}

static void make_metaspace(struct step *step, const struct spec_pre_tokenizer *pre)
{
    step->change = CHANGE_METASPACE;
    step->spec = pre;
    step->splits = pre->split;
    step->splitter = (struct splitter) { .matcher = SPLIT_BY_STRING,
                                         .behavior = SPLIT_MERGED_WITH_NEXT,
                                         .string = pre->replacement.bytes,
                                         .string_bytes = pre->replacement.length };
}

static enum leat_status make_step(struct step *step, const struct tokenizer_spec *spec, uint32_t at,
                                  struct leat_error *err)
{
    const struct spec_pre_tokenizer *pre = &spec->pre_tokenizers[at];

    step->splits = true;
    switch (pre->kind) {
    case SPEC_PRE_BYTE_LEVEL:
        step->splits = false;
        make_byte_level(step, pre);
        break;
    case SPEC_PRE_SPLIT:
        return make_split(step, pre, spec, err);
    case SPEC_PRE_DIGITS:
        step->splitter = split_digits(pre->individual_digits);
        break;
    case SPEC_PRE_PUNCTUATION:
        step->splitter = split_punctuation(behaviors[pre->behavior]);
        break;
    case SPEC_PRE_WHITESPACE:
        step->splitter = split_whitespace_words();
        break;
    case SPEC_PRE_WHITESPACE_SPLIT:
        step->splitter = split_whitespace();
        break;
    case SPEC_PRE_METASPACE:
        make_metaspace(step, pre);
        break;
    }
    return LEAT_OK;
}

static enum leat_status make_steps(struct pretokenizer *p, const struct tokenizer_spec *spec, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint32_t at = 0; s == LEAT_OK && at < spec->pre_tokenizer_count;) {
        struct step *step = &p->steps[p->count++];
        uint32_t together = 3;

        while (together > 0 && !find_scanner(spec, at, together, &step->splitter))
            together--;
        step->splits = together > 0;
        if (together == 0)
            s = make_step(step, spec, at, err);
        at += together > 0 ? together : 1;
        if (spec->pre_tokenizers[at - 1].kind == SPEC_PRE_BYTE_LEVEL && at < spec->pre_tokenizer_count && !p->unmaps) {
            p->steps[p->count++].change = CHANGE_BYTES;
            p->unmaps = true;
        }
    }
    return s;
}

enum leat_status pretokenizer_make(struct pretokenizer **out, const struct tokenizer_spec *spec, struct leat_error *err)
{
    struct pretokenizer *p = calloc(1, sizeof *p);
    enum leat_status s;

    *out = NULL;
    if (p)
        p->steps = calloc(2 * (size_t)spec->pre_tokenizer_count + 1, sizeof *p->steps);
    if (!p || !p->steps) {
        free(p);
        return status_no_memory(err, spec->pre_tokenizer_count * sizeof *p->steps);
    }
    byte_alphabet_init(&p->alphabet);
    for (uint32_t i = 0; i < spec->normalizer_count; i++)
        p->unmaps = p->unmaps || spec->normalizers[i].kind == SPEC_NORM_BYTE_LEVEL;
    s = make_steps(p, spec, err);
    for (uint32_t i = 0; i < p->count; i++)
        p->steps[i].splitter.pattern = p->steps[i].pattern;
    if (s != LEAT_OK) {
        pretokenizer_free(p);
        return s;
    }
    *out = p;
    return LEAT_OK;
}

void pretokenizer_free(struct pretokenizer *p)
{
    if (!p)
        return;
    for (uint32_t i = 0; i < p->count; i++)
        pattern_free(p->steps[i].pattern);
    free(p->steps);
    free(p);
}

/* ---- A thread's memory ---- */

enum leat_status pretokenizer_scratch_make(struct pretokenizer_scratch **out, const struct pretokenizer *p,
                                           struct leat_error *err)
{
    struct pretokenizer_scratch *s = calloc(1, sizeof *s + p->count * sizeof s->levels[0]);

    *out = NULL;
    if (!s)
        return status_no_memory(err, sizeof *s);
    s->count = p->count;
    s->window_bytes = WINDOW_BYTES;
    for (uint32_t i = 0; i < p->count; i++) {
        if (!p->steps[i].pattern)
            continue;
        s->levels[i].pattern_run = pattern_run_new(p->steps[i].pattern);
        if (!s->levels[i].pattern_run) {
            pretokenizer_scratch_free(s);
            return status_no_memory(err, sizeof *s);
        }
    }
    *out = s;
    return LEAT_OK;
}

void pretokenizer_scratch_free(struct pretokenizer_scratch *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->count; i++) {
        buffer_free(&s->levels[i].changed);
        pattern_run_free(s->levels[i].pattern_run);
    }
    buffer_free(&s->bytes);
    free(s);
}

void pretokenizer_scratch_window(struct pretokenizer_scratch *s, size_t bytes)
{
    s->window_bytes = bytes < 4 ? 4 : bytes > WINDOW_LIMIT ? WINDOW_LIMIT : bytes;
}

/* ---- Running ---- */

struct way {
    const struct pretokenizer *p;
    struct pretokenizer_scratch *s;
    pretokenizer_take *take;
    void *context;
};

static bool begins_with(const uint8_t *text, size_t bytes, const struct spec_string *s)
{
    return bytes >= s->length && memcmp(text, s->bytes, s->length) == 0;
}

static enum leat_status replace_spaces(struct buffer *out, const uint8_t *text, size_t bytes,
                                       const struct spec_string *mark, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t at = 0; s == LEAT_OK && at < bytes;) {
        const uint8_t *space = memchr(text + at, ' ', bytes - at);
        size_t end = space ? (size_t)(space - text) : bytes;

        s = buffer_append(out, text + at, end - at, err);
        if (s == LEAT_OK && space)
            s = buffer_append(out, mark->bytes, mark->length, err);
        at = end + (space ? 1 : 0);
    }
    return s;
}

static enum leat_status metaspace(const struct spec_pre_tokenizer *spec, struct buffer *out, const uint8_t *text,
                                  size_t bytes, bool first, struct leat_error *err)
{
    bool wanted = spec->prepend == SPEC_PREPEND_ALWAYS || (spec->prepend == SPEC_PREPEND_FIRST && first);
    enum leat_status s = LEAT_OK;

    if (wanted && text[0] != ' ' && !begins_with(text, bytes, &spec->replacement))
        s = buffer_append(out, spec->replacement.bytes, spec->replacement.length, err);
    return s == LEAT_OK ? replace_spaces(out, text, bytes, &spec->replacement, err) : s;
}

static enum leat_status map_bytes(const struct byte_alphabet *alphabet, struct buffer *out, const uint8_t *text,
                                  size_t bytes, struct leat_error *err)
{
    enum leat_status s = buffer_reserve(out, 2 * bytes, err);

    for (size_t i = 0; s == LEAT_OK && i < bytes; i++)
        out->size += utf8_encode(out->bytes + out->size, alphabet->code_of[text[i]]);
    return s;
}

/* Changes the text as the step says; *text and *bytes then lie in the level's buffer. */
static enum leat_status change(const struct pretokenizer *p, const struct step *step, struct buffer *out,
                               const uint8_t **text, size_t *bytes, bool first, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (step->change == CHANGE_NOTHING || (step->change == CHANGE_PREFIX && **text == ' '))
        return LEAT_OK;
    out->size = 0;
    if (step->change == CHANGE_METASPACE) {
        s = metaspace(step->spec, out, *text, *bytes, first, err);
    } else if (step->change == CHANGE_BYTES) {
        s = map_bytes(&p->alphabet, out, *text, *bytes, err);
    } else {
        s = buffer_append(out, " ", 1, err);
        if (s == LEAT_OK)
            s = buffer_append(out, *text, *bytes, err);
    }
    *text = out->bytes;
    *bytes = out->size;
    return s;
}

static enum leat_status take_piece(struct way *w, const uint8_t *piece, size_t bytes, struct leat_error *err)
{
    struct buffer *b = &w->s->bytes;
    enum leat_status s;
    uint32_t count;

    if (!w->p->unmaps)
        return w->take(w->context, piece, bytes, err);
    b->size = 0;
    s = bytes < UINT32_MAX ? buffer_reserve(b, bytes, err) : status_no_memory(err, bytes);
    if (s != LEAT_OK)
        return s;
    /* every character came out of the alphabet, so that all go back */
    if (!byte_alphabet_decode(&w->p->alphabet, b->bytes, &count, piece, (uint32_t)bytes))
        return status_set(err, LEAT_E_STATE, "a piece of byte-level text has a character outside its alphabet");
    return w->take(w->context, b->bytes, count, err);
}

static enum leat_status of_result(enum pattern_result r, struct leat_error *err)
{
    if (r == PATTERN_GAVE_UP)
        return status_set(err, LEAT_E_TEXT,
                          "the tokenizer's regular expression takes too many steps on this text: it is refused");
    return r == PATTERN_NO_MEMORY ? status_no_memory(err, 0) : LEAT_OK;
}

static enum leat_status run_step(struct way *w, uint32_t number, const uint8_t *text, size_t bytes, bool first,
                                 struct leat_error *err);

/* One window of a splitter's text; *used is how much of it is done with. */
static enum leat_status split_window(struct way *w, uint32_t number, const struct scan_window *window, bool first,
                                     size_t *used, struct leat_error *err)
{
    struct level *l = &w->s->levels[number];
    struct split_piece pieces[SPLIT_ROOM];
    enum pattern_result r = split_begin(&l->run, &w->p->steps[number].splitter, window);
    enum leat_status s = of_result(r, err);

    while (s == LEAT_OK) {
        size_t count = 0;

        r = split_next(&l->run, pieces, &count);
        s = of_result(r, err);
        for (size_t i = 0; s == LEAT_OK && i < count; i++)
            s = run_step(w, number + 1, window->text + pieces[i].begin, pieces[i].end - pieces[i].begin,
                         first && pieces[i].begin == 0, err);
        if (r != PATTERN_MORE)
            break;
    }
    *used = s == LEAT_OK ? split_resume(&l->run) : 0;
    return s;
}

static enum leat_status split_text(struct way *w, uint32_t number, const uint8_t *text, size_t bytes, bool first,
                                   struct leat_error *err)
{
    const struct pattern *pattern = w->p->steps[number].pattern;
    struct level *l = &w->s->levels[number];
    size_t window_bytes = pattern && pattern_needs_all(pattern) ? WINDOW_LIMIT : w->s->window_bytes;
    enum leat_status s = LEAT_OK;

    l->run = (struct split_run) { .pattern_run = l->pattern_run };
    for (size_t at = 0; s == LEAT_OK && at < bytes;) {
        struct scan_window window = { .text = text + at, .length = bytes - at, .final = true };
        size_t used = 0;

        if (window.length > window_bytes) {
            window.length = window_bytes;
            window.final = false;
            while ((text[at + window.length] & 0xc0) == 0x80)
                window.length--;
        }
        s = split_window(w, number, &window, first && at == 0, &used, err);
        if (window.final)
            break;
        if (s == LEAT_OK && used == 0 && (window_bytes *= 2) > WINDOW_LIMIT)
            s = status_set(err, LEAT_E_NO_MEMORY, "a piece of more than 2 GiB cannot be cut");
        at += used;
    }
    return s;
}

static enum leat_status run_step(struct way *w, uint32_t number, const uint8_t *text, size_t bytes, bool first,
                                 struct leat_error *err)
{
    const struct step *step;
    enum leat_status s;

    if (number == w->p->count)
        return take_piece(w, text, bytes, err);
    step = &w->p->steps[number];
    s = change(w->p, step, &w->s->levels[number].changed, &text, &bytes, first, err);
    if (s != LEAT_OK)
        return s;
    return step->splits ? split_text(w, number, text, bytes, first, err)
                        : run_step(w, number + 1, text, bytes, first, err);
}

enum leat_status pretokenizer_run(const struct pretokenizer *p, struct pretokenizer_scratch *s, const uint8_t *text,
                                  size_t bytes, bool first, pretokenizer_take *take, void *context,
                                  struct leat_error *err)
{
    struct way w = { p, s, take, context };

    return bytes > 0 ? run_step(&w, 0, text, bytes, first, err) : LEAT_OK;
}
