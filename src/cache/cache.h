/*
 * cache.h: the room of a node's cache: datasets of servers as local files that have not arrived completely yet. What
 * decides where such a file lies, what of it is there, and what is fetched next belongs here; requests belong to
 * remote/, and what the bytes mean to the rooms above.
 *
 * A dataset has a folder of its own, named after its identity and the hash of its header, in the cache's folder:
 *
 *   index.leat      the index, complete: every section was compared with its sum before it got this name
 *   tokens.partial  the token file with holes; when all of it is here, right and durable, it becomes `tokens`
 *   map             a byte per page of tokens.partial: 1 if it was written; and a record per region (cache_pages.c)
 *   in-use          locked (shared) by each process that has the dataset open
 *   filling         locked by the process that brings the index or the rest of the tokens
 *
 * Ranks and jobs share it. A lock is flock's, so that it ends with its holder. The map is only a hint: a process
 * compares each page with its hash before it uses it for the first time, whether it came over the network or was found
 * (from another process, from before a crash, or changed by hand). What is wrong is fetched again.
 *
 * A thread of its own fetches pages, started when the first one is missing.
 *
 * A copy of a dataset has *holes* until it is *complete*.
 */
#ifndef LEAT_CACHE_H
#define LEAT_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

struct cache;

struct cache_files {
    int index_fd, tokens_fd;              /* the caller closes them */
    const char *index_path, *tokens_path; /* paths for messages, without secrets; valid until the dataset is closed */
    uint64_t index_bytes, token_bytes;
    bool whole;   /* true if nothing is missing: tokens_fd is a file like any other, and nobody writes to it */
    bool offline; /* true if the server could not be asked whether it still has this */
};

/* Returns true if a name is one for cache_open(): a URL. */
bool cache_takes(const char *name);

/*
 * Calls `take` for each finished dataset directly below a URL that ends in /, with its URL, in any order. A failure
 * of `take` ends the list. `run` gets the start of the plan of a run that the datasets are parts of, as text, or "".
 * *file gets the object named `name` in the folder, of *size bytes and room for a NUL, which the caller frees; NULL
 * if there is none.
 */
typedef enum leat_status cache_list_take(void *context, const char *url, struct leat_error *err);
enum leat_status cache_list(const char *folder, cache_list_take *take, void *context, char *run, size_t room,
                            const char *name, char **file, size_t *size, struct leat_error *err);

/* Reads one small object of such a folder, *size bytes and room for a NUL, which the caller frees. */
enum leat_status cache_read(const char *folder, const char *name, char **file, size_t *size, struct leat_error *err);

/*
 * The options of cache_open(), which opens the dataset of a URL, with or without .leat or .tokens. `folder` is the
 * cache's folder (NULL: the variable LEAT_CACHE, else XDG_CACHE_HOME/leat, else ~/.cache/leat), which is made if it
 * is missing. `limit` is how many bytes the whole cache may take (0: the variable LEAT_CACHE_SIZE, else no limit).
 * Opening asks the server what the dataset is, and fetches its index if it is not here. If the server cannot be
 * reached, a complete copy is opened, unless `online` or the variable LEAT_ONLINE (1) forbids that.
 */
struct cache_options {
    const char *folder;
    uint64_t limit;
    bool online;
};
enum leat_status cache_open(struct cache **out, const char *url, const struct cache_options *options,
                            struct cache_files *files, struct leat_error *err);

/* Returns LEAT_E_FORKED in a child of the process that opened the dataset, if not all of it is here. */
enum leat_status cache_check_process(const struct cache *c, struct leat_error *err);

/* Ends all transfers under way, and frees the cache. NULL is fine. No other thread may be inside a call. */
void cache_close(struct cache *c);

/* Returns the dataset's name for messages, without secrets. Valid until it is closed. */
const char *cache_name(const struct cache *c);

/*
 * cache_hold() keeps the pages around bytes [first, first + count) of the token file from being evicted, by any
 * process, until cache_release(). It waits for a process that evicts them, `max_ns` nanoseconds at most (then
 * LEAT_E_AGAIN; 0: as long as that may take). *waited, from 0 on, sums up these waits, so that even many calls do
 * not wait forever; NULL: each call is the first. Each hold needs its own release; ranges may overlap. In a child of
 * fork(), LEAT_E_FORKED from either call means that what was read in between may be wrong.
 */
enum leat_status cache_hold(struct cache *c, uint64_t first, uint64_t count, uint64_t max_ns, uint64_t *waited,
                            struct leat_error *err);
enum leat_status cache_release(struct cache *c, uint64_t first, uint64_t count, struct leat_error *err);

/*
 * Makes sure that the held pages around bytes [first, first + count) of the token file are here and right. Until
 * they are released any reader of the file finds them. Waits for `max_ns` nanoseconds at most (0: as long as it
 * takes), then returns LEAT_E_AGAIN. Any thread may call it. Returns LEAT_E_FORKED if pages are missing, and another
 * process opened the dataset.
 */
enum leat_status cache_need(struct cache *c, uint64_t first, uint64_t count, uint64_t max_ns, struct leat_error *err);

/*
 * Announces that these held bytes will be needed. They are fetched soon, in the order of these calls, but after
 * bytes that somebody waits for. Returns true if they are here; cache_need() reports failures. `soon`: they are
 * needed next, and count for the share of pages that were not here; otherwise this is only an early announcement.
 */
bool cache_announce(struct cache *c, uint64_t first, uint64_t count, bool soon);

/* Lets this process fetch all the rest in the background, if no other one of this node does, and if the disk has room
 * for it. */
void cache_fill(struct cache *c);

/* A number of bytes as text for people. */
struct cache_size {
    char text[32];
};
struct cache_size cache_size(uint64_t bytes);

#define CACHE_REASON 400u

struct cache_counts {
    uint64_t requests, retries, bytes; /* figures of transfers */
    uint64_t pages;                    /* that were announced */
    uint64_t remote_pages;             /* pages that were asked for and were not here */
    uint64_t evicted_bytes;            /* bytes that this process removed */
    uint64_t here_bytes, all_bytes;    /* bytes of the tokens that are here, known only while this process fills the
                                          rest; bytes of all tokens */
    uint64_t limit, in_use;            /* limit and use of a cache that, when last seen, used more than its limit; 0:
                                          no such cache */
    bool filling;                      /* a process of this node fills the cache now */
    bool failed;                       /* no process will fill the cache, as far as this process knows */
    char why_not[CACHE_REASON];        /* why this process cannot fill the cache now, for the first such dataset; "":
                                          no reason */
};

/* Adds this dataset's figures to *counts. Any thread may call it. */
void cache_count(struct cache *c, struct cache_counts *counts);

#endif
