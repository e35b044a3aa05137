/*
 * pretokenizer.c: make_steps() makes steps of a spec's list: a splitter, a change of the text, or both. At each place
 * it first looks for a hand-made scanner that does the work of several expressions in a row (DeepSeek's three), then of
 * two, then of one; only what has none becomes a step of its own kind. What cannot change anything becomes no step:
 * ByteLevel after the expressions, or splitting at spaces when none are left. If steps follow ByteLevel, the text is
 * mapped to its alphabet for them, and pretokens are mapped back at the end, unless the model's tokens are letters.
 *
 * A text goes through the steps, each inside the pretokens of the one before. split_text() lets a step's splitter cut
 * the text window by window; each pretoken goes through the next step, and take_pretoken() gives those of the last step
 * to the caller. So each step holds one text at a time, and pretokens are not stored. If the last step is a scanner,
 * scan_pretokens() hands on whole batches instead. Words, and what Metaspace makes, have ways of their own.
 */
#include "pretokenizer.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/tiny.h"
#include "base/utf8.h"
#include "split_words.h"
#include "tokenizer/unicode/unicode.h"

/* A change of the text, made before the splitter of its step. */
enum change {
    CHANGE_NOTHING,
    CHANGE_PREFIX,    /* a space, unless the text begins with one */
    CHANGE_METASPACE, /* spaces become the mark, and a mark may be put before */
    CHANGE_BYTES      /* bytes become characters of the byte alphabet, since later steps see them */
};

struct step {
    enum change change;
    bool splits;
    struct splitter splitter;
    struct pattern *pattern;               /* owned */
    const struct spec_pre_tokenizer *spec; /* the pre-tokenizer of CHANGE_METASPACE */
};

struct pretokenizer {
    struct step *steps;
    uint32_t count;
    bool words;  /* the steps only remove white space, and isolate punctuation if there are two */
    bool spaces; /* Metaspace, perhaps after WhitespaceSplit; pretokens begin with spaces instead of marks */
    bool unmaps; /* pretokens come out as characters of the byte alphabet, and the model wants bytes */
    struct byte_alphabet alphabet;
};

/* Largest window. A splitter counts bytes in 31 bits, because models use the 32nd as a flag (MODEL_FIXED). Longer
 * segments go through in windows, which grow for a pretoken that needs it. */
#define WINDOW_BYTES ((size_t)TINY_OR(64, 1 << 30))
#define WINDOW_LIMIT ((size_t)INT32_MAX)

/* Number of pretokens that a scanner gives at a time, when they go to the model together. */
#define SCAN_ROOM 4096

/* One level of the way through the steps: its place in the text that it was given. */
struct level {
    struct buffer changed;
    struct split_run run;
    struct pattern_run *pattern_run;
    struct text_chunk text;
    size_t used;                      /* end of the part that is done */
    bool needs_all;                   /* pattern_needs_all() of the step's pattern */
    bool open, more, ended;           /* a window is open; its splitter has more to give; no text comes after it */
    size_t window_bytes;              /* most bytes of the next window */
    struct scan_window window;        /* the window, which lies in the text */
    struct split_pretoken *pretokens; /* SPLIT_ROOM pretokens; NULL if the step does not split */
    size_t count, next;               /* number of pretokens, and the next one to take */
    uint32_t above;                   /* number of the level whose pretoken the text is */
};

struct pretokenizer_scratch {
    uint32_t count;
    size_t window_bytes;                          /* size of the first window of a segment */
    pretokenizer_take_pretokens *batches, *words; /* may be NULL */
    struct held held;    /* end of a chunk of a segment that the first splitter cannot cut yet */
    size_t first;        /* bytes at the beginning of the held text that come from the text's first character */
    bool begun;          /* something of the segment has come already */
    bool in_word;        /* true if the segment so far ends in a word */
    struct buffer bytes; /* bytes of an unmapped pretoken */
    struct level levels[];
};

struct way {
    const struct pretokenizer *p;
    struct pretokenizer_scratch *s;
    pretokenizer_take *take;
    void *context;
};

static inline bool begins_with(const uint8_t *text, size_t bytes, const struct spec_string *s)
{
    return bytes >= s->length && memcmp(text, s->bytes, s->length) == 0;
}

