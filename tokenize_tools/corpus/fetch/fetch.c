/*
 * fetch.c: one reader's way through an object. Its ranges lie one after another and are asked for in that order, as
 * many as its memory allows; the first is given up once a read begins after it. So a reader may go back to where its
 * last read began, as code does that looks at a header and then reads the body.
 *
 * A range is asked for whole: at 30 ms for a request and 100 MB/s for a connection, 16 ranges of 4 MiB bring 900
 * MB/s.
 */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "base/tiny.h"
#include "fetcher.h"

#define DEPTH 16u /* ranges at most */
#define FIRST_RANGE                                                                                                    \
    TINY_OR((uint64_t)128, (uint64_t)256 << 10) /* bytes of the first range, which also holds the
                                                                   footer of most tables */
#define LEAST_RANGE TINY_OR((uint64_t)64, (uint64_t)64 << 10)
#define USUAL_RANGE TINY_OR((uint64_t)1024, (uint64_t)4 << 20)
#define LARGE_RANGE (2 * USUAL_RANGE)
#define EAGER                                                                                                          \
    3u /* reads after which ranges are asked for ahead; fewer only look at the first bytes for the
                          form of an input */

struct fetch {
    struct fetch_object *object;
    uint64_t begin, end; /* stretch outside of which nothing is asked for ahead */
    uint64_t range;      /* bytes of one */
    unsigned depth;
    struct fetch_range *ranges[DEPTH]; /* ranges in the order of their places */
    unsigned count;
    uint64_t next;  /* place after the last range */
    unsigned reads; /* reads since reading began at this place, counted up to EAGER */
    struct fetch_range *spare;
};

static enum leat_status make_fetch(struct fetch **out, struct fetch_object *object, uint64_t begin, uint64_t end,
                                   uint64_t window, struct leat_error *err)
{
    struct fetch *f = calloc(1, sizeof *f);
    uint64_t depth = window / USUAL_RANGE;

    *out = f;
    if (!f)
        return status_no_memory(err, sizeof *f);
    f->object = object;
    f->begin = f->next = begin;
    f->end = end;
    f->depth = depth < 2 ? 2 : depth > DEPTH ? DEPTH : (unsigned)depth;
    f->range = window / (f->depth + 1); /* one is spare */
    if (f->range > LARGE_RANGE)
        f->range = LARGE_RANGE;
    if (f->range < LEAST_RANGE)
        f->range = LEAST_RANGE;
    return LEAT_OK;
}

enum leat_status fetch_open(struct fetch **out, struct fetch_object *object, struct leat_error *err)
{
    enum leat_status s = make_fetch(out, object, 0, object->found.size, object->by->window, err);

    if (s == LEAT_OK)
        (*out)->next = UINT64_MAX; /* matches no place, so that the first read starts fetching */
    return s;
}

/* ---- Ranges: all under the fetcher's lock ---- */

static void drop_first(struct fetch *f)
{
    struct fetch_range *r = f->ranges[0];

    f->count--;
    memmove(f->ranges, f->ranges + 1, f->count * sizeof *f->ranges);
    if (f->spare || r->state == RANGE_WANTED || r->state == RANGE_UNDER_WAY) {
        fetcher_drop(f->object->by, r);
        return;
    }
    transfer_free(&r->transfer);
    f->spare = r;
}

static enum leat_status take_range(struct fetch *f, uint64_t count, struct fetch_range **out, struct leat_error *err)
{
    struct fetch_range *r = f->spare;

    f->spare = NULL;
    if (!r)
        r = calloc(1, sizeof *r);
    *out = r;
    if (!r)
        return status_no_memory(err, sizeof *r);
    if (r->room >= count)
        return LEAT_OK;
    free(r->bytes);
    r->bytes = malloc((size_t)count);
    r->room = r->bytes ? (size_t)count : 0;
    if (r->bytes)
        return LEAT_OK;
    fetcher_free_range(r);
    *out = NULL;
    return status_no_memory(err, count);
}

/* Asks for `count` more bytes, or for what is left. */
static enum leat_status ask_for_range(struct fetch *f, uint64_t count, struct leat_error *err)
{
    struct fetch_range *r;
    enum leat_status s;

