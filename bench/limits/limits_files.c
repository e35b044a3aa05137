/*
 * limits_files.c: measures the ceilings of the page cache and of the disk, with one test file.
 *
 * Cases of the page cache read the file's beginning, which is in memory: by pread, and from a map, as windows at
 * random places and in one go. Cases of the disk read the file with O_DIRECT, or write a second file, for a fixed
 * time, because a slow disk would take too long for all of it. Many reads are in flight at once by io_uring, with
 * registered buffers; without liburing, or if the kernel refuses a ring (as in most containers), these cases say so.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#if defined(LEAT_HAVE_URING) && LEAT_HAVE_URING
#include <liburing.h>
#endif

#include "cli/cli.h"
#include "limits.h"

#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

#define MIB              ((uint64_t)1 << 20)
#define ALIGN            4096u
#define SEQUENTIAL_LIMIT 2.0 /* seconds, after which reading a slow disk ends */
#define RANDOM_LIMIT                                                                                                   \
    0.5 /* seconds of random reads of the disk, which end earlier once they have read as much as
                                the file has */

/* Returns a random place for `bytes` within [0, all), which is a multiple of `align`. */
static uint64_t random_place(struct limits *l, uint64_t all, uint64_t bytes, uint64_t align)
{
    return contest_random(&l->seed) % ((all - bytes) / align + 1) * align;
}

/* Reads a block of the case, and counts it. */
static bool read_block(const struct limits_case *c, int fd, uint8_t *to, uint64_t at, struct contest_work *work)
{
    ssize_t got = pread(fd, to, c->block, (off_t)at);

    if (got != (ssize_t)c->block)
        return limits_refuse(work, got < 0 ? "reading the test file failed" : "the test file ended early",
                             got < 0 ? errno : 0);
    work->bytes += c->block;
    work->items++;
    return true;
}

/* ---- Page cache ---- */

static bool run_cached_sequential(void *context, struct contest_work *work)
{
    const struct limits_case *c = context;
    bool ok = true;

    for (uint64_t at = 0; ok && at + c->block <= c->limits->hot_bytes; at += c->block)
        ok = read_block(c, c->limits->file, c->limits->to, at, work);
    return ok;
}

/* Reads windows of tokens, which begin at any even byte, one after the other into a buffer of the size of a batch. */
static bool run_cached_random(void *context, struct contest_work *work)
{
    const struct limits_case *c = context;
    struct limits *l = c->limits;
    bool ok = true;

    for (uint64_t i = 0; ok && i < l->buffer_bytes / c->block; i++)
        ok = read_block(c, l->file, l->to + i * c->block % MIB, random_place(l, l->hot_bytes, c->block, 2), work);
    return ok;
}

/* Maps the part that is in memory, with its page table filled. Returns MAP_FAILED and sets errno if that fails. */
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

/* Makes the map before the clock runs, and keeps it from run to run. */
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

/* ---- Disk ---- */

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
    const struct limits_case *c = context;
    double until = cli_now() + SEQUENTIAL_LIMIT;
    bool ok = has_direct(c->limits, work);

    for (uint64_t at = 0; ok && at + c->block <= c->limits->file_bytes && cli_now() < until; at += c->block)
        ok = read_block(c, c->limits->direct, c->limits->to, at, work);
    return ok;
}

static bool run_direct_random(void *context, struct contest_work *work)
{
    const struct limits_case *c = context;
    struct limits *l = c->limits;
    double until = cli_now() + RANDOM_LIMIT;
    bool ok = has_direct(l, work);

    while (ok && cli_now() < until && work->bytes < l->file_bytes)
        ok = read_block(c, l->direct, l->to, random_place(l, l->file_bytes, c->block, ALIGN), work);
    return ok;
}

#if defined(LEAT_HAVE_URING) && LEAT_HAVE_URING

/* A ring of io_uring with its buffers, one for each read in flight. */
struct deep {
    const struct limits_case *c;
    struct contest_work *work;
    struct io_uring ring;
    uint8_t *buffers;
    bool registered;
    unsigned in_flight;
};

static void put_read(struct deep *d, unsigned slot)
{
    struct limits *l = d->c->limits;
    uint64_t at = random_place(l, l->file_bytes, d->c->block, ALIGN);
    struct io_uring_sqe *sqe = io_uring_get_sqe(&d->ring);
    uint8_t *buffer = d->buffers + (size_t)slot * d->c->block;

    if (!sqe)
        return; /* This cannot happen, since the ring has a place for each slot. */
    if (d->registered)
        io_uring_prep_read_fixed(sqe, l->direct, buffer, (unsigned)d->c->block, at, 0);
    else
        io_uring_prep_read(sqe, l->direct, buffer, (unsigned)d->c->block, at);
    io_uring_sqe_set_data(sqe, (void *)(uintptr_t)slot);
    d->in_flight++;
}

