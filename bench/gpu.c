/*
 * gpu.c: `leat-bench gpu`: compares the CUDA backend with bare loops over the same bytes. Each runs several times;
 * medians are printed.
 *
 * The backend alone comes first: a ring is opened for slots of one size and filled once. Then three loops are timed
 * in turns: plain copies out of the same pinned memory; slots through the backend; and, by the device's clock, the
 * widening kernel against a copy that moves as many bytes. CPU time is taken while the device is idle, so that no
 * call waits for it.
 *
 * Whole loaders follow: batches as fast as they come, by 1, 2, 4 threads and so on, up to the number of CPUs; and
 * steps like those of training, by one thread. Copies on the device take the place of a step's work; calibrate()
 * finds how many take a given time. Steps with a loader and steps with a batch that is already there run in turns;
 * the difference is what the loader adds to a step. Calls of the driver are counted (device/load_device.h).
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "base/thread.h"
#include "bench/device/load_device.h"
#include "bench/measure/contest.h"
#include "bench/measure/machine.h"
#include "cli/units.h"
#include "device/backend.h"
#include "device/cuda_device.h"
#include "rows/rows.h"
#include "subcommands.h"

#define NO_GPU      77 /* exit code that means "cannot run here" */
#define SEQ_LEN     2048u
#define SIZES       3 /* sizes of batches, each four times the one before */
#define THREADS     5 /* numbers of threads of a loader, each twice the one before */
#define SLOTS       8u
#define WORK_COPIES 64 /* size of the copy that takes the place of a step's work, in smallest batches */
#define MAX_RUNS    64

struct gpu_values {
    const char *device, *driver;
    uint64_t runs, steps, work, smallest;
    bool json;
};

const struct option_row bench_gpu_options[] = {
    { BENCH_OPTION(gpu_values, "device", OPTION_TEXT, device, "DEVICE", "the GPU: cuda:N"), .standard = "cuda" },
    { BENCH_OPTION(gpu_values, "driver", OPTION_TEXT, driver, "FILE",
                   "library to load as CUDA's driver instead of libcuda.so.1") },
    { BENCH_OPTION(gpu_values, "runs", OPTION_COUNT, runs, "N", "runs of each measurement"), .standard = "5", .min = 1,
      .max = MAX_RUNS },
    { BENCH_OPTION(gpu_values, "steps", OPTION_COUNT, steps, "N", "batches per run"), .standard = "200", .min = 1,
      .max = 1u << 20 },
    { BENCH_OPTION(gpu_values, "work", OPTION_COUNT, work, "MS", "milliseconds that a step computes"), .standard = "10",
      .min = 1, .max = 10000 },
    { BENCH_OPTION(gpu_values, "smallest", OPTION_SIZE, smallest, "SIZE",
                   "bytes of tokens in the smallest batches; the others have 4 and 16 times as many"),
      .standard = "1MiB", .min = 1, .max = (uint64_t)1 << 30 },
    BENCH_JSON(gpu_values),
    OPTIONS_END,
};

struct gpu {
    struct load_device d;
    const char *name; /* name of the dataset, whose tokens have two bytes */
    const struct gpu_values *v;
};

/* Medians over the runs. Rates are bytes per second, times are seconds. */
struct gpu_figures {
    double context, open, again; /* seconds until the first context, then until the first open loader, then until a
                                    second one */
    struct {
        size_t bytes;
        double plain, slots; /* rates of a plain loop of copies from pinned memory, and of filled slots through the
                                backend */
        double cpu;          /* CPU seconds of the driver's calls per batch: a copy, a write, and a check whether it
                                is done */
        double kernel;       /* rate of the widening kernel: bytes of inputs and outputs that it moves */
        double memory;       /* rate of a copy on the device that moves as many bytes */
        double gather[THREADS], end_to_end[THREADS];
    } size[SIZES];
    double alone, alone_p99, with, with_p99; /* seconds of a step, without and with a loader */
    double calls;                            /* calls of the driver per step that the library makes */
    uint64_t waits;                          /* calls in all steps that wait for the GPU or may wait */
};

