/* fake_timed.c: what the stand-in's streams do in virtual time (link.h): work is timed, and nothing of it is done. */
#include "fake_stream.h"
#include "link.h"
#include "rows/rows_outputs.h"

static void passed(const struct link_work *w, uint64_t at)
{
    if (w->engine == LINK_RECORD) {
        w->event->done = w->turn;
        w->event->done_ns = at;
    }
    w->event->pending--;
    fake_event_free(w->event);
}

/* Bytes that a kernel reads and writes: rows, and each output. */
static uint64_t kernel_bytes(const struct rows_job *j)
{
    size_t numbers = (size_t)j->rows * j->length;
    uint64_t bytes = (uint64_t)j->rows * j->layout.width * j->layout.token_width;

#define COUNT(field, name, kind, documents)                                                                            \
    if (j->field)                                                                                                      \
        bytes += rows_output_bytes(kind, numbers, j->number_bytes, j->cu_seqlens_room);
    ROWS_OUTPUTS(COUNT, COUNT)
#undef COUNT
    return bytes;
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
    uint64_t bytes = w->kind == FAKE_KERNEL ? kernel_bytes(&w->job) : w->kind == FAKE_COPY ? 2 * w->bytes : w->bytes;

    x.put = link_charge(m && x.engine < LINK_ENGINES ? m->work_ns : 0);
    if (m && x.engine < LINK_ENGINES) {
        x.put += m->start_ns;
        x.ns = m->gap_ns[x.engine] + (uint64_t)((double)bytes / m->bytes_per_ns[x.engine]);
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
    link_switch(m);
    pthread_mutex_unlock(&fake_lock);
    return NULL;
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
