/*
 * fake_stream.c: the stand-in's streams. A stream is a queue with a thread, which does its work
 * late. All that is known when work is put on a stream is checked then; see fake_control.h for the rules.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "fake_stream.h"

static cuda_stream streams;
static uint64_t clocks_taken;
static struct fake_clock last_clock; /* of streams that are gone: who takes over a number goes on from there */
static uint64_t fail_work_at, work_count;
static int fail_work_result;

void fake_fail_work(uint64_t n, int result);
void fake_fail_work(uint64_t n, int result)
{
    pthread_mutex_lock(&fake_lock);
    fail_work_at = n;
    fail_work_result = result;
    work_count = 0;
    pthread_mutex_unlock(&fake_lock);
}

/* Default streams belong to the driver. */
unsigned fake_streams_live(void)
{
    unsigned n = fake_events_live();

    for (cuda_stream s = streams; s; s = s->next)
        n += s->context->usual != s;
    return n;
}

/* ---- A stream's thread ---- */

static void pause_a_while(cuda_stream s)
{
    unsigned max = fake_options.pause_us;

    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    if (max > 0 && s->random >> 62 == 0)
        usleep((useconds_t)(s->random >> 33) % max);
}

static void run_copy(const struct fake_work *w, void *to, const void *from)
{
    if (w->kind == FAKE_COPY_IN && w->hash && fake_hash(w->source, w->bytes) != w->hash)
        fake_offence("the memory of the host that a copy reads has changed before the copy was made");
    memcpy(to, from, w->bytes);
}

/* Work on memory; with the lock, which it lets go of meanwhile. */
static void run(cuda_stream s, const struct fake_work *w)
{
    struct rows_job job = w->job;
    uint64_t *table = NULL;
    void *to = NULL;
    const void *from = NULL;
    bool ok = true;

    if (w->kind == FAKE_KERNEL)
        ok = fake_kernel_translate(s->context, &job, NULL, 0, &table);
    if (w->kind == FAKE_COPY_IN || w->kind == FAKE_COPY || w->kind == FAKE_SET)
        to = fake_memory_at(s->context, w->to, w->bytes, true, NULL, 0, "a copy that is made now");
    else if (w->kind == FAKE_COPY_OUT)
        to = w->host;
    if (w->kind == FAKE_COPY_OUT || w->kind == FAKE_COPY)
        from = fake_memory_at(s->context, w->from, w->bytes, false, NULL, 0, "a copy that is made now");
    else
        from = w->staged ? w->staged : w->source;
    pthread_mutex_unlock(&fake_lock);
    pause_a_while(s);
    if (w->kind == FAKE_KERNEL && ok)
        fake_ptx_run(w, &job);
    else if (w->kind == FAKE_SET && to)
        memset(to, w->value, w->bytes);
    else if (to && from)
        run_copy(w, to, from);
    free(table);
    pthread_mutex_lock(&fake_lock);
}

static void do_work(cuda_stream s, struct fake_work *w)
{
    cuda_event e = w->event;

    switch (w->kind) {
    case FAKE_RECORD:
        e->done = w->turn;
        e->done_ns = clock_ns();
        break;
    case FAKE_WAIT:
        while (e->done < w->turn)
            pthread_cond_wait(&fake_changed, &fake_lock);
        break;
    default:
        if (fail_work_at && ++work_count == fail_work_at)
            s->context->broken = fail_work_result;
        if (s->context->broken == CUDA_OK)
            run(s, w);
    }
    if (e) {
        e->pending--;
        fake_event_free(e);
    }
    free(w->staged);
    free(w);
}

static void *work_off(void *context)
{
    cuda_stream s = context;

    pthread_mutex_lock(&fake_lock);
    for (;;) {
        struct fake_work *w = s->first;

        if (w) {
            bool may_end_waiting = w->kind == FAKE_RECORD || !w->next;

            s->first = w->next;
            s->busy = true;
            do_work(s, w);
            s->busy = false;
            if (may_end_waiting)
                pthread_cond_broadcast(&fake_changed);
        } else if (s->stop) {
            break;
        } else {
            pthread_cond_wait(&s->wanted, &fake_lock);
        }
    }
    pthread_mutex_unlock(&fake_lock);
    return NULL;
}