/* Returns the rows of a batch of this size. */
static uint64_t rows_of(const struct gpu *g, unsigned size)
{
    uint64_t rows = (g->v->smallest << 2 * size) / (2 * SEQ_LEN);

    return rows ? rows : 1;
}

struct ring {
    struct gpu *g;
    struct backend *b;
    struct backend_memory m;
    struct rows_job job; /* the rows that fill every slot: inputs and labels of 8 bytes */
    size_t token_bytes;
    void *inputs, *labels, *other;
    cuda_event begin, end;
};

/* ---- A ring of batches that are filled already ---- */

static void lay_out(struct ring *r, uint64_t rows)
{
    uint32_t width = SEQ_LEN + 1;
    size_t lengths_at = (rows * width * 2 + 63) / 64 * 64, flags_at = (lengths_at + 4 * rows + 63) / 64 * 64;

    r->token_bytes = rows * width * 2;
    r->m.slots = SLOTS;
    r->m.slot_bytes = (flags_at + rows + 63) / 64 * 64;
    r->job = (struct rows_job) { .layout = { .rows = (uint32_t)rows,
                                             .width = width,
                                             .token_width = 2,
                                             .lengths_at = lengths_at,
                                             .flags_at = flags_at },
                                 .rows = (uint32_t)rows,
                                 .length = width - 1,
                                 .number_bytes = 8 };
}

static void fill_slots(struct ring *r)
{
    for (unsigned i = 0; i < r->m.slots; i++) {
        uint8_t *slot = r->m.host + i * r->m.stride;
        uint32_t *lengths = (uint32_t *)(void *)(slot + r->job.layout.lengths_at);

        for (size_t at = 0; at < r->token_bytes; at++)
            slot[at] = (uint8_t)(at * 7 + i);
        for (uint32_t row = 0; row < r->job.rows; row++)
            lengths[row] = r->job.length;
        memset(slot + r->job.layout.flags_at, 0, r->job.rows);
    }
}

static enum leat_status open_ring(struct ring *r, unsigned size, struct leat_error *err)
{
    size_t numbers = (size_t)(rows_of(r->g, size) * SEQ_LEN);
    struct load_device *d = &r->g->d;
    enum leat_status s = backend_cuda.open(&r->b, d->name, d->driver_name, err);

    lay_out(r, rows_of(r->g, size));
    if (s == LEAT_OK)
        s = backend_cuda.allocate_ring(r->b, &r->m, -1, err);
    if (s == LEAT_OK)
        s = load_device_allocate(d, &r->inputs, 8 * numbers, err);
    if (s == LEAT_OK)
        s = load_device_allocate(d, &r->labels, 8 * numbers, err);
    if (s == LEAT_OK)
        s = load_device_allocate(d, &r->other, 8 * numbers, err);
    if (s == LEAT_OK)
        s = load_device_check(d, d->driver.event_create(&r->begin, 0), "making an event", err);
    if (s == LEAT_OK)
        s = load_device_check(d, d->driver.event_create(&r->end, 0), "making an event", err);
    if (s != LEAT_OK)
        return s;
    r->job.inputs = r->inputs;
    r->job.labels = r->labels;
    fill_slots(r);
    return LEAT_OK;
}

static void close_ring(struct ring *r)
{
    struct load_device *d = &r->g->d;

    if (r->begin)
        d->driver.event_destroy(r->begin);
    if (r->end)
        d->driver.event_destroy(r->end);
    if (r->b) {
        backend_cuda.free_ring(r->b, &r->m);
        backend_cuda.close(r->b);
    }
    load_device_free(d, r->inputs);
    load_device_free(d, r->labels);
    load_device_free(d, r->other);
}

/* ---- Copies ---- */

