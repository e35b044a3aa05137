/*
 * backend_cuda.c: NVIDIA's GPUs as a device: see backend.h. The primary context is used, which the program's other
 * libraries share, and all calls leave the calling thread's current context as it was.
 *
 * A slot has an event for its copy, and some for those who use it. Copies go by a stream of the backend's own, which
 * consumers' streams wait for by event; a slot is idle when the events of its users have happened. No call here waits for
 * the GPU but those of opening and closing, and none that CUDA forbids while a stream is captured is made elsewhere, or
 * only as "relaxed", so that they disturb no capture of the program's.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "backend.h"
#include "base/bytes.h"
#include "base/status.h"
#include "cuda_device.h"
#include "cuda_driver.h"
#include "cuda_image.h"
#include "rows_device.h"
#include "rows_outputs.h"

#define USES             4u /* streams that use one slot and are told apart; further ones wait for the last of them */
#define DEVICE_ALIGNMENT 256u
#define LEAST_SLOTS      2u

struct slot {
    pthread_mutex_t lock; /* of what follows: users come from any thread */
    cuda_event ready;     /* the copy is made, and what is borrowed is filled */
    cuda_event uses[USES];
    unsigned used;
    bool borrowed;
};

struct backend {
    struct cuda_driver driver;
    cuda_device device;
    int ordinal;
    char name[CUDA_DEVICE_NAME];
    cuda_context context; /* NULL: not retained */
    cuda_module module;
    cuda_function kernels[2][2]; /* of tokens of 2 and 4 bytes, and numbers of 4 and 8 */
    cuda_stream stream;
    bool attached; /* the stage has a thread of its own, in which the context is current */

    struct slot *slots;
    unsigned slot_count, locks;
    uint8_t *host;
    cuda_pointer memory; /* 0: none */
    size_t host_stride, device_stride, slot_bytes, output_bytes;
    bool registered;

    atomic_bool failed; /* `failure` is filled */
    atomic_flag failing;
    struct leat_error failure;
};

/* ---- Failures ---- */

/* Keeps a failure that its caller cannot return: the stage meets it when it asks for idle slots. The first one counts. */
static void keep_failure(struct backend *b, const struct leat_error *err)
{
    if (atomic_flag_test_and_set(&b->failing))
        return;
    b->failure = *err;
    atomic_store(&b->failed, true);
}

static enum leat_status check(const struct backend *b, cuda_result r, const char *tried, struct leat_error *err)
{
    return r == CUDA_OK ? LEAT_OK : cuda_driver_failed(&b->driver, r, tried, err);
}

/* ---- The context ---- */

/* What a thread had before a call of ours. */
struct before {
    bool pushed, relaxed;
    cuda_capture_mode mode;
};

static cuda_result enter(const struct backend *b, struct before *before)
{
    cuda_context current = NULL;
    cuda_result r = b->driver.context_current(&current);

    *before = (struct before) { .mode = CUDA_CAPTURE_RELAXED };
    if (r != CUDA_OK || current == b->context)
        return r;
    r = b->driver.context_push(b->context);
    before->pushed = r == CUDA_OK;
    return r;
}

/* For calls that are forbidden while some stream is captured, unless the calling thread says that it knows. */
static cuda_result enter_relaxed(const struct backend *b, struct before *before)
{
    cuda_result r = enter(b, before);

    if (r == CUDA_OK && b->driver.capture_mode(&before->mode) == CUDA_OK)
        before->relaxed = true;
    return r;
}

static void leave(const struct backend *b, struct before *before)
{
    cuda_context ours;

    if (before->relaxed)
        b->driver.capture_mode(&before->mode);
    if (before->pushed)
        b->driver.context_pop(&ours);
}

static cuda_result enter_stage(const struct backend *b, struct before *before)
{
    *before = (struct before) { .pushed = false };
    return b->attached ? CUDA_OK : enter_relaxed(b, before);
}

