/* cache_inside.h: what an open dataset of the cache consists of, for the files of src/cache/. */
#ifndef LEAT_CACHE_INSIDE_H
#define LEAT_CACHE_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "base/tiny.h"
#include "cache.h"
#include "format/format.h"
#include "remote/remote.h"

#define PAGE            ((uint64_t)FORMAT_PAGE_BYTES)

#define WINDOW_LANES    TINY_OR(4u, 64u) /* most transfers at once for pages that were asked for */
#define WINDOW_BYTES    TINY_OR((uint64_t)8192, (uint64_t)2 << 20)
#define WINDOWS_AT_ONCE (16 * WINDOW_BYTES) /* most bytes of such transfers at once */
#define FILL_LANES      TINY_OR(2u, 8u)     /* most transfers at once for the rest of the file */
#define FILL_BYTES      TINY_OR((uint64_t)16384, REMOTE_PART)
#define LANES           (WINDOW_LANES + FILL_LANES)

enum cache_path {
    PATH_INDEX,
    PATH_INDEX_PARTIAL,
    PATH_TOKENS,
    PATH_TOKENS_PARTIAL,
    PATH_MAP,
    PATH_IN_USE,
    PATH_FILLING,
    PATHS
};

/* Regions: ranges of pages that are held and evicted together. Each has `pages` pages, the last one perhaps fewer. A
 * dataset has at most MOST_REGIONS, so that looking at all of them stays cheap. */
#define LEAST_REGION TINY_OR((uint64_t)4, (uint64_t)16)
#define MOST_REGIONS ((uint64_t)1 << 16)
struct cache_regions {
    uint64_t pages, count;
    uint64_t at; /* offset of the regions' records in the map */
};

/* A record in the map, after the bytes for pages. */
struct region {
    uint32_t evictions; /* number that every eviction changes */
    uint32_t used;      /* cache_clock() of the last use; 0: none of its pages are here */
};

struct held {
    uint32_t count; /* holders in this process */
    uint32_t seen;  /* `evictions` when this process last looked; what it knows of the pages is as old */
};

/* Pages that were asked for and are not under way yet. */
struct queued {
    uint64_t page, count;
    bool early; /* nobody needs it yet */
    struct queued *next;
};

/* A range of the pages that nobody has asked for. */
struct fill_range {
    uint64_t page, count;
};

/* A thread that waits for pages [page, end). */
struct waiter {
    uint64_t page, end;
    enum leat_status status;
    struct leat_error error;
    struct waiter *next;
};

/* A place for a transfer; `count` 0: free. */
struct lane {
    struct transfer transfer;
    uint8_t *bytes; /* buffer for the transfer; NULL until it is used */
    uint64_t room;  /* bytes in the buffer, for a lane of queued pages */
    uint64_t page, count;
    unsigned tries; /* tries that brought wrong bytes */
};

struct cache {
    struct url index_url, tokens_url;
    char *name; /* for messages */
    struct remote_object index, tokens;
    uint8_t first_page[FORMAT_HEADER_BYTES]; /* first page of the index */
    struct format_header header;
    const struct checksum_kernels *kernels;
    char *root, *folder, *paths[PATHS];
    int index_fd, tokens_fd, map_fd, in_use_fd;
    bool whole, offline;
    uint64_t pages;
    pid_t owner;
    uint64_t limit; /* bytes that the whole cache may take; 0: no limit */

    struct remote *remote; /* client, which belongs to the thread once that runs */

    /* A bit per page. `known`: the page is here and right, as this process has seen itself. `asked`: it is queued or
     * under way. */
    atomic_uint_fast64_t *known, *asked;

    struct cache_regions regions;
    struct held *held; /* for each */
    pthread_mutex_t hold_mutex;
    int hold_fd; /* descriptor with a lock on all regions, while this process fills; -1: none */

    pthread_mutex_t mutex; /* protects the members up to fill_error, and changes of `asked` */
    pthread_cond_t work, arrived;
    pthread_t thread;
    bool has_thread;
    struct queued *queue, **queue_end;
    struct waiter *waiters;
    bool fill_wanted;
    struct leat_error fill_error; /* why the rest is not fetched; the message is "" while it is */

    /* The thread's: */
    struct lane lanes[LANES];
    unsigned under_way, filling_lanes;
    uint64_t window_pages;              /* that transfers for the queue bring */
    int fill_fd;                        /* lock of the process that fills; -1: not held */
    uint64_t fill_page;                 /* page up to which all was looked at, except `redo` */
    struct fill_range redo[FILL_LANES]; /* that failed */
    unsigned redo_count, fill_failures; /* ranges to try again; failures in a row */
    unsigned fill_passes;               /* passes that came to the end, and failed there */
    bool fill_anew;                     /* the next pass begins with the first range */
    uint64_t fill_not_before;           /* clock_ns() */
    struct hash128 fill_sum;
    uint64_t allowed; /* cache_may_write() */

    atomic_bool stop, filling, fill_failed; /* for good */
    atomic_uint_fast64_t requests, retries, bytes, wanted_pages, remote_pages, filled_bytes, evicted;
    atomic_uint_fast64_t in_use; /* bytes in use when the cache was beyond its limit and nothing more could be
                                    evicted; 0: never */
};

/* The beginning of an error about a file of the cache. */
#define CACHE_FULL "the cache of remote datasets cannot be filled; set LEAT_CACHE to a folder on another disk"

/* A process that others wait for counts as stopped or hung if it makes no progress for this long. */
#define STUCK_NS ((uint64_t)TINY_OR(2, 120) * 1000000000)

/* ---- cache_folder.c ---- */

/* Sets *root to the cache's folder, by the environment; the caller frees it. */
enum leat_status cache_root(char **root, const char *folder, struct leat_error *err);