/* Measures `count` copies of a slot's bytes out of the same pinned memory. */
static enum leat_status plain_loop(struct ring *r, uint64_t count, double *seconds, struct leat_error *err)
{
    struct load_device *d = &r->g->d;
    uint64_t began = clock_ns();
    cuda_result c = CUDA_OK;
    enum leat_status s;

    for (uint64_t i = 0; c == CUDA_OK && i < count; i++)
        c = d->driver.copy_to_device((uintptr_t)r->inputs, r->m.host + i % r->m.slots * r->m.stride, r->m.slot_bytes,
                                     d->stream);
    s = load_device_check(d, c, "copying", err);
    if (s == LEAT_OK)
        s = load_device_wait(d, err);
    *seconds = (double)(clock_ns() - began) / 1e9;
    return s;
}

static enum leat_status await_slot(struct ring *r, unsigned slot, struct leat_error *err)
{
    enum leat_status s;

    while ((s = backend_cuda.idle(r->b, slot, err)) == LEAT_E_AGAIN)
        ;
    return s;
}

static enum leat_status slots_loop(struct ring *r, uint64_t count, double *seconds, struct leat_error *err)
{
    uint64_t began = clock_ns();
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        if (i >= r->m.slots)
            s = await_slot(r, (unsigned)(i % r->m.slots), err);
        if (s == LEAT_OK)
            s = backend_cuda.send(r->b, (unsigned)(i % r->m.slots), r->m.slot_bytes, err);
    }
    for (unsigned i = 0; s == LEAT_OK && i < r->m.slots; i++)
        s = await_slot(r, i, err);
    *seconds = (double)(clock_ns() - began) / 1e9;
    return s;
}

/* Measures the CPU time of a batch's calls: a copy, a write on the consumer's stream, a check. The device is idle
 * between them. */
static enum leat_status calls_loop(struct ring *r, uint64_t count, double *seconds, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    *seconds = 0;
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        unsigned slot = (unsigned)(i % r->m.slots);
        struct rows_job job = r->job;
        double began = machine_thread_seconds();

        job.base = r->m.host + slot * r->m.stride;
        s = backend_cuda.send(r->b, slot, r->m.slot_bytes, err);
        if (s == LEAT_OK)
            s = backend_cuda.fill(r->b, slot, &job, NULL, 0, r->g->d.stream, err);
        if (s == LEAT_OK)
            backend_cuda.release(r->b, slot, r->g->d.stream);
        *seconds += machine_thread_seconds() - began;
        if (s == LEAT_OK)
            s = load_device_wait(&r->g->d, err);
        began = machine_thread_seconds();
        if (s == LEAT_OK)
            s = await_slot(r, slot, err);
        *seconds += machine_thread_seconds() - began;
    }
    return s;
}

/* ---- Kernels ---- */

/* Measures by the device's clock how long `count` slots take to become inputs and labels, or copies that move as
 * many bytes. */
static enum leat_status on_device(struct ring *r, bool kernel, uint64_t count, double *seconds, struct leat_error *err)
{
    struct load_device *d = &r->g->d;
    size_t out = 16 * (size_t)r->job.rows * r->job.length, half = (out + r->token_bytes) / 2;
    struct rows_job job = r->job;
    enum leat_status s;
    float ms = 0;

    job.base = r->m.host;
    if (half > out / 2)
        half = out / 2; /* bytes that each buffer holds */
    s = load_device_check(d, d->driver.event_record(r->begin, d->stream), "recording an event", err);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        s = kernel ? backend_cuda.fill(r->b, 0, &job, NULL, 0, d->stream, err)
                   : load_device_check(
                         d, d->driver.copy_on_device((uintptr_t)r->other, (uintptr_t)r->inputs, half, d->stream),
                         "copying on the device", err);
    if (s == LEAT_OK)
        s = load_device_check(d, d->driver.event_record(r->end, d->stream), "recording an event", err);
    if (s == LEAT_OK)
        s = load_device_wait(d, err);
    if (s == LEAT_OK)
        s = load_device_check(d, d->extra.event_elapsed(&ms, r->begin, r->end), "asking for a time", err);
    *seconds = (double)ms / 1e3;
    if (kernel && s == LEAT_OK)
        s = await_slot(r, 0, err);
    if (!kernel) /* The copy's time is scaled to the bytes that the kernel moves. */
        *seconds *= (double)(out + r->token_bytes) / (2.0 * (double)half);
    return s;
}