/* ---- Streams ---- */

static cuda_stream make_stream(cuda_context context)
{
    cuda_stream s = calloc(1, sizeof *s);
    unsigned index = 0;

    while (index < FAKE_CLOCKS && clocks_taken >> index & 1)
        index++;
    if (!s || index == FAKE_CLOCKS) {
        free(s);
        return NULL;
    }
    clocks_taken |= (uint64_t)1 << index;
    s->context = context;
    s->index = index;
    s->clock = last_clock;
    s->random = fake_options.seed * 0x9e3779b97f4a7c15u + index;
    s->capture = NOT_CAPTURED;
    s->next = streams;
    streams = s;
    if (pthread_cond_init(&s->wanted, NULL) != 0 || pthread_create(&s->thread, NULL, work_off, s) != 0)
        abort();
    return s;
}

/* NULL: no such stream. */
cuda_stream fake_stream_find(cuda_stream stream, const char *what)
{
    cuda_stream s = streams;

    if ((uintptr_t)stream <= 2) { /* the legacy and each thread's own default stream are one here */
        cuda_context context = fake_current();

        if (!context->usual)
            context->usual = make_stream(context);
        return context->usual;
    }
    while (s && s != stream)
        s = s->next;
    if (!s)
        fake_offence("%s: there is no such stream, or it was destroyed", what);
    return s;
}

static bool is_done(cuda_stream s)
{
    return !s->first && !s->busy;
}

void fake_streams_await(cuda_context context)
{
    for (cuda_stream s = streams; s;) {
        bool wait = s->context == context && !is_done(s);

        if (wait)
            pthread_cond_wait(&fake_changed, &fake_lock);
        s = wait ? streams : s->next;
    }
}

static void await_done(cuda_stream s)
{
    while (!is_done(s))
        pthread_cond_wait(&fake_changed, &fake_lock);
    fake_clock_join(&fake_host_clock, &s->clock);
}

cuda_result fake_stream_create(cuda_stream *stream, unsigned flags, int priority)
{
    cuda_result r = fake_enter("cuStreamCreateWithPriority", FAKE_CONTEXT | FAKE_WAITS | FAKE_UNSAFE);

    (void)priority;
    if (r != CUDA_OK)
        return r;
    if (!(flags & CUDA_STREAM_NON_BLOCKING) && !fake_is_exempt())
        fake_offence("a stream is made that the default stream waits for");
    pthread_mutex_lock(&fake_lock);
    *stream = make_stream(fake_current());
    if (*stream)
        (*stream)->blocking = !(flags & CUDA_STREAM_NON_BLOCKING);
    pthread_mutex_unlock(&fake_lock);
    return *stream ? CUDA_OK : CUDA_OUT_OF_MEMORY;
}

/* When its work is done. With the lock, which it lets go of meanwhile. */
static void end_stream(cuda_stream s)
{
    cuda_stream *at = &streams;

    s->stop = true;
    pthread_cond_signal(&s->wanted);
    pthread_mutex_unlock(&fake_lock);
    pthread_join(s->thread, NULL);
    pthread_mutex_lock(&fake_lock);
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    fake_clock_join(&last_clock, &s->clock);
    fake_clock_join(&fake_host_clock, &s->clock);
    clocks_taken &= ~((uint64_t)1 << s->index);
    pthread_cond_destroy(&s->wanted);
    free(s);
}

unsigned fake_streams_drop(cuda_context context)
{
    cuda_stream s = streams;
    unsigned n = 0;

    while (s) {
        if (s->context != context) {
            s = s->next;
            continue;
        }
        n += context->usual != s;
        end_stream(s);
        s = streams;
    }
    context->usual = NULL;
    return n + fake_events_drop(context);
}

