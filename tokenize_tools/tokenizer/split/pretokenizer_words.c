/*
 * pretokenizer_words.c: pre-tokenizers that need no steps, since one loop finds all pretokens of a chunk: words with or
 * without punctuation (split_words.h), and what Metaspace makes (split_spaces.h). The last pretoken of a chunk waits
 * for the next one.
 */
#include "base/status.h"
#include "pretokenizer_internal.h"
#include "split_spaces.h"
#include "split_words.h"

/* ---- Words ---- */

/* Words of a chunk, and at the end of the segment the last one. White space at the end of a chunk may go at once. */
static enum leat_status give_words(struct way *w, const uint8_t *text, size_t bytes, bool last, size_t *used,
                                   struct leat_error *err)
{
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
    if (!last)
        return LEAT_OK;
    *used = bytes;
    ends[0] = (uint32_t)bytes;
    found.count = 1;
    return w->s->words(w->context, &found, err);
}

enum leat_status pretokenizer_run_words(struct way *w, const uint8_t *text, size_t bytes, bool last,
                                        struct leat_error *err)
{
    bool ready;
    size_t used;
    enum leat_status s = held_join(&w->s->held, &text, &bytes, last, &ready, err);

    if (s != LEAT_OK || !ready)
        return s;
    if (bytes > WINDOW_LIMIT)
        return status_set(err, LEAT_E_PRETOKEN, "cannot cut a stretch of more than 2 GiB");
    s = give_words(w, text, bytes, last, &used, err);
    return s == LEAT_OK ? held_keep(&w->s->held, text, bytes, used, err) : s;
}

/* ---- Metaspace ---- */

/* The pretokens of a chunk, and at the end of the segment the last one. */
static enum leat_status give_spaces(struct way *w, const uint8_t *text, size_t bytes, bool last, size_t *used,
                                    struct leat_error *err)
{
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
    if (s != LEAT_OK || !last || *used == bytes)
        return s;
    ends[0] = (uint32_t)bytes;
    found.count = 1;
    s = w->s->batches(w->context, &found, err);
    *used = bytes;
    return s;
}

/* Writes a chunk with spaces; `begins`: it is a segment's first. */
static enum leat_status write_spaces(struct way *w, const uint8_t *text, size_t bytes, bool begins, bool first,
                                     struct leat_error *err)
{
    const struct spec_pre_tokenizer *spec = w->p->steps[w->p->count - 1].spec;
    bool words = w->p->count > 1;
    bool wanted = begins && !words && bytes > 0 &&
                  (spec->prepend == SPEC_PREPEND_ALWAYS || (spec->prepend == SPEC_PREPEND_FIRST && first));
    struct buffer *out = &w->s->levels[0].changed;
    enum leat_status s;

    out->size = 0;
    s = buffer_reserve(out, bytes + 2, err);
    if (s != LEAT_OK)
        return s;
    if (wanted && text[0] != ' ' && !pretokenizer_begins_with(text, bytes, &spec->replacement))
        out->bytes[out->size++] = ' ';
    out->size += split_spaces_write(out->bytes + out->size, text, bytes, words, &w->s->in_word);
    return LEAT_OK;
}

enum leat_status pretokenizer_run_spaces(struct way *w, const uint8_t *text, size_t bytes, bool begins, bool first,
                                         bool last, struct leat_error *err)
{
    enum leat_status s = write_spaces(w, text, bytes, begins, first, err);
    bool ready = false;
    size_t used;

    if (s == LEAT_OK) {
        text = w->s->levels[0].changed.bytes;
        bytes = w->s->levels[0].changed.size;
        s = held_join(&w->s->held, &text, &bytes, last, &ready, err);
    }
    w->s->in_word = w->s->in_word && !last;
    if (s != LEAT_OK || !ready)
        return s;
    if (bytes > WINDOW_LIMIT)
        return status_set(err, LEAT_E_PRETOKEN, "cannot cut a stretch of more than 2 GiB");
    s = give_spaces(w, text, bytes, last, &used, err);
    return s == LEAT_OK ? held_keep(&w->s->held, text, bytes, used, err) : s;
}
