/*
 * pretokenizer.c: see pretokenizer.h.
 *
 * A text goes through the steps that pretokenizer_make.c has made, each inside the pretokens of the one before.
 * run_step() changes the text if the step does, and lets the step's splitter cut it window by window (split_window());
 * each pretoken goes through the next step by the same function, and take_pretoken() gives those of the last step to
 * the caller. So each step holds one text at a time, and pretokens are not stored. If the last step is a scanner,
 * scan_pretokens() hands on whole batches instead. Words, and what Metaspace makes, have ways of their own
 * (pretokenizer_words.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/utf8.h"
#include "pretokenizer_internal.h"

/* ---- A thread's memory ---- */

/* False: no memory, and freeing the scratch frees what there is. */
static bool level_make(struct level *l, const struct step *step, struct bound *bound)
{
    l->changed.bound = bound;
    if (step->splits && !(l->pretokens = malloc(SPLIT_ROOM * sizeof *l->pretokens)))
        return false;
    if (!step->pattern)
        return true;
    l->pattern_run = pattern_run_new(step->pattern);
    if (!l->pattern_run)
        return false;
    pattern_run_bound(l->pattern_run, bound);
    return true;
}

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
        if (!level_make(&s->levels[i], &p->steps[i], bound)) {
            pretokenizer_scratch_free(s);
            return status_no_memory(err, SPLIT_ROOM * sizeof *s->levels[i].pretokens);
        }
    }
    *out = s;
    return LEAT_OK;
}

void pretokenizer_scratch_steps(struct pretokenizer_scratch *s, struct pattern_steps *steps)
{
    for (uint32_t i = 0; i < s->count; i++)
        if (s->levels[i].pattern_run)
            pattern_run_steps(s->levels[i].pattern_run, steps);
}

void pretokenizer_scratch_free(struct pretokenizer_scratch *s)
{
    if (!s)
        return;
    for (uint32_t i = 0; i < s->count; i++) {
        buffer_free(&s->levels[i].changed);
        free(s->levels[i].pretokens);
        pattern_run_free(s->levels[i].pattern_run);
    }
    held_free(&s->held);
    buffer_free(&s->bytes);
    free(s);
}

void pretokenizer_scratch_clear(struct pretokenizer_scratch *s)
{
    held_clear(&s->held);
    s->begun = s->in_word = false;
    s->first = 0;
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

void pretokenizer_scratch_words(struct pretokenizer_scratch *s, pretokenizer_take_pretokens *take)
{
    s->words = take;
}

void pretokenizer_scratch_window(struct pretokenizer_scratch *s, size_t bytes)
{
    s->window_bytes = bytes < 4 ? 4 : bytes > WINDOW_LIMIT ? WINDOW_LIMIT : bytes;
}

/* ---- Running ---- */

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
                                  size_t bytes, bool begins, size_t *first, struct leat_error *err)
{
    bool wanted =
        begins && (spec->prepend == SPEC_PREPEND_ALWAYS || (spec->prepend == SPEC_PREPEND_FIRST && *first > 0));
    enum leat_status s = LEAT_OK;
    size_t own = *first;

    if (wanted && text[0] != ' ' && !pretokenizer_begins_with(text, bytes, &spec->replacement))
        s = buffer_append(out, spec->replacement.bytes, spec->replacement.length, err);
    if (s == LEAT_OK)
        s = replace_spaces(out, text, own, &spec->replacement, err);
    if (own > 0)
        *first = out->size;
    return s == LEAT_OK ? replace_spaces(out, text + own, bytes - own, &spec->replacement, err) : s;
}

static enum leat_status map_bytes(const struct byte_alphabet *alphabet, struct buffer *out, const uint8_t *text,
                                  size_t bytes, struct leat_error *err)
{
    enum leat_status s = buffer_reserve(out, 2 * bytes, err);

    for (size_t i = 0; s == LEAT_OK && i < bytes; i++)
        out->size += utf8_encode(out->bytes + out->size, alphabet->code_of[text[i]]);
    return s;
}

