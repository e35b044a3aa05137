/*
 * engine_advise.c: for systems that forbid io_uring. Advises the kernel which stretches will be read, for the rows of
 * all free slots; it reads them in parallel, and plain reads then find them in memory. The kernel cuts advice to the
 * length of its read-ahead, so long stretches need several calls.
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
