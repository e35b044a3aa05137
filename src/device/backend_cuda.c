/*
 * backend_cuda.c: NVIDIA's GPUs as a device: see backend.h. Uses the primary context, which the program's other
 * libraries share; every call leaves the calling thread's current context as it was.
 *
 * A slot has an event for its copy, and some for its users. Copies go through a stream of the backend's own, and
 * consumers' streams wait for the copy's event; a slot is idle when the events of its users have happened. Why events,
 * not a synchronization? Only opening and closing may wait for the GPU. Calls that CUDA forbids while a stream is being
 * captured are made only there too, or in "relaxed" mode, so that they never disturb a capture of the program's.
 */
#include <stdio.h>

#include "backend_cuda.h"
#include "base/status.h"
#include "rows/rows_device.h"
#include "rows/rows_outputs.h"

/* ---- Failures ---- */

/* Keeps a failure that the caller cannot return; the stage gets it when it asks for idle slots. The first one
 * counts. */
static void keep_failure(struct backend *b, const struct leat_error *err)
{
    if (atomic_flag_test_and_set(&b->failing))
        return;
    b->failure = *err;
    atomic_store(&b->failed, true);
}

enum leat_status backend_cuda_check(const struct backend *b, cuda_result r, const char *tried, struct leat_error *err)
{
    return r == CUDA_OK ? LEAT_OK : cuda_driver_failed(&b->driver, r, tried, err);
}

/* ---- The context ---- */

static cuda_result enter(const struct backend *b, struct cuda_before *before)
{
    cuda_context current = NULL;
    cuda_result r = b->driver.context_current(&current);

    *before = (struct cuda_before) { .mode = CUDA_CAPTURE_RELAXED };
    if (r != CUDA_OK || current == b->context)
        return r;
    r = b->driver.context_push(b->context);
    before->pushed = r == CUDA_OK;
    return r;
}

cuda_result backend_cuda_enter(const struct backend *b, struct cuda_before *before)
{
    cuda_result r = enter(b, before);

    if (r == CUDA_OK && b->driver.capture_mode(&before->mode) == CUDA_OK)
        before->relaxed = true;
    return r;
}

void backend_cuda_leave(const struct backend *b, struct cuda_before *before)
{
    cuda_context ours;

    if (before->relaxed)
        b->driver.capture_mode(&before->mode);
    if (before->pushed)
        b->driver.context_pop(&ours);
}

static cuda_result enter_stage(const struct backend *b, struct cuda_before *before)
{
    *before = (struct cuda_before) { .pushed = false };
    return b->attached ? CUDA_OK : backend_cuda_enter(b, before);
}

static void attach(struct backend *b)
{
    cuda_capture_mode mode = CUDA_CAPTURE_RELAXED;

    /* if that fails, all later calls fail too */
    b->attached = b->driver.context_set(b->context) == CUDA_OK && b->driver.capture_mode(&mode) == CUDA_OK;
}

/* ---- Launching ---- */

static cuda_pointer slot_at(const struct backend *b, unsigned slot)
{
    return b->memory + slot * (cuda_pointer)b->device_stride;
}

static bool nothing_wanted(const struct rows_job *j)
{
    bool none = true;

#define LOOK(field, name, kind, documents) none = none && !j->field;
    ROWS_OUTPUTS(LOOK, LOOK)
#undef LOOK
    return none;
}

/* A misaligned store would end the whole context. */
static bool is_aligned(const struct rows_job *j)
{
    bool aligned = true;

#define LOOK(field, name, kind, documents)                                                                             \
    aligned = aligned && (uintptr_t)j->field % rows_output_bytes(kind, 1, j->number_bytes, 1) == 0;
    ROWS_OUTPUTS(LOOK, LOOK)
#undef LOOK
    return aligned;
}

/* `number_bytes`: as for rows_grid(). */
static enum leat_status launch_pass(struct backend *b, cuda_function kernel, struct rows_job *j, uint32_t number_bytes,
                                    cuda_stream stream, struct leat_error *err)
{
    uint64_t blocks;
    struct rows_grid grid = rows_grid(j, number_bytes, &blocks);
    void *parameters[] = { j, &grid };

    if (blocks > INT32_MAX)
        return status_set(err, LEAT_E_ARGUMENT, "%u rows of %u numbers are too many for one batch on a GPU", j->rows,
                          j->length);
    return backend_cuda_check(
        b, b->driver.launch(kernel, (unsigned)blocks, 1, 1, ROWS_BLOCK, 1, 1, 0, stream, parameters, NULL),
        "starting a kernel", err);
}

static enum leat_status launch(struct backend *b, unsigned slot, const struct rows_job *job, cuda_stream stream,
                               struct leat_error *err)
{
    struct rows_job j = *job;
    enum leat_status s;