static void attach(struct backend *b)
{
    cuda_capture_mode mode = CUDA_CAPTURE_RELAXED;

    /* where that fails, so will all that follows */
    b->attached = b->driver.context_set(b->context) == CUDA_OK && b->driver.capture_mode(&mode) == CUDA_OK;
}

/* ---- Opening ---- */

static enum leat_status load_kernels(struct backend *b, struct leat_error *err)
{
    static const char *const names[2][2] = { { "leat_rows_2_4", "leat_rows_2_8" },
                                             { "leat_rows_4_4", "leat_rows_4_8" } };
    const void *machine_code = cuda_image_fatbin();
    cuda_result r = CUDA_NO_BINARY_FOR_GPU;
    int registers;

    if (machine_code)
        r = b->driver.module_load(&b->module, machine_code);
    if (r != CUDA_OK)
        r = b->driver.module_load(&b->module, cuda_image_ptx);
    for (unsigned i = 0; r == CUDA_OK && i < 4; i++) {
        cuda_function *kernel = &b->kernels[i / 2][i % 2];

        r = b->driver.module_function(kernel, b->module, names[i / 2][i % 2]);
        /* newer drivers load a kernel when it is first asked about: that is to be now, since it waits for the GPU */
        if (r == CUDA_OK)
            r = b->driver.function_attribute(&registers, CUDA_FUNCTION_REGISTERS, *kernel);
    }
    return check(b, r, "loading the kernels", err);
}

static enum leat_status open_inside(struct backend *b, struct leat_error *err)
{
    int least = 0, greatest = 0;
    enum leat_status s = load_kernels(b, err);
    cuda_result r;

    if (s != LEAT_OK)
        return s;
    r = b->driver.context_priorities(&least, &greatest);
    if (r == CUDA_OK) /* not one that the default stream waits for */
        r = b->driver.stream_create(&b->stream, CUDA_STREAM_NON_BLOCKING, greatest);
    return check(b, r, "making a stream", err);
}

static enum leat_status open_device(struct backend *b, const char *device, struct leat_error *err)
{
    struct cuda_device_words words;
    struct before before;
    enum leat_status s = cuda_device_parse(device, &words, err);

    if (s == LEAT_OK)
        s = cuda_driver_open(&b->driver, words.driver, err);
    if (s == LEAT_OK)
        s = cuda_device_find(&b->driver, words.which, &b->device, &b->ordinal, err);
    if (s == LEAT_OK)
        s = check(b, b->driver.device_name(b->name, (int)sizeof b->name, b->device), "asking for a GPU's name", err);
    if (s == LEAT_OK)
        s = check(b, b->driver.context_retain(&b->context, b->device), "opening the GPU's context", err);
    if (s == LEAT_OK)
        s = check(b, enter_relaxed(b, &before), "entering the GPU's context", err);
    if (s != LEAT_OK)
        return s;
    s = open_inside(b, err);
    leave(b, &before);
    return s;
}

/* Lets go of all; where the driver has been shut down before, there is nothing to be let go of any more. */
static void close_cuda(struct backend *b)
{
    struct before before;

    if (!b)
        return;
    if (b->context && enter_relaxed(b, &before) == CUDA_OK) {
        if (b->stream)
            b->driver.stream_destroy(b->stream);
        if (b->module)
            b->driver.module_unload(b->module);
        leave(b, &before);
    }
    if (b->context)
        b->driver.context_release(b->device);
    cuda_driver_close(&b->driver);
    free(b);
}

static enum leat_status open_cuda(struct backend **out, const char *device, struct leat_error *err)
{
    struct backend *b = calloc(1, sizeof *b);
    enum leat_status s;

    *out = NULL;
    if (!b)
        return status_no_memory(err, sizeof *b);
    atomic_flag_clear(&b->failing);
    s = open_device(b, device, err);
    if (s == LEAT_OK)
        *out = b;
    else
        close_cuda(b);
    return s;
}

