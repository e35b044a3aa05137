/*
 * pretokenizer.c: see pretokenizer.h. A text goes through the steps that pretokenizer_make.c has made, each inside the
 * pretokens of the one before.
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/tiny.h"
#include "base/utf8.h"
#include "pretokenizer_internal.h"

/* A splitter numbers bytes in 31 bits, for the 32nd is a flag of models (MODEL_FIXED). Longer segments go through in
 * windows, which grow for a pretoken that needs it. */
#define WINDOW_BYTES ((size_t)TINY_OR(64, 1 << 30))
#define WINDOW_LIMIT ((size_t)INT32_MAX)

/* One level of the way through the steps. */
struct level {
    struct buffer changed;
    struct split_run run;
    struct pattern_run *pattern_run;
};

struct pretokenizer_scratch {
    uint32_t count;
    size_t window_bytes; /* of the first window of a segment */
    struct bound *bound;
    pretokenizer_take_pretokens *batches; /* may be NULL */
    struct held held;    /* of a segment that comes in chunks, what the first splitter is not done with */
    bool begun;          /* something of the segment has come */
    bool cut;            /* and a pretoken of it has been given */
    struct buffer bytes; /* of an unmapped pretoken */
    struct level levels[];
};

/* ---- A thread's memory ---- */

enum leat_status pretokenizer_scratch_make(struct pretokenizer_scratch **out, const struct pretokenizer *p,
                                           struct bound *bound, struct leat_error *err)
{
    struct pretokenizer_scratch *s = calloc(1, sizeof *s + p->count * sizeof s->levels[0]);

