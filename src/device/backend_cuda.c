/*
 * backend_cuda.c: NVIDIA's GPUs as devices. It uses the primary context, which the program's other libraries share;
 * every call leaves the calling thread's current context as it was.
 *
 * A slot has an event for its copy, and events for its users. Copies go through a stream of the backend's own, and
 * consumers' streams wait for the copy's event; a slot is idle when the events of its users have happened. Why
 * events, not a synchronization? Only opening and closing may wait for the GPU. Calls that CUDA forbids while a
 * stream is being captured are also made only there, or in "relaxed" mode, so that they never disturb a capture by
 * the program.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "backend.h"
#include "base/bytes.h"
#include "base/numa.h"
#include "base/status.h"
#include "cuda_device.h"
#include "cuda_driver.h"
#include "cuda_image.h"
#include "rows/rows_device.h"
#include "rows/rows_outputs.h"

/* ---- State ------------------------------------------------------------------------------------------------------- */

#define CUDA_SLOT_USES 4u /* streams per slot with an event each; further streams wait for the last of them */

struct cuda_slot {
    pthread_mutex_t lock; /* guards the members below, since users may be in any thread */
    cuda_event ready;     /* happens when the copy is done, and borrowed outputs are filled */
    cuda_event uses[CUDA_SLOT_USES];
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
    cuda_function kernels[2][2]; /* the kernels, by the bytes of a token (2, 4) and of a number (4, 8) */
    cuda_function mask_kernel, segments_kernel;
    cuda_stream stream;
    bool attached; /* true if the stage has its own thread, in which the context is current */

    struct cuda_slot *slots;
    unsigned slot_count, locks;
    uint8_t *host;
    cuda_pointer memory; /* 0: none */
    size_t host_stride, device_stride, slot_bytes, output_bytes;
    bool registered;

    atomic_bool failed; /* `failure` is filled */
    atomic_flag failing;
    struct leat_error failure;
};

/* The state of a thread before it entered the context. */
struct cuda_before {
    bool pushed, relaxed;
    cuda_capture_mode mode;
};

/* ---- Failures ---------------------------------------------------------------------------------------------------- */

/* Keeps a failure that the caller cannot return; the stage gets it when it asks for idle slots. Later failures are
 * dropped. */
static void keep_failure(struct backend *b, const struct leat_error *err)
{
    if (atomic_flag_test_and_set(&b->failing))
        return;
    b->failure = *err;
    atomic_store(&b->failed, true);
}

/* Returns LEAT_OK, or fills `err` for a failed call. */
static enum leat_status check_call(const struct backend *b, cuda_result r, const char *tried, struct leat_error *err)
{
    return r == CUDA_OK ? LEAT_OK : cuda_driver_failed(&b->driver, r, tried, err);
}

/* ---- The context ------------------------------------------------------------------------------------------------- */

static cuda_result push_context(const struct backend *b, struct cuda_before *before)
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

/* Makes the backend's context current in this thread, until leave_context(), in the mode that allows calls which are
 * otherwise forbidden while any stream is being captured. */
static cuda_result enter_context(const struct backend *b, struct cuda_before *before)
{
    cuda_result r = push_context(b, before);

    if (r == CUDA_OK && b->driver.capture_mode(&before->mode) == CUDA_OK)
        before->relaxed = true;
    return r;
}

static void leave_context(const struct backend *b, struct cuda_before *before)
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
    return b->attached ? CUDA_OK : enter_context(b, before);
}

static void attach(struct backend *b)
{
    cuda_capture_mode mode = CUDA_CAPTURE_RELAXED;

    /* If that fails, all later calls fail too. */
    b->attached = b->driver.context_set(b->context) == CUDA_OK && b->driver.capture_mode(&mode) == CUDA_OK;
}

/* ---- The memory of the ring -------------------------------------------------------------------------------------- */

/* The ring's memory: pinned on the host, and as much on the GPU, for as many slots as both have room for. Each slot
 * has its events. */

#define DEVICE_ALIGNMENT 256u
#define MIN_SLOTS        2u

static bool fits(size_t each, unsigned slots)
{
    return each <= SIZE_MAX / 2 / slots;
}

/* Returns how many slots to try next if there is no room for `slots`. */
static unsigned fewer(unsigned slots)
{
    return slots / 2 < MIN_SLOTS ? MIN_SLOTS : slots / 2;
}

/* Allocates memory on the device for as many slots as it has room for. */
static enum leat_status allocate_on_device(struct backend *b, unsigned *slots, struct leat_error *err)
{
    cuda_result r;

