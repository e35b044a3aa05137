/*
 * ranges.h: marks what a thread does, as ranges of time, for NVIDIA's profilers (Nsight Systems shows them beside the
 * GPU's work). Only where NVTX's header was there at build time, and a caller asks for it; else nothing is done. A
 * profiler that is not there costs a call of a few ns a range.
 */
#ifndef LEAT_RANGES_H
#define LEAT_RANGES_H

struct ranges; /* NULL: none are wanted */

/* NULL where that is not built in. */
struct ranges *ranges_open(void);
void ranges_close(struct ranges *r);

/* Ranges of a thread lie within each other. `name` is kept by nobody. */
void ranges_begin(struct ranges *r, const char *name);
void ranges_end(struct ranges *r);

#endif
