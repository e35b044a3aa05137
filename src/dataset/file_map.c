/*
 * file_map.c: Which thread may unmap? One word, `state`, holds how many threads are inside and whether the map is
 * retired. So no thread enters after it was retired, and the thread that makes or finds it both retired and empty is
 * alone. Why one word? With two, a thread that has just left could find the map retired after others have entered, and
 * unmap it while they read.
 *
 * Why leases at all? Without one, a process that shrinks the file ends every reader by SIGBUS. With a lease, the kernel
 * makes that process wait until the map is gone, and readers continue with read calls, which can fail with a reason.
 *
 * Why fill page tables? A page that the disk cannot deliver ends a reader by SIGBUS too. Filling fails with an errno
 * instead; bytes that cannot be filled are read. Only once per stretch, since a system call costs more than most reads.
 */
#include "file_map.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/mounts.h"
#include "base/status.h"
#include "cache/cache.h"

/* How much is filled at once: as much as the kernel maps around a fault, and no more than it reads for a fault. */
#define STRETCH        ((uint64_t)64 << 10)

#define COPIED_AT_ONCE ((uint64_t)1 << 20) /* how much is copied while it is in the processor's cache */

/* A lease is useful only if the kernel waits at least this long before it breaks it: a process may sleep that long
 * inside a call. */
#define SHORTEST_BREAK_SECONDS 5

enum leat_access file_map_access(enum leat_access wanted)
{
    char text[16] = "";
    int fd;
    ssize_t got;

    if (wanted != LEAT_ACCESS_LEASED)
        return wanted;
    fd = open("/proc/sys/fs/lease-break-time", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return LEAT_ACCESS_READ;
    got = read(fd, text, sizeof text - 1);
    close(fd);
    return got > 0 && strtol(text, NULL, 10) >= SHORTEST_BREAK_SECONDS ? LEAT_ACCESS_LEASED : LEAT_ACCESS_READ;
}

/* Takes a read lease. The kernel announces a call-back by a signal; this selects SIGURG, which programs ignore by
 * default, and looks at the lease instead. */
static bool take_lease(int fd)
{
#if defined(F_SETSIG) && defined(F_SETLEASE)
    return fcntl(fd, F_SETSIG, SIGURG) == 0 && fcntl(fd, F_SETLEASE, F_RDLCK) == 0;
#else
    (void)fd;
    return false;
#endif
}

static bool lease_holds(int fd)
{
#if defined(F_GETLEASE)
    return fcntl(fd, F_GETLEASE) == F_RDLCK;
#else
    (void)fd;
    return false;
#endif
}

static void give_lease_back(const struct file_map *f)
{
#if defined(F_SETLEASE)
    if (f->leased && f->owner == getpid())
        fcntl(f->fd, F_SETLEASE, F_UNLCK);
#else
    (void)f;
#endif
}

static enum leat_status copy_path(struct file_map *f, const char *path, struct leat_error *err)
{
    memset(f, 0, sizeof *f);
    f->fd = -1;
    f->path = strdup(path);
    return f->path ? LEAT_OK : status_no_memory(err, strlen(path) + 1);
}

/* Maps the file if that is wanted and safe; otherwise it will be read. */
static enum leat_status map_bytes(struct file_map *f, enum leat_access access, struct leat_error *err)
{
    size_t words = (size_t)bytes_divide_up(bytes_divide_up(f->size, STRETCH), 64);
    void *map;

    if ((f->leased || access == LEAT_ACCESS_TRUSTED) && f->size > 0 && f->size <= FILE_MAP_LARGEST &&
        f->size <= SIZE_MAX) {
        f->filled = calloc(words, sizeof *f->filled);
        if (!f->filled) {
            file_map_close(f);
            return status_no_memory(err, words * sizeof *f->filled);
        }
        map = mmap(NULL, (size_t)f->size, PROT_READ, MAP_SHARED, f->fd, 0);
        if (map != MAP_FAILED) /* without a map, read calls are used, which are safe, only slower */
            f->bytes = map;
    }
    if (f->leased && !f->bytes) { /* without a map, the lease would only make others wait */
        give_lease_back(f);
        f->leased = false;
    }
    return LEAT_OK;
}

/* Maps the open file, under a lease if that is wanted. */
static enum leat_status take_file(struct file_map *f, enum leat_access access, struct leat_error *err)
{
    /* a lease holds back only processes of this machine, so a remote file gets none */
    f->leased = access == LEAT_ACCESS_LEASED && !(f->system & FILE_REMOTE) && take_lease(f->fd);
    /* the size may have changed before the lease */
    if (f->leased) {
        enum leat_status s = file_size(f->fd, &f->size, f->path, err);

        if (s != LEAT_OK) {
            file_map_close(f);
            return s;
        }
    }
    f->owner = getpid();
    return map_bytes(f, access, err);
}

enum leat_status file_map_open(struct file_map *f, struct mounts *mounts, const char *path, enum leat_access access,
                               struct leat_error *err)
{
    enum leat_status s = copy_path(f, path, err);
    struct stat st;