cuda_result fake_stream_destroy(cuda_stream stream)
{
    cuda_result r = fake_enter("cuStreamDestroy", FAKE_CONTEXT | FAKE_WAITS | FAKE_UNSAFE | FAKE_ENDS);
    cuda_stream *at = &streams, s;

    if (r == CUDA_DEINITIALIZED)
        return r;
    pthread_mutex_lock(&fake_lock);
    while (*at && *at != stream)
        at = &(*at)->next;
    s = *at;
    if (!s) {
        fake_offence("a stream is destroyed that is none, or was destroyed before");
        pthread_mutex_unlock(&fake_lock);
        return CUDA_INVALID_HANDLE;
    }
    end_stream(s);
    pthread_mutex_unlock(&fake_lock);
    return r;
}

cuda_result fake_stream_synchronize(cuda_stream stream)
{
    cuda_result r = fake_enter("cuStreamSynchronize", FAKE_CONTEXT | FAKE_WAITS | FAKE_UNSAFE);
    cuda_stream s;

    if (r != CUDA_OK)
        return r;
    pthread_mutex_lock(&fake_lock);
    s = fake_stream_find(stream, "cuStreamSynchronize");
    if (s)
        await_done(s);
    r = s ? s->context->broken : CUDA_INVALID_HANDLE;
    pthread_mutex_unlock(&fake_lock);
    return r;
}

cuda_result fake_context_synchronize(void)
{
    cuda_result r = fake_enter("cuCtxSynchronize", FAKE_CONTEXT | FAKE_WAITS | FAKE_UNSAFE);

    if (r != CUDA_OK)
        return r;
    pthread_mutex_lock(&fake_lock);
    for (cuda_stream s = streams; s; s = s->next)
        if (s->context == fake_current())
            await_done(s);
    r = fake_current()->broken;
    pthread_mutex_unlock(&fake_lock);
    return r;
}

/* Whether a capture forbids all work on the default stream. */
static bool is_implicit(cuda_stream usual)
{
    for (cuda_stream s = streams; s; s = s->next)
        if (s->context == usual->context && s->blocking && s->capture != NOT_CAPTURED)
            return true;
    return false;
}

cuda_result fake_stream_capturing(cuda_stream stream, cuda_capture_status *status)
{
    cuda_result r = fake_enter("cuStreamIsCapturing", FAKE_CONTEXT);
    cuda_stream s;

    if (r != CUDA_OK)
        return r;
    pthread_mutex_lock(&fake_lock);
    s = fake_stream_find(stream, "cuStreamIsCapturing");
    if (!s)
        r = CUDA_INVALID_HANDLE;
    else if (s == s->context->usual && is_implicit(s))
        r = CUDA_CAPTURE_IMPLICIT;
    else
        *status = s->capture != NOT_CAPTURED;
    pthread_mutex_unlock(&fake_lock);
    return r;
}

/* ---- Putting work on a stream ---- */

/* The memory that work touches, and when. */
static bool check_memory(cuda_stream s, struct fake_work *w)
{
    const char *what = w->kind == FAKE_SET ? "setting memory" : "a copy";

    struct rows_job job = w->job;

    if (w->kind == FAKE_RECORD || w->kind == FAKE_WAIT)
        return true;
    if (w->kind == FAKE_KERNEL)
        return fake_kernel_translate(s->context, &job, &s->clock, s->index, NULL);
    if ((w->kind == FAKE_COPY_IN || w->kind == FAKE_COPY || w->kind == FAKE_SET) &&
        !fake_memory_at(s->context, w->to, w->bytes, true, &s->clock, s->index, what))
        return false;
    if ((w->kind == FAKE_COPY_OUT || w->kind == FAKE_COPY) &&
        !fake_memory_at(s->context, w->from, w->bytes, false, &s->clock, s->index, what))
        return false;
    if (w->kind != FAKE_COPY_IN)
        return true;
    if (fake_is_registered(w->source, w->bytes)) {
        w->hash = fake_options.strict ? fake_hash(w->source, w->bytes) : 0;
        return true;
    }
    if (fake_options.strict && !fake_options.pageable && !fake_is_exempt())
        fake_offence("a copy reads %zu bytes of the host that are not registered", w->bytes);
    w->staged = malloc(w->bytes);
    if (w->staged)
        memcpy(w->staged, w->source, w->bytes);
    return w->staged != NULL;
}