    for (;; *slots = fewer(*slots)) {
        r = CUDA_OUT_OF_MEMORY;
        if (fits(b->device_stride, *slots))
            r = b->driver.memory_allocate(&b->memory, *slots * b->device_stride);
        if (r != CUDA_OUT_OF_MEMORY || *slots <= MIN_SLOTS)
            break;
    }
    if (r == CUDA_OUT_OF_MEMORY)
        return status_set(err, LEAT_E_NO_MEMORY,
                          "the GPU has no room for %u slots of %zu bytes; use fewer rows, or free some of its memory",
                          *slots, b->device_stride);
    if (r != CUDA_OK)
        b->memory = 0;
    return check_call(b, r, "allocating memory of the GPU", err);
}

/* Allocates memory on the host for `slots`. Returns false if there is no memory. */
static bool map_on_host(struct backend *b, struct backend_memory *m, unsigned slots, int node)
{
    m->bytes = slots * m->stride;
    m->host = backend_map(m->bytes, node, &m->huge_pages);
#if defined(MADV_DONTFORK)
    /* The GPU reads these pages, so they must not move: after a fork, the next write would copy them. */
    if (m->host)
        madvise(m->host, m->bytes, MADV_DONTFORK);
#endif
    b->host = m->host;
    return m->host != NULL;
}

/* Pins memory for as many slots as the system allows; if it allows none, takes memory that is not pinned. */
static enum leat_status allocate_on_host(struct backend *b, struct backend_memory *m, unsigned *slots, int node,
                                         struct leat_error *err)
{
    unsigned max = *slots;