    if (s == LEAT_OK)
        s = file_open_stat(&f->fd, &st, path, err);
    if (s != LEAT_OK) {
        file_map_close(f);
        return s;
    }
    f->size = (uint64_t)st.st_size;
    f->identity = (struct file_identity) { true, st.st_dev, st.st_ino };
    f->changed = st.st_mtim;
    f->mounts = mounts;
    f->system = mounts_system(mounts, st.st_dev, f->fd);
    return take_file(f, access, err);
}

enum leat_status file_map_take(struct file_map *f, int fd, uint64_t size, const char *path, enum leat_access access,
                               struct leat_error *err)
{
    enum leat_status s = copy_path(f, path, err);

    f->fd = fd;
    f->size = size;
    f->system = file_system_of(fd);
    if (s == LEAT_OK)
        return take_file(f, access, err);
    file_map_close(f);
    return s;
}

enum leat_status file_map_memory(struct file_map *f, const char *path, const void *bytes, uint64_t size,
                                 struct leat_error *err)
{
    enum leat_status s = copy_path(f, path, err);

    if (s != LEAT_OK)
        return s;
    f->size = size;
    f->bytes = bytes;
    return LEAT_OK;
}

/* Unmaps the file once, when it is retired and empty. A thread that comes late and turns back finds it in that state
 * again. */
static void unmap(struct file_map *f)
{
    if (f->fd >= 0 && !atomic_exchange(&f->unmapped, true)) {
        munmap((void *)(uintptr_t)f->bytes, (size_t)f->size);
        give_lease_back(f);
    }
}

/* Keeps threads from entering any more. The caller is inside and will leave, or knows that no thread is inside. */
static void retire(struct file_map *f)
{
    if (atomic_fetch_or(&f->state, FILE_MAP_RETIRED) == 0)
        unmap(f);
}

void file_map_close(struct file_map *f)
{
    if (f->bytes)
        retire(f);
    file_close(&f->fd);
    free(f->filled);
    free(f->path);
    f->filled = NULL;
    f->path = NULL;
    f->bytes = NULL;
}

const uint8_t *file_map_enter(struct file_map *f)
{
    if (!f->bytes || !f->leased)
        return f->bytes;
    if (atomic_load_explicit(&f->state, memory_order_relaxed) & FILE_MAP_RETIRED)
        return NULL;
    if (!(atomic_fetch_add(&f->state, 1) & FILE_MAP_RETIRED) && f->owner == getpid()) {
        if (lease_holds(f->fd))
            return f->bytes;
        retire(f);
    }
    file_map_leave(f);
    return NULL;
}

void file_map_leave(struct file_map *f)
{
    if (f->leased && atomic_fetch_sub(&f->state, 1) == (FILE_MAP_RETIRED | 1))
        unmap(f);
}

static enum leat_status check_range(const struct file_map *f, uint64_t offset, uint64_t count, struct leat_error *err)
{
    if (bytes_inside(offset, count, f->size))
        return LEAT_OK;
    return status_set_at(err, LEAT_E_RANGE, f->path, offset,
                         "bytes %" PRIu64 " to %" PRIu64 " are outside %s, which has %" PRIu64, offset, offset + count,
                         f->path, f->size);
}

static bool is_filled(struct file_map *f, uint64_t stretch)
{
    return atomic_load_explicit(&f->filled[stretch / 64], memory_order_relaxed) >> stretch % 64 & 1;
}

/* Fills the page tables for bytes [begin, end), where the system can. */
static bool fill_tables(const struct file_map *f, uint64_t begin, uint64_t end)
{
#if defined(MADV_POPULATE_READ)
    begin -= begin % (uint64_t)sysconf(_SC_PAGESIZE);
    return madvise((void *)(uintptr_t)(f->bytes + begin), (size_t)(end - begin), MADV_POPULATE_READ) == 0 ||
           errno == EINVAL;
#else
    (void)f;
    (void)begin;
    (void)end;
    return true;
#endif
}

/* Fills the page tables for stretches [first, last), and notes that they are filled. */
static bool fill_pages(struct file_map *f, uint64_t first, uint64_t last)
{
    if (!fill_tables(f, first * STRETCH, last * STRETCH < f->size ? last * STRETCH : f->size))
        return false;
    for (uint64_t i = first; i < last; i++)
        atomic_fetch_or_explicit(&f->filled[i / 64], (uint64_t)1 << i % 64, memory_order_relaxed);
    return true;
}

enum leat_status file_map_need(struct file_map *f, uint64_t offset, uint64_t count, uint64_t max_ns,
                               struct leat_error *err)
{
    return f->cache ? cache_need(f->cache, offset, count, max_ns, err) : LEAT_OK;
}

enum leat_status file_map_hold(struct file_map *f, uint64_t offset, uint64_t count, uint64_t max_ns, uint64_t *waited,
                               struct leat_error *err)
{
    return f->cache ? cache_hold(f->cache, offset, count, max_ns, waited, err) : LEAT_OK;
}

void file_map_release(struct file_map *f, uint64_t offset, uint64_t count)
{
    if (f->cache)
        (void)cache_release(f->cache, offset, count, NULL);
}

bool file_map_announce(struct file_map *f, uint64_t offset, uint64_t count, bool soon)
{
    return !f->cache || cache_announce(f->cache, offset, count, soon);
}

enum leat_status file_map_check_process(const struct file_map *f, struct leat_error *err)
{
    return f->cache ? cache_check_process(f->cache, err) : LEAT_OK;
}

void file_map_bring(struct file_map *f)
{
    if (f->cache)
        cache_fill(f->cache);
}

void file_map_count(const struct file_map *f, struct cache_counts *counts)
{
    if (f->cache)
        cache_count(f->cache, counts);
}

bool file_map_fill(struct file_map *f, uint64_t offset, uint64_t count)
{
    uint64_t last = bytes_divide_up(offset + count, STRETCH);

    if (!f->filled)
        return true;
    for (uint64_t at = offset / STRETCH, next; at < last; at = next) {
        next = at + 1;
        if (is_filled(f, at))
            continue;
        while (next < last && !is_filled(f, next))
            next++;
        if (!fill_pages(f, at, next)) /* the disk does not deliver something around the bytes */
            return fill_tables(f, offset, offset + count);
    }
    return true;
}

/* Copies bytes from the map as far as they can be filled. Returns how many. */
static uint64_t copy_mapped(struct file_map *f, uint64_t offset, uint8_t *to, uint64_t count)
{
    const uint8_t *bytes = f->system & FILE_REMOTE ? NULL : file_map_enter(f);
    uint64_t done = 0;

    if (!bytes)
        return 0;
    while (done < count) {
        uint64_t here = count - done < COPIED_AT_ONCE ? count - done : COPIED_AT_ONCE;

        if (!file_map_fill(f, offset + done, here))
            break;
        memcpy(to + done, bytes + offset + done, (size_t)here);
        done += here;
    }
    file_map_leave(f);
    return done;
}

/* Opens the file again by its name, for a server that no longer knows the open file. The new file takes the
 * descriptor's place, so that all who have the number go on with it. It must be the file that was opened before. */
static enum leat_status open_again(struct file_map *f, struct leat_error *err)
{
    char *path = f->mounts ? folder_name(&f->mounts->home, f->path) : strdup(f->path);
    enum leat_status s = path ? LEAT_OK : status_no_memory(err, strlen(f->path));
    struct stat st;
    int fd = -1;