/* Changes the text as the step says; *text and *bytes then lie in the level's buffer, and *first is changed along.
 * `begins`: it is not the later chunk of a segment. */
static enum leat_status change(const struct pretokenizer *p, const struct step *step, struct buffer *out,
                               const uint8_t **text, size_t *bytes, bool begins, size_t *first, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    size_t own = *first;

    if (*bytes == 0 || step->change == CHANGE_NOTHING || (step->change == CHANGE_PREFIX && (!begins || **text == ' ')))
        return LEAT_OK;
    out->size = 0;
    if (step->change == CHANGE_METASPACE) {
        s = metaspace(step->spec, out, *text, *bytes, begins, first, err);
    } else if (step->change == CHANGE_BYTES) {
        s = map_bytes(&p->alphabet, out, *text, own, err);
        *first = out->size;
        if (s == LEAT_OK)
            s = map_bytes(&p->alphabet, out, *text + own, *bytes - own, err);
    } else {
        *first += *first > 0;
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
    if (r == PATTERN_STOPPED)
        return status_set(err, LEAT_E_STOPPED, "encoding was stopped");
    if (r != PATTERN_NO_MEMORY)
        return LEAT_OK;
    return b && b->max - b->held < bytes ? bound_refuse(b, bytes, err) : status_no_memory(err, bytes);
}

/* Whether a step's pretokens are a scanner's, and are final. */
static bool comes_together(const struct way *w, uint32_t number)
{
    const struct splitter *s = &w->p->steps[number].splitter;

    return w->s->batches && number + 1 == w->p->count && !w->p->unmaps && s->matcher == SPLIT_BY_SCANNER &&
           s->behavior == SPLIT_ISOLATED && !s->invert;
}

/* A window of such a step: all its pretokens go on at once, and none is touched here. *done is how much of the window
 * is done with. */
static enum leat_status scan_pretokens(struct way *w, uint32_t number, size_t *done, struct leat_error *err)
{
    const struct scanner *scanner = &w->p->steps[number].splitter.scanner;
    const struct scan_window *window = &w->s->levels[number].window;
    enum leat_status s = LEAT_OK;
    uint32_t ends[SCAN_ROOM];
    size_t at = 0, count = SCAN_ROOM;

    while (s == LEAT_OK && count == SCAN_ROOM) {
        size_t begin = at;

        count = scan_next(scanner, window, &at, ends, SCAN_ROOM);
        if (count > 0) {
            const struct model_pretokens found = { window->text, window->length, (uint32_t)begin, ends, count };

            s = w->s->batches(w->context, &found, err);
        }
    }
    *done = at;
    return s;
}

/* Gives a level a text or, if not `last`, what of it is there. The level's run says what came before. */
static void begin_text(struct way *w, uint32_t number, const uint8_t *text, size_t bytes, size_t first, bool last)
{
    struct level *l = &w->s->levels[number];
    const struct pattern *pattern = w->p->steps[number].pattern;

    l->text = text;
    l->bytes = bytes;
    l->first = first;
    l->last = last;
    l->needs_all = pattern && pattern_needs_all(pattern);
    l->window_bytes = l->needs_all ? WINDOW_LIMIT : w->s->window_bytes;
    l->used = l->count = l->next = 0;
    l->open = l->more = false;
    l->ended = !last && l->needs_all;
}

/* The next window of a level's text. */
static enum leat_status open_window(struct way *w, uint32_t number, struct leat_error *err)
{
    struct level *l = &w->s->levels[number];
    struct scan_window *window = &l->window;

    *window = (struct scan_window) { .text = l->text + l->used, .length = l->bytes - l->used, .final = l->last };
    if (window->length > l->window_bytes) {
        window->length = l->window_bytes;
        window->final = false;
        while ((window->text[window->length] & 0xc0) == 0x80)
            window->length--;
    }
    l->open = true;
    l->more = !comes_together(w, number);
    if (!l->more)
        return LEAT_OK;
    return of_result(w, split_begin(&l->run, &w->p->steps[number].splitter, window), window->length, err);
}

/* All pretokens of the level's window have been given: finds out how much of it is done with. */
static enum leat_status close_window(struct way *w, uint32_t number, struct leat_error *err)
{
    struct level *l = &w->s->levels[number];
    enum leat_status s = LEAT_OK;
    size_t done;

    l->open = false;
    if (comes_together(w, number))
        s = scan_pretokens(w, number, &done, err);
    else
        done = split_resume(&l->run);
    if (s != LEAT_OK)
        return s;
    if (l->window.final)
        done = l->window.length;
    l->ended = l->used + l->window.length == l->bytes;
    l->used += done;
    if (l->ended || done > 0)
        return LEAT_OK;
    if (l->window_bytes == WINDOW_LIMIT)
        return status_set(err, LEAT_E_PRETOKEN, "cannot cut a stretch of more than 2 GiB");
    l->window_bytes = l->window_bytes < WINDOW_LIMIT / 2 ? 2 * l->window_bytes : WINDOW_LIMIT;
    return LEAT_OK;
}

/* The next pretoken of a level's text; *found false: nothing more is certain, and the level's `used` says how much of
 * the text is done with. */
static enum leat_status next_pretoken(struct way *w, uint32_t number, struct split_pretoken *pretoken, bool *found,
                                      struct leat_error *err)
{
    struct level *l = &w->s->levels[number];
    enum leat_status s = LEAT_OK;

    *found = false;
    while (s == LEAT_OK) {
        if (l->next < l->count) {
            *pretoken = l->pretokens[l->next++];
            *found = true;
            return LEAT_OK;
        }
        if (l->more) {
            enum pattern_result r = split_next(&l->run, l->pretokens, &l->count);

            l->next = 0;
            l->more = r == PATTERN_MORE;
            s = of_result(w, r, l->window.length, err);
        } else if (l->open) {
            s = close_window(w, number, err);
        } else if (l->ended || l->used == l->bytes) {
            return LEAT_OK;
        } else {
            s = open_window(w, number, err);
        }
    }
    return s;
}

/* Fewer pretokens in a row than this are given one by one. */
#define TOGETHER 8

/* Gives all pretokens that a level has found, together where there are no gaps between them. It is the last one. */
static enum leat_status give_all(struct way *w, struct level *l, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint32_t ends[SPLIT_ROOM];

    while (s == LEAT_OK && l->next < l->count) {
        const struct split_pretoken *p = l->pretokens + l->next;
        size_t count = 0, most = l->count - l->next;

        while (count < most && p[count].begin < p[count].end && (count == 0 || p[count].begin == ends[count - 1])) {
            ends[count] = p[count].end;
            count++;
        }
        if (count >= TOGETHER) {
            const struct model_pretokens together = { l->window.text, l->window.length, p->begin, ends, count };

            s = w->s->batches(w->context, &together, err);
        } else {
            s = w->take(w->context, l->window.text + p->begin, p->end - p->begin, true, err);
        }
        l->next += count >= TOGETHER ? count : 1;
    }
    return s;
}

static void begin_split(struct pretokenizer_scratch *s, uint32_t number)
{
    s->levels[number].run = (struct split_run) { .pattern_run = s->levels[number].pattern_run };
}

/* Takes a pretoken of the step before `number` on to the next step that splits, which becomes *top, or out. */
static enum leat_status pass_on(struct way *w, uint32_t number, const uint8_t *text, size_t bytes, size_t first,
                                uint32_t *top, struct leat_error *err)
{
    uint32_t above = *top;
    enum leat_status s = LEAT_OK;

    for (; s == LEAT_OK && number < w->p->count; number++) {
        const struct step *step = &w->p->steps[number];

        s = change(w->p, step, &w->s->levels[number].changed, &text, &bytes, true, &first, err);
        if (s != LEAT_OK || !step->splits)
            continue;
        w->s->levels[number].above = above;
        begin_split(w->s, number);
        begin_text(w, number, text, bytes, first, true);
        *top = number;
        return LEAT_OK;
    }
    return s == LEAT_OK ? take_pretoken(w, text, bytes, true, err) : s;
}

/* How many bytes at the beginning of a pretoken come from the first character of the whole text. */
static size_t first_of(const struct level *l, const struct split_pretoken *p)
{
    size_t begin = l->used + p->begin, bytes = p->end - p->begin;

    if (l->first <= begin)
        return 0;
    return l->first - begin < bytes ? l->first - begin : bytes;
}

/*
 * The text of a level, as begin_text() was given it, through this step and all after it; *used is how much of it is
 * done with. Steps do not call each other: a file may list a thousand, and the stack of a thread may be small. Instead
 * each level keeps its place in its own text, and the work goes on with the pretokens of the last level that has some.
 */
static enum leat_status split_text(struct way *w, uint32_t number, size_t *used, struct leat_error *err)
{
    uint32_t top = number;
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK) {
        struct level *l = &w->s->levels[top];
        struct split_pretoken p;
        bool found;

        if (top + 1 == w->p->count && w->s->batches && !w->p->unmaps)
            s = give_all(w, l, err);
        if (s != LEAT_OK)
            break;
        s = next_pretoken(w, top, &p, &found, err);
        if (s == LEAT_OK && found)
            s = pass_on(w, top + 1, l->window.text + p.begin, p.end - p.begin, first_of(l, &p), &top, err);
        else if (top == number)
            break;
        else
            top = l->above;
    }
    *used = s == LEAT_OK ? w->s->levels[number].used : 0;
    return s;
}