    if (!is_aligned(&j))
        return status_set(err, LEAT_E_ARGUMENT, "outputs on a GPU must be aligned to the %u bytes of their numbers",
                          j.number_bytes);
    j.base = (const uint8_t *)(uintptr_t)slot_at(b, slot);
    s = launch_pass(b, b->kernels[j.layout.token_width == 4][j.number_bytes == 8], &j, j.number_bytes, stream, err);
    return s == LEAT_OK && rows_has_mask_pass(&j) ? launch_pass(b, b->mask_kernel, &j, 0, stream, err) : s;
}

/* ---- The stage's side ---- */

static enum leat_status send(struct backend *b, unsigned slot, size_t bytes, struct leat_error *err)
{
    struct cuda_before before;
    cuda_result r = enter_stage(b, &before);

    if (r == CUDA_OK)
        r = b->driver.copy_to_device(slot_at(b, slot), b->host + slot * b->host_stride, bytes, b->stream);
    if (r == CUDA_OK && b->output_bytes == 0) /* else `prepare` records it */
        r = b->driver.event_record(b->slots[slot].ready, b->stream);
    backend_cuda_leave(b, &before);
    return backend_cuda_check(b, r, "copying a batch to the GPU", err);
}

static enum leat_status prepare(struct backend *b, unsigned slot, const struct rows_job *job, struct leat_error *err)
{
    struct cuda_before before;
    enum leat_status s = backend_cuda_check(b, enter_stage(b, &before), "entering the GPU's context", err);

    if (s == LEAT_OK)
        s = launch(b, slot, job, b->stream, err);
    if (s == LEAT_OK)
        s = backend_cuda_check(b, b->driver.event_record(b->slots[slot].ready, b->stream), "recording an event", err);
    backend_cuda_leave(b, &before);
    return s;
}

/* CUDA_OK, CUDA_NOT_READY, or a failure. */
static cuda_result ask(const struct backend *b, struct cuda_slot *s)
{
    cuda_result r = CUDA_OK;

    if (s->used == 0) /* each use waits for the copy */
        return b->driver.event_query(s->ready);
    while (s->used > 0 && (r = b->driver.event_query(s->uses[s->used - 1])) == CUDA_OK)
        s->used--;
    return r;
}

static enum leat_status idle(struct backend *b, unsigned slot, struct leat_error *err)
{
    struct cuda_slot *s = &b->slots[slot];
    struct cuda_before before;
    cuda_result r;

    if (atomic_load(&b->failed)) {
        if (err)
            *err = b->failure;
        return b->failure.status;
    }
    r = enter_stage(b, &before);
    if (r == CUDA_OK) {
        pthread_mutex_lock(&s->lock);
        r = ask(b, s);
        if (r == CUDA_OK)
            s->borrowed = false;
        pthread_mutex_unlock(&s->lock);
    }
    backend_cuda_leave(b, &before);
    return r == CUDA_NOT_READY ? LEAT_E_AGAIN
                               : backend_cuda_check(b, r, "querying whether the GPU is done with a batch", err);
}

/* ---- The consumers' side ---- */

/* A slot's memory holds another batch each time round, so no graph may capture a use of it. */
static enum leat_status check_capture(const struct backend *b, cuda_stream stream, struct leat_error *err)
{
    cuda_capture_status capturing = CUDA_CAPTURE_NONE;
    cuda_result r = b->driver.stream_capturing(stream, &capturing);
    enum leat_status s;

    if (r == CUDA_CAPTURE_IMPLICIT)
        return status_set(err, LEAT_E_STATE,
                          "the default stream cannot be used while a stream that it waits for is being captured; use "
                          "another stream, or wait until the capture has ended");
    s = backend_cuda_check(b, r, "querying the stream", err);
    if (s != LEAT_OK || capturing == CUDA_CAPTURE_NONE)
        return s;
    return status_set(err, LEAT_E_STATE,
                      "the stream is being captured, but a batch cannot be part of a graph: write each batch to the "
                      "same buffers on the stream before you launch the graph");
}

/* Notes that work on the stream up to now uses the slot. */
static cuda_result add_use(const struct backend *b, struct cuda_slot *s, cuda_stream stream)
{
    cuda_result r = CUDA_OK;
    cuda_event event = s->uses[s->used < CUDA_SLOT_USES ? s->used : CUDA_SLOT_USES - 1];

    if (s->used == CUDA_SLOT_USES) /* one event for two streams: makes this one wait for the other */
        r = b->driver.stream_wait(stream, event, 0);
    if (r == CUDA_OK)
        r = b->driver.event_record(event, stream);
    if (r == CUDA_OK && s->used < CUDA_SLOT_USES)
        s->used++;
    return r;
}

/* No event will show the end of this use, so the slot must never be filled again. */
static enum leat_status lost_use(struct backend *b, cuda_result r, struct leat_error *err)
{
    struct leat_error own;
    enum leat_status s = backend_cuda_check(b, r, "recording an event on the consumer's stream", &own);