static uint64_t room(struct backend *b)
{
    size_t free_bytes = 0, total = 0;
    struct before before;

    if (enter_relaxed(b, &before) != CUDA_OK)
        return 0;
    if (b->driver.memory_info(&free_bytes, &total) != CUDA_OK)
        free_bytes = 0;
    leave(b, &before);
    return free_bytes;
}

/* ---- The ring ---- */

static bool fits(size_t each, unsigned slots)
{
    return each <= SIZE_MAX / 2 / slots;
}

/* Memory of the device for as many slots as there is room for. */
static enum leat_status allocate_on_device(struct backend *b, unsigned *slots, struct leat_error *err)
{
    cuda_result r;

    for (;; *slots = *slots / 2 < LEAST_SLOTS ? LEAST_SLOTS : *slots / 2) {
        r = CUDA_OUT_OF_MEMORY;
        if (fits(b->device_stride, *slots))
            r = b->driver.memory_allocate(&b->memory, *slots * b->device_stride);
        if (r != CUDA_OUT_OF_MEMORY || *slots <= LEAST_SLOTS)
            break;
    }
    if (r == CUDA_OUT_OF_MEMORY)
        return status_set(err, LEAT_E_NO_MEMORY,
                          "the GPU has no room for %u slots of %llu bytes: take fewer rows, or give it less to hold",
                          *slots, (unsigned long long)b->device_stride);
    if (r != CUDA_OK)
        b->memory = 0;
    return check(b, r, "allocating memory of the GPU", err);
}

/* Memory of the host for `slots`. False: there is none. */
static bool map_on_host(struct backend *b, struct backend_memory *m, unsigned slots, int node)
{
    m->bytes = slots * m->stride;
    m->host = backend_map(m->bytes, node, &m->huge_pages);
#if defined(MADV_DONTFORK)
    /* what the GPU reads must stay at its place: a fork would have it copied at the next write */
    if (m->host)
        madvise(m->host, m->bytes, MADV_DONTFORK);
#endif
    b->host = m->host;
    return m->host != NULL;
}

/* Pinned memory for as many slots as the system allows, and if it allows none, memory that is not pinned. */
static enum leat_status allocate_on_host(struct backend *b, struct backend_memory *m, unsigned *slots, int node,
                                         struct leat_error *err)
{
    unsigned most = *slots;

    for (;;) {
        if (!map_on_host(b, m, *slots, node))
            return status_no_memory(err, m->bytes);
        b->registered = b->driver.host_register(m->host, m->bytes, 0) == CUDA_OK;
        if (b->registered || *slots <= LEAST_SLOTS)
            break;
        backend_unmap(m->host, m->bytes);
        *slots = *slots / 2 < LEAST_SLOTS ? LEAST_SLOTS : *slots / 2;
    }
    if (b->registered)
        return LEAT_OK;
    backend_unmap(m->host, m->bytes);
    *slots = most;
    m->unpinned = true;
    return map_on_host(b, m, *slots, node) ? LEAT_OK : status_no_memory(err, m->bytes);
}

static enum leat_status make_events(struct backend *b, struct leat_error *err)
{
    b->slots = calloc(b->slot_count, sizeof *b->slots);
    if (!b->slots)
        return status_no_memory(err, b->slot_count * sizeof *b->slots);
    for (; b->locks < b->slot_count; b->locks++)
        if (pthread_mutex_init(&b->slots[b->locks].lock, NULL) != 0)
            return status_no_memory(err, sizeof b->slots[0].lock);
    for (unsigned i = 0; i < b->slot_count; i++)
        for (unsigned k = 0; k <= USES; k++) {
            cuda_event *event = k < USES ? &b->slots[i].uses[k] : &b->slots[i].ready;
            cuda_result r = b->driver.event_create(event, CUDA_EVENT_DISABLE_TIMING);

            if (r != CUDA_OK) {
                *event = NULL;
                return check(b, r, "making an event", err);
            }
        }
    return LEAT_OK;
}