/* ---- Making ------------------------------------------------------------------------------------------------------ */

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

/* Looks for a scanner that does the work of `count` steps from this one on. */
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
    enum leat_status status;

    step->splits = true;
    *s = (struct splitter) { .matcher = SPLIT_BY_STRING,
                             .behavior = behaviors[pre->behavior],
                             .invert = pre->invert,
                             .string = pre->pattern.text.bytes,
                             .string_bytes = pre->pattern.text.length };
    if (!pre->pattern.regex)
        return LEAT_OK;
    s->matcher = SPLIT_BY_PATTERN;
    status = pattern_compile(&step->pattern, (const char *)pre->pattern.text.bytes, pre->pattern.text.length,
                             dialect_of(spec), err);
    if (status == LEAT_OK || status == LEAT_E_NO_MEMORY ||
        spec->dialect != SPEC_ONIGURUMA) /* otherwise it is the file's only expression */
        return status;
    return status_before(err, status, "pre_tokenizer Split");
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
    case SPEC_PRE_SCRIPTS:
        step->splitter = split_scripts();
        break;
    }
    return LEAT_OK;
}

/* Returns true for Gemma's split at spaces after the normalizer has replaced all of them. Such a step does nothing,
 * but as long as it is there it makes one pretoken of each segment that must be seen whole. */
static bool never_matches(const struct tokenizer_spec *spec, const struct spec_pre_tokenizer *pre)
{
    const struct spec_string *string = &pre->pattern.text;
    const struct spec_normalizer *n;

    if (pre->kind != SPEC_PRE_SPLIT || pre->pattern.regex || pre->invert || spec->normalizer_count == 0)
        return false;
    n = &spec->normalizers[spec->normalizer_count - 1];
    return n->kind == SPEC_NORM_REPLACE && !n->pattern.regex && string->length == 1 && n->pattern.text.length == 1 &&
           n->pattern.text.bytes[0] == string->bytes[0] &&
           (n->content.length == 0 || !memchr(n->content.bytes, string->bytes[0], n->content.length));
}

static enum leat_status make_steps(struct pretokenizer *p, const struct tokenizer_spec *spec, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint32_t at = spec->pre_tokenizer_count > 0 && never_matches(spec, spec->pre_tokenizers);
         s == LEAT_OK && at < spec->pre_tokenizer_count;) {
        struct step *step = &p->steps[p->count++];
        uint32_t together = 3;

        while (together > 0 && !find_scanner(spec, at, together, &step->splitter))
            together--;
        step->splits = together > 0;
        if (together == 0)
            s = make_step(step, spec, at, err);
        if (!step->splits && step->change == CHANGE_NOTHING)
            p->count--; /* the model takes bytes, so ByteLevel after the expressions changes nothing */
        at += together > 0 ? together : 1;
        if (spec->pre_tokenizers[at - 1].kind == SPEC_PRE_BYTE_LEVEL &&
            (at < spec->pre_tokenizer_count || !spec->byte_level)) {
            p->steps[p->count++].change = CHANGE_BYTES;
            p->unmaps = spec->byte_level;
        }
    }
    return s;
}

static bool only_words(const struct tokenizer_spec *spec)
{
    const struct spec_pre_tokenizer *pre = spec->pre_tokenizers;

    if (spec->pre_tokenizer_count == 0 || spec->pre_tokenizer_count > 2 || pre[0].kind != SPEC_PRE_WHITESPACE_SPLIT)
        return false;
    return spec->pre_tokenizer_count == 1 || (pre[1].kind == SPEC_PRE_PUNCTUATION && pre[1].behavior == SPEC_ISOLATED);
}

bool pretokenizer_only_spaces(const struct tokenizer_spec *spec)
{
    uint32_t count = spec->pre_tokenizer_count;
    const struct spec_pre_tokenizer *first = spec->pre_tokenizers, *last;

    if (count == 0 || count > 2)
        return false;
    last = first + count - 1;
    if (last->kind != SPEC_PRE_METASPACE || !last->split)
        return false;
    if (last->replacement.length != SPEC_MARK_BYTES || memcmp(last->replacement.bytes, SPEC_MARK, SPEC_MARK_BYTES) != 0)
        return false;
    /* without a mark between them, two words would become one */
    return count == 1 || (first->kind == SPEC_PRE_WHITESPACE_SPLIT && last->prepend == SPEC_PREPEND_ALWAYS);
}

