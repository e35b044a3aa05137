/*
 * spans.c: one lock guards the queue of spans and what is known of the file after it; looking for a span and
 * decompressing one go on without the lock. A thread that decompresses has a decompressor of its own, and so has the
 * stream. Texts and decompressors are used again.
 */
#include "spans.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/tiny.h"

/* ---- One thread's way to decompress a span ----------------------------------------------------------------------- */

static bool prepare(struct decompressing *d, const struct raw_input *of, struct span *span)
{
    if (span->room < span->needs) {
        free(span->text);
        span->text = malloc(span->needs);
        span->room = span->text ? span->needs : 0;
    }
    if (!span->text)
        return false;
    if (!d->in.name && raw_input_share(&d->in, of, NULL) != LEAT_OK)
        return false;
    if (!d->state && (raw_input_buffer(&d->in, NULL) != LEAT_OK ||
                      d->decompressor->open(&d->state, of->name, true, NULL) != LEAT_OK))
        return false;
    return raw_input_seek(&d->in, span->begin, (struct hash128) { 0, 0 }, NULL) == LEAT_OK;
}

static bool decompress_span(struct decompressing *d, struct span *span, const atomic_bool *closed)
{
    enum decompressor_step what = STEP_MORE;

    while (what != STEP_BORDER || raw_input_position(&d->in) < span->end) {
        size_t got;

        if (d->decompressor->step(d->state, &d->in, span->text + span->bytes, span->needs - span->bytes, &got, &what,
                                  NULL) != LEAT_OK)
            return false;
        span->bytes += got;
        if (what == STEP_END || span->bytes > span->needs - SPAN_SLACK || raw_input_position(&d->in) > span->end ||
            atomic_load_explicit(closed, memory_order_relaxed))
            return false;
    }
    span->sum = d->in.sum;
    return true;
}

/* Decompresses a span of a file that `of` reads, and that stays open. Returns true if its text is complete, and ends
 * where the span does. Returns false, too, if `closed` becomes true. */
static bool decompressing_run(struct decompressing *d, const struct decompressor *decompressor,
                              const struct raw_input *of, struct span *span, const atomic_bool *closed)
{
    d->decompressor = decompressor;
    span->bytes = 0;
    if (prepare(d, of, span) && decompress_span(d, span, closed))
        return true;
    decompressor->close(d->state); /* the decompressor is closed, because it may be in the middle of a member */
    d->state = NULL;
    return false;
}

static void decompressing_free(struct decompressing *d)
{
    if (d->state)
        d->decompressor->close(d->state);
    if (d->in.name)
        raw_input_close(&d->in);
    free(d);
}

/* ---- The queue of spans ------------------------------------------------------------------------------------------ */

#define SPAN_TEXT TINY_OR((uint64_t)300, (uint64_t)1 << 20) /* bytes of text up to which small members are joined */
#define OTHER     ((uint64_t)512 << 10)                     /* memory of a decompressor in addition to its window */

struct spans {
    const struct decompressor *decompressor;
    struct raw_input in; /* never read itself */
    uint64_t most;
    atomic_bool closed;

    pthread_mutex_t lock;
    pthread_cond_t done;       /* a span is ready, or has failed */
    struct span *first, *last; /* claimed spans, in the order of the file */
    struct span *spare;
    struct decompressing *idle;
    uint64_t held; /* memory */
    unsigned references;
    uint64_t passed; /* place up to which spans are of no use, because the stream has begun a member there or takes
                        the span */

    enum { TO_LOOK, LOOKING, FOUND, LOST } state; /* state of the data after all claimed spans */
    uint64_t at;                                  /* start of that data */
    struct member found;

    struct member_file file; /* file for the thread that looks */
};

/* ---- Opening and closing ---------------------------------------------------------------------------------------- */

struct spans *spans_open(const struct raw_input *in, const struct decompressor *d, uint64_t most)
{
    struct spans *s = in->seekable && d->find ? calloc(1, sizeof *s) : NULL;

