/*
 * gather_choose.c: chooses the engine of each file. A file in memory is copied from its map, or with read calls if it
 * may not be mapped. A cold file is read with io_uring, or else with advice; if all cold files fit into free memory,
 * they are also warmed. On a network file system: read calls with advice, and reads of 1 MiB to warm the file. Why not
 * choose once? Memory fills and files are evicted, so files are looked at again every second.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/memory.h"
#include "gather_engine.h"
#include "gather_pool.h"
#include "warm.h"

#define HOT         0.97 /* a file counts as in memory from this share on */
#define NO_MORE_HOT 0.90 /* and no longer below this share */
#define FITS        0.75 /* share of free memory that may be filled */
#define LOOK_NS     ((uint64_t)1000000000)
#define LOOKS       16u /* files per look */
#define INDEX_SHARE 8u  /* indexes are warmed if they take less than 1 / INDEX_SHARE of free memory */

static uint64_t words_of_tables(const struct gather_file *f)
{
    return bytes_divide_up(bytes_divide_up(f->map->size, GATHER_REGION), 64);
}

/* Page tables were filled for what was in memory at that time; they are filled again for what may have left it. */
static void forget_tables(struct gather_file *f)
{
    for (uint64_t i = 0; f->populated && i < words_of_tables(f); i++)
        atomic_store_explicit(&f->populated[i], 0, memory_order_relaxed);
}

/* Drops the page tables of a file that is no longer copied from its map. */
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

/* A fault of a single page must not read megabytes around it. */
static void take_map(struct gather *g, struct gather_file *f)
{
    const uint8_t *map = file_map_enter(f->map);

    g->mapped_bytes += f->map->size;
    if (!f->populated) /* without it, page tables are filled for each piece */
        f->populated = calloc(words_of_tables(f), sizeof *f->populated);
    if (map) {
        madvise((void *)(uintptr_t)map, (size_t)f->map->size, MADV_RANDOM);
        file_map_leave(f->map);
    }
}

static void use_engine(struct gather *g, struct gather_file *f, enum leat_engine engine)
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

/* Limits the page tables of all maps together. */
static bool may_be_mapped(const struct gather *g, const struct gather_file *f)
{
    return f->map->bytes && !f->lost_map && !f->network &&
           (f->engine == LEAT_ENGINE_MAP || f->map->size <= FILE_MAP_LARGEST - g->mapped_bytes);
}

/* Turns read-ahead off: the kernel's is many times as long as a window. */
static void expect_random_reads(struct gather_file *f)
{
#if defined(POSIX_FADV_RANDOM)
    if (!f->expects_random)
        posix_fadvise(f->map->fd, 0, 0, POSIX_FADV_RANDOM);
#endif
    f->expects_random = true;
}

/* Returns where a FUSE server answers a read past the page cache with fewer bytes, io_uring asks for the rest itself,
 * and Linux 6.18 asks from the first byte again, if the server did not ask for FUSE_ASYNC_DIO: it reports wrong bytes
 * as read (read calls are right). So such a file is read by io_uring only on request, and only if hashes show what
 * came, each time that a page is read (add_files()). */
static bool may_use_uring(const struct gather *g, const struct gather_file *f)
{
    return !g->uring_refused &&
           (!f->may_be_fuse || (g->wanted == LEAT_ENGINE_URING && f->verify && f->part->hashes.file));
}

/* Chooses a file's engine from what is known about it. */
static void choose_engine(struct gather *g, struct gather_file *f)
{
    enum leat_engine engine = g->wanted;

    if (engine == LEAT_ENGINE_AUTO)
        engine = f->hot && may_be_mapped(g, f) ? LEAT_ENGINE_MAP
                 : f->hot                      ? LEAT_ENGINE_PREAD
                 : f->network                  ? LEAT_ENGINE_ADVISE
                                               : LEAT_ENGINE_URING;
    if (engine == LEAT_ENGINE_URING && !may_use_uring(g, f))
        engine = LEAT_ENGINE_ADVISE;
    if (engine == LEAT_ENGINE_MAP && !may_be_mapped(g, f))
        engine = LEAT_ENGINE_PREAD;
    if (!f->hot)
        expect_random_reads(f);
    use_engine(g, f, engine);
}

