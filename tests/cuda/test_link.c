/*
 * test_link.c: the stand-in's model of a link (tests/fake_cuda/link.h) gives the times that the model's figures give by
 * hand: copies one after another, beside kernels, on two streams, in both directions, behind events; a ring of one slot
 * leaves the link idle while it is filled, and one of two does not; kernels read rows in files' maps as fast as the
 * link carries them, where the model knows that, and else that is an offence; threads of the host meet at gates, and
 * their own CPU time counts, but for where this test looks at the model's.
 */
#include "cuda_loading.h"

#include <math.h>
#include <pthread.h>

#include "base/clock.h"
#include "device/cuda_image.h"
#include "fake_cuda/link.h"
#include "rows/rows_device.h"

#define BYTES ((size_t)16 << 20)
#define COUNT 10
#define LEAD  100u /* pieces of work that take longer than all calls for what is timed behind them */

static struct cuda_driver *d;
static struct cuda_extra *e;
static const struct link_model *m;
static cuda_pointer memory;
static uint8_t *host;

static double ns_of(enum link_engine engine, size_t bytes)
{
    return (double)m->gap_ns[engine] + floor((double)bytes / m->bytes_per_ns[engine]);
}

static cuda_event event(void)
{
    cuda_event x;

    MUST(d->event_create(&x, 0));
    return x;
}

static cuda_stream stream(void)
{
    cuda_stream s;

    MUST(d->stream_create(&s, CUDA_STREAM_NON_BLOCKING, 0));
    return s;
}

/* In memory of the side's own: 0, 1 or 2. */
static void work(enum link_engine engine, cuda_stream s, unsigned count, unsigned side)
{
    cuda_pointer own = memory + side * 2 * BYTES;

    for (unsigned i = 0; i < count; i++)
        if (engine == LINK_IN)
            MUST(d->copy_to_device(own, host, BYTES, s));
        else if (engine == LINK_OUT)
            MUST(e->copy_to_host(host, own, BYTES, s));
        else
            MUST(e->copy_on_device(own, own + BYTES, BYTES, s));
}

/* Nanoseconds between two events, of which the driver knows 24 bits. */
static void between(cuda_event first, cuda_event last, double expected, const char *what)
{
    float ms = 0;

    MUST(e->event_elapsed(&ms, first, last));
    if (fabs((double)ms * 1e6 - expected) > 1 + expected * 1e-6)
        T_FAIL("%s, %s: %.0f ns instead of %.0f", m->name, what, (double)ms * 1e6, expected);
}

/*
 * Ten pieces of work on one stream and ten on another, from the same moment on: each side takes its own time if they
 * use two engines; if it is one, they take turns, and the last of all ends after both times.
 */
static void two_streams(enum link_engine one, enum link_engine other)
{
    cuda_stream a = stream(), b = stream();
    cuda_event begin = event(), end_a = event(), end_b = event();
    double ns_a = COUNT * ns_of(one, one == LINK_COMPUTE ? 2 * BYTES : BYTES),
           ns_b = COUNT * ns_of(other, other == LINK_COMPUTE ? 2 * BYTES : BYTES);
    char what[60];

    snprintf(what, sizeof what, "engines %d and %d", (int)one, (int)other);
    work(one, a, LEAD, 0);
    MUST(d->event_record(begin, a));
    MUST(d->stream_wait(b, begin, 0));
    for (unsigned i = 0; i < COUNT; i++) {
        work(one, a, 1, 0);
        work(other, b, 1, 1);
    }
    MUST(d->event_record(end_a, a));
    MUST(d->event_record(end_b, b));
    T_EQ(d->event_query(begin), CUDA_NOT_READY);
    MUST(d->stream_synchronize(a));
    MUST(d->stream_synchronize(b));
    between(begin, end_a, one == other ? 2 * ns_a - ns_a / COUNT : ns_a, what);
    between(begin, end_b, one == other ? 2 * ns_a : ns_b, what);
    MUST(d->event_destroy(begin));
    MUST(d->event_destroy(end_a));
    MUST(d->event_destroy(end_b));
    MUST(d->stream_destroy(a));
    MUST(d->stream_destroy(b));
}