    for (;;) {
        if (!map_on_host(b, m, *slots, node))
            return status_no_memory(err, m->bytes);
        b->registered = b->driver.host_register(m->host, m->bytes, 0) == CUDA_OK;
        if (b->registered || *slots <= MIN_SLOTS)
            break;
        backend_unmap(m->host, m->bytes);
        *slots = fewer(*slots);
    }
    if (b->registered)
        return LEAT_OK;
    backend_unmap(m->host, m->bytes);
    *slots = max;
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
        for (unsigned k = 0; k <= CUDA_SLOT_USES; k++) {
            cuda_event *event = k < CUDA_SLOT_USES ? &b->slots[i].uses[k] : &b->slots[i].ready;
            cuda_result r = b->driver.event_create(event, CUDA_EVENT_DISABLE_TIMING);

            if (r != CUDA_OK) {
                *event = NULL;
                return check_call(b, r, "making an event", err);
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
    if (s == LEAT_OK && slots < on_device) { /* Gives the rest of the device's memory back to the program. */
        s = check_call(b, b->driver.memory_free(b->memory), "freeing memory of the GPU", err);
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

static enum leat_status allocate_slots(struct backend *b, struct backend_memory *m, int node, struct leat_error *err)
{
    struct cuda_before before;
    enum leat_status s;

    b->slot_bytes = m->slot_bytes;
    b->output_bytes = m->output_bytes;
    b->host_stride = m->stride = m->slot_bytes;
    b->device_stride = bytes_divide_up(m->slot_bytes + m->output_bytes, DEVICE_ALIGNMENT) * DEVICE_ALIGNMENT;
    s = check_call(b, enter_context(b, &before), "entering the GPU's context", err);
    if (s != LEAT_OK)
        return s;
    s = allocate_inside(b, m, node, err);
    leave_context(b, &before);
    return s;
}

static void free_on_device(struct backend *b)
{
    const struct cuda_driver *d = &b->driver;

    if (b->stream)
        d->stream_synchronize(b->stream);
    if (atomic_load(&b->failed)) /* After a failure, the ring may be in use, and no event shows the end of this use. */
        d->context_synchronize();
    for (unsigned i = 0; b->slots && i < b->slot_count; i++) {
        struct cuda_slot *s = &b->slots[i];

        for (unsigned k = 0; k < s->used; k++)
            d->event_synchronize(s->uses[k]);
        for (unsigned k = 0; k < CUDA_SLOT_USES; k++)
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

static void free_memory(struct backend *b, struct backend_memory *m)
{
    struct cuda_before before;

    if (enter_context(b, &before) == CUDA_OK) {
        free_on_device(b);
        leave_context(b, &before);
    }
    b->memory = 0;
    b->registered = false;
    backend_unmap(m->host, m->bytes);
    m->host = NULL;
    free_slots(b);
}

/* ---- Opening ----------------------------------------------------------------------------------------------------- */

/* Opens a GPU, with its context, the kernels and a stream; and closes it. */

static cuda_result find_kernel(struct backend *b, cuda_function *kernel, const char *name)
{
    int registers;
    cuda_result r = b->driver.module_function(kernel, b->module, name);

    /* Newer drivers load a kernel on first use, which waits for the GPU; asking for its attribute loads it now. */
    return r == CUDA_OK ? b->driver.function_attribute(&registers, CUDA_FUNCTION_REGISTERS, *kernel) : r;
}

static enum leat_status load_kernels(struct backend *b, struct leat_error *err)
{
    static const char *const names[2][2] = { { "leat_rows_2_4", "leat_rows_2_8" },
                                             { "leat_rows_4_4", "leat_rows_4_8" } };
    const void *machine_code = cuda_image_fatbin();
    cuda_result r = CUDA_NO_BINARY_FOR_GPU;

    if (machine_code)
        r = b->driver.module_load(&b->module, machine_code);
    if (r != CUDA_OK)
        r = b->driver.module_load(&b->module, cuda_image_ptx);
    for (unsigned i = 0; r == CUDA_OK && i < 4; i++)
        r = find_kernel(b, &b->kernels[i / 2][i % 2], names[i / 2][i % 2]);
    if (r == CUDA_OK)
        r = find_kernel(b, &b->mask_kernel, "leat_rows_mask");
    if (r == CUDA_OK)
        r = find_kernel(b, &b->segments_kernel, "leat_rows_segments");
    return check_call(b, r, "loading the kernels", err);
}

static enum leat_status open_inside(struct backend *b, struct leat_error *err)
{
    int least = 0, greatest = 0;
    enum leat_status s = load_kernels(b, err);
    cuda_result r;

    if (s != LEAT_OK)
        return s;
    r = b->driver.context_priorities(&least, &greatest);
    if (r == CUDA_OK) /* the default stream does not wait for this stream */
        r = b->driver.stream_create(&b->stream, CUDA_STREAM_NON_BLOCKING, greatest);
    return check_call(b, r, "making a stream", err);
}

static enum leat_status open_device(struct backend *b, const char *device, const char *driver, struct leat_error *err)
{
    const char *which;
    struct cuda_before before;
    enum leat_status s = cuda_device_parse(device, &which, err);

    if (s == LEAT_OK)
        s = cuda_driver_open(&b->driver, driver, err);
    if (s == LEAT_OK)
        s = cuda_device_find(&b->driver, which, &b->device, &b->ordinal, err);
    if (s == LEAT_OK)
        s = check_call(b, b->driver.device_name(b->name, (int)sizeof b->name, b->device), "querying a GPU's name", err);
    if (s == LEAT_OK)
        s = check_call(b, b->driver.context_retain(&b->context, b->device), "opening the GPU's context", err);
    if (s == LEAT_OK)
        s = check_call(b, enter_context(b, &before), "entering the GPU's context", err);
    if (s != LEAT_OK)
        return s;
    s = open_inside(b, err);
    leave_context(b, &before);
    return s;
}

/* Releases everything. If the driver was shut down before, nothing is left to release. */
static void close_gpu(struct backend *b)
{
    struct cuda_before before;

    if (b->context && enter_context(b, &before) == CUDA_OK) {
        if (b->stream)
            b->driver.stream_destroy(b->stream);
        if (b->module)
            b->driver.module_unload(b->module);
        leave_context(b, &before);
    }
    if (b->context)
        b->driver.context_release(b->device);
    cuda_driver_close(&b->driver);
    free(b);
}

static enum leat_status open_gpu(struct backend **out, const char *device, const char *driver, struct leat_error *err)
{
    struct backend *b = calloc(1, sizeof *b);
    enum leat_status s;

    *out = NULL;
    if (!b)
        return status_no_memory(err, sizeof *b);
    atomic_flag_clear(&b->failing);
    s = open_device(b, device, driver, err);
    if (s == LEAT_OK)
        *out = b;
    else
        close_gpu(b);
    return s;
}

static uint64_t room_on_gpu(struct backend *b)
{
    size_t free_bytes = 0, total = 0;
    struct cuda_before before;

    if (enter_context(b, &before) != CUDA_OK)
        return 0;
    if (b->driver.memory_info(&free_bytes, &total) != CUDA_OK)
        free_bytes = 0;
    leave_context(b, &before);
    return free_bytes;
}

/* Frees the host's part only: a forked process must not call the driver, and does not have the ring. */
static void forget_gpu(struct backend *b, struct backend_memory *m)
{
    m->host = NULL;
    free_slots(b);
    cuda_driver_close(&b->driver);
    free(b);
}

/* ---- Launching --------------------------------------------------------------------------------------------------- */

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

/* Checks alignment, because a misaligned store would end the whole context. */
static bool is_aligned(const struct rows_job *j)
{
    bool aligned = true;

#define LOOK(field, name, kind, documents)                                                                             \
    aligned = aligned && (uintptr_t)j->field % rows_output_bytes(kind, 1, j->number_bytes, 1, 1) == 0;
    ROWS_OUTPUTS(LOOK, LOOK)
#undef LOOK
    return aligned;
}

/* Starts the kernel of a pass. `number_bytes` is that of rows_grid(). */
static enum leat_status launch_pass(struct backend *b, cuda_function kernel, struct rows_job *j, uint32_t number_bytes,
                                    cuda_stream stream, struct leat_error *err)
{
    uint64_t blocks;
    struct rows_grid grid = rows_grid(j, number_bytes, &blocks);
    void *parameters[] = { j, &grid };

    if (blocks > INT32_MAX)
        return status_argument(err, "rows", "%u rows of %u numbers are too many for one batch on a GPU", j->rows,
                               j->length);
    return check_call(b,
                      b->driver.launch(kernel, (unsigned)blocks, 1, 1, ROWS_BLOCK, 1, 1, 0, stream, parameters, NULL),
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
    if (j.layout.segments_at)
        return launch_pass(b, b->segments_kernel, &j, ROWS_PASS_SEGMENTS, stream, err);
    s = launch_pass(b, b->kernels[j.layout.token_width == 4][j.number_bytes == 8], &j, j.number_bytes, stream, err);
    return s == LEAT_OK && rows_has_mask_pass(&j) ? launch_pass(b, b->mask_kernel, &j, ROWS_PASS_MASK, stream, err) : s;
}

/* ---- The stage's side -------------------------------------------------------------------------------------------- */

static enum leat_status send(struct backend *b, unsigned slot, size_t bytes, struct leat_error *err)
{
    struct cuda_before before;
    cuda_result r = enter_stage(b, &before);

    if (r == CUDA_OK)
        r = b->driver.copy_to_device(slot_at(b, slot), b->host + slot * b->host_stride, bytes, b->stream);
    if (r == CUDA_OK && b->output_bytes == 0) /* otherwise `prepare` records it */
        r = b->driver.event_record(b->slots[slot].ready, b->stream);
    leave_context(b, &before);
    return check_call(b, r, "copying a batch to the GPU", err);
}

static enum leat_status prepare(struct backend *b, unsigned slot, const struct rows_job *job, struct leat_error *err)
{
    struct cuda_before before;
    enum leat_status s = check_call(b, enter_stage(b, &before), "entering the GPU's context", err);

    if (s == LEAT_OK)
        s = launch(b, slot, job, b->stream, err);
    if (s == LEAT_OK)
        s = check_call(b, b->driver.event_record(b->slots[slot].ready, b->stream), "recording an event", err);
    leave_context(b, &before);
    return s;
}

/* Asks whether a slot is idle. Returns CUDA_OK, CUDA_NOT_READY, or a failure. */
static cuda_result ask_slot(const struct backend *b, struct cuda_slot *s)
{
    cuda_result r = CUDA_OK;

    if (s->used == 0) /* without uses, only the copy counts; each use waits for it */
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
        r = ask_slot(b, s);
        if (r == CUDA_OK)
            s->borrowed = false;
        pthread_mutex_unlock(&s->lock);
    }
    leave_context(b, &before);
    return r == CUDA_NOT_READY ? LEAT_E_AGAIN : check_call(b, r, "querying whether the GPU is done with a batch", err);
}

/* ---- The consumers' side ----------------------------------------------------------------------------------------- */

/* Refuses a stream that is being captured: a slot's memory holds another batch each time it is filled, so no graph
 * may capture a use of it. */
static enum leat_status check_capture(const struct backend *b, cuda_stream stream, struct leat_error *err)
{
    cuda_capture_status capturing = CUDA_CAPTURE_NONE;
    cuda_result r = b->driver.stream_capturing(stream, &capturing);
    enum leat_status s;

    if (r == CUDA_CAPTURE_IMPLICIT)
        return status_set(err, LEAT_E_STATE,
                          "the default stream cannot be used while a stream that it waits for is being captured; use "
                          "another stream, or wait until the capture has ended");
    s = check_call(b, r, "querying the stream", err);
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

    if (s->used == CUDA_SLOT_USES) /* two streams share an event: this stream waits for the other one's work */
        r = b->driver.stream_wait(stream, event, 0);
    if (r == CUDA_OK)
        r = b->driver.event_record(event, stream);
    if (r == CUDA_OK && s->used < CUDA_SLOT_USES)
        s->used++;
    return r;
}

/* Ends the use of a slot for good: no event will show the end of this use, so the slot must never be filled again. */
static enum leat_status lost_use(struct backend *b, cuda_result r, struct leat_error *err)
{
    struct leat_error own;
    enum leat_status s = check_call(b, r, "recording an event on the consumer's stream", &own);

    if (s != LEAT_OK) {
        keep_failure(b, &own);
        if (err)
            *err = own;
    }
    return s;
}

static enum leat_status copy_on_gpu(struct backend *b, unsigned slot, size_t at, uint8_t *to, uint64_t bytes,
                                    void *stream, struct leat_error *err)
{
    return check_call(
        b, b->driver.copy_on_device((cuda_pointer)(uintptr_t)to, slot_at(b, slot) + at, (size_t)bytes, stream),
        "copying values of a batch", err);
}

static enum leat_status fill_inside(struct backend *b, unsigned number, const struct rows_job *job,
                                    const struct backend_values *values, unsigned value_count, cuda_stream stream,
                                    struct leat_error *err)
{
    struct cuda_slot *slot = &b->slots[number];
    enum leat_status s = check_capture(b, stream, err), use;

    if (s == LEAT_OK)
        s = check_call(b, b->driver.stream_wait(stream, slot->ready, 0), "making the stream wait for the batch", err);
    if (s != LEAT_OK)
        return s;
    if (!nothing_wanted(job))
        s = launch(b, number, job, stream, err);
    for (unsigned i = 0; s == LEAT_OK && i < value_count; i++)
        s = backend_copy_values(b, number, &values[i], copy_on_gpu, stream, err);
    pthread_mutex_lock(&slot->lock); /* the first of two kernels may run, even if the second cannot start */
    use = lost_use(b, add_use(b, slot, stream), s == LEAT_OK ? err : NULL);
    pthread_mutex_unlock(&slot->lock);
    return s == LEAT_OK ? use : s;
}

static enum leat_status fill_on_gpu(struct backend *b, unsigned slot, const struct rows_job *job,
                                    const struct backend_values *values, unsigned value_count, void *stream,
                                    struct leat_error *err)
{
    struct cuda_before before;
    enum leat_status s;

    if (nothing_wanted(job) && value_count == 0)
        return LEAT_OK;
    s = check_call(b, push_context(b, &before), "entering the GPU's context", err);
    if (s != LEAT_OK)
        return s;
    s = fill_inside(b, slot, job, values, value_count, stream, err);
    leave_context(b, &before);
    return s;
}

static enum leat_status await(struct backend *b, unsigned slot, void *stream, struct leat_error *err)
{
    struct cuda_slot *x = &b->slots[slot];
    struct cuda_before before;
    enum leat_status s = check_call(b, push_context(b, &before), "entering the GPU's context", err);

    if (s != LEAT_OK)
        return s;
    s = check_capture(b, stream, err);
    if (s == LEAT_OK)
        s = check_call(b, b->driver.stream_wait(stream, x->ready, 0), "making the stream wait for the batch", err);
    leave_context(b, &before);
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
        r = push_context(b, &before);
        if (r == CUDA_OK && check_capture(b, stream, &err) != LEAT_OK)
            keep_failure(b, &err);
        else
            lost_use(b, r == CUDA_OK ? add_use(b, s, stream) : r, NULL);
        if (r == CUDA_OK)
            leave_context(b, &before);
    }
    pthread_mutex_unlock(&s->lock);
}

static int node(struct backend *b)
{
    static const cuda_device_attribute asked[] = { CUDA_DEVICE_PCI_DOMAIN, CUDA_DEVICE_PCI_BUS,
                                                   CUDA_DEVICE_PCI_DEVICE };
    int at[3];

    for (size_t i = 0; i < 3; i++)
        if (b->driver.device_attribute(&at[i], asked[i], b->device) != CUDA_OK)
            return -1;
    return numa_of_pci("/sys", (unsigned)at[0], (unsigned)at[1], (unsigned)at[2]);
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
                                          .apart = true,
                                          .marks = true,
                                          .serves = cuda_device_named,
                                          .open = open_gpu,
                                          .close = close_gpu,
                                          .forget = forget_gpu,
                                          .room = room_on_gpu,
                                          .node = node,
                                          .allocate_ring = allocate_slots,
                                          .free_ring = free_memory,
                                          .attach = attach,
                                          .send = send,
                                          .fill = fill_on_gpu,
                                          .prepare = prepare,
                                          .await = await,
                                          .release = release,
                                          .idle = idle,
                                          .outputs = outputs,
                                          .describe = describe };