    if (s != LEAT_OK) {
        keep_failure(b, &own);
        if (err)
            *err = own;
    }
    return s;
}

static enum leat_status fill_inside(struct backend *b, unsigned number, const struct rows_job *job, cuda_stream stream,
                                    struct leat_error *err)
{
    struct cuda_slot *slot = &b->slots[number];
    enum leat_status s = check_capture(b, stream, err), use;

    if (s == LEAT_OK)
        s = backend_cuda_check(b, b->driver.stream_wait(stream, slot->ready, 0), "making the stream wait for the batch",
                               err);
    if (s != LEAT_OK)
        return s;
    s = launch(b, number, job, stream, err);
    pthread_mutex_lock(&slot->lock); /* the first of two kernels may run, even if the second cannot start */
    use = lost_use(b, add_use(b, slot, stream), s == LEAT_OK ? err : NULL);
    pthread_mutex_unlock(&slot->lock);
    return s == LEAT_OK ? use : s;
}

static enum leat_status fill(struct backend *b, unsigned slot, const struct rows_job *job, void *stream,
                             struct leat_error *err)
{
    struct cuda_before before;
    enum leat_status s;

    if (nothing_wanted(job))
        return LEAT_OK;
    s = backend_cuda_check(b, enter(b, &before), "entering the GPU's context", err);
    if (s != LEAT_OK)
        return s;
    s = fill_inside(b, slot, job, stream, err);
    backend_cuda_leave(b, &before);
    return s;
}

static enum leat_status await(struct backend *b, unsigned slot, void *stream, struct leat_error *err)
{
    struct cuda_slot *x = &b->slots[slot];
    struct cuda_before before;
    enum leat_status s = backend_cuda_check(b, enter(b, &before), "entering the GPU's context", err);

    if (s != LEAT_OK)
        return s;
    s = check_capture(b, stream, err);
    if (s == LEAT_OK)
        s = backend_cuda_check(b, b->driver.stream_wait(stream, x->ready, 0), "making the stream wait for the batch",
                               err);
    backend_cuda_leave(b, &before);
    if (s == LEAT_OK) {
        pthread_mutex_lock(&x->lock);
        x->borrowed = true;
        pthread_mutex_unlock(&x->lock);
    }
    return s;
}

static void release(struct backend *b, unsigned slot, void *stream)
{
    struct cuda_slot *s = &b->slots[slot];
    struct leat_error err;
    struct cuda_before before;
    cuda_result r;

    pthread_mutex_lock(&s->lock);
    if (s->borrowed) { /* outputs that were written have their event already */
        r = enter(b, &before);
        if (r == CUDA_OK && check_capture(b, stream, &err) != LEAT_OK)
            keep_failure(b, &err);
        else
            lost_use(b, r == CUDA_OK ? add_use(b, s, stream) : r, NULL);
        if (r == CUDA_OK)
            backend_cuda_leave(b, &before);
    }
    pthread_mutex_unlock(&s->lock);
}

static uint8_t *outputs(struct backend *b, unsigned slot)
{
    return (uint8_t *)(uintptr_t)(slot_at(b, slot) + b->slot_bytes);
}

/* By HMM or ATS: `base` is no limit for what a kernel reads. */
static enum leat_status reads_maps(struct backend *b, struct leat_error *err)
{
    int can = 0;
    enum leat_status s = backend_cuda_check(b, b->driver.device_attribute(&can, CUDA_DEVICE_PAGEABLE_ACCESS, b->device),
                                            "querying what a GPU can read", err);

    if (s != LEAT_OK || can)
        return s;
    return status_set(
        err, LEAT_E_UNSUPPORTED,
        "%s cannot read the memory of programs by itself: that takes HMM (Linux 6.1.24 or later with NVIDIA's open "
        "kernel "
        "modules; not every such machine has it) or a GPU with ATS: `nvidia-smi -q` says which (Addressing Mode)",
        b->name);
}

static uintptr_t base(struct backend *b, unsigned slot)
{
    return (uintptr_t)slot_at(b, slot);
}

static void describe(struct backend *b, char *text, size_t capacity)
{
    snprintf(text, capacity, "cuda:%d, %s", b->ordinal, b->name);
}

const struct backend_ops backend_cuda = { .name = "cuda",
                                          .apart = true,
                                          .marks = true,
                                          .serves = cuda_device_named,
                                          .open = backend_cuda_open,
                                          .close = backend_cuda_close,
                                          .forget = backend_cuda_forget,
                                          .room = backend_cuda_room,
                                          .allocate_ring = backend_cuda_allocate,
                                          .free_ring = backend_cuda_free,
                                          .attach = attach,
                                          .send = send,
                                          .fill = fill,
                                          .prepare = prepare,
                                          .await = await,
                                          .release = release,
                                          .idle = idle,
                                          .outputs = outputs,
                                          .reads_maps = reads_maps,
                                          .base = base,
                                          .describe = describe };