static void order_events(cuda_stream s, struct fake_work *w)
{
    cuda_event e = w->event;

    if (w->kind == FAKE_RECORD) {
        w->turn = ++e->turn;
        e->clock = s->clock;
        e->captured = false;
    } else if (w->kind == FAKE_WAIT) {
        w->turn = e->turn;
        fake_clock_join(&s->clock, &e->clock);
    }
    if (e)
        e->pending++;
}

cuda_result fake_put(cuda_stream stream, const struct fake_work *work)
{
    cuda_stream s = fake_stream_find(stream, "putting work on a stream");
    struct fake_work *w;

    if (!s || (s->context != fake_current() && work->kind != FAKE_WAIT))
        return CUDA_INVALID_HANDLE;
    if (s->capture != NOT_CAPTURED)
        return fake_graph_add(s, work);
    if (fake_is_down()) /* since the call began */
        return CUDA_DEINITIALIZED;
    w = malloc(sizeof *w);
    if (!w)
        return CUDA_OUT_OF_MEMORY;
    *w = *work;
    w->next = NULL;
    fake_clock_join(&s->clock, &fake_host_clock);
    s->clock.at[s->index]++;
    order_events(s, w);
    if (!check_memory(s, w)) {
        free(w);
        return CUDA_INVALID_VALUE;
    }
    *(s->first ? &s->last->next : &s->first) = w;
    s->last = w;
    pthread_cond_signal(&s->wanted);
    return CUDA_OK;
}

static cuda_result put(const char *symbol, cuda_stream stream, const struct fake_work *work)
{
    cuda_result r = fake_enter(symbol, FAKE_CONTEXT);

    if (r != CUDA_OK)
        return r;
    pthread_mutex_lock(&fake_lock);
    r = work->event && !fake_is_event(work->event, symbol) ? CUDA_INVALID_HANDLE : CUDA_OK;
    if (r == CUDA_OK)
        r = fake_put(stream, work);
    pthread_mutex_unlock(&fake_lock);
    return r;
}

cuda_result fake_copy_to_device(cuda_pointer to, const void *from, size_t bytes, cuda_stream stream)
{
    return put("cuMemcpyHtoDAsync", stream,
               &(struct fake_work) { .kind = FAKE_COPY_IN, .to = to, .source = from, .bytes = bytes });
}

cuda_result fake_copy_to_host(void *to, cuda_pointer from, size_t bytes, cuda_stream stream)
{
    return put("cuMemcpyDtoHAsync", stream,
               &(struct fake_work) { .kind = FAKE_COPY_OUT, .host = to, .from = from, .bytes = bytes });
}

cuda_result fake_copy_on_device(cuda_pointer to, cuda_pointer from, size_t bytes, cuda_stream stream)
{
    return put("cuMemcpyDtoDAsync", stream,
               &(struct fake_work) { .kind = FAKE_COPY, .to = to, .from = from, .bytes = bytes });
}

cuda_result fake_set_bytes(cuda_pointer to, unsigned char value, size_t bytes, cuda_stream stream)
{
    return put("cuMemsetD8Async", stream,
               &(struct fake_work) { .kind = FAKE_SET, .to = to, .value = value, .bytes = bytes });
}

cuda_result fake_stream_wait(cuda_stream stream, cuda_event event, unsigned flags)
{
    (void)flags;
    return put("cuStreamWaitEvent", stream, &(struct fake_work) { .kind = FAKE_WAIT, .event = event });
}

cuda_result fake_event_record(cuda_event event, cuda_stream stream)
{
    return put("cuEventRecord", stream, &(struct fake_work) { .kind = FAKE_RECORD, .event = event });
}