void pretokenizer_write_spaces(struct pretokenizer *p)
{
    p->spaces = true;
}

static bool only_scans(const struct splitter *s)
{
    return s->matcher == SPLIT_BY_SCANNER && s->behavior == SPLIT_ISOLATED && !s->invert;
}

bool pretokenizer_only_scans(const struct pretokenizer *p)
{
    const struct step *step = p->steps;

    return p->count == 1 && !p->words && !p->spaces && !p->unmaps && step->change == CHANGE_NOTHING && step->splits &&
           only_scans(&step->splitter);
}

size_t pretokenizer_scan(const struct pretokenizer *p, const uint8_t *text, size_t bytes, uint32_t base, uint32_t *ends)
{
    const struct scan_window window = { text, bytes, true };
    size_t at = 0, all = 0, count = SCAN_ROOM;
    uint32_t some[SCAN_ROOM];

    while (bytes > 0 && count == SCAN_ROOM) {
        count = scan_next(&p->steps->splitter.scanner, &window, &at, some, SCAN_ROOM);
        for (size_t i = 0; i < count; i++)
            ends[all + i] = base + some[i];
        all += count;
    }
    return all;
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
        p->unmaps = p->unmaps || (spec->byte_level && spec->normalizers[i].kind == SPEC_NORM_BYTE_LEVEL);
    s = make_steps(p, spec, err);
    p->words = only_words(spec) && !p->unmaps;
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

/* ---- A thread's memory ------------------------------------------------------------------------------------------- */

/* Makes a level. Returns false without memory; then freeing the scratch frees what was made. */
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
    s->held.text.bound = s->bytes.bound = bound;
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

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

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

static enum leat_status metaspace(const struct spec_pre_tokenizer *spec, struct buffer *out, struct text_chunk *chunk,
                                  bool begins, struct leat_error *err)
{
    const uint8_t *text = chunk->text;
    size_t own = chunk->first;
    bool wanted = begins && (spec->prepend == SPEC_PREPEND_ALWAYS || (spec->prepend == SPEC_PREPEND_FIRST && own > 0));
    enum leat_status s = LEAT_OK;

    if (wanted && text[0] != ' ' && !begins_with(text, chunk->bytes, &spec->replacement))
        s = buffer_append(out, spec->replacement.bytes, spec->replacement.length, err);
    if (s == LEAT_OK)
        s = replace_spaces(out, text, own, &spec->replacement, err);
    if (own > 0)
        chunk->first = out->size;
    return s == LEAT_OK ? replace_spaces(out, text + own, chunk->bytes - own, &spec->replacement, err) : s;
}

/* Changes a chunk as the step says: its text then lies in the level's buffer. `begins`: the chunk is the first one
 * of its segment. */
static enum leat_status change(const struct pretokenizer *p, const struct step *step, struct buffer *out,
                               struct text_chunk *chunk, bool begins, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    size_t own = chunk->first;

    if (chunk->bytes == 0 || step->change == CHANGE_NOTHING ||
        (step->change == CHANGE_PREFIX && (!begins || *chunk->text == ' ')))
        return LEAT_OK;
    out->size = 0;
    if (step->change == CHANGE_METASPACE) {
        s = metaspace(step->spec, out, chunk, begins, err);
    } else if (step->change == CHANGE_BYTES) {
        s = byte_alphabet_append(out, &p->alphabet, chunk->text, own, err);
        chunk->first = out->size;
        if (s == LEAT_OK)
            s = byte_alphabet_append(out, &p->alphabet, chunk->text + own, chunk->bytes - own, err);
    } else {
        chunk->first += own > 0;
        s = buffer_append(out, " ", 1, err);
        if (s == LEAT_OK)
            s = buffer_append(out, chunk->text, chunk->bytes, err);
    }
    chunk->text = out->bytes;
    chunk->bytes = out->size;
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
    /* every character is of the alphabet, so all are mapped back */
    if (!byte_alphabet_decode(&w->p->alphabet, b->bytes, &count, pretoken, (uint32_t)bytes))
        return status_set(err, LEAT_E_TEXT, "the text has a character that stands for no byte after ByteLevel");
    return w->take(w->context, b->bytes, count, last, err);
}

/* Returns true if a step's pretokens come from a scanner, and are final. */
static bool comes_together(const struct way *w, uint32_t number)
{
    return w->s->batches && number + 1 == w->p->count && !w->p->unmaps && only_scans(&w->p->steps[number].splitter);
}

/* Passes on a window of such a step: all its pretokens at once, and none is touched here. *done gets how much of the
 * window is done. */
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

/* Gives a level a text or a chunk of it. The level's run knows the text before. */
static void begin_text(struct way *w, uint32_t number, const struct text_chunk *chunk)
{
    struct level *l = &w->s->levels[number];
    const struct pattern *pattern = w->p->steps[number].pattern;

    l->text = *chunk;
    l->needs_all = pattern && pattern_needs_all(pattern);
    l->window_bytes = l->needs_all ? WINDOW_LIMIT : w->s->window_bytes;
    l->used = l->count = l->next = 0;
    l->open = l->more = false;
    l->ended = !chunk->last && l->needs_all;
}

/* Opens the next window of a level's text. */
static enum leat_status open_window(struct way *w, uint32_t number, struct leat_error *err)
{
    struct level *l = &w->s->levels[number];
    struct scan_window *window = &l->window;

    *window = (struct scan_window) { .text = l->text.text + l->used,
                                     .length = l->text.bytes - l->used,
                                     .final = l->text.last };
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
    return pattern_status(l->pattern_run, split_begin(&l->run, &w->p->steps[number].splitter, window), window->length,
                          err);
}

/* Closes the level's window, when all its pretokens have been given, and finds out how much of it is done. */
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
    l->ended = l->used + l->window.length == l->text.bytes;
    l->used += done;
    if (l->ended || done > 0)
        return LEAT_OK;
    if (l->window_bytes == WINDOW_LIMIT)
        return status_set(err, LEAT_E_PRETOKEN, "cannot cut a stretch of more than 2 GiB");
    l->window_bytes = l->window_bytes < WINDOW_LIMIT / 2 ? 2 * l->window_bytes : WINDOW_LIMIT;
    return LEAT_OK;
}

