/*
 * engine_advise.c: where io_uring is forbidden, the kernel is told which stretches will be read, for the rows of all
 * free slots, and reads them side by side; plain reads then find them. It takes a wish of any length for one of at most
 * its read-ahead, so that long ones are cut.
 */
#include <fcntl.h>

#include "gather_engine.h"

#define WISH ((uint64_t)128 << 10)

static bool begin(struct gather *g, struct gather_job *job, struct gather_piece *p)
{
#if defined(POSIX_FADV_WILLNEED)
    const struct gather_file *f = &g->files[p->file];
    uint64_t end = gather_span_end(f, p);

    (void)job;
    if (f->hot)
        return true;
    for (uint64_t at = gather_span_begin(p); at < end; at += WISH)
        posix_fadvise(f->map->fd, (off_t)(f->offset + at), (off_t)(end - at < WISH ? end - at : WISH),
                      POSIX_FADV_WILLNEED);
#else
    (void)g;
    (void)job;
    (void)p;
#endif
    return true;
}

const struct gather_engine engine_advise = { .begin = begin };