static enum leat_status measure_slots(struct ring *r, unsigned size, struct gpu_figures *f, struct leat_error *err)
{
    uint64_t runs = r->g->v->runs, count = r->g->v->steps;
    double plain[MAX_RUNS], slots[MAX_RUNS], cpu[MAX_RUNS], kernel[MAX_RUNS], memory[MAX_RUNS];
    size_t moved = 16 * (size_t)r->job.rows * r->job.length + r->token_bytes;
    enum leat_status s = LEAT_OK;

    /* The kernel and the copy take turns; the first round does not count. */
    for (uint64_t i = 0; s == LEAT_OK && i <= runs; i++) {
        uint64_t k = i ? i - 1 : 0;

        s = plain_loop(r, count, &plain[k], err);
        if (s == LEAT_OK)
            s = slots_loop(r, count, &slots[k], err);
        if (s == LEAT_OK)
            s = calls_loop(r, count < 100 ? count : 100, &cpu[k], err);
        if (s == LEAT_OK)
            s = on_device(r, true, i ? count : 2, &kernel[k], err);
        if (s == LEAT_OK)
            s = on_device(r, false, i ? count : 2, &memory[k], err);
    }
    if (s != LEAT_OK)
        return s;
    f->size[size].bytes = r->m.slot_bytes;
    f->size[size].plain = (double)(r->m.slot_bytes * count) / contest_median(plain, runs);
    f->size[size].slots = (double)(r->m.slot_bytes * count) / contest_median(slots, runs);
    f->size[size].cpu = contest_median(cpu, runs) / (double)(count < 100 ? count : 100);
    f->size[size].kernel = (double)(moved * count) / contest_median(kernel, runs);
    f->size[size].memory = (double)(moved * count) / contest_median(memory, runs);
    return LEAT_OK;
}

static enum leat_status measure_ring(struct gpu *g, struct gpu_figures *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (unsigned size = 0; s == LEAT_OK && size < SIZES; size++) {
        struct ring r = { .g = g };

        s = open_ring(&r, size, err);
        if (s == LEAT_OK)
            s = measure_slots(&r, size, f, err);
        close_ring(&r);
    }
    return s;
}

/* ---- Whole loaders ---- */

struct loading {
    struct gpu *g;
    struct leat_plan *plan;
    struct leat_loader *loader;
    void *inputs, *labels;
    void *from, *to; /* buffers of the copies that take the place of a step's work */
    size_t work_bytes;
    uint64_t copies; /* copies per step */
};

static enum leat_status open_plan(struct loading *x, struct leat_error *err)
{
    char text[4400];

    snprintf(text, sizeof text, "source %s\nseq-len %u\nseed 1\n", x->g->name, SEQ_LEN);
    return leat_plan_parse(&x->plan, text, strlen(text), NULL, NULL, err);
}

/* Returns how many numbers of threads are measured: those that do not exceed the CPUs. */
static unsigned thread_numbers(void)
{
    unsigned count = 1;

    while (count < THREADS && 1u << count <= thread_cpus())
        count++;
    return count;
}

static enum leat_status open_loader(struct loading *x, const char *device, const char *driver, uint64_t rows,
                                    uint32_t threads, struct leat_error *err)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = rows;
    o.io.threads = threads;
    o.device.name = device;
    o.device.driver = driver;
    return leat_loader_open(&x->loader, x->plan, &o, err);
}

