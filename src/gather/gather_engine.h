/*
 * gather_engine.h: the table of an engine, and what engines share. An engine is a struct gather_engine in a file
 * engine_NAME.c and a row in the two tables of gather.c.
 *
 * Its number is one of enum leat_engine, and its name stands twice in Python's options.py, which `make lint`
 * compares. choose_engine() decides when it is used without being named. The loader's tests go through the rows.
 */
#ifndef LEAT_GATHER_ENGINE_H
#define LEAT_GATHER_ENGINE_H

#include "gather.h"

/* Return where the pages that a piece touches begin and end, in bytes from the first token. */
static inline uint64_t gather_span_begin(const struct gather_piece *p)
{
    return p->offset / GATHER_PAGE * GATHER_PAGE;
}

static inline uint64_t gather_span_end(const struct gather_file *f, const struct gather_piece *p)
{
    uint64_t end = (p->offset + p->bytes + GATHER_PAGE - 1) / GATHER_PAGE * GATHER_PAGE;

    return end < f->bytes ? end : f->bytes;
}

/* ---- gather_worker.c ---- */

/* Allocates the memory of a worker that is all zero. Call gather_worker_close() after a failure, too. */
enum leat_status gather_worker_open(struct gather_worker *w, struct gather *g, struct leat_error *err);
void gather_worker_close(struct gather_worker *w);

/* Makes waits of the calling thread, whose worker this is, for a file system that fails end once `stop` is set; until
 * gather_worker_stop(). */
void gather_worker_start(struct gather_worker *w, const atomic_bool *stop);
void gather_worker_stop(struct gather_worker *w);

/* Lets an engine copy a piece, and prefetches the pieces after it, up to number `end` of the job. */
enum leat_status gather_copy_piece(struct gather_worker *w, const struct gather_engine *engine, struct gather_job *job,
                                   uint32_t piece, uint32_t end, struct leat_error *err);

/* Returns true if a page of [begin, end) must be verified. */
bool gather_must_verify(const struct gather_file *f, uint64_t begin, uint64_t end);

/* Verifies the pages of [begin, end) that were not verified yet; `bytes` are the tokens from `begin` on. */
enum leat_status gather_verify(struct gather_worker *h, struct gather_file *f, uint64_t begin, uint64_t end,
                               const uint8_t *bytes, struct leat_error *err);

/* Returns the map of the whole file, which stays entered until gather_leave(); NULL: not mapped, or lost. */
const uint8_t *gather_inside(struct gather_worker *h, struct gather_file *f);

/* Leaves all entered maps. */
void gather_leave(struct gather_worker *h);

/* Copies the bytes that a stretch [begin, end) of the tokens shares with a piece. Only counts them if the stretch lies
 * in the piece's span, where the kernel has put it. */
void gather_copy_out(struct gather_worker *h, const struct gather_piece *p, uint64_t begin, uint64_t end,
                     const uint8_t *bytes);

/* Returns true if the file has become shorter; false, without asking, for files whose pages are all hashed whenever
 * they are read. A read during a truncation may get zeros for the end of the last page, without an error; but the size
 * has changed before that. */
bool gather_shrank(const struct gather_file *f);

/* The calls of an engine for the pieces of its files; NULL: it has nothing to do there. The last resort does what an
 * engine leaves undone. */
struct gather_engine {
    /* Called when a job is begun, for each piece that is not in the page cache: advises the kernel, or prepares reads
     * (GATHER_WAITING), which begin_job sends, once for all pieces. Returns false if the engine no longer works; then
     * its files get another one. An engine that has this works ahead. */
    bool (*begin)(struct gather *g, struct gather_job *job, struct gather_piece *p);
    void (*begin_job)(struct gather *g, struct gather_job *job);

    /* Waits until `piece` no longer waits for reads, and nothing is written to its span. Returns LEAT_E_AGAIN if that
     * takes more than some milliseconds, and another error if waiting is impossible. */
    enum leat_status (*wait)(struct gather *g, struct gather_job *job, uint32_t piece, struct leat_error *err);

    /* Copies a piece to its place, or returns LEAT_E_NOT_MAPPED if it must be read instead. */
    enum leat_status (*copy)(struct gather_worker *h, struct gather_file *f, struct gather_piece *p,
                             struct leat_error *err);

    /* Prefetches the start of the next piece (`soon`), or some pages of a later one, if that cannot do harm. */
    void (*fetch)(const struct gather_worker *h, const struct gather_piece *p, bool soon);

    void (*end_job)(struct gather *g, struct gather_job *job); /* called for jobs without a piece of the engine, too */
    void (*close)(struct gather *g); /* called in the thread that gathers, even without a job */

    /* Returns true if its reads of this file bypass the page cache. */
    bool (*is_direct)(struct gather *g, struct gather_file *f);
};

/* ---- gather_choose.c ---- */

/* Drops the page tables that were filled for a file, which is no longer used. */
void gather_release(struct gather *g, struct gather_file *f);

/* Lets files for which io_uring was chosen, which is not available, be read with advice. */
void gather_without_uring(struct gather *g);

/* Chooses the engine of each file. */
void gather_choose(struct gather *g);

extern const struct gather_engine engine_map, engine_pread, engine_advise, engine_uring;

#endif
