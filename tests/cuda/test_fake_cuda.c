/*
 * test_fake_cuda.c: the stand-in driver finds what it is there to find: each of its rules
 * (tests/fake_cuda/fake_control.h) is broken once, as a loader with that bug would, and it says so. Threads run here.
 */
#include "cuda_loading.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* These are real races: a sanitizer that looks for them is right to complain. */
#if defined(__SANITIZE_THREAD__)
#define RACES_ARE_FOUND 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RACES_ARE_FOUND 1
#endif
#endif
#ifndef RACES_ARE_FOUND
#define RACES_ARE_FOUND 0
#endif

#define BYTES ((size_t)1 << 20)

static struct cuda_driver *d;
static struct cuda_extra *e;
static uint8_t host[BYTES];

/* Offences since the last time; the last one has these words. */
static void found(const char *words)
{
    T_CHECK(cuda->fake->offences(true) > 0);
    T_CONTAINS(cuda->fake->offence(), words);
}

static cuda_stream stream(void)
{
    cuda_stream s;

    MUST(d->stream_create(&s, CUDA_STREAM_NON_BLOCKING, 0));
    return s;
}

static cuda_event event(void)
{
    cuda_event x;

    MUST(d->event_create(&x, CUDA_EVENT_DISABLE_TIMING));
    return x;
}

/* ---- Memory ---- */

static void reused_too_early(cuda_stream s, cuda_pointer memory)
{
    unsigned seen = 0;

    MUST(d->host_register(host, BYTES, 0));
    for (unsigned i = 0; i < 200 && seen == 0; i++) { /* until a copy is late */
        MUST(d->copy_to_device(memory, host, BYTES, s));
        host[i]++;
        MUST(d->stream_synchronize(s));
        seen = cuda->fake->offences(true);
    }
    T_CHECK(seen > 0);
    T_CONTAINS(cuda->fake->offence(), "has changed before the copy was made");
    MUST(d->host_unregister(host));
}

static void not_registered(cuda_stream s, cuda_pointer memory)
{
    MUST(d->copy_to_device(memory, host, BYTES, s));
    found("not registered");
    T_CHECK(d->host_unregister(host) != CUDA_OK);
    found("was not registered");
    MUST(d->stream_synchronize(s));
}

static void not_allocated(cuda_stream s, cuda_pointer memory)
{
    cuda_pointer other;

    T_CHECK(e->set_bytes(memory + 1, 0, BYTES, s) != CUDA_OK); /* one too many */
    found("not allocated");
    MUST(d->memory_allocate(&other, 100));
    MUST(d->memory_free(other));
    T_CHECK(e->set_bytes(other, 0, 1, s) != CUDA_OK);
    found("not allocated on the device (any more)");
    T_CHECK(d->memory_free(other) != CUDA_OK);
    found("freed before");
    MUST(d->memory_allocate(&other, 100));
    MUST(e->set_bytes(other, 0, 1, s));
    MUST(d->memory_free(other));
    found("before the host has seen the end");
    MUST(d->stream_synchronize(s));
    cuda->fake->offences(true); /* it may have run since, without its memory */
}

static void touched_by_the_host(cuda_pointer memory)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        signal(SIGSEGV, SIG_DFL); /* also where a sanitizer would report it */
        signal(SIGBUS, SIG_DFL);
        *(volatile uint8_t *)(uintptr_t)memory = 1;
        _exit(0);
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status));
}

/* ---- Order ---- */

static void not_ordered(cuda_pointer memory)
{
    cuda_stream a = stream(), b = stream();
    cuda_event x = event();

    MUST(e->set_bytes(memory, 1, 100, a));
    MUST(e->set_bytes(memory + 200, 1, 100, b)); /* other bytes */
    T_EQ(cuda->fake->offences(true), 0);
    MUST(e->set_bytes(memory + 99, 1, 100, b));
    found("not ordered before it");
    MUST(d->event_record(x, a));
    MUST(d->stream_wait(b, x, 0));
    MUST(e->set_bytes(memory, 2, 100, b));
    MUST(d->stream_synchronize(b));
    MUST(e->set_bytes(memory, 3, 300, a)); /* the host has seen it done */
    T_EQ(cuda->fake->offences(true), 0);
    MUST(e->copy_on_device(memory + 1000, memory, 10, b));
    found("reads bytes 0 to 10");
    MUST(d->stream_synchronize(a));
    MUST(d->stream_synchronize(b));
    MUST(d->event_destroy(x));
    MUST(d->stream_destroy(a));
    MUST(d->stream_destroy(b));
    cuda->fake->offences(true);
}