static void close_loader(struct loading *x)
{
    leat_loader_close(x->loader);
    x->loader = NULL;
}

/* ---- As fast as they come ---- */

/* Measures the rate of batches on `device`. On the GPU, the measurement ends when all batches are there in stored
 * width. */
static enum leat_status rate(struct loading *x, const char *device, const char *driver, uint64_t rows, uint32_t threads,
                             double *bytes_per_s, struct leat_error *err)
{
    enum leat_status s = open_loader(x, device, driver, rows, threads, err);
    const struct leat_batch *b;
    uint64_t began = 0, bytes = 0;

    /* This round does not count: it touches the pages for the first time. */
    for (uint64_t k = 0; s == LEAT_OK && k < 2 * x->g->v->steps; k++) {
        if (k == x->g->v->steps)
            began = clock_ns();
        s = leat_loader_next(x->loader, &b, err);
        if (s != LEAT_OK)
            break;
        if (k >= x->g->v->steps)
            bytes += (uint64_t)b->rows * b->width * b->token_width;
        leat_batch_release(b, x->g->d.stream);
    }
    *bytes_per_s = s == LEAT_OK ? (double)bytes / ((double)(clock_ns() - began) / 1e9) : 0;
    close_loader(x);
    return s;
}

/* ---- Steps ---- */

static enum leat_status copy_like_training(struct loading *x, uint64_t copies, struct leat_error *err)
{
    struct load_device *d = &x->g->d;
    cuda_result r = CUDA_OK;

    for (uint64_t i = 0; r == CUDA_OK && i < copies; i++)
        r = d->driver.copy_on_device((uintptr_t)x->to, (uintptr_t)x->from, x->work_bytes, d->stream);
    return load_device_check(d, r, "working on the GPU", err);
}

/* Finds how many copies take the time of a step. */
static enum leat_status calibrate(struct loading *x, struct leat_error *err)
{
    double seconds = 0, work_seconds = (double)x->g->v->work / 1e3;
    enum leat_status s = LEAT_OK;

    for (x->copies = 1; s == LEAT_OK && x->copies < 1u << 20; x->copies *= 2) {
        uint64_t began = clock_ns();

        s = copy_like_training(x, x->copies, err);
        if (s == LEAT_OK)
            s = load_device_wait(&x->g->d, err);
        seconds = (double)(clock_ns() - began) / 1e9;
        if (seconds > work_seconds)
            break;
    }
    if (s == LEAT_OK && seconds > 0)
        x->copies = (uint64_t)((double)x->copies * work_seconds / seconds);
    if (x->copies == 0)
        x->copies = 1;
    return s;
}

static struct leat_outputs outputs_of(const struct loading *x)
{
    struct leat_outputs out = LEAT_OUTPUTS_INIT;

    out.inputs = x->inputs;
    out.labels = x->labels;
    return out;
}

/* Makes `count` steps and waits for the end of each, as a training loop that looks at its loss does. Writes their
 * times to times[]. */
static enum leat_status steps(struct loading *x, bool loaded, uint64_t count, double *times, struct leat_error *err)
{
    struct load_device *d = &x->g->d;
    enum leat_status s = LEAT_OK;

    for (uint64_t k = 0; s == LEAT_OK && k < count; k++) {
        struct leat_outputs out = outputs_of(x);
        const struct leat_batch *b = NULL;
        uint64_t began = clock_ns();

        if (loaded)
            s = leat_loader_next(x->loader, &b, err);
        if (s == LEAT_OK && loaded)
            s = leat_batch_write(b, &out, d->stream, err);
        if (b)
            leat_batch_release(b, d->stream);
        if (s == LEAT_OK)
            s = copy_like_training(x, x->copies, err);
        if (s == LEAT_OK)
            s = load_device_wait(d, err);
        times[k] = (double)(clock_ns() - began) / 1e9;
    }
    return s;
}

