/*
 * file_map.h: the bytes of one open file, in one of three ways (leat.h, enum leat_access): mapped under a read lease,
 * mapped on trust, or read.
 *
 * A leased map may only be touched between file_map_enter() and file_map_leave(). While a thread is inside, the kernel
 * holds back a process that wants to truncate the file; the first enter after that finds the lease called back, the
 * last leave unmaps the file and gives the lease up, and from then on enter returns NULL and the file is read.
 */
#ifndef LEAT_FILE_MAP_H
#define LEAT_FILE_MAP_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include "base/file.h"
#include "leat.h"

/* Above this size page tables alone would cost half a GiB per process: read instead. */
#define FILE_MAP_LARGEST ((uint64_t)256 << 30)

#define FILE_MAP_RETIRED (1u << 31)

struct cache;  /* cache/cache.h */
struct mounts; /* base/mounts.h */

struct file_map {
    char *path;
    uint64_t size;
    int fd;                        /* descriptor; keeps its number when the file is opened again */
    struct file_identity identity; /* identity and time of change of the file when it was opened by its name: */
    struct timespec changed;
    unsigned system;              /* enum file_system */
    struct mounts *mounts;        /* how a read that fails is tried again; NULL: once */
    const uint8_t *bytes;         /* start of the map; NULL: never mapped. Stays set after unmapping */
    bool leased;                  /* true: the map is leased; false: it is trusted */
    pid_t owner;                  /* the lease belongs to this process, not to its children */
    atomic_uint state;            /* number of threads inside a leased map, and FILE_MAP_RETIRED */
    atomic_bool unmapped;         /* retired and unmapped */
    struct cache *cache;          /* fetches the missing bytes of the file; NULL: none are missing */
    atomic_uint_fast64_t *filled; /* one bit for each stretch of the map whose page tables were filled; NULL: the
                                     bytes are in memory */
};

/* Gives LEAT_ACCESS_READ instead of _LEASED if leases are useless here, because the kernel breaks them too soon. Called
 * once for all files of a list. */
enum leat_access file_map_access(enum leat_access wanted);

/* Opens a file, and maps it if `access` says so and that is possible. Copies `path`; keeps `mounts` (or NULL). On
 * failure the struct is as after file_map_close(). */
enum leat_status file_map_open(struct file_map *f, struct mounts *mounts, const char *path, enum leat_access access,
                               struct leat_error *err);

/* Takes over a file that is open as `fd`, even on failure. */
enum leat_status file_map_take(struct file_map *f, int fd, uint64_t size, const char *path, enum leat_access access,
                               struct leat_error *err);

/* Uses bytes in memory like a file, for tests; `bytes` must stay valid. */
enum leat_status file_map_memory(struct file_map *f, const char *path, const void *bytes, uint64_t size,
                                 struct leat_error *err);

/* Closes the file. A zeroed struct with fd -1, or a closed one, is fine. */
void file_map_close(struct file_map *f);

/*
 * A file that comes from a server, and has not arrived completely (`cache`), is never mapped: bytes must be held and be
 * here before they are read by its descriptor, and held until that is done. file_map_hold() keeps them from being
 * evicted until file_map_release() (`waited` as for cache_hold()); file_map_need() waits for what is held, `max_ns` at
 * most (0: as long as it takes; else LEAT_E_AGAIN); file_map_announce() only says that it will be needed, and returns
 * whether it is here; `soon` as for cache_announce(). file_map_read() does all that itself. For any other file these
 * return at once.
 */
enum leat_status file_map_need(struct file_map *f, uint64_t offset, uint64_t count, uint64_t max_ns,
                               struct leat_error *err);
bool file_map_announce(struct file_map *f, uint64_t offset, uint64_t count, bool soon);
enum leat_status file_map_hold(struct file_map *f, uint64_t offset, uint64_t count, uint64_t max_ns, uint64_t *waited,
                               struct leat_error *err);
void file_map_release(struct file_map *f, uint64_t offset, uint64_t count);

/* Returns LEAT_E_FORKED in a child of the process that opened the file, where holds keep nothing. */
enum leat_status file_map_check_process(const struct file_map *f, struct leat_error *err);

/* file_map_bring() lets the rest of the file be fetched in the background; file_map_count() adds what was done to
 * *counts (cache/cache.h). */
void file_map_bring(struct file_map *f);
struct cache_counts;
void file_map_count(const struct file_map *f, struct cache_counts *counts);

/* Returns the bytes of the whole file; call file_map_leave() afterwards. Returns NULL if the file must be read by
 * file_map_read(); then do not leave. */
const uint8_t *file_map_enter(struct file_map *f);
void file_map_leave(struct file_map *f);

/*
 * Makes these bytes of the map safe to touch, once; the caller is inside. Returns false if the disk fails to deliver
 * some of them, and touching them could end the process by SIGBUS; file_map_read() then says why. (Before Linux 5.14
 * this cannot be known, and it returns true.)
 */
bool file_map_fill(struct file_map *f, uint64_t offset, uint64_t count);

/* Copies bytes from the file, mapped or not. The range is checked against the size at opening. A file on a remote
 * file system is never copied from a map, where a page may be gone when it is touched. */
enum leat_status file_map_read(struct file_map *f, uint64_t offset, void *out, uint64_t count, struct leat_error *err);

/* Reads by read calls. The bytes must be here, and the range in the file. Failures that may pass are tried again
 * (base/mounts.h). */
enum leat_status file_map_read_calls(struct file_map *f, uint64_t offset, void *out, uint64_t count,
                                     struct leat_error *err);

/* Asks for the state of the open file, and tries again as file_map_read_calls() does. */
enum leat_status file_map_stat(struct file_map *f, struct stat *st, struct leat_error *err);

/*
 * A window on the file, for a pass over all of it. It has a map of its own, which is populated at once, so that such
 * a pass does not copy, fault page by page, or fill page tables for the whole file. Between open and close the
 * caller is inside, as after file_map_enter(). Returns LEAT_E_NOT_MAPPED if the file must be read with
 * file_map_read() instead.
 */
struct file_window {
    const uint8_t *bytes;
    void *map; /* map of the window; NULL: the file is in memory */
    size_t map_bytes;
};
enum leat_status file_window_open(struct file_window *w, struct file_map *f, uint64_t offset, uint64_t count);
void file_window_close(struct file_window *w, struct file_map *f);

#endif
