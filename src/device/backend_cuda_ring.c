/*
 * backend_cuda_ring.c: the ring's memory: pinned on the host, and as much on the GPU, for as many slots as both have
 * room for; and the events of each slot.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "backend_cuda.h"
#include "base/bytes.h"
#include "base/status.h"

#define DEVICE_ALIGNMENT 256u
#define MIN_SLOTS        2u

static bool fits(size_t each, unsigned slots)
{
    return each <= SIZE_MAX / 2 / slots;
}

/* How many slots to try next if there is no room for `slots`. */
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
                          "the GPU has no room for %u slots of %llu bytes; use fewer rows, or free some of its memory",
                          *slots, (unsigned long long)b->device_stride);
    if (r != CUDA_OK)
        b->memory = 0;
    return backend_cuda_check(b, r, "allocating memory of the GPU", err);
}

/* Allocates memory on the host for `slots`; false: no memory. */
static bool map_on_host(struct backend *b, struct backend_memory *m, unsigned slots, int node)
{
    m->bytes = slots * m->stride;
    m->host = backend_map(m->bytes, node, &m->huge_pages);
#if defined(MADV_DONTFORK)
    /* the GPU reads these pages, so they must not move: after a fork, the next write would copy them */
    if (m->host)
        madvise(m->host, m->bytes, MADV_DONTFORK);
#endif
    b->host = m->host;
    return m->host != NULL;
}

/* Pins memory for as many slots as the system allows; if it allows none, uses memory that is not pinned. */
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
                return backend_cuda_check(b, r, "making an event", err);
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
    if (s == LEAT_OK && slots < on_device) { /* gives the rest of the device's memory back to the program */
        s = backend_cuda_check(b, b->driver.memory_free(b->memory), "freeing memory of the GPU", err);
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

enum leat_status backend_cuda_allocate(struct backend *b, struct backend_memory *m, int node, struct leat_error *err)
{
    struct cuda_before before;
    enum leat_status s;

    b->slot_bytes = m->slot_bytes;
    b->output_bytes = m->output_bytes;
    b->host_stride = m->stride = m->slot_bytes;
    b->device_stride = bytes_divide_up(m->slot_bytes + m->output_bytes, DEVICE_ALIGNMENT) * DEVICE_ALIGNMENT;
    s = backend_cuda_check(b, backend_cuda_enter(b, &before), "entering the GPU's context", err);
    if (s != LEAT_OK)
        return s;
    s = allocate_inside(b, m, node, err);
    backend_cuda_leave(b, &before);
    return s;
}

static void free_on_device(struct backend *b)
{
    const struct cuda_driver *d = &b->driver;

    if (b->stream)
        d->stream_synchronize(b->stream);
    if (atomic_load(&b->failed)) /* the ring may be in use without an event for the end */
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

void backend_cuda_free_slots(struct backend *b)
{
    for (unsigned i = 0; i < b->locks; i++)
        pthread_mutex_destroy(&b->slots[i].lock);
    free(b->slots);
    b->slots = NULL;
    b->locks = 0;
}

void backend_cuda_free(struct backend *b, struct backend_memory *m)
{
    struct cuda_before before;

    if (backend_cuda_enter(b, &before) == CUDA_OK) {
        free_on_device(b);
        backend_cuda_leave(b, &before);
    }
    b->memory = 0;
    b->registered = false;
    backend_unmap(m->host, m->bytes);
    m->host = NULL;
    backend_cuda_free_slots(b);
}