/* A copy that still waits for an event does not hold the engine: one that was called later goes first. */
static void overtakes(void)
{
    float ms = 0;
    cuda_stream a = stream(), b = stream(), c = stream();
    cuda_event begin = event(), copied = event(), late = event(), early = event();

    work(LINK_OUT, a, 20, 0);
    MUST(d->event_record(begin, a));
    work(LINK_OUT, a, LEAD, 0);
    MUST(d->event_record(copied, a));
    MUST(d->stream_wait(b, copied, 0));
    work(LINK_IN, b, 1, 1);
    MUST(d->event_record(late, b));
    MUST(d->stream_wait(c, begin, 0));
    work(LINK_IN, c, 1, 2);
    MUST(d->event_record(early, c));
    T_EQ(d->event_query(begin), CUDA_NOT_READY);
    MUST(d->event_synchronize(late));
    T_EQ(d->event_query(early), CUDA_OK);
    between(begin, early, ns_of(LINK_IN, BYTES), "beside copies");
    between(copied, late, ns_of(LINK_IN, BYTES), "behind a copy");
    MUST(e->event_elapsed(&ms, begin, copied));
    T_CHECK((double)ms * 1e6 > (LEAD - 1) * ns_of(LINK_OUT, BYTES));
    MUST(d->event_destroy(begin));
    MUST(d->event_destroy(copied));
    MUST(d->event_destroy(late));
    MUST(d->event_destroy(early));
    MUST(d->stream_destroy(a));
    MUST(d->stream_destroy(b));
    MUST(d->stream_destroy(c));
}

/* Pieces of a ring's slot: so many that filling one is long beside what the host needs for the calls. */
#define SLOT_PIECES 20

/* Which part of a link's time a ring uses whose slots take half as long to fill as to copy. */
static double ring_share(unsigned slots)
{
    cuda_stream s = stream();
    cuda_event ready[4];
    double copy = SLOT_PIECES * ns_of(LINK_IN, BYTES);
    uint64_t began = cuda->fake->link_spend(0), ended;

    for (unsigned i = 0; i < slots; i++)
        ready[i] = event();
    for (unsigned i = 0; i < 50; i++) {
        MUST(d->event_synchronize(ready[i % slots]));
        cuda->fake->link_spend((uint64_t)(0.5 * copy));
        work(LINK_IN, s, SLOT_PIECES, 0);
        MUST(d->event_record(ready[i % slots], s));
    }
    MUST(d->stream_synchronize(s));
    ended = cuda->fake->link_spend(0);
    for (unsigned i = 0; i < slots; i++)
        MUST(d->event_destroy(ready[i]));
    MUST(d->stream_destroy(s));
    return 50 * copy / (double)(ended - began);
}

static void rings(void)
{
    double one = ring_share(1), two = ring_share(2), four = ring_share(4);

    /* 1 of 1.5; two keep it busy but for the first filling, half of one of 50 */
    if (!(one > 0.66 && one < 0.667 && two > 0.989 && two < 0.9902 && four > 0.989 && four < 0.9902))
        T_FAIL("%s: rings of 1, 2 and 4 slots use %.3f, %.3f, %.3f of the link", m->name, one, two, four);
}

/* ---- Rows in maps ---- */

#define ROWS  8u
#define WIDTH 65536u
#define TABLE 4096u /* where the slot says where rows begin */

static cuda_function kernel;

/* The slot's table: the last rows of the batch are somewhere on the host, the others in the slot. */
static struct rows_job make_job(uint32_t on_host)
{
    struct rows_job j = { .base = (const uint8_t *)(uintptr_t)memory, .rows = ROWS, .length = WIDTH - 1 };
    uint64_t *table = (uint64_t *)(void *)(host + TABLE);

    j.layout = (struct rows_layout) { .rows = ROWS, .width = WIDTH, .token_width = 4, .rows_at = TABLE };
    j.layout.flags_at = 64;
    j.number_bytes = 4;
    j.inputs = (void *)(uintptr_t)(memory + 4 * BYTES);
    for (uint32_t row = 0; row < ROWS; row++)
        table[row] =
            row < ROWS - on_host ? 8192 + (uint64_t)row * WIDTH * 4 : (uintptr_t)host + BYTES - (uintptr_t)memory;
    return j;
}

static void launch(const struct rows_job *j, cuda_stream s)
{
    uint64_t blocks;
    struct rows_job job = *j;
    struct rows_grid grid = rows_grid(j, 4, &blocks);
    void *parameters[] = { &job, &grid };

    MUST(d->launch(kernel, (unsigned)blocks, 1, 1, ROWS_BLOCK, 1, 1, 0, s, parameters, NULL));
}

/* What the kernel moves on the device, and what comes over the link meanwhile: the longer of both counts. */
static void kernel_time(uint32_t on_host)
{
    struct rows_job j = make_job(on_host);
    double own = ((ROWS - on_host) * WIDTH * 4.0 + ROWS * (WIDTH - 1) * 4.0) / m->bytes_per_ns[LINK_COMPUTE];
    double mapped = m->mapped_per_ns > 0 ? on_host * WIDTH * 4.0 / m->mapped_per_ns : 0;
    cuda_stream s = stream();
    cuda_event begin = event(), end = event();

    work(LINK_OUT, s, LEAD, 1);
    MUST(d->copy_to_device(memory, host, 8192 + (size_t)(ROWS - on_host) * WIDTH * 4, s));
    MUST(d->event_record(begin, s));
    launch(&j, s);
    MUST(d->event_record(end, s));
    T_EQ(d->event_query(begin), CUDA_NOT_READY);
    MUST(d->stream_synchronize(s));
    if (on_host == 0 || mapped > 0)
        between(begin, end, (double)m->gap_ns[LINK_COMPUTE] + floor(own > mapped ? own : mapped), "a kernel");
    MUST(d->event_destroy(begin));
    MUST(d->event_destroy(end));
    MUST(d->stream_destroy(s));
}

