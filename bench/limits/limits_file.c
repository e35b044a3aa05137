/*
 * limits_file.c: the ceilings of the page cache and of the disk, with one test file.
 *
 * Rows of the page cache read the file's beginning, which is in memory: by pread, and from a map, as windows at random
 * places and in one go. Rows of the disk read it with O_DIRECT, or write a second file, for a fixed time, because a
 * slow disk would take too long for all of it.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench/measure/parallel.h"
#include "cli/cli.h"
#include "limits.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

#define MIB              ((uint64_t)1 << 20)
#define SEQUENTIAL_LIMIT 2.0 /* seconds: a slow disk is not read to its end */

/* A place for `bytes` within [0, all), a multiple of `align`. */
static uint64_t random_place(struct limits *l, uint64_t all, uint64_t bytes, uint64_t align)
{
    return parallel_random(&l->seed) % ((all - bytes) / align + 1) * align;
}

/* ---- Page cache ------------------------------------------------------------------------------------------------- */

static bool read_error(struct contest_work *work, ssize_t got)
{
    return limits_refuse(work, got < 0 ? "reading the test file failed" : "the test file ended early",
                         got < 0 ? errno : 0);
}

static bool run_cached_sequential(void *context, struct contest_work *work)
{
    struct limits_case *c = context;

    for (uint64_t at = 0; at + c->block <= c->limits->hot_bytes; at += c->block) {
        ssize_t got = pread(c->limits->file, c->limits->to, c->block, (off_t)at);

        if (got != (ssize_t)c->block)
            return read_error(work, got);
        work->bytes += c->block;
        work->items++;
    }
    return true;
}

/* Windows of tokens begin at any even byte; they go to a buffer the size of a batch, one after the other. */
static bool run_cached_random(void *context, struct contest_work *work)
{
    struct limits_case *c = context;
    uint64_t reads = c->limits->buffer_bytes / c->block;

    for (uint64_t i = 0; i < reads; i++) {
        uint64_t at = random_place(c->limits, c->limits->hot_bytes, c->block, 2);
        ssize_t got = pread(c->limits->file, c->limits->to + i * c->block % MIB, c->block, (off_t)at);

        if (got != (ssize_t)c->block)
            return read_error(work, got);
    }
    work->items = reads;
    work->bytes = reads * c->block;
    return true;
}

/* Maps the part that is in memory and has the kernel fill the page table; MAP_FAILED with errno set if it cannot. */
static uint8_t *map_populated(const struct limits *l)
{
    void *map = mmap(NULL, l->hot_bytes, PROT_READ, MAP_SHARED, l->file, 0);

    if (map == MAP_FAILED || madvise(map, l->hot_bytes, MADV_POPULATE_READ) == 0)
        return map;
    int kept = errno;
    munmap(map, l->hot_bytes);
    errno = kept;
    return MAP_FAILED;
}

static bool run_populate(void *context, struct contest_work *work)
{
    struct limits_case *c = context;
    uint8_t *map = map_populated(c->limits);

    if (map == MAP_FAILED)
        return limits_refuse(work, "MADV_POPULATE_READ", errno);
    munmap(map, c->limits->hot_bytes);
    work->bytes = c->limits->hot_bytes;
    work->items = c->limits->hot_bytes / MIB;
    return true;
}

/* The map is made before the clock runs, and kept from run to run. */
static bool prepare_mapped(void *context, struct contest_work *work)
{
    struct limits_case *c = context;

    if (!c->limits->map) {
        uint8_t *made = map_populated(c->limits);

        if (made == MAP_FAILED)
            return limits_refuse(work, "MADV_POPULATE_READ", errno);
        c->limits->map = made;
    }
    return true;
}

static bool run_mapped(void *context, struct contest_work *work)
{
    struct limits_case *c = context;
    const uint8_t *map = c->limits->map;
    uint64_t copies = c->limits->buffer_bytes / c->block;

    for (uint64_t i = 0; i < copies; i++)
        memcpy(c->limits->to + i * c->block % MIB, map + random_place(c->limits, c->limits->hot_bytes, c->block, 2),
               c->block);
    work->items = copies;
    work->bytes = copies * c->block;
    return true;
}

