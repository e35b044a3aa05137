/*
 * file_map.c: see file_map.h.
 *
 * Which thread may unmap? One word, `state`, holds how many threads are inside and whether the map is retired. So no
 * thread enters after it was retired, and the thread that makes or finds it both retired and empty is alone. Why one
 * word? With two, a thread that has just left could find the map retired after others have entered, and unmap it while
 * they read.
 *
 * Why leases at all? Without one, a process that shrinks the file ends every reader by SIGBUS. With a lease, the kernel
 * makes that process wait until the map is gone, and readers continue with read calls, which can fail with a reason.
 */
#include "file_map.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"

/* The kernel must wait at least so long before it breaks a lease: a process may sleep that long inside a call. */
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

/*
 * Asks for a read lease. The kernel announces a call-back by a signal: this uses SIGURG, which programs ignore by
 * default, and looks at the lease instead.
 */
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

enum leat_status file_map_open(struct file_map *f, const char *path, enum leat_access access, struct leat_error *err)
{
    enum leat_status s = copy_path(f, path, err);
    void *map;

    if (s == LEAT_OK)
        s = file_open_read(&f->fd, &f->size, path, err);
    if (s != LEAT_OK) {
        file_map_close(f);
        return s;
    }
    /* a lease holds back only processes of this machine */
    f->leased = access == LEAT_ACCESS_LEASED && !file_is_remote(f->fd) && take_lease(f->fd);
    /* the size may have changed before the lease */
    if (f->leased) {
        s = file_size(f->fd, &f->size, path, err);
        if (s != LEAT_OK) {
            file_map_close(f);
            return s;
        }
    }
    f->owner = getpid();
    if ((f->leased || access == LEAT_ACCESS_TRUSTED) && f->size > 0 && f->size <= FILE_MAP_LARGEST &&
        f->size <= SIZE_MAX) {
        map = mmap(NULL, (size_t)f->size, PROT_READ, MAP_SHARED, f->fd, 0);
        if (map != MAP_FAILED) { /* else read calls: safe, only slower */
            f->bytes = map;
        }
    }
    if (f->leased && !f->bytes) { /* without a map, the lease would only make others wait */
        give_lease_back(f);
        f->leased = false;
    }
    return LEAT_OK;
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

/* Unmaps once, when retired and empty: a thread that comes late and turns back finds it so again. */
static void unmap(struct file_map *f)
{
    if (f->fd >= 0 && !atomic_exchange(&f->unmapped, true)) {
        munmap((void *)(uintptr_t)f->bytes, (size_t)f->size);
        give_lease_back(f);
    }
}

/* From now on no thread may enter. The caller is inside and leaves, or knows that no thread is inside. */
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
    free(f->path);
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
    return status_set_at(err, LEAT_E_RANGE, offset, "bytes %llu to %llu are outside %s, which has %llu",
                         (unsigned long long)offset, (unsigned long long)(offset + count), f->path,
                         (unsigned long long)f->size);
}

enum leat_status file_map_read(struct file_map *f, uint64_t offset, void *out, uint64_t count, struct leat_error *err)
{
    enum leat_status s = check_range(f, offset, count, err);
    const uint8_t *bytes;

    if (s != LEAT_OK || count == 0)
        return s;
    bytes = file_map_enter(f);
    if (!bytes)
        return file_read_at(f->fd, offset, out, count, f->path, err);
    memcpy(out, bytes + offset, count);
    file_map_leave(f);
    return LEAT_OK;
}

/* Populates the pages of a window; false if that fails or cannot be known: reading them will say why. */
static bool populate(void *map, size_t bytes)
{
#if defined(MADV_POPULATE_READ)
    unsigned char resident = 0;

    /* if the first page shows that the file is not in memory, read ahead in large reads at once */
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
    const uint8_t *bytes = bytes_inside(offset, count, f->size) ? file_map_enter(f) : NULL;
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
