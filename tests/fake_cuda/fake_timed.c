/* fake_timed.c: what the stand-in's streams do in virtual time (link.h): work is timed, and nothing of it is done. */
#include <string.h>

#include "fake_stream.h"
#include "link.h"
#include "rows/rows_outputs.h"

#define MAX_SLOTS 64u /* of which rows may lie apart */

static void passed(const struct link_work *w, uint64_t at)
{
    if (w->engine == LINK_RECORD) {
        w->event->done = w->turn;
        w->event->done_ns = at;
    }
    w->event->pending--;
    fake_event_free(w->event);
}

/* ---- Kernels ---- */

/* What was last copied to a slot: nothing is moved, so a slot's table of rows is read where it came from. */
static struct copied {
    cuda_pointer to;
    const uint8_t *source;
    size_t bytes;
} copies[MAX_SLOTS];

static void note_copy(const struct fake_work *w)
{
    unsigned i = 0;

    while (i < MAX_SLOTS - 1 && copies[i].source && copies[i].to != w->to)
        i++;
    copies[i] = (struct copied) { w->to, w->source, w->bytes };
}

/* How many rows a kernel reads from the host's memory: those that do not begin in what was copied. */
static uint32_t rows_on_host(const struct rows_job *j)
{
    uint32_t rows = 0;
    unsigned i = 0;
    uint64_t at;

    while (i < MAX_SLOTS && copies[i].to != (uintptr_t)j->base)
        i++;
    for (uint32_t row = 0; j->layout.rows_at && i < MAX_SLOTS && row < j->layout.rows; row++) {
        memcpy(&at, copies[i].source + j->layout.rows_at + 8 * (size_t)row, 8);
        rows += at >= copies[i].bytes;
    }
    return rows;
}

/* Bytes that a kernel reads and writes on the device: rows, but for those on the host, and each output. */
static uint64_t kernel_bytes(const struct rows_job *j, uint32_t on_host)
{
    size_t numbers = (size_t)j->rows * j->length;
    uint64_t bytes = (uint64_t)(j->rows - on_host) * j->layout.width * j->layout.token_width;

#define COUNT(field, name, kind, documents)                                                                            \
    if (j->field)                                                                                                      \
        bytes += rows_output_bytes(kind, numbers, j->number_bytes, j->cu_seqlens_room);
    ROWS_OUTPUTS(COUNT, COUNT)
#undef COUNT
    return bytes;
}

static uint64_t kernel_ns(const struct link_model *m, const struct fake_work *w)
{
    uint32_t rows = w->widths ? rows_on_host(&w->job) : 0; /* the second pass reads no tokens */
    double own = (double)kernel_bytes(&w->job, rows) / m->bytes_per_ns[LINK_COMPUTE], mapped = 0;

    if (rows && link_maps(m))
        fake_offence("a kernel reads rows in files' maps over %s: %s", m->name, link_maps(m));
    else if (rows)
        mapped = (double)rows * w->job.layout.width * w->job.layout.token_width / m->mapped_per_ns;
    return (uint64_t)(own > mapped ? own : mapped);
}

static enum link_engine engine_of(enum fake_work_kind kind)
{
    switch (kind) {
    case FAKE_COPY_IN:
        return LINK_IN;
    case FAKE_COPY_OUT:
        return LINK_OUT;
    case FAKE_RECORD:
        return LINK_RECORD;
    case FAKE_WAIT:
        return LINK_WAIT;
    default:
        return LINK_COMPUTE;
    }
}

void fake_timed_put(cuda_stream s, const struct fake_work *w)
{
    const struct link_model *m = link_on();
    struct link_work x = { .engine = engine_of(w->kind), .stream = s->index, .event = w->event, .turn = w->turn };
    uint64_t bytes = w->kind == FAKE_COPY ? 2 * w->bytes : w->bytes;

    if (w->kind == FAKE_COPY_IN)
        note_copy(w);
    x.put = link_charge(m && x.engine < LINK_ENGINES ? m->work_ns : 0);
    if (m && x.engine < LINK_ENGINES) {
        x.put += m->start_ns;
        x.ns = m->gap_ns[x.engine];
        x.ns += w->kind == FAKE_KERNEL ? kernel_ns(m, w) : (uint64_t)((double)bytes / m->bytes_per_ns[x.engine]);
    } else if (x.engine == LINK_WAIT) {
        x.known_ns = w->event->done < w->turn ? UINT64_MAX : w->event->done_ns;
    }
    link_put(&x);
}

bool fake_timed_is_done(cuda_stream s)
{
    uint64_t end;

    link_advance(link_now(), passed);
    return link_ends(s->index, &end) && end <= link_now();
}

bool fake_timed_has_happened(cuda_event e)
{
    link_advance(link_now(), passed);
    link_charge(0);
    return e->done >= e->turn && e->done_ns <= link_now();
}

void fake_timed_await(cuda_stream s, cuda_event e)
{
    uint64_t next = link_advance(link_now(), passed), end = e ? e->done_ns : 0;

    if (s ? link_ends(s->index, &end) : e->done >= e->turn)
        next = end;
    pthread_mutex_unlock(&fake_lock);
    link_until(next == UINT64_MAX ? link_now() + 1000 : next); /* another thread may put there what is missing */
    pthread_mutex_lock(&fake_lock);
}

const char *fake_link_begin(const char *name);
const char *fake_link_begin(const char *name)
{
    const struct link_model *m = link_find(name);

    if (!m)
        return link_names();
    pthread_mutex_lock(&fake_lock);
    for (unsigned i = 0; i < FAKE_DEVICES; i++)
        fake_streams_await(&fake_contexts[i]);
    link_reset();
    memset(copies, 0, sizeof copies);
    link_switch(m);
    pthread_mutex_unlock(&fake_lock);
    return NULL;
}

const char *fake_link_maps(const char *name);
const char *fake_link_maps(const char *name)
{
    const struct link_model *m = link_find(name);

    return m ? link_maps(m) : "there is no such link";
}

void fake_link_end(void);
void fake_link_end(void)
{
    pthread_mutex_lock(&fake_lock);
    link_switch(NULL);
    link_advance(UINT64_MAX - 1, passed);
    pthread_cond_broadcast(&fake_changed);
    pthread_mutex_unlock(&fake_lock);
}
