/*
 * gather_engine.h: the table of an engine, and what engines share. An engine is a struct gather_engine in a file
 * engine_NAME.c and a row in the two tables of gather.c.
 *
 * Its number is one of enum leat_engine, and its name stands twice in Python's options.py, which `make lint`
 * compares. choose() decides when it is used without being named. The loader's tests go through the rows.
 */
#ifndef LEAT_GATHER_ENGINE_H
#define LEAT_GATHER_ENGINE_H

#include "gather.h"

/* Drops the page tables that were filled for a file, which is no longer used. */
void gather_release(struct gather *g, struct gather_file *f);

/* io_uring is not available: files that it was chosen for are read with advice. */
void gather_without_uring(struct gather *g);

/* Chooses the engine of each file (gather_choose.c). */
void gather_choose(struct gather *g);

/* The pages that a piece touches, in bytes from the first token. */
static inline uint64_t gather_span_begin(const struct gather_piece *p)
{
    return p->offset / GATHER_PAGE * GATHER_PAGE;
}

static inline uint64_t gather_span_end(const struct gather_file *f, const struct gather_piece *p)
{
    uint64_t end = (p->offset + p->bytes + GATHER_PAGE - 1) / GATHER_PAGE * GATHER_PAGE;

    return end < f->bytes ? end : f->bytes;
}

/* Makes a hand, all zero so far; gather_hand_close() is fine after a failure. */
enum leat_status gather_hand_open(struct gather_hand *h, struct gather *g, struct leat_error *err);
void gather_hand_close(struct gather_hand *h);

/* From now on the calling thread, whose hand it is, waits for no file system that fails once `stop` is set; until
 * gather_hand_leave(). */
void gather_hand_attend(struct gather_hand *h, const atomic_bool *stop);
void gather_hand_leave(struct gather_hand *h);

/* Copies a piece, as gather_finish() would, for the crew, which takes pieces up to `end`. False: it fails, for whatever
 * reason. */
bool gather_take(struct gather_hand *h, struct gather_job *job, uint32_t piece, uint32_t end);

/* Whether a page of [begin, end) must be verified. */
bool gather_must_verify(const struct gather_file *f, uint64_t begin, uint64_t end);

/* Verifies the pages of [begin, end) that were not verified yet; `bytes` are the tokens from `begin` on. */
enum leat_status gather_verify(struct gather_hand *h, struct gather_file *f, uint64_t begin, uint64_t end,
                               const uint8_t *bytes, struct leat_error *err);

/* The map of the whole file, entered until the hand leaves; NULL: not mapped, or no longer. */
const uint8_t *gather_inside(struct gather_hand *h, struct gather_file *f);

/* Leaves all entered maps. */
void gather_leave(struct gather_hand *h);

/* Copies the bytes that a stretch [begin, end) of the tokens shares with a piece. If the stretch lies in the piece's
 * span, the kernel has copied it already, and it is only counted. */
void gather_copy_out(struct gather_hand *h, const struct gather_piece *p, uint64_t begin, uint64_t end,
                     const uint8_t *bytes);

/* Whether the file has become shorter; false, without asking, for files whose pages are all hashed whenever they are
 * read. A read during a truncation may get zeros for the end of the last page, without an error; but the size has
 * changed before that. */
bool gather_shrank(const struct gather_file *f);

/* An engine: what it does for the pieces of its files; NULL: nothing. The last resort does what it leaves undone. */
struct gather_engine {
    /* Called when a job is begun, for each piece that is not in the page cache: advises the kernel, or prepares reads
     * (GATHER_WAITING), which begin_job sends, once for all pieces. False: the engine no longer works, and its files
     * get another one. An engine that has this works ahead. */
    bool (*begin)(struct gather *g, struct gather_job *job, struct gather_piece *p);
    void (*begin_job)(struct gather *g, struct gather_job *job);

    /* Waits until `piece` no longer waits for reads, and nothing is written to its span. LEAT_E_AGAIN: not yet, after
     * some milliseconds. Another error: waiting is impossible. */
    enum leat_status (*wait)(struct gather *g, struct gather_job *job, uint32_t piece, struct leat_error *err);

    /* Copies a piece to its place. LEAT_E_NOT_MAPPED: read it instead. */
    enum leat_status (*copy)(struct gather_hand *h, struct gather_file *f, struct gather_piece *p,
                             struct leat_error *err);

    /* Prefetches the beginning of the next piece (`soon`), or of the pages of a later one, if that cannot do harm. */
    void (*fetch)(const struct gather_hand *h, const struct gather_piece *p, bool soon);

    void (*end_job)(struct gather *g, struct gather_job *job); /* also of jobs without a piece of it */
    void (*close)(struct gather *g);                           /* in the thread that gathers, even without a job */

    /* Whether its reads of this file bypass the page cache. */
    bool (*is_direct)(struct gather *g, struct gather_file *f);
};

extern const struct gather_engine engine_map, engine_pread, engine_advise, engine_uring;

#endif