bool limits_cache(struct limits_group *g, struct limits *l)
{
    struct limits_case c = { .limits = l, .block = MIB };

    g->title = "page cache, 1 thread";
    g->key = "page_cache";
    limits_add(g, "pread 1 MiB, sequential", "read", c, run_cached_sequential);
    c.block = 4096;
    limits_add(g, "pread 4 KiB, random", "read", c, run_cached_random);
    c.block = 8192;
    limits_add(g, "pread 8 KiB, random", "read", c, run_cached_random);
    c.block = 32768;
    limits_add(g, "pread 32 KiB, random", "read", c, run_cached_random);
    c.block = 4096;
    g->cases[g->count].prepare = prepare_mapped;
    limits_add(g, "populated map, memcpy 4 KiB, random", "copy", c, run_mapped);
    limits_add(g, "map and MADV_POPULATE_READ", "MiB", c, run_populate);
    return true;
}

/* ---- Disk ------------------------------------------------------------------------------------------------------- */

static bool prepare_write(void *context, struct contest_work *work)
{
    struct limits_case *c = context;

    return ftruncate(c->limits->scratch, 0) == 0 || limits_refuse(work, "emptying the test file failed", errno);
}

static bool run_write(void *context, struct contest_work *work)
{
    struct limits_case *c = context;

    for (uint64_t at = 0; at + c->block <= c->limits->write_bytes; at += c->block) {
        const uint8_t *from = c->limits->from + at % c->limits->buffer_bytes;

        if (pwrite(c->limits->scratch, from, c->block, (off_t)at) != (ssize_t)c->block)
            return limits_refuse(work, "writing failed", errno);
        work->bytes += c->block;
    }
    return fsync(c->limits->scratch) == 0 || limits_refuse(work, "fsync failed", errno);
}

static bool has_direct(const struct limits *l, struct contest_work *work)
{
    return l->direct >= 0 || limits_refuse(work, "this file system refuses O_DIRECT", l->direct_errno);
}

static bool run_direct_sequential(void *context, struct contest_work *work)
{
    struct limits_case *c = context;
    double until = cli_now() + SEQUENTIAL_LIMIT;

    if (!has_direct(c->limits, work))
        return false;
    for (uint64_t at = 0; at + c->block <= c->limits->file_bytes && cli_now() < until; at += c->block) {
        ssize_t got = pread(c->limits->direct, c->limits->to, c->block, (off_t)at);

        if (got != (ssize_t)c->block)
            return read_error(work, got);
        work->bytes += c->block;
        work->items++;
    }
    return true;
}

static bool run_direct_random(void *context, struct contest_work *work)
{
    struct limits_case *c = context;
    double until = cli_now() + LIMITS_RUN_SECONDS;

    if (!has_direct(c->limits, work))
        return false;
    while (cli_now() < until && work->bytes < c->limits->file_bytes) {
        uint64_t at = random_place(c->limits, c->limits->file_bytes, c->block, LIMITS_ALIGN);
        ssize_t got = pread(c->limits->direct, c->limits->to, c->block, (off_t)at);

        if (got != (ssize_t)c->block)
            return read_error(work, got);
        work->bytes += c->block;
        work->items++;
    }
    return true;
}

static bool run_direct_deep(void *context, struct contest_work *work)
{
    struct limits_case *c = context;

    return has_direct(c->limits, work) && limits_uring_reads(c, work);
}

bool limits_disk(struct limits_group *g, struct limits *l)
{
    struct limits_case c = { .limits = l, .block = MIB, .depth = 1 };

    g->title = "disk";
    g->key = "disk";
    g->cases[0].prepare = prepare_write;
    limits_add(g, "write 1 MiB, sequential, with fsync", NULL, c, run_write);
    limits_add(g, "O_DIRECT 1 MiB, sequential", "read", c, run_direct_sequential);
    c.block = 4096;
    limits_add(g, "O_DIRECT 4 KiB, random, depth 1", "read", c, run_direct_random);
    c.block = 16384;
    limits_add(g, "O_DIRECT 16 KiB, random, depth 1", "read", c, run_direct_random);
    c.block = 65536;
    limits_add(g, "O_DIRECT 64 KiB, random, depth 1", "read", c, run_direct_random);
    c.depth = 64;
    c.block = 4096;
    limits_add(g, "io_uring 4 KiB, random, depth 64", "read", c, run_direct_deep);
    c.block = 16384;
    limits_add(g, "io_uring 16 KiB, random, depth 64", "read", c, run_direct_deep);
    c.block = 65536;
    limits_add(g, "io_uring 64 KiB, random, depth 64", "read", c, run_direct_deep);
    return true;
}
