/*
 * cutter.c: cuts a text that arrives in windows. `done` is how much was passed on, and `from` where the search for
 * tokens continues. Some text before `from` is kept, because a token that must stand alone looks at the character
 * before it. As in the reference, a token is found even inside white space that the token before it has taken, and
 * the text goes on after it: `done` may move back.
 */
#include "cutter.h"

#include "base/utf8.h"
#include "tokenizer/unicode/unicode.h"

static bool is_word(const uint8_t *text)
{
    size_t length;

    return (unicode_class(&unicode_classes[UNICODE_RUST], unicode_decode(text, &length)) & UNICODE_WORD) != 0;
}

static bool is_space(const uint8_t *text, size_t *length)
{
    return (unicode_class(&unicode_classes[UNICODE_RUST], unicode_decode(text, length)) & UNICODE_SPACE) != 0;
}

void cutter_clear(struct cutter *c)
{
    held_clear(&c->held);
    c->done = c->from = c->first = 0;
    c->open = false;
}

/* ---- Looking for tokens ---- */

/* The text that has come, and the functions that take its parts. */
struct window {
    const uint8_t *text;
    size_t bytes;
    size_t certain; /* end of the places at which a token is certainly complete */
    bool last;
    size_t space, space_end; /* text[space, space_end) is white space, and the next character is not */
    const struct cutter_take *take;
    void *context;
};

/* A token as it was found, and with the white space that it takes. */
struct found {
    const struct spec_added *added; /* NULL: no flags */
    uint32_t id;
    size_t start, end, wide_start, wide_end;
};

/* Returns the end of the white space that begins at `at`. Each of many newlines in a row may be a token that takes the
 * others with it, so the end is remembered. */
static size_t end_of_space(struct window *w, size_t at)
{
    size_t length;

    if (at >= w->space && at < w->space_end)
        return w->space_end;
    w->space = at;
    while (at < w->bytes && is_space(w->text + at, &length))
        at += length;
    w->space_end = at;
    return at;
}

/* Adds the white space that the token takes, without what the token before it has taken. */
static void widen(const struct cutter *c, struct window *w, struct found *f)
{
    size_t length;

    f->wide_start = f->start > c->done ? f->start : c->done;
    f->wide_end = f->end;
    while (f->added && f->added->lstrip && f->wide_start > c->done &&
           is_space(w->text + utf8_before(w->text, f->wide_start), &length))
        f->wide_start = utf8_before(w->text, f->wide_start);
    if (f->added && f->added->rstrip)
        f->wide_end = end_of_space(w, f->end);
}

/* Returns true if the token may stand here at all. */
static bool stands_alone(const struct window *w, const struct found *f)
{
    return (f->start == 0 || !is_word(w->text + utf8_before(w->text, f->start))) &&
           (f->end == w->bytes || !is_word(w->text + f->end));
}

/* The use of a string that was found. */
enum verdict { IS_TEXT, IS_TOKEN, TAKES_NOTHING, NOT_CERTAIN };

static enum verdict judge(const struct cutter *c, struct window *w, struct found *f)
{
    const struct spec_added *a = f->added;

    if (a && a->special && !c->options.special)
        return IS_TEXT;
    if (a && a->single_word && f->end == w->bytes && !w->last)
        return NOT_CERTAIN;
    if (a && a->single_word && !stands_alone(w, f))
        return IS_TEXT;
    widen(c, w, f);
    if (a && a->rstrip && f->wide_end == w->bytes && !w->last)
        return NOT_CERTAIN;
    /* the token before has taken all of this white space */
    return a && a->lstrip && f->wide_start >= f->wide_end ? TAKES_NOTHING : IS_TOKEN;
}

/* Finds the next certain token at or after `from`. */
static enum leat_status find_token(const struct cutter *c, const struct window *w, struct string_search *search,
                                   bool *found, struct found *f, struct leat_error *err)
{
    uint32_t number = 0;
    enum leat_status s;

    search->from = c->from;
    s = string_finder_next(c->options.finder, search, found, &f->start, &f->end, &number, err);
    *found = *found && f->start < w->certain;
    if (s != LEAT_OK || !*found)
        return s;
    f->added = c->options.added ? &c->options.added[number] : NULL;
    f->id = f->added ? f->added->id : number;
    return LEAT_OK;
}