    if (s == LEAT_OK)
        s = file_open_stat(&fd, &st, path, err);
    if (s == LEAT_OK && ((uint64_t)st.st_size != f->size || st.st_mtim.tv_sec != f->changed.tv_sec ||
                         st.st_mtim.tv_nsec != f->changed.tv_nsec))
        s = status_set_in(err, LEAT_E_MISMATCH, f->path,
                          "%s was replaced or changed while it was open, and its server no longer has what was opened: "
                          "open it again, or restore it from its source",
                          f->path);
    if (s == LEAT_OK && dup3(fd, f->fd, O_CLOEXEC) < 0)
        s = status_set_os(err, errno, f->path, "cannot open %s again", f->path);
    file_close(&fd);
    free(path);
    return s;
}

/* Returns true if what was opened is lost for good. A leased file is on this machine, and the lease would be lost. */
static bool is_lost(const struct file_map *f, int error)
{
    return mounts_lost(error) && f->identity.exists && !f->leased;
}

/* A call on the open file: reads bytes, or asks for its state. */
struct call {
    uint64_t offset, count;
    void *out;       /* where bytes are read to; NULL: the file's state is asked for */
    struct stat *st; /* the file's state */
};

static enum leat_status call(const struct file_map *f, const struct call *c, struct leat_error *err)
{
    if (c->out)
        return file_read_at(f->fd, c->offset, c->out, c->count, f->path, err);
    return fstat(f->fd, c->st) == 0 ? LEAT_OK : status_set_os(err, errno, f->path, "cannot look at %s", f->path);
}

/* Makes the call until it works, or its time is over. */
static enum leat_status call_again(struct file_map *f, const struct call *c, struct leat_error *err)
{
    struct mounts_tries tries = { 0 };
    struct leat_error why;
    enum leat_status s;
    bool lost = false;