/* Sets *limit to `given`, or if that is 0 to LEAT_CACHE_SIZE; 0: no limit. An index that is needed is fetched
 * whatever the limit is. */
enum leat_status cache_limit(uint64_t *limit, uint64_t given, struct leat_error *err);

/* Sets *online if only a dataset that the server still has may be opened: `given`, or what LEAT_ONLINE says. */
enum leat_status cache_online(bool *online, bool given, struct leat_error *err);

/* The names of the files in a dataset's folder. */
extern const char *const cache_file_names[PATHS];

/* Returns true if a name in the cache is that of a dataset's folder: IDENTITY-HASH. */
bool cache_is_dataset(const char *name);

/* Sets c->folder and c->paths, and makes the folders, unless they are there. */
enum leat_status cache_make_folder(struct cache *c, struct leat_error *err);

/* Opens a file of the folder for reading and writing; makes it where it is missing. */
enum leat_status cache_open_file(int *fd, const char *path, struct leat_error *err);

/* Locks a file of the folder (flock), until own_file_unlock(). Returns LEAT_E_BUSY instead of waiting. */
enum leat_status cache_lock(int *fd, const char *path, bool shared, struct leat_error *err);

/* Notes that the dataset of this URL has this folder. */
void cache_remember(const struct cache *c);

/* cache_recall() sets *folder to the folder that this URL had, which the caller frees; cache_recall_complete()
 * returns true if the copy in it is complete. */
bool cache_recall(const struct cache *c, char **folder);
bool cache_recall_complete(const char *folder);

/* Parses c->first_page, of which `count` bytes were read, as the header of c->index and of tokens of this size. */
enum leat_status cache_parse_header(struct cache *c, uint64_t count, uint64_t token_bytes, struct leat_error *err);

/* Takes the header of a complete copy, after the server has failed, as `err` says. If the copy is not complete, says
 * what is missing; if there is none, leaves `err` as it is. */
enum leat_status cache_take_offline(struct cache *c, const char *folder, struct leat_error *err);

/* ---- cache_pages.c: regions ---- */

struct cache_regions cache_regions(uint64_t pages);

/* Returns a time for `used` of a region; only differences of such times mean something. */
uint32_t cache_clock(void);

/* Locks bytes of an open file (count 0: to its end and beyond) by F_RDLCK or F_WRLCK, without waiting (LEAT_E_BUSY), or
 * unlocks them by F_UNLCK. The lock belongs to the descriptor, and to its copies. */
enum leat_status cache_lock_bytes(int fd, short type, uint64_t first, uint64_t count, const char *path,
                                  struct leat_error *err);

/* Keeps all processes from evicting anything of this dataset, if it does not do so already. Returns LEAT_E_BUSY if
 * another process is evicting now. */
enum leat_status cache_hold_all(struct cache *c, struct leat_error *err);
void cache_release_all(struct cache *c);

/* ---- cache_pages.c ---- */

enum leat_status cache_pages_open(struct cache *c, struct leat_error *err);
void cache_pages_close(struct cache *c);

static inline bool cache_bit(atomic_uint_fast64_t *bits, uint64_t page)
{
    return atomic_load_explicit(&bits[page / 64], memory_order_acquire) >> page % 64 & 1;
}
static inline void cache_set(atomic_uint_fast64_t *bits, uint64_t page)
{
    atomic_fetch_or_explicit(&bits[page / 64], (uint64_t)1 << page % 64, memory_order_release);
}
static inline void cache_clear(atomic_uint_fast64_t *bits, uint64_t page)
{
    atomic_fetch_and_explicit(&bits[page / 64], ~((uint64_t)1 << page % 64), memory_order_release);
}

/* Returns true if this process knows all of pages [page, end) to be right. */
bool cache_all_known(const struct cache *c, uint64_t page, uint64_t end);

/* Returns how many bytes pages [page, page + count) have. */
uint64_t cache_page_bytes(const struct cache *c, uint64_t page, uint64_t count);

/* Looks in the local file for the held pages [page, end), and makes those known that are right. */
enum leat_status cache_find(struct cache *c, uint64_t page, uint64_t end, struct leat_error *err);

/* Compares pages with their hashes. *wrong is the first that is not right, or page + count. Adds the sum of the
 * pages before it to *sum (may be NULL). */
enum leat_status cache_check(struct cache *c, const uint8_t *bytes, uint64_t page, uint64_t count, uint64_t *wrong,
                             struct hash128 *sum, struct leat_error *err);

/* ---- cache_room.c ---- */

/* Returns true if somebody holds all of a file (cache_hold_all()), through another descriptor. That lock has no end,
 * unlike those of regions. */
bool cache_is_held(int fd);

/* Frees at least `wanted` bytes of the cache, those that were not used for longest, unless they are held. *freed may
 * be less. */
enum leat_status cache_evict(struct cache *c, uint64_t wanted, uint64_t *freed, struct leat_error *err);

/* Makes every process fetch all of this dataset again. The dataset is held. */
void cache_forget_all(struct cache *c);

/* Removes datasets that no process has open, until all of this one fits. Returns LEAT_E_NO_SPACE if it cannot fit,
 * and none is removed. */
enum leat_status cache_make_room(const struct cache *c, struct leat_error *err);

/* Makes room for `bytes` bytes if possible. The thread calls it before it writes them. */
enum leat_status cache_may_write(struct cache *c, uint64_t bytes, struct leat_error *err);

/* ---- cache_thread.c ---- */

/* Starts the thread, unless it runs. The caller has the mutex. */
enum leat_status cache_start(struct cache *c, struct leat_error *err);
void cache_stop(struct cache *c);

#endif