/* ---- Waiting, capture, objects ---- */

static void waits(cuda_stream s)
{
    cuda->fake->exempt(-1);
    MUST(d->stream_synchronize(s));
    found("cuStreamSynchronize, which waits for the device, was called in a steady step");
    MUST(d->context_synchronize());
    found("cuCtxSynchronize");
    cuda->fake->allow_waiting(1);
    MUST(d->stream_synchronize(s));
    cuda->fake->allow_waiting(-1);
    T_EQ(cuda->fake->offences(true), 0);
    cuda->fake->exempt(1);
}

static void in_capture(cuda_stream s)
{
    cuda_capture_mode mode = CUDA_CAPTURE_RELAXED;
    cuda_event x = event();
    cuda_graph graph;

    MUST(e->capture_begin(s, CUDA_CAPTURE_GLOBAL));
    T_EQ(d->event_query(x), CUDA_CAPTURE_UNSUPPORTED);
    found("while a stream is captured");
    MUST(d->capture_mode(&mode));
    MUST(d->event_query(x));
    MUST(d->capture_mode(&mode));
    T_CHECK(d->stream_wait(s, x, 0) != CUDA_OK); /* of another sequence */
    MUST(e->capture_end(s, &graph));
    MUST(e->graph_destroy(graph));
    MUST(d->event_destroy(x));
    T_EQ(cuda->fake->offences(true), 0);
}

static void destroyed(cuda_stream s)
{
    cuda_stream gone = stream();
    cuda_event x = event();

    MUST(d->stream_destroy(gone));
    T_CHECK(d->stream_destroy(gone) != CUDA_OK);
    found("destroyed before");
    T_CHECK(d->event_record(x, gone) != CUDA_OK);
    found("no such stream");
    MUST(d->event_destroy(x));
    T_CHECK(d->event_record(x, s) != CUDA_OK);
    found("no such event");
}

static void left_behind(void)
{
    cuda_context context;
    cuda_pointer memory;

    MUST(d->context_retain(&context, 1));
    MUST(d->context_push(context));
    MUST(d->memory_allocate(&memory, 10));
    MUST(d->context_pop(&context));
    MUST(d->context_release(1));
    found("1 things were not given back");
    T_CHECK(d->context_push(context) != CUDA_OK);
    found("nobody retains");
}

/* A child of a process that has used the driver. */
static void called_in_child(void)
{
    pid_t child = fork();
    int status, count;

    if (child == 0) {
        t_failures = 0;
        T_EQ(d->init(0), CUDA_NOT_INITIALIZED);
        T_EQ(cuda->fake->offences(true), 0);
        T_EQ(d->device_count(&count), CUDA_NOT_INITIALIZED);
        found("in a child");
        _exit(t_failures != 0);
    }
    T_CHECK(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

int main(void)
{
    cuda_pointer memory;
    cuda_stream s;

    if (RACES_ARE_FOUND)
        return t_skip("ThreadSanitizer sees these offences itself");
    if (!cuda_start())
        return 77;
    if (!cuda->fake)
        return t_skip("these are rules of the stand-in: not on a real GPU");
    d = &cuda->driver;
    e = &cuda->extra;
    cuda->fake->offences(true);
    cuda->fake->exempt(1);
    MUST(d->context_push(cuda->context));
    s = stream();
    MUST(d->memory_allocate(&memory, BYTES));
    reused_too_early(s, memory);
    cuda->fake->exempt(-1); /* a test may do that */
    cuda->fake->allow_waiting(1);
    not_registered(s, memory);
    cuda->fake->allow_waiting(-1);
    cuda->fake->exempt(1);
    not_allocated(s, memory);
    touched_by_the_host(memory);
    not_ordered(memory);
    waits(s);
    in_capture(s);
    destroyed(s);
    left_behind();
    called_in_child();
    MUST(d->stream_synchronize(s));
    MUST(d->memory_free(memory));
    MUST(d->stream_destroy(s));
    MUST(d->context_pop(&cuda->context));
    cuda->fake->exempt(-1);
    T_EQ(cuda->fake->offences(false), 0);
    return t_end();
}