static enum leat_status allocate_inside(struct backend *b, struct backend_memory *m, int node, struct leat_error *err)
{
    unsigned slots = m->slots, on_device;
    size_t free_bytes, total;
    enum leat_status s = allocate_on_device(b, &slots, err);

    on_device = slots;
    if (s == LEAT_OK)
        s = allocate_on_host(b, m, &slots, node, err);
    if (s == LEAT_OK && slots < on_device) { /* what is more than that is the program's */
        s = check(b, b->driver.memory_free(b->memory), "giving back memory of the GPU", err);
        b->memory = 0;
        if (s == LEAT_OK)
            s = allocate_on_device(b, &slots, err);
    }
    if (s != LEAT_OK)
        return s;
    m->slots_wanted = m->slots;
    m->slots = b->slot_count = slots;
    m->device_bytes = slots * b->device_stride;
    if (b->driver.memory_info(&free_bytes, &total) == CUDA_OK) {
        m->device_free = free_bytes;
        m->device_total = total;
    }
    return make_events(b, err);
}

static enum leat_status allocate_ring(struct backend *b, struct backend_memory *m, int node, struct leat_error *err)
{
    struct before before;
    enum leat_status s;

    b->slot_bytes = m->slot_bytes;
    b->output_bytes = m->output_bytes;
    b->host_stride = m->stride = m->slot_bytes;
    b->device_stride = bytes_pieces(m->slot_bytes + m->output_bytes, DEVICE_ALIGNMENT) * DEVICE_ALIGNMENT;
    s = check(b, enter_relaxed(b, &before), "entering the GPU's context", err);
    if (s != LEAT_OK)
        return s;
    s = allocate_inside(b, m, node, err);
    leave(b, &before);
    return s;
}

static void free_on_device(struct backend *b)
{
    const struct cuda_driver *d = &b->driver;

    if (b->stream)
        d->stream_synchronize(b->stream);
    if (atomic_load(&b->failed)) /* something may use the ring that no event tells the end of */
        d->context_synchronize();
    for (unsigned i = 0; b->slots && i < b->slot_count; i++) {
        struct slot *s = &b->slots[i];

        for (unsigned k = 0; k < s->used; k++)
            d->event_synchronize(s->uses[k]);
        for (unsigned k = 0; k < USES; k++)
            if (s->uses[k])
                d->event_destroy(s->uses[k]);
        if (s->ready)
            d->event_destroy(s->ready);
    }
    if (b->registered)
        d->host_unregister(b->host);
    if (b->memory)
        d->memory_free(b->memory);
}

static void free_slots(struct backend *b)
{
    for (unsigned i = 0; i < b->locks; i++)
        pthread_mutex_destroy(&b->slots[i].lock);
    free(b->slots);
    b->slots = NULL;
    b->locks = 0;
}

static void free_ring(struct backend *b, struct backend_memory *m)
{
    struct before before;

    if (enter_relaxed(b, &before) == CUDA_OK) {
        free_on_device(b);
        leave(b, &before);
    }
    b->memory = 0;
    b->registered = false;
    backend_unmap(m->host, m->bytes);
    m->host = NULL;
    free_slots(b);
}

/* The driver must not be called in a process that was forked, and the ring is not there. */
static void forget(struct backend *b, struct backend_memory *m)
{
    m->host = NULL;
    free_slots(b);
    cuda_driver_close(&b->driver);
    free(b);
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
    ROWS_OUTPUTS(LOOK)
#undef LOOK
    return none;
}

/* A store to an address that is no multiple of its size would end the whole context. */
static bool is_aligned(const struct rows_job *j)
{
    bool aligned = true;

#define LOOK(field, name, kind, documents)                                                                             \
    aligned = aligned && (uintptr_t)j->field % rows_output_bytes(kind, 1, j->number_bytes, 1) == 0;
    ROWS_OUTPUTS(LOOK)
#undef LOOK
    return aligned;
}