/* Gets the next pretoken of a level's text. *found is false if nothing more is certain; the level's `used` is then
 * how much of the text is done. */
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
            s = pattern_status(l->pattern_run, r, l->window.length, err);
        } else if (l->open) {
            s = close_window(w, number, err);
        } else if (l->ended || l->used == l->text.bytes) {
            return LEAT_OK;
        } else {
            s = open_window(w, number, err);
        }
    }
    return s;
}

/* With fewer pretokens in a row than this, each is given by itself. */
#define TOGETHER 8

/* Gives all pretokens that the last level has found, together where there are no gaps between them. */
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

/* Passes a pretoken of the step before `number` on to the next step that splits, which becomes *top, or to the
 * caller. */
static enum leat_status pass_on(struct way *w, uint32_t number, struct text_chunk pretoken, uint32_t *top,
                                struct leat_error *err)
{
    uint32_t above = *top;
    enum leat_status s = LEAT_OK;

    for (; s == LEAT_OK && number < w->p->count; number++) {
        const struct step *step = &w->p->steps[number];

        s = change(w->p, step, &w->s->levels[number].changed, &pretoken, true, err);
        if (s != LEAT_OK || !step->splits)
            continue;
        w->s->levels[number].above = above;
        begin_split(w->s, number);
        begin_text(w, number, &pretoken);
        *top = number;
        return LEAT_OK;
    }
    return s == LEAT_OK ? take_pretoken(w, pretoken.text, pretoken.bytes, true, err) : s;
}

/* Returns a pretoken as a text for the next step. */
static struct text_chunk text_of(const struct level *l, const struct split_pretoken *p)
{
    size_t begin = l->used + p->begin, bytes = p->end - p->begin;
    size_t first = l->text.first > begin ? l->text.first - begin : 0;

