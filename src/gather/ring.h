/* ring.h: opens and closes an io_uring. */
#ifndef LEAT_GATHER_RING_H
#define LEAT_GATHER_RING_H

#include <errno.h>
#include <liburing.h>
#include <stdbool.h>

/* liburing maps and unmaps a ring by system calls of its own, which ThreadSanitizer does not see: told nothing, it
 * takes a new ring for the memory of one that another thread closed, and reports a race. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RING_IS_TRACED
#endif
#elif defined(__SANITIZE_THREAD__)
#define RING_IS_TRACED
#endif
#if defined(RING_IS_TRACED)
#include <sanitizer/tsan_interface.h>

static char ring_memory; /* stands for that of all rings */
#define RING_MAPPED() __tsan_acquire(&ring_memory)
#define RING_UNMAPS() __tsan_release(&ring_memory)
#else
#define RING_MAPPED() ((void)0)
#define RING_UNMAPS() ((void)0)
#endif

/* One thread submits and reaps, so the kernel need not lock against others or interrupt it; older kernels still do. */
static inline int ring_open(struct io_uring *ring, unsigned reads, bool one_thread)
{
    int r = -EINVAL;

#if defined(IORING_SETUP_SINGLE_ISSUER) && defined(IORING_SETUP_DEFER_TASKRUN)
    if (one_thread)
        r = io_uring_queue_init(reads, ring, IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN);
#else
    (void)one_thread;
#endif
    if (r < 0)
        r = io_uring_queue_init(reads, ring, 0);
    RING_MAPPED();
    return r;
}

static inline void ring_close(struct io_uring *ring)
{
    RING_UNMAPS();
    io_uring_queue_exit(ring);
}

#endif
