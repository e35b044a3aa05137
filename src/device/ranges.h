/*
 * ranges.h: marks what a thread does, as ranges of time, for NVIDIA's profilers (Nsight Systems shows them next to the
 * GPU's work). Does nothing unless the build had NVTX's header and a caller asks for it. Without a profiler, a range
 * costs a call of a few ns.
 */
#ifndef LEAT_RANGES_H
#define LEAT_RANGES_H

struct ranges; /* NULL: not wanted */

/* NULL if it is not built in. */
struct ranges *ranges_open(void);
void ranges_close(struct ranges *r);

/* Ranges of a thread nest. `name` is needed only during the call. */
void ranges_begin(struct ranges *r, const char *name);
void ranges_end(struct ranges *r);

#endif