    do {
        s = lost ? open_again(f, &why) : LEAT_OK;
        if (s == LEAT_OK)
            s = call(f, c, &why);
        lost = s != LEAT_OK && (lost || is_lost(f, why.os_error));
    } while (s != LEAT_OK && !(f->mounts && f->mounts->opening) &&
             mounts_again(f->mounts, &tries, f->system & FILE_REMOTE, &s, &why));
    if (s == LEAT_OK)
        mounts_worked(f->mounts, &tries);
    if (s != LEAT_OK && err)
        *err = why;
    return s;
}

enum leat_status file_map_read_calls(struct file_map *f, uint64_t offset, void *out, uint64_t count,
                                     struct leat_error *err)
{
    return call_again(f, &(struct call) { .offset = offset, .count = count, .out = out }, err);
}

enum leat_status file_map_stat(struct file_map *f, struct stat *st, struct leat_error *err)
{
    return call_again(f, &(struct call) { .st = st }, err);
}

static enum leat_status read_remote(struct file_map *f, uint64_t offset, void *out, uint64_t count,
                                    struct leat_error *err)
{
    enum leat_status s = cache_hold(f->cache, offset, count, 0, NULL, err), released;

    if (s != LEAT_OK)
        return s;
    s = cache_need(f->cache, offset, count, 0, err);
    if (s == LEAT_OK)
        s = file_read_at(f->fd, offset, out, count, f->path, err);
    released = cache_release(f->cache, offset, count, s == LEAT_OK ? err : NULL);
    return s == LEAT_OK ? released : s;
}

enum leat_status file_map_read(struct file_map *f, uint64_t offset, void *out, uint64_t count, struct leat_error *err)
{
    enum leat_status s = check_range(f, offset, count, err);
    uint64_t done;

    if (s != LEAT_OK || count == 0)
        return s;
    if (f->cache)
        return read_remote(f, offset, out, count, err);
    done = copy_mapped(f, offset, out, count);
    if (done == count)
        return LEAT_OK;
    return file_map_read_calls(f, offset + done, (uint8_t *)out + done, count - done, err);
}

/* Populates the pages of a window; false if that fails or cannot be known: reading them will say why. */
static bool populate(void *map, size_t bytes)
{
#if defined(MADV_POPULATE_READ)
    unsigned char resident = 0;

    /* if the first page shows that the file is not in memory, large reads ahead start at once */
    if (mincore(map, 1, &resident) == 0 && !(resident & 1))
        madvise(map, bytes, MADV_WILLNEED);
    return madvise(map, bytes, MADV_POPULATE_READ) == 0;
#else
    (void)map;
    (void)bytes;
    return false;
#endif
}

enum leat_status file_window_open(struct file_window *w, struct file_map *f, uint64_t offset, uint64_t count)
{
    bool here = bytes_inside(offset, count, f->size) && f->bytes && !(f->system & FILE_REMOTE);
    const uint8_t *bytes = here ? file_map_enter(f) : NULL;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), skip = offset % page;

    if (!bytes)
        return LEAT_E_NOT_MAPPED;
    *w = (struct file_window) { .bytes = bytes + offset };
    if (f->fd < 0)
        return LEAT_OK;
    w->map_bytes = (size_t)(skip + count);
    w->map = mmap(NULL, w->map_bytes, PROT_READ, MAP_SHARED, f->fd, (off_t)(offset - skip));
    if (w->map != MAP_FAILED && populate(w->map, w->map_bytes)) {
        w->bytes = (const uint8_t *)w->map + skip;
        return LEAT_OK;
    }
    if (w->map == MAP_FAILED)
        w->map = NULL;
    file_window_close(w, f);
    return LEAT_E_NOT_MAPPED;
}

void file_window_close(struct file_window *w, struct file_map *f)
{
    if (w->map)
        munmap(w->map, w->map_bytes);
    file_map_leave(f);
}