/* Takes the reads that have finished. With `again`, a new read follows each of them. */
static bool reap(struct deep *d, bool again)
{
    struct io_uring_cqe *cqe;
    unsigned head, taken = 0;
    int failed = 0;

    io_uring_for_each_cqe(&d->ring, head, cqe)
    {
        taken++;
        d->in_flight--;
        if (cqe->res != (int)d->c->block) {
            failed = cqe->res < 0 ? -cqe->res : EIO;
            continue;
        }
        d->work->items++;
        d->work->bytes += d->c->block;
        if (again)
            put_read(d, (unsigned)(uintptr_t)io_uring_cqe_get_data(cqe));
    }
    io_uring_cq_advance(&d->ring, taken);
    return failed == 0 || limits_refuse(d->work, "a read of the ring failed", failed);
}

static bool read_all(struct deep *d)
{
    double began = cli_now(), until = began + RANDOM_LIMIT;
    bool ok = true;

    for (unsigned slot = 0; slot < d->c->depth; slot++)
        put_read(d, slot);
    while (d->in_flight > 0) {
        int r = io_uring_submit_and_wait(&d->ring, 1);

        if (r < 0 && r != -EINTR)
            return limits_refuse(d->work, "io_uring_enter", -r);
        ok = reap(d, ok && cli_now() < until && d->work->bytes < d->c->limits->file_bytes) && ok;
    }
    d->work->seconds = cli_now() - began;
    return ok;
}

/* Reads random blocks of the O_DIRECT file, with as many reads in flight as the case says. */
static bool read_deep(const struct limits_case *c, struct contest_work *work)
{
    struct deep d = { .c = c, .work = work };
    struct iovec whole;
    int r = io_uring_queue_init(c->depth, &d.ring, 0);
    bool ok;

    if (r < 0)
        return limits_refuse(work, "this system refuses io_uring", -r);
    whole.iov_len = (size_t)c->depth * c->block;
    whole.iov_base = d.buffers = limits_map(whole.iov_len);
    if (!d.buffers) {
        io_uring_queue_exit(&d.ring);
        return limits_refuse(work, "no memory for the buffers", 0);
    }
    d.registered = io_uring_register_buffers(&d.ring, &whole, 1) == 0;
    if (!d.registered)
        snprintf(work->note, sizeof work->note, "buffers not registered: raise the limit of locked memory (ulimit -l)");
    ok = read_all(&d);
    io_uring_queue_exit(&d.ring);
    limits_unmap(d.buffers, whole.iov_len);
    return ok;
}

#else

static bool read_deep(const struct limits_case *c, struct contest_work *work)
{
    (void)c;
    return limits_refuse(work, "this leat-bench was not built with liburing", 0);
}

#endif

static bool run_direct_deep(void *context, struct contest_work *work)
{
    const struct limits_case *c = context;

    return has_direct(c->limits, work) && read_deep(c, work);
}

/* ---- The groups ---- */

struct row {
    const char *name, *item;
    uint64_t block;
    unsigned depth;
    bool (*run)(void *context, struct contest_work *work);
    bool (*prepare)(void *context, struct contest_work *work);
};

static bool add_rows(struct limits_group *g, struct limits *l, const struct row *rows, size_t count)
{
    for (const struct row *r = rows; r < rows + count; r++) {
        g->cases[g->count].prepare = r->prepare;
        limits_add(g, r->name, r->item, (struct limits_case) { .limits = l, .block = r->block, .depth = r->depth },
                   r->run);
    }
    return true;
}

bool limits_cache(struct limits_group *g, struct limits *l)
{
    static const struct row rows[] = {
        { "pread 1 MiB, sequential", "read", MIB, 1, run_cached_sequential, NULL },
        { "pread 4 KiB, random", "read", 4096, 1, run_cached_random, NULL },
        { "pread 8 KiB, random", "read", 8192, 1, run_cached_random, NULL },
        { "pread 32 KiB, random", "read", 32768, 1, run_cached_random, NULL },
        { "populated map, memcpy 4 KiB, random", "copy", 4096, 1, run_mapped, prepare_mapped },
        { "map and MADV_POPULATE_READ", "MiB", 0, 1, run_populate, NULL },
    };

    g->title = "page cache, 1 thread";
    g->key = "page_cache";
    return add_rows(g, l, rows, sizeof rows / sizeof *rows);
}

bool limits_disk(struct limits_group *g, struct limits *l)
{
    static const struct row rows[] = {
        { "write 1 MiB, sequential, with fsync", NULL, MIB, 1, run_write, prepare_write },
        { "O_DIRECT 1 MiB, sequential", "read", MIB, 1, run_direct_sequential, NULL },
        { "O_DIRECT 4 KiB, random, depth 1", "read", 4096, 1, run_direct_random, NULL },
        { "O_DIRECT 16 KiB, random, depth 1", "read", 16384, 1, run_direct_random, NULL },
        { "O_DIRECT 64 KiB, random, depth 1", "read", 65536, 1, run_direct_random, NULL },
        { "io_uring 4 KiB, random, depth 64", "read", 4096, 64, run_direct_deep, NULL },
        { "io_uring 16 KiB, random, depth 64", "read", 16384, 64, run_direct_deep, NULL },
        { "io_uring 64 KiB, random, depth 64", "read", 65536, 64, run_direct_deep, NULL },
    };

    g->title = "disk";
    g->key = "disk";
    return add_rows(g, l, rows, sizeof rows / sizeof *rows);
}