static double mean(const double *v, uint64_t count)
{
    double sum = 0;

    for (uint64_t i = 0; i < count; i++)
        sum += v[i];
    return sum / (double)count;
}

static enum leat_status measure_steps(struct loading *x, struct gpu_figures *f, struct leat_error *err)
{
    uint64_t count = x->g->v->steps, runs = x->g->v->runs;
    double *alone = calloc(2 * count * runs, sizeof *alone), *with = alone ? alone + count * runs : NULL;
    enum leat_status s = alone ? calibrate(x, err) : status_no_memory(err, 2 * count * runs * sizeof *alone);

    if (s == LEAT_OK)
        s = open_loader(x, x->g->d.name, x->g->d.driver_name, rows_of(x->g, 0), 1, err);
    if (s == LEAT_OK)
        s = steps(x, true, count, with, err);             /* These steps do not count. */
    for (uint64_t i = 0; s == LEAT_OK && i < runs; i++) { /* Steps with and without the loader take turns. */
        s = steps(x, false, count, alone + i * count, err);
        if (s == LEAT_OK)
            s = steps(x, true, count, with + i * count, err);
    }
    if (s == LEAT_OK) {
        f->alone = mean(alone, count * runs);
        f->with = mean(with, count * runs);
        contest_median(alone, count * runs); /* This sorts the times, too. */
        contest_median(with, count * runs);
        f->alone_p99 = alone[count * runs * 99 / 100];
        f->with_p99 = with[count * runs * 99 / 100];
    }
    close_loader(x);
    free(alone);
    return s;
}

/* ---- Calls ---- */

static enum leat_status count_calls(struct loading *x, struct gpu_figures *f, struct leat_error *err)
{
    uint64_t count = x->g->v->steps, calls = 0, waits = 0;
    double *times = calloc(count, sizeof *times);
    enum leat_status s = times ? LEAT_OK : status_no_memory(err, count * sizeof *times);

    load_device_count();
    if (s == LEAT_OK)
        s = open_loader(x, x->g->d.name, x->g->d.driver_name, rows_of(x->g, 0), 1, err);
    for (unsigned round = 0; s == LEAT_OK && round < 2; round++) { /* The first round does not count. */
        calls = atomic_load(&load_device_calls.calls);
        waits = atomic_load(&load_device_calls.waits);
        s = steps(x, true, count, times, err);
    }
    f->calls = (double)(atomic_load(&load_device_calls.calls) - calls) / (double)count;
    f->waits = atomic_load(&load_device_calls.waits) - waits;
    close_loader(x);
    free(times);
    return s;
}

/* Measures batches of one size, which 2^number threads gather. */
static enum leat_status measure_rates(struct loading *x, unsigned size, unsigned number, struct gpu_figures *f,
                                      struct leat_error *err)
{
    double gather[MAX_RUNS], end_to_end[MAX_RUNS];
    uint64_t runs = x->g->v->runs, rows = rows_of(x->g, size);
    uint32_t threads = 1u << number;
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < runs; i++) {
        s = rate(x, "host", NULL, rows, threads, &gather[i], err);
        if (s == LEAT_OK)
            s = rate(x, x->g->d.name, x->g->d.driver_name, rows, threads, &end_to_end[i], err);
    }
    if (s != LEAT_OK)
        return s;
    f->size[size].gather[number] = contest_median(gather, runs);
    f->size[size].end_to_end[number] = contest_median(end_to_end, runs);
    return s;
}

static enum leat_status measure_loading(struct loading *x, struct gpu_figures *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (unsigned size = 0; s == LEAT_OK && size < SIZES; size++)
        for (unsigned number = 0; s == LEAT_OK && number < thread_numbers(); number++)
            s = measure_rates(x, size, number, f, err);
    if (s == LEAT_OK)
        s = measure_steps(x, f, err);
    return s == LEAT_OK ? count_calls(x, f, err) : s;
}

