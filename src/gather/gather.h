/*
 * gather.h: brings rows of tokens from files into memory. A *job* is the rows of one batch, each a *piece*; it is
 * begun, so that engines which work ahead can, and finished, after which its rows are there. Several jobs may be begun;
 * they are finished in that order. All by one thread.
 *
 * The pieces are done by the engine of their file. What an engine cannot do (a map that went away, a read of the ring
 * that came back short) is done over again by plain reads, which know the reason: so errors come from one place.
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

#define GATHER_ONE_MORE(number, name) +1
#define GATHER_ENGINE_COUNT           (1 GATHER_ENGINES(GATHER_ONE_MORE)) /* with AUTO */

struct gather_file {
    struct part *part;
    struct file_map *map;    /* the part's token file; never one in memory */
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

struct gather_engine;

struct gather_piece {
    uint32_t file; /* number */
    uint32_t state;
    uint64_t offset, bytes; /* of the token file */
    uint8_t *to;
    uint8_t *span; /* page-aligned memory for the whole pages around it, of which `to` is a part; NULL: none */
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
    uint32_t *first_file; /* of each source */
    enum leat_engine wanted;
    bool verify, threaded;
    uint8_t *scratch;   /* GATHER_SCRATCH + 2 pages, page-aligned */
    uint64_t max_bytes; /* of a piece */
    uint32_t *entered;  /* files whose maps were entered by the job that is being finished */
    uint32_t entered_count;
    struct gather_uring *uring; /* NULL: not opened */
    bool uring_refused;
    int uring_error;
    struct warm *warm;         /* NULL: nothing was to be warmed */
    uint64_t mapped_bytes;     /* of the files that are copied from maps */
    uint64_t looked_ns, looks; /* when files were last looked at, and how often */
    /* Called now and then while a read is waited for: may begin further jobs. NULL: nobody wants that. */
    void (*meanwhile)(void *context);
    void *meanwhile_context;
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

/* Brings one piece of the oldest job that was begun to its end; pieces in any order. On an error the others are not
 * touched. gather_end() follows after the last one. */
enum leat_status gather_finish(struct gather *g, struct gather_job *job, uint32_t piece, struct leat_error *err);
void gather_end(struct gather *g, struct gather_job *job);

/* A file is not used any more: page tables that were filled for it go. */
void gather_let_go(struct gather *g, struct gather_file *f);

/* No ring can be had: files that it was chosen for are read with advice. */
void gather_without_uring(struct gather *g);

/* Chooses the engine of each file (gather_choose.c); and looks at them again now and then. Not inside of a piece. */
void gather_choose(struct gather *g);
void gather_look(struct gather *g, uint64_t now_ns);

/* ---- For engines ------------------------------------------------------------------------------------------------ */

/* The pages that a piece touches, as bytes of the file. */
static inline uint64_t gather_span_begin(const struct gather_piece *p)
{
    return p->offset / GATHER_PAGE * GATHER_PAGE;
}

static inline uint64_t gather_span_end(const struct gather_file *f, const struct gather_piece *p)
{
    uint64_t end = (p->offset + p->bytes + GATHER_PAGE - 1) / GATHER_PAGE * GATHER_PAGE;

    return end < f->map->size ? end : f->map->size;
}

/* Whether a page of [begin, end) must be verified. */
bool gather_must_verify(const struct gather *g, const struct gather_file *f, uint64_t begin, uint64_t end);

/* Verifies those of [begin, end) that were not yet; `bytes` are the file's from `begin` on. LEAT_E_CHECKSUM. */
enum leat_status gather_verify(struct gather *g, struct gather_file *f, uint64_t begin, uint64_t end,
                               const uint8_t *bytes, struct leat_error *err);

/* The file's map, entered until the job ends; NULL: there is none, or none any more. */
const uint8_t *gather_inside(struct gather *g, struct gather_file *f);

/* Leaves what was entered. */
void gather_leave(struct gather *g);

/* Copies what a stretch of the file has of a piece: the stretch begins at `begin`. Not where the stretch lies in the
 * piece's span: then the kernel has copied it, and it is only counted. */
void gather_copy_out(struct gather *g, const struct gather_piece *p, uint64_t begin, uint64_t end,
                     const uint8_t *bytes);

/* Whether the file has become shorter: asked after a read whose bytes are not hashed. One that goes on while the file
 * is cut may get zeros for the last page's end, and no error; but then the size has changed before. */
bool gather_shrank(const struct gather_file *f);

/*
 * An engine: what it does for the pieces of its files; NULL: nothing. A piece that it leaves undone, or cannot do, is
 * done by engine_pread.
 */
struct gather_engine {
    /* When a job is begun, of each piece that is not in the page cache: the kernel is told, or a read is on its way
     * (GATHER_WAITING) after begin_job, which is called once for all of them. An engine that has this works ahead. */
    void (*begin)(struct gather *g, struct gather_job *job, struct gather_piece *p);
    void (*begin_job)(struct gather *g, struct gather_job *job);

    /* Until `piece` is not waiting any more, and nothing is written to its span any more. An error if that cannot be
     * waited for. */
    enum leat_status (*wait)(struct gather *g, struct gather_job *job, uint32_t piece, struct leat_error *err);

    /* Brings a piece. LEAT_E_NOT_MAPPED: read it instead. */
    enum leat_status (*copy)(struct gather *g, struct gather_file *f, struct gather_piece *p, struct leat_error *err);

    void (*end_job)(struct gather *g, struct gather_job *job); /* also of jobs without a piece of it */
    void (*close)(struct gather *g);                           /* by the thread that gathers, also if it never began */

    /* Whether its reads of this file go past the page cache. */
    bool (*is_direct)(struct gather *g, struct gather_file *f);
};

#define GATHER_DECLARE_ENGINE(number, name) extern const struct gather_engine engine_##name;
GATHER_ENGINES(GATHER_DECLARE_ENGINE)

/* Fetches the begin of a piece that comes soon, if that is sure to be harmless: it is mapped, with its page tables. */
void engine_map_fetch(const struct gather_file *f, const struct gather_piece *p);

#endif