static void kernels(void)
{
    static const uint32_t counts[] = { 0, 1, 6, ROWS };
    int can = 0;

    MUST(d->device_attribute(&can, CUDA_DEVICE_PAGEABLE_ACCESS, 0));
    T_EQ(can, m->mapped_per_ns > 0);
    T_EQ(cuda->fake->link_maps(m->name) == NULL, m->mapped_per_ns > 0);
    for (unsigned i = 0; i < 4; i++) {
        if (counts[i] && m->mapped_per_ns <= 0)
            cuda->fake->offences(true);
        kernel_time(counts[i]);
        if (counts[i] && m->mapped_per_ns <= 0) {
            T_CHECK(cuda->fake->offences(false) > 0);
            T_CONTAINS(cuda->fake->offence(), "over PCIe (by HMM)");
        }
    }
}

/* ---- Threads ---- */

static struct gate gate;
static _Atomic uint64_t opened, woken, timed_out;
static atomic_uint steps;

static void *sleeper(void *unused)
{
    uint64_t before = cuda->fake->link_spend(0);

    cuda->fake->link_gate_sleep(&gate, gate_ticket(&gate), 30000);
    timed_out = cuda->fake->link_spend(0) - before;
    atomic_store(&steps, 1);
    cuda->fake->link_gate_sleep(&gate, gate_ticket(&gate), 0);
    woken = cuda->fake->link_spend(0);
    atomic_store(&steps, 2);
    cuda->fake->link_gate_sleep(&gate, gate_ticket(&gate), 0); /* until time is real again */
    return unused;
}

/* A thread that sleeps while another computes for 5 ms wakes up when that opens the gate, and what waking takes. */
static void meet(void)
{
    pthread_t thread;

    T_EQ(pthread_create(&thread, NULL, sleeper, NULL), 0);
    while (atomic_load(&steps) == 0)
        cuda->fake->link_spend(1000);
    opened = cuda->fake->link_spend(5000000);
    cuda->fake->link_gate_open(&gate);
    while (atomic_load(&steps) == 1)
        cuda->fake->link_spend(1000);
    cuda->fake->link_end(); /* before it ends */
    pthread_join(thread, NULL);
    T_EQ(timed_out, 30000);
    T_EQ(woken, opened + m->wake_ns);
}

static void own_time(void)
{
    uint64_t cpu = clock_cpu_ns(), before = cuda->fake->link_spend(0);

    while (clock_cpu_ns() - cpu < 2000000)
        ;
    T_EQ(cuda->fake->link_spend(0), before);
    cuda->fake->link_count_cpu(true);
    cpu = clock_cpu_ns();
    before = cuda->fake->link_spend(0);
    while (clock_cpu_ns() - cpu < 2000000)
        ;
    T_CHECK(cuda->fake->link_spend(0) - before > 1000000); /* but for what reading the clock takes */
    cuda->fake->link_count_cpu(false);
}

int main(void)
{
    cuda_module module;

    if (!cuda_start())
        return 77;
    if (!cuda->fake)
        return t_skip("this is a model of the stand-in: not on a real GPU");
    d = &cuda->driver;
    e = &cuda->extra;
    cuda->fake->exempt(1);
    MUST(d->context_push(cuda->context));
    MUST(d->memory_allocate(&memory, 6 * BYTES));
    host = calloc(1, BYTES);
    MUST(d->module_load(&module, cuda_image_ptx));
    MUST(d->module_function(&kernel, module, "leat_rows_4_4"));
    MUST(d->host_register(host, BYTES, 0));
    T_CHECK(strcmp(cuda->fake->link_begin("pcie7"), "pcie4, pcie5, c2c") == 0);
    cuda->fake->link_count_cpu(false);
    for (unsigned i = 0; link_model(i); i++) {
        m = link_model(i);
        T_CHECK(cuda->fake->link_begin(m->name) == NULL);
        for (unsigned one = 0; one < LINK_ENGINES; one++)
            for (unsigned other = 0; other < LINK_ENGINES; other++)
                two_streams(one, other);
        overtakes();
        rings();
        kernels();
        if (link_model(i + 1))
            cuda->fake->link_end();
    }
    own_time();
    meet();
    MUST(d->module_unload(module));
    MUST(d->host_unregister(host));
    free(host);
    MUST(d->memory_free(memory));
    MUST(d->context_pop(&cuda->context));
    cuda->fake->exempt(-1);
    return t_end();
}