static enum leat_status measure_opening(struct gpu *g, struct gpu_figures *f, struct leat_error *err)
{
    struct loading x = { .g = g };
    enum leat_status s = open_plan(&x, err);

    for (unsigned k = 0; s == LEAT_OK && k < 2; k++) {
        uint64_t began = clock_ns();

        s = open_loader(&x, g->d.name, g->d.driver_name, rows_of(g, 0), 1, err);
        *(k ? &f->again : &f->open) = (double)(clock_ns() - began) / 1e9;
        close_loader(&x);
    }
    leat_plan_close(x.plan);
    return s;
}

static enum leat_status open_loading(struct loading *x, unsigned size, struct leat_error *err)
{
    struct load_device *d = &x->g->d;
    size_t numbers = (size_t)(rows_of(x->g, size) * SEQ_LEN);
    enum leat_status s = open_plan(x, err);

    x->work_bytes = WORK_COPIES * x->g->v->smallest;
    if (s == LEAT_OK)
        s = load_device_allocate(d, &x->inputs, 8 * numbers, err);
    if (s == LEAT_OK)
        s = load_device_allocate(d, &x->labels, 8 * numbers, err);
    if (s == LEAT_OK)
        s = load_device_allocate(d, &x->from, x->work_bytes, err);
    return s == LEAT_OK ? load_device_allocate(d, &x->to, x->work_bytes, err) : s;
}

static void close_loading(struct loading *x)
{
    load_device_free(&x->g->d, x->inputs);
    load_device_free(&x->g->d, x->labels);
    load_device_free(&x->g->d, x->from);
    load_device_free(&x->g->d, x->to);
    leat_plan_close(x->plan);
}

static enum leat_status measure_loader(struct gpu *g, struct gpu_figures *f, struct leat_error *err)
{
    struct loading x = { .g = g };
    enum leat_status s = open_loading(&x, 0, err);

    if (s == LEAT_OK)
        s = measure_loading(&x, f, err);
    close_loading(&x);
    return s;
}

/* ---- Output ---- */

static void print_json(const struct gpu *g, const struct gpu_figures *f, const char *name)
{
    struct json j;

    machine_json_begin(&j);
    json_string(&j, "device", name);
    json_u64(&j, "driver", (uint64_t)g->d.driver.version);
    json_double(&j, "context_ms", 1e3 * f->context);
    json_double(&j, "loader_open_ms", 1e3 * f->open);
    json_double(&j, "loader_open_again_ms", 1e3 * f->again);
    json_open_array(&j, "batches");
    for (unsigned i = 0; i < SIZES; i++) {
        json_open_object(&j, NULL);
        json_u64(&j, "bytes", f->size[i].bytes);
        json_double(&j, "plain_copy_gb_per_s", f->size[i].plain / 1e9);
        json_double(&j, "filled_slots_gb_per_s", f->size[i].slots / 1e9);
        json_double(&j, "driver_calls_cpu_us", 1e6 * f->size[i].cpu);
        json_double(&j, "kernel_gb_per_s", f->size[i].kernel / 1e9);
        json_double(&j, "copy_on_device_gb_per_s", f->size[i].memory / 1e9);
        json_open_array(&j, "loaders");
        for (unsigned k = 0; k < thread_numbers(); k++) {
            json_open_object(&j, NULL);
            json_u64(&j, "threads", (uint64_t)1 << k);
            json_double(&j, "gather_gb_per_s", f->size[i].gather[k] / 1e9);
            json_double(&j, "end_to_end_gb_per_s", f->size[i].end_to_end[k] / 1e9);
            json_close_object(&j);
        }
        json_close_array(&j);
        json_close_object(&j);
    }
    json_close_array(&j);
    json_open_object(&j, "step_ms");
    json_double(&j, "alone", 1e3 * f->alone);
    json_double(&j, "alone_p99", 1e3 * f->alone_p99);
    json_double(&j, "with_loader", 1e3 * f->with);
    json_double(&j, "with_loader_p99", 1e3 * f->with_p99);
    json_close_object(&j);
    json_double(&j, "driver_calls_a_step", f->calls);
    json_u64(&j, "waiting_calls", f->waits);
    machine_json_end(&j);
}