static enum leat_status launch(struct backend *b, unsigned slot, const struct rows_job *job, cuda_stream stream,
                               struct leat_error *err)
{
    struct rows_job j = *job;
    struct rows_grid grid;
    void *parameters[] = { &j, &grid };
    uint64_t blocks;

    if (!is_aligned(&j))
        return status_set(err, LEAT_E_ARGUMENT, "outputs on a GPU must lie at multiples of their numbers' %u bytes",
                          j.number_bytes);
    j.base = (const uint8_t *)(uintptr_t)slot_at(b, slot);
    grid = rows_grid(&j, &blocks);
    if (blocks > INT32_MAX)
        return status_set(err, LEAT_E_ARGUMENT, "%u rows of %u numbers are too many for a GPU at once", j.rows,
                          j.length);
    return check(b,
                 b->driver.launch(b->kernels[j.layout.token_width == 4][j.number_bytes == 8], (unsigned)blocks, 1, 1,
                                  ROWS_BLOCK, 1, 1, 0, stream, parameters, NULL),
                 "starting a kernel", err);
}

/* ---- The stage's side ---- */

static enum leat_status send(struct backend *b, unsigned slot, size_t bytes, struct leat_error *err)
{
    struct before before;
    cuda_result r = enter_stage(b, &before);

    if (r == CUDA_OK)
        r = b->driver.copy_to_device(slot_at(b, slot), b->host + slot * b->host_stride, bytes, b->stream);
    if (r == CUDA_OK && b->output_bytes == 0) /* else `prepare` does that */
        r = b->driver.event_record(b->slots[slot].ready, b->stream);
    leave(b, &before);
    return check(b, r, "copying a batch to the GPU", err);
}

static enum leat_status prepare(struct backend *b, unsigned slot, const struct rows_job *job, struct leat_error *err)
{
    struct before before;
    enum leat_status s = check(b, enter_stage(b, &before), "entering the GPU's context", err);

    if (s == LEAT_OK)
        s = launch(b, slot, job, b->stream, err);
    if (s == LEAT_OK)
        s = check(b, b->driver.event_record(b->slots[slot].ready, b->stream), "recording an event", err);
    leave(b, &before);
    return s;
}

/* CUDA_OK, CUDA_NOT_READY, or a failure. */
static cuda_result ask(const struct backend *b, struct slot *s)
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
    struct slot *s = &b->slots[slot];
    struct before before;
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
    leave(b, &before);
    return r == CUDA_NOT_READY ? LEAT_E_AGAIN : check(b, r, "looking whether the GPU is done with a batch", err);
}

/* ---- The consumers' side ---- */

/* A slot's memory holds another batch at each turn, so nothing that names it may become a part of a graph. */
static enum leat_status check_capture(const struct backend *b, cuda_stream stream, struct leat_error *err)
{
    cuda_capture_status capturing = CUDA_CAPTURE_NONE;
    cuda_result r = b->driver.stream_capturing(stream, &capturing);
    enum leat_status s;

    if (r == CUDA_CAPTURE_IMPLICIT)
        return status_set(err, LEAT_E_STATE,
                          "another stream is being captured, of those that the default stream waits for: nothing may "
                          "happen on the default stream meanwhile; give another stream, or wait for the capture's end");
    s = check(b, r, "looking at the stream", err);
    if (s != LEAT_OK || capturing == CUDA_CAPTURE_NONE)
        return s;
    return status_set(err, LEAT_E_STATE,
                      "the stream is being captured, and a batch cannot be a part of a graph: write each batch to the "
                      "same buffers, on the stream, before the graph is launched");
}

