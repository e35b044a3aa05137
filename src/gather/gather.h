/*
 * gather.h: the room that brings tokens from files into memory: the engines that read them, the choice among these, the
 * page cache. Other ways to read a file's bytes belong here; the choice of tokens, and what is made of them, do not.
 * This header is for users of the room; gather_engine.h is for the engines.
 *
 * A *job* is the rows of one batch; a *piece* is a stretch of consecutive tokens of one part, and its place in a row. A
 * job is begun, so that engines can work ahead, and finished piece by piece. Several jobs may be begun; they are
 * finished in that order, all by one thread. The threads of a *pool* may copy pieces before they are finished. A
 * *worker* is what one thread that copies pieces has for itself. While a piece is slow, gather_finish() returns, so
 * that the caller can begin further jobs and come back: nothing here calls its user.
 *
 * Tokens may begin anywhere in their file. Offsets of pieces, and the pages that are verified, count from the first
 * token; only code that touches the file adds its offset.
 *
 * A column is gathered as tokens are: its values are the bytes of a part, whose tokens are the column's entries.
 *
 * Each piece is read by the engine of its file. What an engine cannot do (a map was lost, a read came back short) is
 * done again by the last resort, plain reads, which find the reason: so errors come from one place.
 *
 * A file may be a cached copy of a remote one, with holes. Beginning a job announces its pages, which are then fetched
 * in the background; finishing a piece waits for those that are still missing, and only then an engine reads them.
 *
 * An *engine* is one way to read pieces. (sentencepiece's pieces are tokens here.)
 */
#ifndef LEAT_GATHER_H
#define LEAT_GATHER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "column/column.h"
#include "dataset/dataset.h"
#include "leat.h"

#define GATHER_PAGE         ((uint64_t)FORMAT_PAGE_BYTES)
#define GATHER_SCRATCH      ((uint64_t)1 << 20)   /* largest stretch that is read around a piece at once */
#define GATHER_REGION       ((uint64_t)512 << 10) /* bytes of a map whose page tables are filled at once */
#define GATHER_BITMAPS      ((uint64_t)16 << 20)  /* limit for bitmaps of verified pages: 512 GiB of tokens */
#define GATHER_PATIENCE_NS  5000000u              /* longest wait for pages of a server in one call */
#define GATHER_MAX          64u                   /* stretches of memory that spans lie in */
#define GATHER_ANNOUNCED    512u                  /* blocks of hashes that are remembered: for 32 GiB of tokens */

#define GATHER_ENGINE_COUNT (LEAT_ENGINE_URING + 1) /* includes AUTO; the tables of gather.c have a row each */

/* The engine that reads what another could not, or says why that fails. */
#define GATHER_LAST_RESORT LEAT_ENGINE_PREAD

struct gather_file {
    struct part *part;
    struct leat_column *column; /* the file's values are those of a column; NULL: they are tokens */
    struct file_map *map;       /* the part's token file; never one in memory */
    uint64_t offset, bytes;     /* place of its tokens in the file */
    bool verify;                /* its pages have hashes to verify */
    /* Bits that several threads set: */
    atomic_uint_fast64_t *verified;  /* one per page; NULL: pages are checked whenever they are read */
    atomic_uint_fast64_t *populated; /* one per region of the map; NULL: none is populated */
    enum leat_engine engine;         /* in use; never AUTO */
    bool network;                    /* its file system is on a server */
    bool may_be_fuse;                /* on FUSE, or on overlayfs, which may hide FUSE: io_uring may bring wrong bytes */
    bool hot;                        /* all of it is in memory, as far as known */
    bool warm_wanted; /* cold, but fits: a background thread reads all of it, so read through the page cache */
    double resident;  /* share in memory at the last look */
    int direct;       /* descriptor of this file with O_DIRECT; -1: none */
    bool direct_tried;
    bool expects_random; /* the kernel was advised not to read ahead */
    bool lost_map;       /* it was mapped, but no longer is */
    bool has_holes;      /* it is a cached copy that has not arrived completely: pages are waited for */
};

enum gather_state { GATHER_TO_DO, GATHER_WAITING, GATHER_DONE };

struct gather_engine; /* gather_engine.h */

