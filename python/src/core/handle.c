/* handle.c: counts the holders of objects, and keeps freed memory in pools. */
#include "handle.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "module.h"

/* ---- Handles ---- */

struct handle {
    atomic_size_t holders;
    void *object;
    void (*close)(void *object);
    struct handle **needs;
    size_t need_count, need_room;
};

struct handle *handle_make(void *object, void (*close)(void *object))
{
    struct handle *h = calloc(1, sizeof *h);

    if (!h) {
        if (close)
            close(object);
        return NULL;
    }
    atomic_init(&h->holders, 1);
    h->object = object;
    h->close = close;
    return h;
}

int handle_needs(struct handle *h, struct handle *other)
{
    if (!other)
        return 1;
    if (!GROW(h->needs, h->need_count + 1, h->need_room))
        return 0;
    h->needs[h->need_count++] = handle_hold(other);
    return 1;
}

int handle_needs_same(struct handle *h, const struct handle *other)
{
    int ok = 1;

    for (size_t i = 0; ok && i < other->need_count; i++)
        ok = handle_needs(h, other->needs[i]);
    return ok;
}

void handle_needs_instead(struct handle *h, struct handle *before, struct handle *other)
{
    size_t i = 0;

    while (h->needs[i] != before)
        i++;
    h->needs[i] = handle_hold(other);
    handle_drop(before);
}

void *handle_object(const struct handle *h)
{
    return h->object;
}

struct handle *handle_hold(struct handle *h)
{
    atomic_fetch_add_explicit(&h->holders, 1, memory_order_relaxed);
    return h;
}

void handle_drop(struct handle *h)
{
    if (!h || atomic_fetch_sub_explicit(&h->holders, 1, memory_order_acq_rel) != 1)
        return;
    if (h->close)
        h->close(h->object);
    /* The handles that the object needed are dropped after it. */
    for (size_t i = 0; i < h->need_count; i++)
        handle_drop(h->needs[i]);
    free(h->needs);
    free(h);
}

/* ---- Memory ---- */

#define ALIGNMENT ((size_t)64) /* bytes that memory is aligned to, so that jax does not copy arrays */
#define HUGE_PAGE ((size_t)2 << 20)
#define MAX_KEPT  32u

/* The head of a block, which stands before the memory that is given out. */
struct block {
    size_t bytes; /* size of the memory */
    struct handle *pool;
};

struct pool {
    pthread_mutex_t lock;
    unsigned count;
    struct block *kept[MAX_KEPT];
};

static void *memory_of(struct block *b)
{
    return (char *)b + ALIGNMENT;
}

static struct block *block_of(void *memory)
{
    return (struct block *)(void *)((char *)memory - ALIGNMENT);
}

/* Rounds a size up, so that sizes that differ little share blocks. */
static size_t rounded(size_t bytes)
{
    size_t step = 4096;

    while (step < bytes / 8)
        step *= 2;
    return bytes > SIZE_MAX - step ? SIZE_MAX : (bytes + step - 1) / step * step;
}

static struct block *block_new(size_t bytes)
{
    size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : ALIGNMENT;
    void *memory = NULL;

    if (bytes > SIZE_MAX / 2 || posix_memalign(&memory, alignment, bytes + ALIGNMENT) != 0)
        return NULL;
#if defined(MADV_HUGEPAGE)
    if (alignment == HUGE_PAGE)
        madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    ((struct block *)memory)->bytes = bytes;
    return memory;
}

/* Takes the newest block that fits, since its bytes are the likeliest to be in the cache. */
static struct block *pool_take(struct pool *p, size_t bytes)
{
    struct block *found = NULL;

    pthread_mutex_lock(&p->lock);
    for (unsigned i = p->count; i-- > 0 && !found;)
        if (p->kept[i]->bytes == bytes) {
            found = p->kept[i];
            p->count--;
            for (unsigned k = i; k < p->count; k++)
                p->kept[k] = p->kept[k + 1];
        }
    pthread_mutex_unlock(&p->lock);
    return found;
}

/* Keeps a block. If there is no room, frees the oldest block, because its size is probably no longer asked for. */
static void pool_keep(struct pool *p, struct block *b)
{
    struct block *gone = NULL;

    pthread_mutex_lock(&p->lock);
    if (p->count == MAX_KEPT) {
        gone = p->kept[0];
        p->count--;
        for (unsigned k = 0; k < p->count; k++)
            p->kept[k] = p->kept[k + 1];
    }
    p->kept[p->count++] = b;
    pthread_mutex_unlock(&p->lock);
    free(gone);
}

static void memory_close(void *memory)
{
    struct block *b = block_of(memory);
    struct handle *pool = b->pool;

    if (!pool) {
        free(b);
        return;
    }
    pool_keep(handle_object(pool), b);
    handle_drop(pool);
}

struct handle *memory_make(struct handle *pool, size_t bytes)
{
    size_t size = pool ? rounded(bytes) : bytes;
    struct block *b = pool ? pool_take(handle_object(pool), size) : NULL;

    if (!b)
        b = block_new(size);
    if (!b)
        return NULL;
    b->pool = pool ? handle_hold(pool) : NULL;
    return handle_make(memory_of(b), memory_close);
}

static void pool_close(void *object)
{
    struct pool *p = object;

    for (unsigned i = 0; i < p->count; i++)
        free(p->kept[i]);
    pthread_mutex_destroy(&p->lock);
    free(p);
}

struct handle *memory_pool_make(void)
{
    struct pool *p = calloc(1, sizeof *p);

    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    return handle_make(p, pool_close);
}