/* ---- Handing on ---- */

/* Passes on the text from `done` to `end`. `ends`: a token follows, or the text ends. */
static enum leat_status pass_text(struct cutter *c, const struct window *w, size_t end, bool ends,
                                  struct leat_error *err)
{
    size_t begin = c->done, bytes = end > begin ? end - begin : 0;
    size_t first = c->first > begin ? c->first - begin : 0;
    const struct text_chunk chunk = { w->text + begin, bytes, first < bytes ? first : bytes, ends };

    if (bytes == 0 && (!c->open || !ends))
        return LEAT_OK;
    c->done += bytes;
    c->open = !ends;
    return w->take->text(w->context, &chunk, err);
}

static enum leat_status pass_token(struct cutter *c, const struct window *w, const struct found *f,
                                   struct leat_error *err)
{
    enum leat_status s = pass_text(c, w, f->wide_start, true, err);
    size_t bytes;

    c->done = f->wide_end;
    if (s != LEAT_OK)
        return s;
    bytes = f->wide_end > f->wide_start ? f->wide_end - f->wide_start : 0; /* 0 if the token before has taken all of
                                                                              this one */
    return w->take->token(w->context, f->id, w->text + f->wide_start, bytes, err);
}

/* Returns the end of the text that no token can take, whatever text follows. */
static size_t certain_text(const struct cutter *c, const struct window *w)
{
    size_t end = c->from, length;

    if (w->last)
        return w->bytes;
    while (end > c->done && end < w->bytes && (w->text[end] & 0xc0) == 0x80)
        end--;
    while (c->options.lstrip && end > c->done && is_space(w->text + utf8_before(w->text, end), &length))
        end = utf8_before(w->text, end);
    return end;
}

static enum leat_status cut_window(struct cutter *c, struct window *w, struct leat_error *err)
{
    struct string_search search = { .text = w->text, .bytes = w->bytes, .places.places.bound = c->held.text.bound };
    enum leat_status s = LEAT_OK;
    struct found f;
    bool found;

    for (;;) {
        enum verdict verdict;

        s = find_token(c, w, &search, &found, &f, err);
        if (s != LEAT_OK || !found)
            break;
        verdict = judge(c, w, &f);
        if (verdict == NOT_CERTAIN) {
            w->certain = f.start;
            break;
        }
        c->specials += f.added && f.added->special;
        c->from = f.end;
        if (verdict == IS_TOKEN)
            s = pass_token(c, w, &f, err);
        if (s != LEAT_OK)
            break;
    }
    string_search_free(&search);
    if (c->from < w->certain)
        c->from = w->certain;
    return s == LEAT_OK ? pass_text(c, w, certain_text(c, w), w->last, err) : s;
}

/* Keeps the beginning of the next window: the text that is not done, and a character before it. */
static enum leat_status keep_rest(struct cutter *c, const struct window *w, struct leat_error *err)
{
    size_t used = c->done < c->from ? c->done : c->from;

    if (used > 0)
        used = utf8_before(w->text, used);
    c->done -= used;
    c->from -= used;
    c->first -= c->first < used ? c->first : used;
    return held_keep(&c->held, w->text, w->bytes, used, err);
}

enum leat_status cutter_run(struct cutter *c, const struct text_chunk *chunk, const struct cutter_take *take,
                            void *context, struct leat_error *err)
{
    size_t longest = string_finder_longest(c->options.finder);
    struct window w = {
        .text = chunk->text, .bytes = chunk->bytes, .last = chunk->last, .take = take, .context = context
    };
    bool ready;
    enum leat_status s;

    if (longest == 0) {
        c->done = 0;
        c->first = chunk->first;
        return pass_text(c, &w, w.bytes, w.last, err);
    }
    if (chunk->first > 0)
        c->first = c->held.text.size - c->held.begin + chunk->first;
    s = held_join(&c->held, &w.text, &w.bytes, w.last, &ready, err);
    if (s != LEAT_OK || !ready)
        return s;
    w.certain = w.last ? w.bytes : w.bytes < longest ? 0 : w.bytes - longest + 1;
    s = cut_window(c, &w, err);
    if (w.last)
        cutter_clear(c);
    return s == LEAT_OK && !w.last ? keep_rest(c, &w, err) : s;
}
