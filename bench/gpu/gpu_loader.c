/*
 * gpu_loader.c: see gpu.h: whole loaders: batches as fast as they come, and steps like those of training.
 *
 * A step is stood in for by copies on the device, as many as take a given time (calibrate()). Steps with a loader and
 * steps with a batch that is already there run in turns; the difference is what the loader adds to a step. Calls of the
 * driver are counted (cuda_counted.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "bench/device/cuda_counted.h"
#include "gpu.h"

#define WORK_COPIES 64 /* of the smallest batch: a copy that stands for a step's work */

struct loading {
    struct gpu *g;
    struct leat_plan *plan;
    struct leat_loader *loader;
    void *inputs, *labels;
    void *from, *to; /* of the work */
    size_t work_bytes;
    uint64_t copies; /* of a step */
};

static enum leat_status open_plan(struct loading *x, struct leat_error *err)
{
    char text[4400];

    snprintf(text, sizeof text, "source %s\nseq-len %llu\nseed 1\n", x->g->name, (unsigned long long)x->g->seq_len);
    return leat_plan_parse(&x->plan, text, strlen(text), NULL, NULL, err);
}

static enum leat_status open_loader(struct loading *x, const char *device, const char *driver, uint64_t rows,
                                    struct leat_error *err)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;

    o.batch = rows;
    o.device = device;
    o.driver = driver;
    return leat_loader_open(&x->loader, x->plan, &o, err);
}

static void close_loader(struct loading *x)
{
    leat_loader_close(x->loader);
    x->loader = NULL;
}

/* ---- As fast as they come ---- */

/* Batches of `device`; on the GPU each is there, in stored width, when the last has been released. */
static enum leat_status rate(struct loading *x, const char *device, const char *driver, uint64_t rows,
                             double *bytes_per_s, struct leat_error *err)
{
    enum leat_status s = open_loader(x, device, driver, rows, err);
    const struct leat_batch *b;
    uint64_t began = 0, bytes = 0;

    /* the first touch of pages is not to be measured: a round before */
    for (uint64_t k = 0; s == LEAT_OK && k < 2 * x->g->steps; k++) {
        if (k == x->g->steps)
            began = clock_ns();
        s = leat_loader_next(x->loader, &b, err);
        if (s != LEAT_OK)
            break;
        if (k >= x->g->steps)
            bytes += (uint64_t)b->rows * b->width * b->token_width;
        leat_batch_release(b, x->g->d.stream);
    }
    *bytes_per_s = s == LEAT_OK ? (double)bytes / ((double)(clock_ns() - began) / 1e9) : 0;
    close_loader(x);
    return s;
}

/* ---- Steps ---- */

static enum leat_status work(struct loading *x, uint64_t copies, struct leat_error *err)
{
    struct load_device *d = &x->g->d;
    cuda_result r = CUDA_OK;

    for (uint64_t i = 0; r == CUDA_OK && i < copies; i++)
        r = d->extra.copy_on_device((uintptr_t)x->to, (uintptr_t)x->from, x->work_bytes, d->stream);
    return load_device_check(d, r, "working on the GPU", err);
}

/* How many copies take the time of a step. */
static enum leat_status calibrate(struct loading *x, struct leat_error *err)
{
    double seconds = 0;
    enum leat_status s = LEAT_OK;

    for (x->copies = 1; s == LEAT_OK && x->copies < 1u << 20; x->copies *= 2) {
        uint64_t began = clock_ns();

        s = work(x, x->copies, err);
        if (s == LEAT_OK)
            s = load_device_wait(&x->g->d, err);
        seconds = (double)(clock_ns() - began) / 1e9;
        if (seconds > x->g->work_ms / 1e3)
            break;
    }
    if (s == LEAT_OK && seconds > 0)
        x->copies = (uint64_t)((double)x->copies * x->g->work_ms / 1e3 / seconds);
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

/* Makes `count` steps and waits for each at its end, as a training loop that looks at its loss; their times go into
 * times[]. */
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
            s = work(x, x->copies, err);
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
    uint64_t count = x->g->steps, runs = x->g->runs;
    double *alone = calloc(2 * count * runs, sizeof *alone), *with = alone ? alone + count * runs : NULL;
    enum leat_status s = alone ? calibrate(x, err) : status_no_memory(err, 2 * count * runs * sizeof *alone);