static void look_at(struct gather *g, struct gather_file *f)
{
    /* with an engine other than the map, nothing else notices that the lease is called back */
    gather_inside(&g->worker, f);
    gather_leave(&g->worker);
    f->resident = residency_share(f->map->fd, f->offset, f->bytes, ++g->looks);
    f->hot = f->resident >= (f->hot ? NO_MORE_HOT : HOT);
    if (f->resident < 1)
        forget_tables(f);
    choose_engine(g, f);
}

void gather_release(struct gather *g, struct gather_file *f)
{
    if (f->engine == LEAT_ENGINE_MAP)
        use_engine(g, f, LEAT_ENGINE_PREAD);
}

void gather_without_uring(struct gather *g)
{
    for (uint32_t i = 0; i < g->file_count; i++)
        if (g->files[i].engine == LEAT_ENGINE_URING)
            use_engine(g, &g->files[i], LEAT_ENGINE_ADVISE);
}

/* ---- Warming ---- */

/* Reading holes would only fill memory with zeros. */
static uint64_t cold_bytes_of(const struct gather_file *f)
{
    return f->hot || f->has_holes ? 0 : (uint64_t)((1 - f->resident) * (double)f->bytes);
}

static uint64_t cold_bytes(const struct gather *g)
{
    uint64_t cold = 0;

    for (uint32_t i = 0; i < g->file_count; i++)
        cold += cold_bytes_of(&g->files[i]);
    return cold;
}

static uint64_t add_index(const struct gather_file *f, struct warm_stretch *s)
{
    const struct part_extent *lookup = &f->part->lookup;

    if (lookup->file)
        *s = (struct warm_stretch) { lookup->file->fd, lookup->offset, lookup->bytes, f->network };
    return lookup->file ? lookup->bytes : 0;
}

/* Warms the indexes first, because every row needs some of their bytes; then the files, if all cold ones fit. Of a plan
 * in stretches, those of the files are added when they are announced: memory need not hold more than they take. */
static void start_warming(struct gather *g)
{
    uint64_t cold = cold_bytes(g), index = 0, memory = memory_left(), count = 0;
    struct warm_stretch *s;

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
    for (uint32_t i = 0; i < g->file_count && (g->in_stretches || (double)cold < FITS * (double)memory); i++)
        if (cold_bytes_of(&g->files[i]) > 0) {
            g->files[i].warm_wanted = true;
            if (!g->in_stretches)
                s[count++] = (struct warm_stretch) { g->files[i].map->fd, g->files[i].offset, g->files[i].bytes,
                                                     g->files[i].network };
        }
    g->warm = count > 0 || g->in_stretches ? warm_open(s, count, g->in_stretches) : NULL;
    free(s);
}

void gather_choose(struct gather *g)
{
    /* of many files, opening looks at some, and the others follow in turn */
    for (uint32_t i = 0; i < g->file_count; i++) {
        const struct gather_file *other = &g->files[i % (4 * LOOKS)];

        if (i < 4 * LOOKS) {
            look_at(g, &g->files[i]);
            continue;
        }
        g->files[i].resident = other->resident;
        g->files[i].hot = other->hot;
        choose_engine(g, &g->files[i]);
    }
    if (g->wanted == LEAT_ENGINE_AUTO && g->threaded)
        start_warming(g);
}

void gather_look(struct gather *g, uint64_t now_ns)
{
    if (now_ns - g->looked_ns < LOOK_NS)
        return;
    gather_pool_await_all(g->pool);
    for (uint32_t i = 0; i < LOOKS && i < g->file_count; i++)
        look_at(g, &g->files[g->looks % g->file_count]);
    memset(g->announced, 0, sizeof g->announced);
    g->looked_ns = now_ns;
}
