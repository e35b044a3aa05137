/*
 * gather.h: the room that brings tokens from files into memory: the engines that read them, the choice between these,
 * the page cache. What enters: another way to read bytes of a file. What does not: which tokens are wanted, and what is
 * made of them. This is what its users see; gather_engine.h is for the engines.
 *
 * A *job* is the rows of one batch; a *piece* is a stretch of consecutive tokens of one part, and its place. A job is
 * begun, so that engines which work ahead can, and finished piece by piece. Several jobs may be begun; they are
 * finished in that order. All by one thread. While a piece is slow, gather_finish() returns, so that the caller can
 * begin further jobs and come back: nothing here calls its user.
 *
 * A file is bytes of tokens that may begin anywhere in it. Offsets of pieces, and the pages that are verified, count
 * from the first token; only what touches the file adds where that lies.
 *
 * Each piece is read by the engine of its file. What an engine cannot do (a map that went away, a read of the ring that
 * came back short) is done again by the last resort, plain reads, which know the reason: so errors come from one place.
 */
#ifndef LEAT_GATHER_H
#define LEAT_GATHER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "dataset/dataset.h"
#include "leat.h"

#define GATHER_PAGE    ((uint64_t)FORMAT_PAGE_BYTES)
#define GATHER_SCRATCH ((uint64_t)1 << 20)   /* largest stretch that is read around a piece at once */
#define GATHER_REGION  ((uint64_t)512 << 10) /* of a map whose page tables are filled at once */
#define GATHER_BITMAPS ((uint64_t)16 << 20)  /* most bytes of bitmaps of verified pages: 512 GiB of tokens */
#define GATHER_MAX     64u                   /* stretches of memory that spans lie in */

/* The engines: the name that users know, which is its number's in enum leat_engine; the row is engine_name. */
#define GATHER_ENGINES(each)                                                                                           \
    each(LEAT_ENGINE_MAP, map) each(LEAT_ENGINE_PREAD, pread) each(LEAT_ENGINE_ADVISE, advise)                         \
        each(LEAT_ENGINE_URING, uring)

/* The one that brings what another could not, or says why it cannot be had. */
#define GATHER_LAST_RESORT            LEAT_ENGINE_PREAD

#define GATHER_ONE_MORE(number, name) +1
#define GATHER_ENGINE_COUNT           (1 GATHER_ENGINES(GATHER_ONE_MORE)) /* with AUTO */

struct gather_file {
    struct part *part;
    struct file_map *map;    /* the part's token file; never one in memory */
    uint64_t offset, bytes;  /* of its tokens */
    bool verify;             /* its pages have hashes, and are to be verified */
    uint64_t *verified;      /* a bit a page; NULL: each page is checked each time it is read */
    uint64_t *populated;     /* a bit a region of the map; NULL: none is */
    enum leat_engine engine; /* in use; never AUTO */
    bool network;
    bool hot;         /* in memory as a whole, as far as is known */
    bool warm_wanted; /* cold and fits: is read in sequence in the background, and through the page cache here */
    double resident;  /* share of it that was in memory when last looked at */
    int direct;       /* the same file with O_DIRECT; -1: none */
    bool direct_tried;
    bool expects_random; /* the kernel was told to read nothing ahead */
    bool lost_map;       /* it was mapped, and is not any more */
    /* While a job is being finished: */
    const uint8_t *inside;       /* of the map; NULL: not entered */
    const uint8_t *index_inside; /* of the index's map */
    bool asked_inside, asked_index;
};

enum gather_state { GATHER_TO_DO, GATHER_WAITING, GATHER_DONE };

struct gather_engine; /* gather_engine.h */

struct gather_piece {
    uint32_t file; /* number */
    uint32_t state;
    uint64_t offset, bytes; /* of the file's tokens */
    uint8_t *to;
    uint8_t *span; /* page-aligned memory for the whole pages around it, of which `to` is a part; NULL: none. Not used,
                    * and set to NULL, where the file's tokens do not begin at a page. */
    const struct gather_engine *engine; /* of its file when the job was begun */
    uint64_t unread;                    /* of a waiting piece: bytes whose read has not come back */
    uint32_t in_flight;                 /* reads of it, also when it does not wait for them any more */
    bool cached;                        /* it was read when the job was begun, from memory */
};

