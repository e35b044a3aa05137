/*
 * pens.h: threads that write a sink's complete frames past the page cache (O_DIRECT), so that who completes a frame
 * does not wait for the disk. If all are busy it writes the frame itself: no more than PENS frames are ever kept.
 *
 * A *pen* is one of these threads.
 */
#ifndef LEAT_WRITER_PENS_H
#define LEAT_WRITER_PENS_H

#include <stdint.h>

#include "sink.h"

struct pens;

/* NULL if the file system refuses, or without memory: then the page cache will do. Frames come from `begin` on. */
struct pens *pens_open(struct sink *s, uint64_t begin);

/* Writes a complete frame, or has it written; it is the callee's. A failure may be that of an earlier frame. */
enum leat_status pens_write(struct pens *p, struct sink_frame *f, struct leat_error *err);

/* Waits until every frame is written; returns the first failure of one. */
enum leat_status pens_wait(struct pens *p, struct leat_error *err);

/* How many bytes went past the page cache. */
uint64_t pens_written(const struct pens *p);

/* Waits for the threads, but not in a child of the process that has them. NULL is fine. */
void pens_close(struct pens *p);

#endif