/* The chunk of a segment that has come, changed by all steps before it, goes through the first splitter. */
static enum leat_status split_part(struct way *w, uint32_t number, const uint8_t *text, size_t bytes, size_t first,
                                   bool last, struct leat_error *err)
{
    struct held *held = &w->s->held;
    bool ready;
    size_t used;
    enum leat_status s;

    if (first > 0)
        w->s->first = held->text.size - held->begin + first;
    s = held_join(held, &text, &bytes, last, &ready, err);
    if (s != LEAT_OK || !ready)
        return s;
    begin_text(w, number, text, bytes, w->s->first, last);
    s = split_text(w, number, &used, err);
    w->s->first -= w->s->first < used ? w->s->first : used;
    return s == LEAT_OK ? held_keep(held, text, bytes, used, err) : s;
}

enum leat_status pretokenizer_run(const struct pretokenizer *p, struct pretokenizer_scratch *s, const uint8_t *text,
                                  size_t bytes, size_t first, bool last, pretokenizer_take *take, void *context,
                                  struct leat_error *err)
{
    struct way w = { p, s, take, context };
    bool begins = !s->begun;
    enum leat_status status = LEAT_OK;
    uint32_t number = 0;

    if (bytes == 0 && (begins || !last))
        return LEAT_OK;
    if (p->words && s->words) {
        s->begun = !last;
        return pretokenizer_run_words(&w, text, bytes, last, err);
    }
    if (p->spaces) {
        s->begun = !last;
        return pretokenizer_run_spaces(&w, text, bytes, begins, first > 0, last, err);
    }
    for (; status == LEAT_OK && number < p->count; number++) {
        status = change(p, &p->steps[number], &s->levels[number].changed, &text, &bytes, begins, &first, err);
        if (p->steps[number].splits)
            break;
    }
    if (begins && number < p->count)
        begin_split(s, number);
    s->begun = true;
    if (status == LEAT_OK)
        status = number == p->count ? take_pretoken(&w, text, bytes, last, err)
                                    : split_part(&w, number, text, bytes, first, last, err);
    if (last) {
        s->begun = false;
        s->first = 0;
    }
    return status;
}