struct gather_job {
    struct gather_piece *pieces;
    uint32_t count;
    /* The engines': */
    uint32_t waiting;   /* pieces in that state */
    uint32_t next;      /* the first piece whose reads were not all sent */
    uint64_t next_at;   /* and how many bytes of it were */
    uint32_t in_flight; /* reads */
    struct gather_job *behind;
};

struct gather_uring;
struct warm;

struct gather_counters {
    atomic_uint_fast64_t bytes, read_bytes, reads, hits, pages_verified, storage_ns;
    atomic_uint_fast64_t copied; /* bytes of pieces that the CPU has copied, this library's or the kernel's */
    atomic_uint max_in_flight;
};

/* Memory that spans of pieces lie in: `count` stretches one after another, page-aligned. */
struct gather_memory {
    uint8_t *base; /* NULL: no piece has a span */
    size_t stride;
    unsigned count;
};

struct gather {
    struct gather_file *files;
    uint32_t file_count;
    uint32_t unhashed;    /* of the files: their pages have no hashes */
    uint32_t *first_file; /* of each source */
    enum leat_engine wanted;
    bool verify, threaded;
    bool unaligned;     /* the tokens of a file do not begin at a page of it */
    uint8_t *scratch;   /* GATHER_SCRATCH + 2 pages, page-aligned */
    uint64_t max_bytes; /* of a piece */
    uint32_t *entered;  /* files whose maps were entered by the job that is being finished */
    uint32_t entered_count;
    struct gather_uring *uring; /* NULL: not opened */
    bool uring_refused;
    int uring_error;
    struct warm *warm;           /* NULL: nothing was to be warmed */
    uint64_t mapped_bytes;       /* of the files that are copied from maps */
    uint64_t looked_ns, looks;   /* when files were last looked at, and how often */
    struct gather_memory memory; /* set by the user, before the first job */
    bool memory_is_written;      /* gather_close() could not wait for all reads into it: it must stay */
    struct gather_counters counters;
    atomic_uint in_use[GATHER_ENGINE_COUNT]; /* files of each engine */
    atomic_uint lost_maps;
    atomic_bool uring_is_refused;
    atomic_bool uring_unregistered; /* it had to do without registered memory */
};

/* Over all parts of all sources of a plan. `max_bytes`: of a piece. gather_close() is fine after a failure. */
enum leat_status gather_open(struct gather *g, const struct leat_plan *plan, enum leat_engine wanted, bool verify,
                             bool threaded, uint64_t max_bytes, struct leat_error *err);
void gather_close(struct gather *g);

/* What the thread that gathers does last: waits for what is on its way. */
void gather_stop(struct gather *g);

/* By number, from "auto" on; the last is NULL. */
extern const char *const gather_engine_names[GATHER_ENGINE_COUNT + 1];

/* Whether a loader with this engine may have files that gather_is_direct() is true of. */
bool gather_may_be_direct(enum leat_engine engine);

/* Whether beginning jobs early is of use. */
bool gather_works_ahead(const struct gather *g);

/* Whether a piece of this file that has a span would be written there by the disk itself, past the page cache. */
bool gather_is_direct(struct gather *g, uint32_t file);

void gather_begin(struct gather *g, struct gather_job *job);

/* Brings one piece of the oldest job that was begun to its end; pieces in any order. LEAT_E_AGAIN: it takes long; begin
 * further jobs, if there are any, and call again. On another error the other pieces are not touched. gather_end()
 * follows after the last one. */
enum leat_status gather_finish(struct gather *g, struct gather_job *job, uint32_t piece, struct leat_error *err);
void gather_end(struct gather *g, struct gather_job *job);

/* Looks at the files again now and then, and chooses their engines. */
void gather_look(struct gather *g, uint64_t now_ns);

#endif
