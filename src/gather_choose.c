/*
 * gather_choose.c: which engine a file is read with. In memory: the map, or read calls where it may not be mapped. Not in
 * memory: io_uring, else advice; and if all that is cold fits into free memory, it is warmed besides. On a network file
 * system: read calls with advice, and reads of 1 MiB where it is warmed. Looked at again each second, since memory fills
 * and files are pushed out.
 */
#include <fcntl.h>
#include <stdlib.h>

#include "base/gate.h"
#include "base/status.h"
#include "gather.h"
#include "residency.h"
#include "warm.h"

#define HOT         0.97 /* share in memory from which on a file counts as there */
#define NO_MORE_HOT 0.90 /* and below which it does no more */
#define FITS        0.75 /* of free memory may be filled */
#define LOOK_NS     ((uint64_t)1000000000)
#define LOOKS       16u /* files that are looked at at once */
#define INDEX_SHARE 8u  /* indexes are warmed if they take less than one part of free memory in so many */

static void use(struct gather *g, struct gather_file *f, enum leat_engine engine)
{
    if (f->engine == engine)
        return;
    if (f->engine != LEAT_ENGINE_AUTO)
        atomic_fetch_sub(&g->in_use[f->engine], 1);
    f->engine = engine;
    atomic_fetch_add(&g->in_use[engine], 1);
}

static bool may_be_mapped(const struct gather_file *f)
{
    return f->map->bytes && !f->lost_map && !f->network;
}

/* Only what is asked for is to be read: a window is a small part of what the kernel would read ahead. */
static void expect_random_reads(const struct gather_file *f)
{
#if defined(POSIX_FADV_RANDOM)
    if (f->map->fd >= 0)
        posix_fadvise(f->map->fd, 0, 0, POSIX_FADV_RANDOM);
#else
    (void)f;
#endif
}

static void look_at(struct gather *g, struct gather_file *f)
{
    enum leat_engine engine = g->wanted;

    /* where another engine than the map is used, nobody else would notice that a lease is called back */
    gather_inside(g, f);
    gather_leave(g);
    f->resident = f->map->fd < 0 ? 1 : residency_share(f->map->fd, f->map->size, ++g->looks);
    f->hot = f->resident >= (f->hot ? NO_MORE_HOT : HOT);
    if (engine == LEAT_ENGINE_AUTO)
        engine = f->hot && may_be_mapped(f) ? LEAT_ENGINE_MAP
                 : f->hot                   ? LEAT_ENGINE_PREAD
                 : f->network               ? LEAT_ENGINE_ADVISE
                                            : LEAT_ENGINE_URING;
    if (engine == LEAT_ENGINE_URING && g->uring_refused)
        engine = LEAT_ENGINE_ADVISE;
    if (f->map->fd < 0 || (engine == LEAT_ENGINE_MAP && !may_be_mapped(f)))
        engine = f->map->fd < 0 ? LEAT_ENGINE_MAP : LEAT_ENGINE_PREAD;
    use(g, f, engine);
}

void gather_without_uring(struct gather *g)
{
    for (uint32_t i = 0; i < g->file_count; i++)
        if (g->files[i].engine == LEAT_ENGINE_URING)
            use(g, &g->files[i], LEAT_ENGINE_ADVISE);
}

/* ---- Warming ---- */

static uint64_t cold_bytes_of(const struct gather_file *f)
{
    return f->hot || f->map->fd < 0 ? 0 : (uint64_t)((1 - f->resident) * (double)f->map->size);
}

static uint64_t add_index(const struct gather_file *f, struct warm_stretch *s)
{
    const struct format_place *pages = &f->part->header.sections[FORMAT_PAGES];
    uint64_t end = pages->offset + pages->bytes;

    /* documents, directory, pages: they lie before everything else */
    *s = (struct warm_stretch) { f->part->index.fd, 0, end };
    return end;
}

/* Indexes first: each row needs some bytes of them. Then the files, if all that is cold fits. */
static void start_warming(struct gather *g)
{
    uint64_t cold = 0, index = 0, memory = residency_memory(), count = 0;
    struct warm_stretch *s;

    for (uint32_t i = 0; i < g->file_count; i++)
        cold += cold_bytes_of(&g->files[i]);
    if (cold == 0 || !(s = calloc(2 * (uint64_t)g->file_count, sizeof *s)))
        return;
    for (uint32_t i = 0; i < g->file_count; i++)
        if (cold_bytes_of(&g->files[i]) > 0 && g->files[i].part->index.fd >= 0)
            index += add_index(&g->files[i], &s[count++]);
    if (index > memory / INDEX_SHARE)
        count = 0;
    for (uint32_t i = 0; i < g->file_count && (double)cold < FITS * (double)memory; i++)
        if (cold_bytes_of(&g->files[i]) > 0) {
            g->files[i].warm_wanted = true;
            s[count++] = (struct warm_stretch) { g->files[i].map->fd, 0, g->files[i].map->size };
        }
    g->warm = count > 0 ? warm_open(s, count) : NULL;
    free(s);
}

enum leat_status gather_choose(struct gather *g, struct leat_error *err)
{
    (void)err;
    for (uint32_t i = 0; i < g->file_count; i++) {
        /* of many files each is looked at when its turn comes */
        if (i < 4 * LOOKS)
            look_at(g, &g->files[i]);
        else
            use(g, &g->files[i], g->files[i % (4 * LOOKS)].engine);
        if (!g->files[i].hot)
            expect_random_reads(&g->files[i]);
    }
    if (g->wanted == LEAT_ENGINE_AUTO && g->threaded)
        start_warming(g);
    return LEAT_OK;
}

void gather_look(struct gather *g, uint64_t now_ns)
{
    if (now_ns - g->looked_ns < LOOK_NS)
        return;
    for (uint32_t i = 0; i < LOOKS && i < g->file_count; i++)
        look_at(g, &g->files[(g->looks) % g->file_count]);
    g->looked_ns = now_ns;
}