    if (!s)
        return NULL;
    s->decompressor = d;
    s->most = most;
    s->references = 1;
    s->at = s->passed = raw_input_position(in);
    if (raw_input_share(&s->in, in, NULL) == LEAT_OK) {
        s->in.fd = fcntl(in->fd, F_DUPFD_CLOEXEC, 0); /* a duplicate, since a thread may end after the stream */
        s->in.lent = false;
    }
    if (s->in.fd < 0) {
        raw_input_close(&s->in);
        free(s);
        return NULL;
    }
    s->file = (struct member_file) { .fd = s->in.fd, .size = in->size };
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->done, NULL);
    return s;
}

/* Keeps a span that nobody uses for later use. */
static void recycle(struct spans *s, struct span *span)
{
    span->next = s->spare;
    s->spare = span;
}

static void drop_first(struct spans *s)
{
    struct span *span = s->first;

    s->first = span->next;
    if (!s->first)
        s->last = NULL;
    if (span->state == SPAN_CLAIMED)
        span->state = SPAN_DROPPED; /* the thread that has it recycles it */
    else
        recycle(s, span);
}

void spans_hold(struct spans *s)
{
    pthread_mutex_lock(&s->lock);
    s->references++;
    pthread_mutex_unlock(&s->lock);
}

void spans_release(struct spans *s)
{
    bool last;

    if (!s)
        return;
    pthread_mutex_lock(&s->lock);
    last = --s->references == 0;
    pthread_mutex_unlock(&s->lock);
    if (!last)
        return;
    while (s->spare) {
        struct span *span = s->spare;

        s->spare = span->next;
        free(span->text);
        free(span);
    }
    while (s->idle) {
        struct decompressing *d = s->idle;

        s->idle = d->next;
        decompressing_free(d);
    }
    raw_input_close(&s->in);
    pthread_cond_destroy(&s->done);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void spans_close(struct spans *s)
{
    if (!s)
        return;
    atomic_store(&s->closed, true);
    pthread_mutex_lock(&s->lock);
    while (s->first)
        drop_first(s);
    pthread_mutex_unlock(&s->lock);
    spans_release(s);
}

/* ---- For the stream --------------------------------------------------------------------------------------------- */

struct span *spans_take(struct spans *s, uint64_t at)
{
    struct span *span = NULL;

    pthread_mutex_lock(&s->lock);
    s->passed = at;
    while (s->first && s->first->begin < at)
        drop_first(s);
    if (s->first && s->first->begin == at) {
        span = s->first;
        while (span->state == SPAN_CLAIMED)
            pthread_cond_wait(&s->done, &s->lock);
        if (span->state == SPAN_FAILED) {
            drop_first(s);
            span = NULL;
        } else {
            s->first = span->next;
            if (!s->first)
                s->last = NULL;
        }
    } else if (s->state == LOST && at > s->at) {
        s->state = TO_LOOK;
    }
    pthread_mutex_unlock(&s->lock);
    return span;
}

void spans_give_back(struct spans *s, struct span *span)
{
    pthread_mutex_lock(&s->lock);
    recycle(s, span);
    pthread_mutex_unlock(&s->lock);
}

bool spans_wait(struct spans *s, uint64_t at, uint64_t left, uint64_t bytes)
{
    const struct span *span;

    pthread_mutex_lock(&s->lock);
    for (span = s->first; span && left < bytes && span->begin == at && span->state == SPAN_READY; span = span->next) {
        left += span->bytes;
        at = span->end;
    }
    bytes = span && span->begin == at && span->state == SPAN_CLAIMED ? bytes : 0;
    pthread_mutex_unlock(&s->lock);
    return left < bytes;
}

/* ---- Looking ---------------------------------------------------------------------------------------------------- */

/* Finds spans: small members are joined, up to SPAN_TEXT bytes of text. */
static void find_spans(struct spans *s, uint64_t begin, uint64_t together, struct member *all)
{
    struct member m;

    *all = (struct member) { .end = begin };
    while (all->max_text < together && all->end - begin < s->most &&
           s->decompressor->find(&s->file, all->end, s->most, &m) && m.end <= s->file.size) {
        if (all->end > begin && all->max_text + m.max_text > together)
            break;
        all->end = m.end;
        all->max_text += m.max_text;
        if (all->window < m.window)
            all->window = m.window;
    }
}

void spans_look(struct spans *s)
{
    uint64_t at, together = s->most < SPAN_TEXT ? s->most : SPAN_TEXT;
    struct member found;

    pthread_mutex_lock(&s->lock);
    if (s->at <= s->passed) {
        s->at = s->passed;
        together = 1; /* only the end of the member that the stream has begun is of use */
    }
    at = s->at;
    pthread_mutex_unlock(&s->lock);
    find_spans(s, at, together, &found);
    pthread_mutex_lock(&s->lock);
    s->found = found;
    s->state = found.end > at ? FOUND : LOST;
    pthread_mutex_unlock(&s->lock);
}

/* ---- Decompressing ---------------------------------------------------------------------------------------------- */

static uint64_t above(uint64_t needed, uint64_t there)
{
    return needed > there ? needed - there : 0;
}

/* The first of a list, or a new one. */
#define TAKE_OR_MAKE(list, item)                                                                                       \
    do {                                                                                                               \
        (item) = (list) ? (list) : calloc(1, sizeof *(item));                                                          \
        if (list)                                                                                                      \
            (list) = (list)->next;                                                                                     \
    } while (0)

/* Claims the spans that were found, if memory allows. */
static struct span *claim(struct spans *s, uint64_t bytes)
{
    uint64_t needs = s->found.max_text + SPAN_SLACK, cost = OTHER + s->found.window;
    uint64_t more = above(needs, s->spare ? s->spare->room : 0) + above(cost, s->idle ? s->idle->cost : 0);
    struct decompressing *d;
    struct span *span;

    if (more > bytes)
        return NULL;
    TAKE_OR_MAKE(s->spare, span);
    TAKE_OR_MAKE(s->idle, d);
    if (!span || !d) {
        if (span)
            recycle(s, span);
        if (d) {
            d->next = s->idle;
            s->idle = d;
        }
        return NULL;
    }
    s->held += more;
    d->cost = d->cost > cost ? d->cost : cost;
    span->by = d;
    span->begin = s->at;
    span->end = s->found.end;
    span->needs = (size_t)needs;
    span->bytes = 0;
    span->state = SPAN_CLAIMED;
    span->next = NULL;
    if (s->last)
        s->last->next = span;
    else
        s->first = span;
    s->last = span;
    s->at = span->end;
    s->state = TO_LOOK;
    return span;
}

enum spans_work spans_claim(struct spans *s, uint64_t bytes, struct span **span)
{
    enum spans_work work = SPANS_NOTHING;

    *span = NULL;
    pthread_mutex_lock(&s->lock);
    if (s->state == FOUND && s->at <= s->passed) { /* the stream has begun it */
        s->at = s->found.end;
        s->state = TO_LOOK;
    }
    if (!atomic_load(&s->closed) && s->state == FOUND && (*span = claim(s, bytes))) {
        work = SPANS_DECOMPRESS;
    } else if (!atomic_load(&s->closed) && s->state == TO_LOOK) {
        s->state = LOOKING;
        work = SPANS_LOOK;
    }
    pthread_mutex_unlock(&s->lock);
    return work;
}

void spans_decompress(struct spans *s, struct span *span)
{
    struct decompressing *d = span->by;
    bool done = decompressing_run(d, s->decompressor, &s->in, span, &s->closed);

    pthread_mutex_lock(&s->lock);
    d->next = s->idle;
    s->idle = d;
    if (span->state == SPAN_DROPPED)
        recycle(s, span);
    else
        span->state = done ? SPAN_READY : SPAN_FAILED;
    pthread_cond_broadcast(&s->done);
    pthread_mutex_unlock(&s->lock);
}

uint64_t spans_memory(struct spans *s)
{
    uint64_t held;

    pthread_mutex_lock(&s->lock);
    held = s->held;
    pthread_mutex_unlock(&s->lock);
    return held;
}