    *out = NULL;
    if (!s)
        return status_no_memory(err, sizeof *s);
    s->count = p->count;
    s->window_bytes = WINDOW_BYTES;
    s->bound = s->held.text.bound = s->bytes.bound = bound;
    for (uint32_t i = 0; i < p->count; i++) {
        s->levels[i].changed.bound = bound;
        if (!p->steps[i].pattern)
            continue;
        s->levels[i].pattern_run = pattern_run_new(p->steps[i].pattern);
        if (!s->levels[i].pattern_run) {
            pretokenizer_scratch_free(s);
            return status_no_memory(err, sizeof *s);
        }
        pattern_run_bound(s->levels[i].pattern_run, bound);
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
    held_free(&s->held);
    buffer_free(&s->bytes);
    free(s);
}

void pretokenizer_scratch_clear(struct pretokenizer_scratch *s)
{
    held_clear(&s->held);
    s->begun = s->cut = false;
}

void pretokenizer_scratch_trim(struct pretokenizer_scratch *s)
{
    for (uint32_t i = 0; i < s->count; i++) {
        s->levels[i].changed.size = 0;
        buffer_trim(&s->levels[i].changed);
    }
    s->bytes.size = 0;
    buffer_trim(&s->bytes);
    held_trim(&s->held);
}

void pretokenizer_scratch_batches(struct pretokenizer_scratch *s, pretokenizer_take_pretokens *take)
{
    s->batches = take;
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
                                  size_t bytes, bool begins, bool first, struct leat_error *err)
{
    bool wanted = begins && (spec->prepend == SPEC_PREPEND_ALWAYS || (spec->prepend == SPEC_PREPEND_FIRST && first));
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

/* Changes the text as the step says; *text and *bytes then lie in the level's buffer. `begins`: it is not the later
 * chunk of a segment. */
static enum leat_status change(const struct pretokenizer *p, const struct step *step, struct buffer *out,
                               const uint8_t **text, size_t *bytes, bool begins, bool first, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (*bytes == 0 || step->change == CHANGE_NOTHING || (step->change == CHANGE_PREFIX && (!begins || **text == ' ')))
        return LEAT_OK;
    out->size = 0;
    if (step->change == CHANGE_METASPACE) {
        s = metaspace(step->spec, out, *text, *bytes, begins, first, err);
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

static enum leat_status take_pretoken(struct way *w, const uint8_t *pretoken, size_t bytes, bool last,
                                      struct leat_error *err)
{
    struct buffer *b = &w->s->bytes;
    enum leat_status s;
    uint32_t count;

    if (!w->p->unmaps)
        return w->take(w->context, pretoken, bytes, last, err);
    b->size = 0;
    s = bytes < UINT32_MAX ? buffer_reserve(b, bytes, err) : status_no_memory(err, bytes);
    if (s != LEAT_OK)
        return s;
    /* every character came out of the alphabet, so that all go back */
    if (!byte_alphabet_decode(&w->p->alphabet, b->bytes, &count, pretoken, (uint32_t)bytes))
        return status_set(err, LEAT_E_TEXT, "the text has a character that stands for no byte after ByteLevel");
    return w->take(w->context, b->bytes, count, last, err);
}

static enum leat_status of_result(const struct way *w, enum pattern_result r, size_t bytes, struct leat_error *err)
{
    const struct bound *b = w->s->bound;

    if (r == PATTERN_GAVE_UP)
        return status_set(err, LEAT_E_TEXT, "the tokenizer's regular expression takes too many steps on this text");
    if (r != PATTERN_NO_MEMORY)
        return LEAT_OK;
    return b && b->max - b->held < bytes ? bound_refuse(b, bytes, err) : status_no_memory(err, bytes);
}

static enum leat_status run_step(struct way *w, uint32_t number, const uint8_t *text, size_t bytes, bool first,
                                 struct leat_error *err);

/* Pretokens that a scanner gives at a time, when they go to the model together. */
#define SCAN_ROOM 4096

/* Whether a step's pretokens are a scanner's, and are final. */
static bool comes_together(const struct way *w, uint32_t number)
{
    const struct splitter *s = &w->p->steps[number].splitter;

    return w->s->batches && number + 1 == w->p->count && !w->p->unmaps && s->matcher == SPLIT_BY_SCANNER &&
           s->behavior == SPLIT_ISOLATED && !s->invert;
}

/* As split_window() for such a step: no pretoken is touched here. */
static enum leat_status scan_pretokens(struct way *w, uint32_t number, const struct scan_window *window, size_t *used,
                                       struct leat_error *err)
{
    const struct scanner *scanner = &w->p->steps[number].splitter.scanner;
    enum leat_status s = LEAT_OK;
    uint32_t ends[SCAN_ROOM];
    size_t at = 0, count = SCAN_ROOM;

    while (s == LEAT_OK && count == SCAN_ROOM) {
        size_t begin = at;

        count = scan_next(scanner, window, &at, ends, SCAN_ROOM);
        if (count > 0)
            s = w->s->batches(w->context, window->text, window->length, (uint32_t)begin, ends, count, err);
    }
    *used = s == LEAT_OK ? at : 0;
    return s;
}

/* One window of a splitter's text; *used is how much of it is done with. */
static enum leat_status split_window(struct way *w, uint32_t number, const struct scan_window *window, bool first,
                                     size_t *used, struct leat_error *err)
{
    struct level *l = &w->s->levels[number];
    struct split_pretoken pretokens[SPLIT_ROOM];
    enum pattern_result r = split_begin(&l->run, &w->p->steps[number].splitter, window);
    enum leat_status s = of_result(w, r, window->length, err);

    while (s == LEAT_OK) {
        size_t count = 0;

        r = split_next(&l->run, pretokens, &count);
        s = of_result(w, r, window->length, err);
        for (size_t i = 0; s == LEAT_OK && i < count; i++)
            s = run_step(w, number + 1, window->text + pretokens[i].begin, pretokens[i].end - pretokens[i].begin,
                         first && pretokens[i].begin == 0, err);
        if (r != PATTERN_MORE)
            break;
    }
    *used = s == LEAT_OK ? split_resume(&l->run) : 0;
    return s;
}

/* A splitter's text or, if not `last`, what of it is there; *used is how much is done with. The level's run tells what
 * came before. */
static enum leat_status split_text(struct way *w, uint32_t number, const uint8_t *text, size_t bytes, bool first,
                                   bool last, size_t *used, struct leat_error *err)
{
    const struct pattern *pattern = w->p->steps[number].pattern;
    bool needs_all = pattern && pattern_needs_all(pattern);
    size_t window_bytes = needs_all ? WINDOW_LIMIT : w->s->window_bytes, done = 0;
    enum leat_status s = LEAT_OK;

    *used = 0;
    while (s == LEAT_OK && *used < bytes && (last || !needs_all)) {
        struct scan_window window = { .text = text + *used, .length = bytes - *used, .final = last };

        if (window.length > window_bytes) {
            window.length = window_bytes;
            window.final = false;
            while ((window.text[window.length] & 0xc0) == 0x80)
                window.length--;
        }
        s = comes_together(w, number) ? scan_pretokens(w, number, &window, &done, err)
                                      : split_window(w, number, &window, first && *used == 0, &done, err);
        if (window.final)
            done = window.length;
        if (*used + window.length == bytes) {
            *used += done;
            break;
        }
        if (s == LEAT_OK && done == 0 && window_bytes == WINDOW_LIMIT)
            s = status_set(err, LEAT_E_PIECE, "cannot cut a stretch of more than 2 GiB");
        else if (done == 0)
            window_bytes = window_bytes < WINDOW_LIMIT / 2 ? 2 * window_bytes : WINDOW_LIMIT;
        *used += done;
    }
    return s;
}

static void begin_split(struct pretokenizer_scratch *s, uint32_t number)
{
    s->levels[number].run = (struct split_run) { .pattern_run = s->levels[number].pattern_run };
}

/* A whole text through this step and those after it. */
static enum leat_status run_step(struct way *w, uint32_t number, const uint8_t *text, size_t bytes, bool first,
                                 struct leat_error *err)
{
    const struct step *step;
    enum leat_status s;
    size_t used;

    if (number == w->p->count)
        return take_pretoken(w, text, bytes, true, err);
    step = &w->p->steps[number];
    s = change(w->p, step, &w->s->levels[number].changed, &text, &bytes, true, first, err);
    if (s != LEAT_OK)
        return s;
    if (!step->splits)
        return run_step(w, number + 1, text, bytes, first, err);
    begin_split(w->s, number);
    return split_text(w, number, text, bytes, first, true, &used, err);
}

/* What has come of a segment, changed by all steps before it, through the first splitter. */
static enum leat_status split_part(struct way *w, uint32_t number, const uint8_t *text, size_t bytes, bool first,
                                   bool last, struct leat_error *err)
{
    struct held *held = &w->s->held;
    bool ready;
    size_t used;
    enum leat_status s = held_join(held, &text, &bytes, last, &ready, err);

    if (s != LEAT_OK || !ready)
        return s;
    s = split_text(w, number, text, bytes, first && !w->s->cut, last, &used, err);
    w->s->cut = w->s->cut || used > 0;
    return s == LEAT_OK ? held_keep(held, text, bytes, used, err) : s;
}

enum leat_status pretokenizer_run(const struct pretokenizer *p, struct pretokenizer_scratch *s, const uint8_t *text,
                                  size_t bytes, bool first, bool last, pretokenizer_take *take, void *context,
                                  struct leat_error *err)
{
    struct way w = { p, s, take, context };
    bool begins = !s->begun;
    enum leat_status status = LEAT_OK;
    uint32_t number = 0;

    if (bytes == 0 && (begins || !last))
        return LEAT_OK;
    for (; status == LEAT_OK && number < p->count; number++) {
        status = change(p, &p->steps[number], &s->levels[number].changed, &text, &bytes, begins, first, err);
        if (p->steps[number].splits)
            break;
    }
    if (begins && number < p->count)
        begin_split(s, number);
    s->begun = true;
    if (status == LEAT_OK)
        status = number == p->count ? take_pretoken(&w, text, bytes, last, err)
                                    : split_part(&w, number, text, bytes, first, last, err);
    if (last)
        s->begun = s->cut = false;
    return status;
}