    return (struct text_chunk) { l->window.text + p->begin, bytes, first < bytes ? first : bytes, true };
}

/*
 * Passes the text of a level, given to begin_text(), through this step and all after it. *used gets how much of it
 * is done. Steps do not call each other: a file may list a thousand, and the stack of a thread may be small. Instead
 * each level keeps its place in its own text, and the work goes on with the pretokens of the last level that has
 * some.
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
            s = pass_on(w, top + 1, text_of(l, &p), &top, err);
        else if (top == number)
            break;
        else
            top = l->above;
    }
    *used = s == LEAT_OK ? w->s->levels[number].used : 0;
    return s;
}

/* Passes a new chunk of a segment, changed by all steps before it, through the first splitter. */
static enum leat_status split_part(struct way *w, uint32_t number, struct text_chunk chunk, struct leat_error *err)
{
    struct held *held = &w->s->held;
    bool ready;
    size_t used;
    enum leat_status s;

    if (chunk.first > 0)
        w->s->first = held->text.size - held->begin + chunk.first;
    s = held_join(held, &chunk.text, &chunk.bytes, chunk.last, &ready, err);
    if (s != LEAT_OK || !ready)
        return s;
    chunk.first = w->s->first;
    begin_text(w, number, &chunk);
    s = split_text(w, number, &used, err);
    w->s->first -= w->s->first < used ? w->s->first : used;
    return s == LEAT_OK ? held_keep(held, chunk.text, chunk.bytes, used, err) : s;
}

/* ---- Words ------------------------------------------------------------------------------------------------------- */

/* Gives words and pretokens of Metaspace, which need no steps, since one loop finds all pretokens of a chunk
 * (split_words.h). The last pretoken of a chunk waits for the next chunk. */

/* Gives the words of a chunk, and at the end of the segment the last one. White space at the end of a chunk may be
 * given at once. */
static enum leat_status give_words(struct way *w, const struct text_chunk *chunk, size_t *used, struct leat_error *err)
{
    const uint8_t *text = chunk->text;
    size_t bytes = chunk->bytes;
    bool marks = w->p->count > 1;
    enum leat_status s = LEAT_OK;
    uint32_t ends[SCAN_ROOM];
    struct model_pretokens found = { .text = text, .bytes = bytes, .ends = ends };
    size_t at = 0;

    do {
        found.begin = (uint32_t)at;
        found.count = split_words(text, bytes, marks, &at, ends, SCAN_ROOM);
        if (found.count > 0)
            s = w->s->words(w->context, &found, err);
    } while (s == LEAT_OK && found.count > 0);
    *used = at;
    if (s != LEAT_OK || at == bytes)
        return s;
    if (split_words_space(text + at, bytes - at) == bytes - at) {
        *used = bytes;
        return LEAT_OK;
    }
    if (!chunk->last)
        return LEAT_OK;
    *used = bytes;
    ends[0] = (uint32_t)bytes;
    found.count = 1;
    return w->s->words(w->context, &found, err);
}

static enum leat_status run_words(struct way *w, struct text_chunk chunk, struct leat_error *err)
{
    bool ready;
    size_t used;
    enum leat_status s = held_join(&w->s->held, &chunk.text, &chunk.bytes, chunk.last, &ready, err);

    if (s != LEAT_OK || !ready)
        return s;
    if (chunk.bytes > WINDOW_LIMIT)
        return status_set(err, LEAT_E_PRETOKEN, "cannot cut a stretch of more than 2 GiB");
    s = give_words(w, &chunk, &used, err);
    return s == LEAT_OK ? held_keep(&w->s->held, chunk.text, chunk.bytes, used, err) : s;
}

/* ---- Metaspace --------------------------------------------------------------------------------------------------- */

/* Gives the pretokens of a chunk, and at the end of the segment the last one. */
static enum leat_status give_spaces(struct way *w, const struct text_chunk *chunk, size_t *used, struct leat_error *err)
{
    const uint8_t *text = chunk->text;
    size_t bytes = chunk->bytes;
    enum leat_status s = LEAT_OK;
    uint32_t ends[SCAN_ROOM];
    struct model_pretokens found = { .text = text, .bytes = bytes, .ends = ends };

