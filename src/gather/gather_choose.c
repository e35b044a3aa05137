/*
 * gather_choose.c: chooses the engine of each file. In memory: the map, or read calls if it may not be mapped. Not in
 * memory: io_uring, else advice; if all cold files fit into free memory, they are also warmed. On a network file
 * system: read calls with advice, and reads of 1 MiB to warm it. Files are looked at again each second, since memory
 * fills and files are evicted.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "gather_engine.h"
#include "residency.h"
#include "warm.h"

#define HOT         0.97 /* share in memory from which on a file counts as there */
#define NO_MORE_HOT 0.90 /* and below which it does no more */
#define FITS        0.75 /* of free memory may be filled */
#define LOOK_NS     ((uint64_t)1000000000)
#define LOOKS       16u /* files that are looked at at once */
#define INDEX_SHARE 8u  /* indexes are warmed if they take less than one part of free memory in so many */

/* Page tables were filled for what was in memory then: what is not known to be there any more is filled anew. */
static void forget_tables(struct gather_file *f)
{
    if (f->populated)
        memset(f->populated, 0, 8 * bytes_pieces(bytes_pieces(f->map->size, GATHER_REGION), 64));
}

/* A file is not copied from its map any more: its page tables go. */
static void leave_map(struct gather *g, struct gather_file *f)
{
    const uint8_t *map = file_map_enter(f->map);

    g->mapped_bytes -= f->map->size;
    forget_tables(f);
    if (map) {
        madvise((void *)(uintptr_t)map, (size_t)f->map->size, MADV_NORMAL);
        madvise((void *)(uintptr_t)map, (size_t)f->map->size, MADV_DONTNEED);
        file_map_leave(f->map);
    }
}

/* Faults of single pages, should there be any, must not read megabytes around them. */
static void take_map(struct gather *g, struct gather_file *f)
{
    const uint8_t *map = file_map_enter(f->map);

    g->mapped_bytes += f->map->size;
    if (map) {
        madvise((void *)(uintptr_t)map, (size_t)f->map->size, MADV_RANDOM);
        file_map_leave(f->map);
    }
}

static void use(struct gather *g, struct gather_file *f, enum leat_engine engine)
{
    if (f->engine == engine)
        return;
    if (f->engine != LEAT_ENGINE_AUTO)
        atomic_fetch_sub(&g->in_use[f->engine], 1);
    if (f->engine == LEAT_ENGINE_MAP)
        leave_map(g, f);
    if (engine == LEAT_ENGINE_MAP)
        take_map(g, f);
    f->engine = engine;
    atomic_fetch_add(&g->in_use[engine], 1);
}

/* Page tables of all maps together are bounded, as those of one are. */
static bool may_be_mapped(const struct gather *g, const struct gather_file *f)
{
    return f->map->bytes && !f->lost_map && !f->network &&
           (f->engine == LEAT_ENGINE_MAP || f->map->size <= FILE_MAP_LARGEST - g->mapped_bytes);
}

/* Only what is asked for is to be read: a window is a small part of what the kernel would read ahead. */
static void expect_random_reads(struct gather_file *f)
{
#if defined(POSIX_FADV_RANDOM)
    if (!f->expects_random)
        posix_fadvise(f->map->fd, 0, 0, POSIX_FADV_RANDOM);
#endif
    f->expects_random = true;
}

/* From what is known of a file to its engine. */
static void choose(struct gather *g, struct gather_file *f)
{
    enum leat_engine engine = g->wanted;

    if (engine == LEAT_ENGINE_AUTO)
        engine = f->hot && may_be_mapped(g, f) ? LEAT_ENGINE_MAP
                 : f->hot                      ? LEAT_ENGINE_PREAD
                 : f->network                  ? LEAT_ENGINE_ADVISE
                                               : LEAT_ENGINE_URING;
    if (engine == LEAT_ENGINE_URING && g->uring_refused)
        engine = LEAT_ENGINE_ADVISE;
    if (engine == LEAT_ENGINE_MAP && !may_be_mapped(g, f))
        engine = LEAT_ENGINE_PREAD;
    if (!f->hot)
        expect_random_reads(f);
    use(g, f, engine);
}

static void look_at(struct gather *g, struct gather_file *f)
{
    /* where another engine than the map is used, nobody else would notice that a lease is called back */
    gather_inside(g, f);
    gather_leave(g);
    f->resident = residency_share(f->map->fd, f->offset, f->bytes, ++g->looks);
    f->hot = f->resident >= (f->hot ? NO_MORE_HOT : HOT);
    if (f->resident < 1)
        forget_tables(f);
    choose(g, f);
}

/* Of many files some are looked at when the loader is opened, the others when their turn comes. */
static void take_for(struct gather *g, struct gather_file *f, const struct gather_file *other)
{
    f->resident = other->resident;
    f->hot = other->hot;
    choose(g, f);
}

void gather_let_go(struct gather *g, struct gather_file *f)
{
    if (f->engine == LEAT_ENGINE_MAP)
        use(g, f, LEAT_ENGINE_PREAD);
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
    return f->hot ? 0 : (uint64_t)((1 - f->resident) * (double)f->bytes);
}

static uint64_t add_index(const struct gather_file *f, struct warm_stretch *s)
{
    const struct part_extent *lookup = &f->part->lookup;

    if (lookup->file)
        *s = (struct warm_stretch) { lookup->file->fd, lookup->offset, lookup->bytes, f->network };
    return lookup->file ? lookup->bytes : 0;
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
        if (cold_bytes_of(&g->files[i]) > 0) {
            uint64_t bytes = add_index(&g->files[i], &s[count]);

            index += bytes;
            count += bytes > 0;
        }
    if (index > memory / INDEX_SHARE)
        count = 0;
    for (uint32_t i = 0; i < g->file_count && (double)cold < FITS * (double)memory; i++)
        if (cold_bytes_of(&g->files[i]) > 0) {
            g->files[i].warm_wanted = true;
            s[count++] = (struct warm_stretch) { g->files[i].map->fd, g->files[i].offset, g->files[i].bytes,
                                                 g->files[i].network };
        }
    g->warm = count > 0 ? warm_open(s, count) : NULL;
    free(s);
}

void gather_choose(struct gather *g)
{
    for (uint32_t i = 0; i < g->file_count; i++) {
        if (i < 4 * LOOKS)
            look_at(g, &g->files[i]);
        else
            take_for(g, &g->files[i], &g->files[i % (4 * LOOKS)]);
    }
    if (g->wanted == LEAT_ENGINE_AUTO && g->threaded)
        start_warming(g);
}

void gather_look(struct gather *g, uint64_t now_ns)
{
    if (now_ns - g->looked_ns < LOOK_NS)
        return;
    for (uint32_t i = 0; i < LOOKS && i < g->file_count; i++)
        look_at(g, &g->files[g->looks % g->file_count]);
    g->looked_ns = now_ns;
}
