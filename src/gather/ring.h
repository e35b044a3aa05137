/* ring.h: opens an io_uring, and says where it is touched. */
#ifndef LEAT_GATHER_RING_H
#define LEAT_GATHER_RING_H

#include <errno.h>
#include <liburing.h>
#include <stdbool.h>

/* liburing maps and unmaps a ring by system calls of its own, which ThreadSanitizer does not see: it takes a new ring
 * for the memory that lay there before, of another thread, and reports a race. So it leaves out what stands between
 * these: only the thread that opened a ring touches it. */
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define RING_IS_TRACED
#endif
#elif defined(__SANITIZE_THREAD__)
#define RING_IS_TRACED
#endif
#if defined(RING_IS_TRACED)
void AnnotateIgnoreReadsBegin(const char *file, int line);
void AnnotateIgnoreReadsEnd(const char *file, int line);
void AnnotateIgnoreWritesBegin(const char *file, int line);
void AnnotateIgnoreWritesEnd(const char *file, int line);
#define RING_TOUCHES() (AnnotateIgnoreReadsBegin(__FILE__, __LINE__), AnnotateIgnoreWritesBegin(__FILE__, __LINE__))
#define RING_TOUCHED() (AnnotateIgnoreWritesEnd(__FILE__, __LINE__), AnnotateIgnoreReadsEnd(__FILE__, __LINE__))
#else
#define RING_TOUCHES() ((void)0)
#define RING_TOUCHED() ((void)0)
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
    return r < 0 ? io_uring_queue_init(reads, ring, 0) : r;
}

#endif