    *used = 0;
    do {
        found.begin = (uint32_t)*used;
        found.count = split_spaces(text, bytes, used, ends, SCAN_ROOM);
        if (found.count > 0)
            s = w->s->batches(w->context, &found, err);
    } while (s == LEAT_OK && found.count > 0);
    if (s != LEAT_OK || !chunk->last || *used == bytes)
        return s;
    ends[0] = (uint32_t)bytes;
    found.count = 1;
    s = w->s->batches(w->context, &found, err);
    *used = bytes;
    return s;
}

/* Writes a chunk with spaces. `begins`: the chunk is the first one of its segment. */
static enum leat_status write_spaces(struct way *w, const struct text_chunk *chunk, bool begins, struct leat_error *err)
{
    const struct spec_pre_tokenizer *spec = w->p->steps[w->p->count - 1].spec;
    bool words = w->p->count > 1;
    bool wanted = begins && !words && chunk->bytes > 0 &&
                  (spec->prepend == SPEC_PREPEND_ALWAYS || (spec->prepend == SPEC_PREPEND_FIRST && chunk->first > 0));
    struct buffer *out = &w->s->levels[0].changed;
    enum leat_status s;

    out->size = 0;
    s = buffer_reserve(out, chunk->bytes + 2, err);
    if (s != LEAT_OK)
        return s;
    if (wanted && chunk->text[0] != ' ' && !begins_with(chunk->text, chunk->bytes, &spec->replacement))
        out->bytes[out->size++] = ' ';
    out->size += split_spaces_write(out->bytes + out->size, chunk->text, chunk->bytes, words, &w->s->in_word);
    return LEAT_OK;
}

static enum leat_status run_spaces(struct way *w, struct text_chunk chunk, bool begins, struct leat_error *err)
{
    enum leat_status s = write_spaces(w, &chunk, begins, err);
    bool ready = false;
    size_t used;

    if (s == LEAT_OK) {
        chunk.text = w->s->levels[0].changed.bytes;
        chunk.bytes = w->s->levels[0].changed.size;
        s = held_join(&w->s->held, &chunk.text, &chunk.bytes, chunk.last, &ready, err);
    }
    w->s->in_word = w->s->in_word && !chunk.last;
    if (s != LEAT_OK || !ready)
        return s;
    if (chunk.bytes > WINDOW_LIMIT)
        return status_set(err, LEAT_E_PRETOKEN, "cannot cut a stretch of more than 2 GiB");
    s = give_spaces(w, &chunk, &used, err);
    return s == LEAT_OK ? held_keep(&w->s->held, chunk.text, chunk.bytes, used, err) : s;
}

/* ---- A segment --------------------------------------------------------------------------------------------------- */

enum leat_status pretokenizer_run(const struct pretokenizer *p, struct pretokenizer_scratch *s,
                                  const struct text_chunk *chunk, pretokenizer_take *take, void *context,
                                  struct leat_error *err)
{
    struct way w = { p, s, take, context };
    struct text_chunk changed = *chunk;
    bool begins = !s->begun;
    enum leat_status status = LEAT_OK;
    uint32_t number = 0;

    if (chunk->bytes == 0 && (begins || !chunk->last))
        return LEAT_OK;
    if (p->words && s->words) {
        s->begun = !chunk->last;
        return run_words(&w, *chunk, err);
    }
    if (p->spaces) {
        s->begun = !chunk->last;
        return run_spaces(&w, *chunk, begins, err);
    }
    for (; status == LEAT_OK && number < p->count; number++) {
        status = change(p, &p->steps[number], &s->levels[number].changed, &changed, begins, err);
        if (p->steps[number].splits)
            break;
    }
    if (begins && number < p->count)
        begin_split(s, number);
    s->begun = true;
    if (status == LEAT_OK)
        status = number == p->count ? take_pretoken(&w, changed.text, changed.bytes, changed.last, err)
                                    : split_part(&w, number, changed, err);
    if (chunk->last) {
        s->begun = false;
        s->first = 0;
    }
    return status;
}
