/*
 * gather_engine.h: the table of an engine, and what engines share. An engine is a file engine_NAME.c and a row of
 * GATHER_ENGINES (gather.h).
 */
#ifndef LEAT_GATHER_ENGINE_H
#define LEAT_GATHER_ENGINE_H

#include "gather.h"

/* A file is not used any more: page tables that were filled for it go. */
void gather_let_go(struct gather *g, struct gather_file *f);

/* No ring can be had: files that it was chosen for are read with advice. */
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

/* Whether a page of [begin, end) must be verified. */
bool gather_must_verify(const struct gather_file *f, uint64_t begin, uint64_t end);

/* Verifies those of [begin, end) that were not yet; `bytes` are the tokens' from `begin` on. LEAT_E_CHECKSUM. */
enum leat_status gather_verify(struct gather *g, struct gather_file *f, uint64_t begin, uint64_t end,
                               const uint8_t *bytes, struct leat_error *err);

/* The whole file's map, entered until the job ends; NULL: there is none, or none any more. */
const uint8_t *gather_inside(struct gather *g, struct gather_file *f);

/* Leaves what was entered. */
void gather_leave(struct gather *g);

/* Copies what a stretch [begin, end) of the tokens has of a piece. Not where the stretch lies in the piece's span: then
 * the kernel has copied it, and it is only counted. */
void gather_copy_out(struct gather *g, const struct gather_piece *p, uint64_t begin, uint64_t end,
                     const uint8_t *bytes);

/* Whether the file has become shorter: asked after a read whose bytes are not hashed. One that goes on while the file
 * is cut may get zeros for the last page's end, and no error; but then the size has changed before. */
bool gather_shrank(const struct gather_file *f);

/* An engine: what it does for the pieces of its files; NULL: nothing. What it leaves undone is for the last resort. */
struct gather_engine {
    /* When a job is begun, of each piece that is not in the page cache: the kernel is told, or a read is on its way
     * (GATHER_WAITING) after begin_job, which is called once for all of them. False: the engine cannot be had any more;
     * its files get another one. An engine that has this works ahead. */
    bool (*begin)(struct gather *g, struct gather_job *job, struct gather_piece *p);
    void (*begin_job)(struct gather *g, struct gather_job *job);

    /* Until `piece` is not waiting any more, and nothing is written to its span any more. LEAT_E_AGAIN: not yet, after
     * some milliseconds. Another error if that cannot be waited for. */
    enum leat_status (*wait)(struct gather *g, struct gather_job *job, uint32_t piece, struct leat_error *err);

    /* Brings a piece. LEAT_E_NOT_MAPPED: read it instead. */
    enum leat_status (*copy)(struct gather *g, struct gather_file *f, struct gather_piece *p, struct leat_error *err);

    /* Fetches the beginning of a piece that comes next, if that is sure to be harmless. */
    void (*fetch)(const struct gather_file *f, const struct gather_piece *p);

    void (*end_job)(struct gather *g, struct gather_job *job); /* also of jobs without a piece of it */
    void (*close)(struct gather *g);                           /* by the thread that gathers, also if it never began */

    /* Whether its reads of this file go past the page cache. */
    bool (*is_direct)(struct gather *g, struct gather_file *f);
};

#define GATHER_DECLARE_ENGINE(number, name) extern const struct gather_engine engine_##name;
GATHER_ENGINES(GATHER_DECLARE_ENGINE)

#endif
