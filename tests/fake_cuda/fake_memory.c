/*
 * fake_memory.c: the stand-in's memory. What the host gets as an address of the device is mapped without access; the
 * stand-in itself reaches the same memory by a second map. Each access is remembered with the clock of its stream, and
 * a later one that is not ordered after it is an offence: whatever happened to run first.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "fake.h"

#define USUAL_MEMORY ((size_t)4 << 30)
#define PAGE         4096u

struct access {
    size_t begin, end;
    uint64_t tick;
    unsigned index;
    bool write;
};

struct allocation {
    cuda_context context;
    uint8_t *shown, *alias;
    size_t bytes, mapped;
    struct access *accesses;
    size_t count, room;
    struct allocation *next;
};

struct registration {
    cuda_context context;
    uint8_t *memory;
    size_t bytes;
    struct registration *next;
};

static struct allocation *allocations;
static struct registration *registrations;
static size_t registered_bytes;
struct fake_clock fake_host_clock;

void fake_clock_join(struct fake_clock *to, const struct fake_clock *from)
{
    for (unsigned i = 0; i < FAKE_CLOCKS; i++)
        if (to->at[i] < from->at[i])
            to->at[i] = from->at[i];
}

unsigned fake_memory_live(void)
{
    unsigned n = 0;

    for (struct allocation *a = allocations; a; a = a->next)
        n++;
    for (struct registration *g = registrations; g; g = g->next)
        n++;
    return n;
}

/* ---- Order ---- */

/* Drops what the host has seen done. */
static void forget_done(struct allocation *a)
{
    size_t kept = 0;

    for (size_t i = 0; i < a->count; i++)
        if (a->accesses[i].tick > fake_host_clock.at[a->accesses[i].index])
            a->accesses[kept++] = a->accesses[i];
    a->count = kept;
}

static void add_access(struct allocation *a, const struct access *x)
{
    if (a->count == a->room)
        forget_done(a);
    if (a->count == a->room) {
        a->room = a->room ? 2 * a->room : 64;
        a->accesses = realloc(a->accesses, a->room * sizeof *a->accesses);
        if (!a->accesses)
            abort();
    }
    a->accesses[a->count++] = *x;
}

static void order(struct allocation *a, const struct access *x, const struct fake_clock *clock, const char *what)
{
    size_t kept = 0;

    for (size_t i = 0; i < a->count; i++) {
        const struct access *y = &a->accesses[i];
        bool before = y->tick <= clock->at[y->index];

        if (y->begin < x->end && x->begin < y->end && (x->write || y->write) && !before)
            fake_offence(
                "%s %s bytes %zu to %zu of an allocation of the device, and work of another stream that %s them "
                "is not ordered before it",
                what, x->write ? "writes" : "reads", x->begin, x->end, y->write ? "writes" : "reads");
        /* what is ordered before this write is before all that comes after it */
        if (!(x->write && before && y->begin >= x->begin && y->end <= x->end))
            a->accesses[kept++] = *y;
    }
    a->count = kept;
    add_access(a, x);
}

void *fake_memory_at(cuda_context context, cuda_pointer address, size_t bytes, bool write,
                     const struct fake_clock *clock, unsigned index, const char *what)
{
    for (struct allocation *a = allocations; a; a = a->next) {
        uintptr_t from = (uintptr_t)address - (uintptr_t)a->shown;

        if ((uintptr_t)address < (uintptr_t)a->shown || from > a->bytes || bytes > a->bytes - from)
            continue;
        if (a->context != context)
            fake_offence("%s of device %d touches memory of device %d", what, context->device, a->context->device);
        if (clock)
            order(a, &(struct access) { from, from + bytes, clock->at[index], index, write }, clock, what);
        return a->alias + from;
    }
    fake_offence("%s touches %zu bytes at 0x%llx, which are not allocated on the device (any more)", what, bytes,
                 (unsigned long long)address);
    return NULL;
}

/* ---- Of the device ---- */

cuda_result fake_memory_info(size_t *free_bytes, size_t *total)
{
    cuda_result r = fake_enter("cuMemGetInfo", FAKE_CONTEXT | FAKE_WAITS | FAKE_UNSAFE);

    if (r != CUDA_OK)
        return r;
    pthread_mutex_lock(&fake_lock);
    *total = fake_options.memory ? fake_options.memory : USUAL_MEMORY;
    *free_bytes = *total - fake_current()->allocated;
    pthread_mutex_unlock(&fake_lock);
    return CUDA_OK;
}

static bool map_twice(struct allocation *a)
{
    int fd = memfd_create("stand-in", MFD_CLOEXEC);

    a->mapped = bytes_divide_up(a->bytes, PAGE) * PAGE;
    if (fd < 0 || ftruncate(fd, (off_t)a->mapped) != 0)
        return false;
    a->shown = mmap(NULL, a->mapped, PROT_NONE, MAP_SHARED, fd, 0);
    /* all pages at once, which costs less than a fault for each */
    a->alias = mmap(NULL, a->mapped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, 0);
    close(fd);
    return a->shown != MAP_FAILED && a->alias != MAP_FAILED;
}