struct gather_piece {
    uint32_t file; /* number */
    uint32_t state;
    uint64_t offset, bytes; /* place among the file's tokens */
    uint8_t *to;
    uint8_t *span; /* page-aligned memory for the whole pages around it, which contains `to`; NULL: none. Set to NULL if
                    * the file's tokens do not begin at a page. */
    const struct gather_engine *engine; /* the file's engine when the job was begun */
    uint64_t unread;                    /* bytes of a waiting piece whose read has not come back */
    uint32_t in_flight;                 /* reads of the piece that have not come back, needed or not */
    bool held;                          /* the cache keeps its pages until the job ends */
    uint64_t unheld_ns;                 /* time waited so far for the cache to keep them */
    bool cached;                        /* it was read from memory when the job was begun */
    bool shared;                        /* the pool copies it, if its job is offered */
    bool announced;                     /* the reader (engine_advise.c) reads it, and looks at no other piece */
    bool left;                          /* the pool, or the reader, could not copy it: gather_finish() does */
};

struct gather_job {
    struct gather_piece *pieces;
    uint32_t count;
    /* For the engines: */
    uint32_t waiting;   /* pieces that wait */
    uint32_t next;      /* the first piece whose reads were not all sent */
    uint64_t next_at;   /* bytes of that piece whose reads were sent */
    uint32_t in_flight; /* reads */
    struct gather_job *later;
    uint32_t announced;   /* pieces that the reader reads (engine_advise.c) */
    uint64_t number_read; /* number of the job among those given to the reader */
    /* For the pool: */
    bool offered, awaited;
    bool cold;       /* the file of some shared piece is not in memory */
    uint64_t number; /* number of the job among those offered */
};

struct gather_uring;
struct gather_reader;
struct gate;
struct warm;
struct gather_pool;
struct mounts_thread;

struct gather_counters {
    atomic_uint_fast64_t bytes, reads, hits, storage_ns;
    atomic_uint max_in_flight;
};

/* The maps of a file's tokens and of its index that a worker has entered; NULL: not mapped, or lost. */
struct gather_entered {
    const uint8_t *inside, *index_inside;
    bool asked, asked_index;
};

/* A stretch of a file's tokens. */
struct gather_stretch {
    uint32_t file;
    uint64_t begin, end;
};

/* Memory, maps and counters of one thread that reads pieces. */
struct gather_worker {
    struct gather *gather;
    uint8_t *scratch;               /* GATHER_SCRATCH + 2 pages, page-aligned */
    struct gather_entered *entered; /* one for each file */
    uint32_t *inside_of;            /* numbers of the files whose maps it has entered */
    uint32_t inside_count;
    struct mounts_thread *threads; /* one for each source, between gather_worker_start() and gather_worker_stop() */
    /* Counters; only its thread writes them. */
    atomic_uint_fast64_t read_bytes, pages_verified;
    atomic_uint_fast64_t copied;  /* bytes of pieces that the CPU copied, in this library or in the kernel */
    atomic_uint_fast64_t busy_ns; /* time that a thread of the pool worked on pieces */
};

/* Sums over all workers. */
struct gather_done {
    uint64_t read_bytes, pages_verified, copied, pool_ns;
};

/* The memory for spans: `count` stretches one after another, page-aligned. */
struct gather_memory {
    uint8_t *base; /* NULL: no piece has a span */
    size_t stride;
    unsigned count;
};

struct gather {
    struct gather_stretch advice; /* the stretch to advise the kernel of next; pieces that follow each other are one */
    uint64_t announced[GATHER_ANNOUNCED]; /* blocks of hashes announced lately, by a hash of their numbers */
    struct gather_file *files;
    uint32_t file_count, source_count;
    uint32_t token_files; /* the first files */
    uint32_t unhashed;    /* files whose pages have no hashes */
    uint32_t *first_file; /* number of each source's first file */
    enum leat_engine wanted;
    bool verify, threaded;
    bool in_stretches;            /* the plan is, and its reader announces them */
    bool unaligned;               /* some file's tokens do not begin at a page */
    bool has_holes;               /* some file has holes */
    bool started;                 /* gather_start() was called */
    bool server_failed;           /* a server or a mount did not answer: that is no damage */
    struct gather_worker worker;  /* that of the thread that begins and finishes jobs */
    uint64_t max_bytes;           /* largest piece */
    struct gather_pool *pool;     /* NULL: one thread does all */
    struct gather_reader *reader; /* NULL: not started */
    struct gather_worker reader_worker;
    struct gate *gate; /* wakes the thread that gathers; NULL: gather_start() was not called */
    bool reader_refused;
    struct gather_uring *uring; /* NULL: not opened */
    bool uring_refused;
    int uring_error;
    struct warm *warm;           /* NULL: nothing to warm */
    uint64_t mapped_bytes;       /* size of all files that are copied from maps */
    uint64_t looked_ns, looks;   /* time of the last look at files, number of looks */
    struct gather_memory memory; /* set by the user, before the first job */
    bool memory_is_written;      /* gather_close() could not wait for all reads into it: never free it */
    struct gather_counters counters;
    atomic_uint in_use[GATHER_ENGINE_COUNT]; /* files of each engine */
    atomic_uint lost_maps; /* maps whose lease was called back; a lease of this process's parent is not counted */
    atomic_bool uring_is_refused;
    atomic_bool uring_unregistered; /* io_uring could not register memory */
};