    if (s == LEAT_OK)
        s = open_loader(x, x->g->d.name, x->g->d.driver_name, gpu_rows(x->g, 0), err);
    if (s == LEAT_OK)
        s = steps(x, true, count, with, err);             /* not counted */
    for (uint64_t i = 0; s == LEAT_OK && i < runs; i++) { /* in turns */
        s = steps(x, false, count, alone + i * count, err);
        if (s == LEAT_OK)
            s = steps(x, true, count, with + i * count, err);
    }
    if (s == LEAT_OK) {
        f->alone = mean(alone, count * runs);
        f->with = mean(with, count * runs);
        gpu_median(alone, count * runs); /* sorts */
        gpu_median(with, count * runs);
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
    uint64_t count = x->g->steps, calls = 0, waits = 0;
    double *times = calloc(count, sizeof *times);
    enum leat_status s = times ? LEAT_OK : status_no_memory(err, count * sizeof *times);

    cuda_counted_begin();
    if (s == LEAT_OK)
        s = open_loader(x, x->g->d.name, x->g->d.driver_name, gpu_rows(x->g, 0), err);
    for (unsigned round = 0; s == LEAT_OK && round < 2; round++) { /* the first one is not counted */
        calls = atomic_load(&cuda_counted.calls);
        waits = atomic_load(&cuda_counted.waits);
        s = steps(x, true, count, times, err);
    }
    f->calls = (double)(atomic_load(&cuda_counted.calls) - calls) / (double)count;
    f->waits = atomic_load(&cuda_counted.waits) - waits;
    close_loader(x);
    free(times);
    return s;
}

/* ---- All ---- */

static enum leat_status measure(struct loading *x, struct gpu_figures *f, struct leat_error *err)
{
    double gather[64], end_to_end[64];
    uint64_t runs = x->g->runs < 64 ? x->g->runs : 64;
    enum leat_status s = LEAT_OK;

    for (unsigned size = 0; s == LEAT_OK && size < GPU_SIZES; size++) {
        for (uint64_t i = 0; s == LEAT_OK && i < runs; i++) {
            s = rate(x, "host", NULL, gpu_rows(x->g, size), &gather[i], err);
            if (s == LEAT_OK)
                s = rate(x, x->g->d.name, x->g->d.driver_name, gpu_rows(x->g, size), &end_to_end[i], err);
        }
        if (s == LEAT_OK) {
            f->size[size].gather = gpu_median(gather, runs);
            f->size[size].end_to_end = gpu_median(end_to_end, runs);
        }
    }
    if (s == LEAT_OK)
        s = measure_steps(x, f, err);
    return s == LEAT_OK ? count_calls(x, f, err) : s;
}

enum leat_status gpu_measure_opening(struct gpu *g, struct gpu_figures *f, struct leat_error *err)
{
    struct loading x = { .g = g };
    enum leat_status s = open_plan(&x, err);

    for (unsigned k = 0; s == LEAT_OK && k < 2; k++) {
        uint64_t began = clock_ns();

        s = open_loader(&x, g->d.name, g->d.driver_name, gpu_rows(g, 0), err);
        *(k ? &f->again : &f->open) = (double)(clock_ns() - began) / 1e9;
        close_loader(&x);
    }
    leat_plan_close(x.plan);
    return s;
}

static enum leat_status open_loading(struct loading *x, unsigned size, struct leat_error *err)
{
    struct load_device *d = &x->g->d;
    size_t numbers = (size_t)(gpu_rows(x->g, size) * x->g->seq_len);
    enum leat_status s = open_plan(x, err);

    x->work_bytes = WORK_COPIES * x->g->smallest;
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

enum leat_status gpu_measure_loader(struct gpu *g, struct gpu_figures *f, struct leat_error *err)
{
    struct loading x = { .g = g };
    enum leat_status s = open_loading(&x, 0, err);

    if (s == LEAT_OK)
        s = measure(&x, f, err);
    close_loading(&x);
    return s;
}
