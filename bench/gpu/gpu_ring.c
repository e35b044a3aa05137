/*
 * gpu_ring.c: see gpu.h: the backend alone, with slots that are filled already.
 *
 * A ring is opened for slots of one size and filled once. Then three loops are timed in turns: plain copies out of the
 * same pinned memory; slots through the backend; and, by the device's clock, the widening kernel against a copy that
 * moves as many bytes. CPU time is taken while the device is idle, so that no call waits for it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/status.h"
#include "bench/measure/clocks.h"
#include "device/backend.h"
#include "gpu.h"
#include "rows/rows.h"

#define SLOTS 8u

struct ring {
    struct gpu *g;
    struct backend *b;
    struct backend_memory m;
    struct rows_job job; /* of any slot: inputs and labels of 8 bytes */
    size_t token_bytes;
    void *inputs, *labels, *other;
    cuda_event begin, end;
};

/* ---- A ring of batches ---- */

static void lay_out(struct ring *r, uint64_t rows)
{
    uint32_t width = (uint32_t)r->g->seq_len + 1;
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
    size_t numbers = (size_t)(gpu_rows(r->g, size) * r->g->seq_len);
    struct load_device *d = &r->g->d;
    enum leat_status s = backend_cuda.open(&r->b, d->name, d->driver_name, err);

    lay_out(r, gpu_rows(r->g, size));
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

/* Times `count` copies of a slot's bytes, out of the same pinned memory, and nothing else. */
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

/* CPU time of a batch's calls: a copy, a write on the consumer's stream, one look; the device is idle in between. */
static enum leat_status calls(struct ring *r, uint64_t count, double *seconds, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    *seconds = 0;
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
        unsigned slot = (unsigned)(i % r->m.slots);
        struct rows_job job = r->job;
        double began = clocks_thread();

        job.base = r->m.host + slot * r->m.stride;
        s = backend_cuda.send(r->b, slot, r->m.slot_bytes, err);
        if (s == LEAT_OK)
            s = backend_cuda.fill(r->b, slot, &job, r->g->d.stream, err);
        if (s == LEAT_OK)
            backend_cuda.release(r->b, slot, r->g->d.stream);
        *seconds += clocks_thread() - began;
        if (s == LEAT_OK)
            s = load_device_wait(&r->g->d, err);
        began = clocks_thread();
        if (s == LEAT_OK)
            s = await_slot(r, slot, err);
        *seconds += clocks_thread() - began;
    }
    return s;
}

/* ---- Kernels ---- */

/* By the device's clock: `count` times a slot to inputs and labels, or a copy that moves as many bytes. */
static enum leat_status on_device(struct ring *r, bool kernel, uint64_t count, double *seconds, struct leat_error *err)
{
    struct load_device *d = &r->g->d;
    size_t out = 16 * (size_t)r->job.rows * r->job.length, half = (out + r->token_bytes) / 2;
    struct rows_job job = r->job;
    enum leat_status s;
    float ms = 0;

    job.base = r->m.host;
    if (half > out / 2)
        half = out / 2; /* what the buffers hold */
    s = load_device_check(d, d->driver.event_record(r->begin, d->stream), "recording an event", err);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i++)
        s = kernel
                ? backend_cuda.fill(r->b, 0, &job, d->stream, err)
                : load_device_check(d,
                                    d->extra.copy_on_device((uintptr_t)r->other, (uintptr_t)r->inputs, half, d->stream),
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
    if (!kernel) /* as if it had moved what the kernel moves */
        *seconds *= (double)(out + r->token_bytes) / (2.0 * (double)half);
    return s;
}

/* ---- All ---- */

static enum leat_status measure(struct ring *r, unsigned size, struct gpu_figures *f, struct leat_error *err)
{
    uint64_t runs = r->g->runs, count = r->g->steps;
    double plain[64], slots[64], cpu[64], kernel[64], memory[64];
    size_t moved = 16 * (size_t)r->job.rows * r->job.length + r->token_bytes;
    enum leat_status s = LEAT_OK;

    if (runs > 64)
        runs = 64;
    /* in turns, the first of which is not counted */
    for (uint64_t i = 0; s == LEAT_OK && i <= runs; i++) {
        uint64_t k = i ? i - 1 : 0;

        s = plain_loop(r, count, &plain[k], err);
        if (s == LEAT_OK)
            s = slots_loop(r, count, &slots[k], err);
        if (s == LEAT_OK)
            s = calls(r, count < 100 ? count : 100, &cpu[k], err);
        if (s == LEAT_OK)
            s = on_device(r, true, i ? count : 2, &kernel[k], err);
        if (s == LEAT_OK)
            s = on_device(r, false, i ? count : 2, &memory[k], err);
    }
    if (s != LEAT_OK)
        return s;
    f->size[size].bytes = r->m.slot_bytes;
    f->size[size].plain = (double)(r->m.slot_bytes * count) / gpu_median(plain, runs);
    f->size[size].slots = (double)(r->m.slot_bytes * count) / gpu_median(slots, runs);
    f->size[size].cpu = gpu_median(cpu, runs) / (double)(count < 100 ? count : 100);
    f->size[size].kernel = (double)(moved * count) / gpu_median(kernel, runs);
    f->size[size].memory = (double)(moved * count) / gpu_median(memory, runs);
    return LEAT_OK;
}

enum leat_status gpu_measure_ring(struct gpu *g, struct gpu_figures *f, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (unsigned size = 0; s == LEAT_OK && size < GPU_SIZES; size++) {
        struct ring r = { .g = g };

        s = open_ring(&r, size, err);
        if (s == LEAT_OK)
            s = measure(&r, size, f, err);
        close_ring(&r);
    }
    return s;
}