/* Columns of tokens with these names, types and widths. */
struct gather_columns {
    const struct leat_column_info *columns;
    uint32_t count;
};

/* Opens all parts of all sources of a plan, and their columns; the files of the first column follow those of the
 * tokens, in their order, and so on. With `in_stretches`, the caller announces what is warmed, by
 * gather_announce_far(). No piece is larger than `max_bytes`. Call gather_close() after a failure, too. */
enum leat_status gather_open(struct gather *g, const struct leat_plan *plan, const struct gather_columns *columns,
                             bool in_stretches, enum leat_engine wanted, bool verify, bool threaded, uint64_t max_bytes,
                             struct leat_error *err);
void gather_close(struct gather *g);

/* Takes over the counters of `from`, which is about to be closed, and its notes on verified pages of files that both
 * have. */
void gather_follow(struct gather *g, struct gather *from);

/* Starts a pool of further threads that copy pieces of the jobs begun, on the CPUs of a NUMA node (-1: on any). Returns
 * 0, or an errno. */
int gather_share(struct gather *g, unsigned threads, int node);

/* The first call of the thread that gathers, if it has one of its own. Its waits for file systems that fail end when
 * `stop` is set and gather_wake() called; and gather_finish() returns sooner when somebody opens the gate. */
void gather_start(struct gather *g, const atomic_bool *stop, struct gate *gate);
void gather_wake(const struct gather *g);

/* Returns the mounts of a file (base/mounts.h), or NULL if it has none, or has those of the file before it. */
struct mounts *gather_mounts(const struct gather *g, uint32_t file);

/* Sets whether sleeping threads of the pool are woken, because few batches are finished. */
void gather_set_urgent(struct gather *g, bool urgent);

/* The last call of the thread that gathers: waits for all reads in flight, and ends the threads of the pool. */
void gather_stop(struct gather *g);

/* Forgets threads and reads, in a child after fork(), whose parent has them; before gather_close(). */
void gather_forget(struct gather *g);

struct gather_done gather_done(const struct gather *g);

/* Adds what the caches of files on servers have done; nothing if there are none. */
void gather_count_caches(const struct gather *g, struct cache_counts *counts);

/* Returns true if gather_is_direct() can be true for a file of a loader with this engine. */
bool gather_may_be_direct(enum leat_engine engine);

/* Returns true if it helps to begin jobs early. */
bool gather_works_ahead(const struct gather *g);

/* Returns true if the disk itself would write a piece of this file to its span, past the page cache. */
bool gather_is_direct(struct gather *g, uint32_t file);

/* Says that a piece will be needed in a later job, so that the cache fetches its pages ahead. Only its file, offset and
 * bytes count. */
void gather_announce(struct gather *g, const struct gather_piece *p);

/* Announces a stretch of tokens that will be needed later, also of a local file, if it is cold. Returns false if that
 * is too much at once: it is to be announced again. */
bool gather_announce_far(struct gather *g, const struct gather_piece *p);

void gather_begin(struct gather *g, struct gather_job *job);

/* Finishes one piece of the oldest job begun; pieces in any order. Returns LEAT_E_AGAIN if it takes long: begin further
 * jobs, if any, and call again. Another error does not touch the other pieces. Call gather_end() after the last one,
 * and before gather_close() for each job that was begun. */
enum leat_status gather_finish(struct gather *g, struct gather_job *job, uint32_t piece, struct leat_error *err);
void gather_end(struct gather *g, struct gather_job *job);

/* Looks at the files again from time to time, and chooses their engines. */
void gather_look(struct gather *g, uint64_t now_ns);

#endif