cuda_result fake_memory_allocate(cuda_pointer *memory, size_t bytes)
{
    cuda_result r = fake_enter("cuMemAlloc", FAKE_CONTEXT | FAKE_WAITS | FAKE_UNSAFE);
    size_t max = fake_options.memory ? fake_options.memory : USUAL_MEMORY;
    cuda_context context = fake_current();
    struct allocation *a;

    if (r != CUDA_OK)
        return r;
    if (bytes == 0)
        return CUDA_INVALID_VALUE;
    pthread_mutex_lock(&fake_lock);
    a = calloc(1, sizeof *a);
    if (a)
        a->bytes = bytes;
    if (!a || bytes > max - context->allocated || !map_twice(a)) {
        free(a);
        pthread_mutex_unlock(&fake_lock);
        return CUDA_OUT_OF_MEMORY;
    }
    memset(a->alias, 0xee, a->mapped); /* what was there before is nobody's business */
    a->context = context;
    a->next = allocations;
    allocations = a;
    context->allocated += bytes;
    *memory = (uintptr_t)a->shown;
    pthread_mutex_unlock(&fake_lock);
    return CUDA_OK;
}

static void unmap_both(struct allocation *a)
{
    a->context->allocated -= a->bytes;
    munmap(a->alias, a->mapped);
    mmap(a->shown, a->mapped, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    free(a->accesses);
    free(a);
}

/* As the real one, it waits until the device is idle. The address is never given again. */
cuda_result fake_memory_free(cuda_pointer memory)
{
    cuda_result r = fake_enter("cuMemFree", FAKE_CONTEXT | FAKE_WAITS | FAKE_UNSAFE | FAKE_ENDS);
    struct allocation **at, *a;

    if (r == CUDA_DEINITIALIZED)
        return r;
    pthread_mutex_lock(&fake_lock);
    for (at = &allocations; *at && (uintptr_t)(*at)->shown != (uintptr_t)memory;)
        at = &(*at)->next;
    a = *at;
    if (!a) {
        fake_offence("memory at 0x%llx is freed, and was not allocated, or freed before", (unsigned long long)memory);
        pthread_mutex_unlock(&fake_lock);
        return CUDA_INVALID_VALUE;
    }
    for (size_t i = 0; fake_options.strict && i < a->count; i++)
        if (a->accesses[i].tick > fake_host_clock.at[a->accesses[i].index] && a->context->broken == CUDA_OK) {
            fake_offence("memory is freed before the host has seen the end of all work that touches it");
            break;
        }
    fake_streams_await(a->context);
    for (at = &allocations; *at != a;)
        at = &(*at)->next;
    *at = a->next;
    unmap_both(a);
    pthread_mutex_unlock(&fake_lock);
    return r;
}

/* ---- Of the host ---- */

bool fake_is_registered(const void *memory, size_t bytes)
{
    for (struct registration *g = registrations; g; g = g->next)
        if ((const uint8_t *)memory >= g->memory && (const uint8_t *)memory + bytes <= g->memory + g->bytes)
            return true;
    return false;
}

/* Eight bytes at a time; the end in one. Only ever compared within a process. */
uint64_t fake_hash(const void *memory, size_t bytes)
{
    const uint8_t *p = memory;
    uint64_t h = bytes + 1, x;

    for (; bytes >= 8; bytes -= 8, p += 8) {
        memcpy(&x, p, 8);
        h = (h ^ x) * 0x9e3779b97f4a7c15u;
        h ^= h >> 29;
    }
    x = 0;
    memcpy(&x, p, bytes);
    h = (h ^ x) * 0xbf58476d1ce4e5b9u;
    return h ? h : 1;
}

cuda_result fake_host_register(void *memory, size_t bytes, unsigned flags)
{
    cuda_result r = fake_enter("cuMemHostRegister", FAKE_CONTEXT | FAKE_WAITS | FAKE_UNSAFE);
    struct registration *g;

    (void)flags;
    if (r != CUDA_OK)
        return r;
    pthread_mutex_lock(&fake_lock);
    g = calloc(1, sizeof *g);
    if (!g || (fake_options.pinned && bytes > fake_options.pinned - registered_bytes)) {
        free(g);
        pthread_mutex_unlock(&fake_lock);
        return CUDA_OUT_OF_MEMORY;
    }
    *g = (struct registration) { fake_current(), memory, bytes, registrations };
    registrations = g;
    registered_bytes += bytes;
    pthread_mutex_unlock(&fake_lock);
    return CUDA_OK;
}

cuda_result fake_host_unregister(void *memory)
{
    cuda_result r = fake_enter("cuMemHostUnregister", FAKE_CONTEXT | FAKE_WAITS | FAKE_UNSAFE | FAKE_ENDS);
    struct registration **at, *g;

    if (r == CUDA_DEINITIALIZED)
        return r;
    pthread_mutex_lock(&fake_lock);
    for (at = &registrations; *at && (*at)->memory != memory;)
        at = &(*at)->next;
    g = *at;
    if (!g) {
        fake_offence("memory is unregistered that was not registered");
        r = CUDA_INVALID_VALUE;
    } else {
        *at = g->next;
        registered_bytes -= g->bytes;
        free(g);
    }
    pthread_mutex_unlock(&fake_lock);
    return r;
}

unsigned fake_memory_drop(cuda_context context)
{
    unsigned n = 0;

    for (struct allocation **at = &allocations; *at;) {
        struct allocation *a = *at;

        if (a->context != context) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        unmap_both(a);
        n++;
    }
    for (struct registration **at = &registrations; *at;) {
        struct registration *g = *at;

        if (g->context != context) {
            at = &g->next;
            continue;
        }
        *at = g->next;
        registered_bytes -= g->bytes;
        free(g);
        n++;
    }
    return n;
}