/* What is on the stream by now uses the slot. */
static cuda_result add_use(const struct backend *b, struct slot *s, cuda_stream stream)
{
    cuda_result r = CUDA_OK;
    cuda_event event = s->uses[s->used < USES ? s->used : USES - 1];

    if (s->used == USES) /* one event for two streams: this one waits for the other */
        r = b->driver.stream_wait(stream, event, 0);
    if (r == CUDA_OK)
        r = b->driver.event_record(event, stream);
    if (r == CUDA_OK && s->used < USES)
        s->used++;
    return r;
}

/* A use that nothing tells the end of: the slot must not be filled again. */
static enum leat_status lost_use(struct backend *b, cuda_result r, struct leat_error *err)
{
    struct leat_error own;
    enum leat_status s = check(b, r, "recording an event on the consumer's stream", &own);

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
    struct slot *slot = &b->slots[number];
    enum leat_status s = check_capture(b, stream, err);

    if (s == LEAT_OK)
        s = check(b, b->driver.stream_wait(stream, slot->ready, 0), "making the stream wait for the batch", err);
    if (s == LEAT_OK)
        s = launch(b, number, job, stream, err);
    if (s != LEAT_OK)
        return s;
    pthread_mutex_lock(&slot->lock);
    s = lost_use(b, add_use(b, slot, stream), err);
    pthread_mutex_unlock(&slot->lock);
    return s;
}

static enum leat_status fill(struct backend *b, unsigned slot, const struct rows_job *job, void *stream,
                             struct leat_error *err)
{
    struct before before;
    enum leat_status s;

    if (nothing_wanted(job))
        return LEAT_OK;
    s = check(b, enter(b, &before), "entering the GPU's context", err);
    if (s != LEAT_OK)
        return s;
    s = fill_inside(b, slot, job, stream, err);
    leave(b, &before);
    return s;
}

static enum leat_status await(struct backend *b, unsigned slot, void *stream, struct leat_error *err)
{
    struct slot *x = &b->slots[slot];
    struct before before;
    enum leat_status s = check(b, enter(b, &before), "entering the GPU's context", err);

    if (s != LEAT_OK)
        return s;
    s = check_capture(b, stream, err);
    if (s == LEAT_OK)
        s = check(b, b->driver.stream_wait(stream, x->ready, 0), "making the stream wait for the batch", err);
    leave(b, &before);
    if (s == LEAT_OK) {
        pthread_mutex_lock(&x->lock);
        x->borrowed = true;
        pthread_mutex_unlock(&x->lock);
    }
    return s;
}

static void release(struct backend *b, unsigned slot, void *stream)
{
    struct slot *s = &b->slots[slot];
    struct leat_error err;
    struct before before;
    cuda_result r;

    pthread_mutex_lock(&s->lock);
    if (s->borrowed) { /* what was written has its event already */
        r = enter(b, &before);
        if (r == CUDA_OK && check_capture(b, stream, &err) != LEAT_OK)
            keep_failure(b, &err);
        else
            lost_use(b, r == CUDA_OK ? add_use(b, s, stream) : r, NULL);
        if (r == CUDA_OK)
            leave(b, &before);
    }
    pthread_mutex_unlock(&s->lock);
}

static uint8_t *outputs(struct backend *b, unsigned slot)
{
    return (uint8_t *)(uintptr_t)(slot_at(b, slot) + b->slot_bytes);
}

static void describe(struct backend *b, char *text, size_t capacity)
{
    snprintf(text, capacity, "cuda:%d, %s", b->ordinal, b->name);
}

const struct backend_ops backend_cuda = { .name = "cuda",
                                          .marks = true,
                                          .serves = cuda_device_named,
                                          .open = open_cuda,
                                          .close = close_cuda,
                                          .forget = forget,
                                          .room = room,
                                          .allocate_ring = allocate_ring,
                                          .free_ring = free_ring,
                                          .attach = attach,
                                          .send = send,
                                          .fill = fill,
                                          .prepare = prepare,
                                          .await = await,
                                          .release = release,
                                          .idle = idle,
                                          .outputs = outputs,
                                          .describe = describe };