static void print_text(const struct gpu *g, const struct gpu_figures *f, const char *name)
{
    machine_print();
    printf("device: %s, driver for CUDA %d.%d\n", name, g->d.driver.version / 1000, g->d.driver.version % 1000 / 10);
    printf("context %.1f ms, then a loader %.1f ms, another one %.1f ms\n", 1e3 * f->context, 1e3 * f->open,
           1e3 * f->again);
    for (unsigned i = 0; i < SIZES; i++) {
        printf("batches of %s\n", units_bytes(f->size[i].bytes).text);
        printf("  filled slots    %10s, %5.1f %% of a plain loop of pinned copies (%s)\n",
               units_rate(f->size[i].slots, "B").text, 100 * f->size[i].slots / f->size[i].plain,
               units_rate(f->size[i].plain, "B").text);
        printf("  driver calls    %10.2f us of CPU per batch\n", 1e6 * f->size[i].cpu);
        printf("  widening kernel %10s, %5.1f %% of a copy on the device (%s)\n",
               units_rate(f->size[i].kernel, "B").text, 100 * f->size[i].kernel / f->size[i].memory,
               units_rate(f->size[i].memory, "B").text);
        for (unsigned k = 0; k < thread_numbers(); k++)
            printf("  end to end      %10s, %5.1f %% of the lesser of gather (%u thread%s: %s) and link\n",
                   units_rate(f->size[i].end_to_end[k], "B").text,
                   100 * f->size[i].end_to_end[k] / fmin(f->size[i].gather[k], f->size[i].plain), 1u << k, k ? "s" : "",
                   units_rate(f->size[i].gather[k], "B").text);
    }
    printf("a step          %.3f ms (p99 %.3f), with a loader %.3f ms (p99 %.3f): %+.2f %%\n", 1e3 * f->alone,
           1e3 * f->alone_p99, 1e3 * f->with, 1e3 * f->with_p99, 100 * (f->with / f->alone - 1));
    printf("driver calls    %.1f per step; %" PRIu64 " of all of them wait for the GPU, or may\n", f->calls, f->waits);
}

/* ---- The command ---- */

int bench_gpu(const struct command *self, int argc, char **argv)
{
    struct gpu_values v = { .device = "cuda", .runs = 5, .steps = 200, .work = 10, .smallest = 1 << 20 };
    struct gpu g = { .v = &v };
    struct gpu_figures f = { 0 };
    struct options_parsed parsed;
    char name[CUDA_DEVICE_NAME] = "";
    struct leat_error err;
    enum leat_status s;
    uint64_t began;
    int code;

    if (!command_parse(self, argc, argv, &v, &parsed, &code))
        return code;
    g.name = parsed.words[0];
    began = clock_ns();
    s = load_device_open(&g.d, v.device, v.driver, &err);
    if (s != LEAT_OK) {
        fprintf(stderr, "skipped: %s\n", err.message);
        options_free(&parsed);
        return s == LEAT_E_UNSUPPORTED ? NO_GPU : cli_failed(&err);
    }
    f.context = (double)(clock_ns() - began) / 1e9;
    if (g.d.driver.device_name(name, (int)sizeof name, g.d.device) != CUDA_OK)
        name[0] = '\0';
    s = measure_opening(&g, &f, &err); /* This comes first, since the driver does some work only once. */
    if (s == LEAT_OK)
        s = measure_ring(&g, &f, &err);
    if (s == LEAT_OK)
        s = measure_loader(&g, &f, &err);
    if (s == LEAT_OK && v.json)
        print_json(&g, &f, name);
    else if (s == LEAT_OK)
        print_text(&g, &f, name);
    load_device_close(&g.d);
    return bench_end(&parsed, s, &err);
}