    count = count < f->end - f->next ? count : f->end - f->next;
    s = take_range(f, count, &r, err);
    if (s != LEAT_OK)
        return s;
    r->object = f->object;
    r->at = f->next;
    r->count = count;
    s = fetcher_ask(f->object->by, r, err);
    if (s != LEAT_OK) {
        fetcher_free_range(r);
        return s;
    }
    f->ranges[f->count++] = r;
    f->next += count;
    return LEAT_OK;
}

/* Asks for as much as memory allows, in ranges that end at multiples of their size, because servers keep objects in
 * parts. */
static enum leat_status ask_ahead(struct fetch *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && f->count < f->depth && f->next < f->end)
        s = ask_for_range(f, f->range - f->next % f->range, err);
    return s;
}

/* Begins anew at a place that is in no range. Near the end of the object, as many bytes before it are asked for,
 * too. */
static enum leat_status restart(struct fetch *f, uint64_t at, struct leat_error *err)
{
    uint64_t size = f->object->found.size, first = FIRST_RANGE < f->range ? FIRST_RANGE : f->range;

    while (f->count > 0)
        drop_first(f);
    if (at < f->begin || at >= f->end) { /* the reader has left its stretch from here on */
        f->begin = at;
        f->end = size - at < first ? size : at + first;
    }
    f->next = size >= first && size - at < first && size - first >= f->begin ? size - first : at;
    f->reads = 1;
    return ask_for_range(f, first, err);
}

/* Makes the first range hold the byte at `at`. */
static enum leat_status go_to(struct fetch *f, uint64_t at, struct leat_error *err)
{
    while (f->count > 0 && f->ranges[0]->at + f->ranges[0]->count <= at)
        drop_first(f);
    if (f->count > 0 ? at < f->ranges[0]->at : at != f->next || at >= f->end)
        return restart(f, at, err);
    f->reads += f->reads < EAGER;
    return f->reads == EAGER || f->count == 0 ? ask_ahead(f, err) : LEAT_OK;
}

/* ---- For the reader ---- */

enum leat_status fetch_open_stretch(struct fetch **out, struct fetch_object *object, uint64_t begin, uint64_t end,
                                    uint64_t window, struct leat_error *err)
{
    enum leat_status s =
        make_fetch(out, object, begin, end < object->found.size ? end : object->found.size, window, err);

    if (s != LEAT_OK)
        return s;
    (*out)->reads = EAGER;
    if (begin >= (*out)->end)
        return LEAT_OK;
    pthread_mutex_lock(&object->by->lock);
    s = ask_ahead(*out, err);
    pthread_mutex_unlock(&object->by->lock);
    if (s != LEAT_OK) {
        fetch_close(*out);
        *out = NULL;
    }
    return s;
}

void fetch_close(struct fetch *f)
{
    if (!f)
        return;
    pthread_mutex_lock(&f->object->by->lock);
    while (f->count > 0)
        drop_first(f);
    pthread_mutex_unlock(&f->object->by->lock);
    fetcher_free_range(f->spare);
    free(f);
}

enum leat_status fetch_read(struct fetch *f, uint64_t at, void *out, size_t room, size_t *got,
                            const struct input_stop *stop, struct leat_error *err)
{
    struct fetcher *by = f->object->by;
    const struct fetch_range *r = NULL;
    enum leat_status s;

    *got = 0;
    if (at >= f->object->found.size || room == 0)
        return LEAT_OK;
    pthread_mutex_lock(&by->lock);
    s = go_to(f, at, err);
    if (s == LEAT_OK) {
        r = f->ranges[0];
        s = fetcher_wait(by, r, stop, err);
    }
    pthread_mutex_unlock(&by->lock);
    if (s != LEAT_OK)
        return s;
    *got = r->at + r->count - at < room ? (size_t)(r->at + r->count - at) : room;
    memcpy(out, r->bytes + (at - r->at), *got);
    return LEAT_OK;
}

enum leat_status fetch_read_all(struct fetch *f, uint64_t at, void *out, size_t count, const struct input_stop *stop,
                                struct leat_error *err)
{
    uint8_t *to = out;
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && count > 0) {
        size_t got;

        s = fetch_read(f, at, to, count, &got, stop, err);
        if (s == LEAT_OK && got == 0)
            s = status_set_in(err, LEAT_E_MISMATCH, f->object->url.name, "%s is shorter than it was; start again",
                              f->object->url.name);
        at += got;
        to += got;
        count -= got;
    }
    return s;
}
