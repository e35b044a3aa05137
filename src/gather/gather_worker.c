/*
 * gather_worker.c: what each thread that reads pieces has and does: its memory, the maps that it has entered, its waits
 * for file systems; verifying pages, and copying pieces.
 *
 * Pages are verified once: a bitmap per file remembers which were. Maps that a job touches stay entered until it ends.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/counter.h"
#include "base/mounts.h"
#include "base/status.h"
#include "gather_engine.h"

enum leat_status gather_worker_open(struct gather_worker *w, struct gather *g, struct leat_error *err)
{
    void *scratch =
        mmap(NULL, GATHER_SCRATCH + 2 * GATHER_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    w->gather = g;
    w->scratch = scratch == MAP_FAILED ? NULL : scratch;
    w->entered = calloc(g->file_count, sizeof *w->entered);
    w->inside_of = calloc(g->file_count, sizeof *w->inside_of);
    w->threads = calloc(g->source_count, sizeof *w->threads);
    if (!w->scratch)
        return status_no_memory(err, GATHER_SCRATCH);
    if (w->entered && w->inside_of && w->threads)
        return LEAT_OK;
    return status_no_memory(err, g->file_count * sizeof *w->entered);
}

void gather_worker_close(struct gather_worker *w)
{
    if (w->scratch)
        munmap(w->scratch, GATHER_SCRATCH + 2 * GATHER_PAGE);
    free(w->entered);
    free(w->inside_of);
    free(w->threads);
    w->threads = NULL;
    w->scratch = NULL;
    w->entered = NULL;
    w->inside_of = NULL;
}

/* ---- Waits for file systems -------------------------------------------------------------------------------------- */

struct mounts *gather_mounts(const struct gather *g, uint32_t file)
{
    struct mounts *m = file < g->token_files ? g->files[file].part->mounts : NULL;

    return file > 0 && m && g->files[file - 1].part->mounts == m ? NULL : m;
}

static struct mounts *mounts_of(const struct gather *g, uint32_t source)
{
    return g->first_file[source] < g->file_count ? g->files[g->first_file[source]].part->mounts : NULL;
}

void gather_wake(const struct gather *g)
{
    for (uint32_t i = 0; i < g->source_count; i++)
        if (mounts_of(g, i))
            mounts_wake(mounts_of(g, i));
}

void gather_worker_start(struct gather_worker *w, const atomic_bool *stop)
{
    for (uint32_t i = 0; i < w->gather->source_count; i++)
        if (mounts_of(w->gather, i))
            mounts_add_thread(mounts_of(w->gather, i), &w->threads[i], stop);
}

void gather_worker_stop(struct gather_worker *w)
{
    for (uint32_t i = 0; i < w->gather->source_count; i++)
        if (mounts_of(w->gather, i))
            mounts_remove_thread(mounts_of(w->gather, i), &w->threads[i]);
}

/* ---- Maps -------------------------------------------------------------------------------------------------------- */

/* Returns the record of a file whose maps the caller is about to enter. */
static struct gather_entered *entered_of(struct gather_worker *w, const struct gather_file *f)
{
    uint32_t number = (uint32_t)(f - w->gather->files);
    struct gather_entered *e = &w->entered[number];

    if (!e->asked && !e->asked_index)
        w->inside_of[w->inside_count++] = number;
    return e;
}

const uint8_t *gather_inside(struct gather_worker *w, struct gather_file *f)
{
    struct gather_entered *e = entered_of(w, f);

    if (!e->asked) {
        e->asked = true;
        e->inside = file_map_enter(f->map);
        if (!e->inside && f->map->bytes && w == &w->gather->worker && !f->lost_map) {
            f->lost_map = true;
            if (f->map->owner == getpid()) /* else the lease is a parent's, and nobody has called it back */
                atomic_fetch_add(&w->gather->lost_maps, 1);
        }
    }
    return e->inside;
}

void gather_leave(struct gather_worker *w)
{
    for (uint32_t i = 0; i < w->inside_count; i++) {
        struct gather_entered *e = &w->entered[w->inside_of[i]];
        const struct gather_file *f = &w->gather->files[w->inside_of[i]];

        if (e->inside)
            file_map_leave(f->map);
        if (e->index_inside)
            file_map_leave(f->part->hashes.file);
        *e = (struct gather_entered) { .inside = NULL };
    }
    w->inside_count = 0;
}

/* ---- Verifying --------------------------------------------------------------------------------------------------- */

static bool is_verified(const struct gather_file *f, uint64_t page)
{
    return f->verified && (atomic_load_explicit(&f->verified[page / 64], memory_order_relaxed) >> page % 64 & 1);
}

bool gather_must_verify(const struct gather_file *f, uint64_t begin, uint64_t end)
{
    uint64_t last = (end + GATHER_PAGE - 1) / GATHER_PAGE;

    for (uint64_t page = begin / GATHER_PAGE; f->verify && page < last; page++)
        if (!is_verified(f, page))
            return true;
    return false;
}

#define HASHES_AT_ONCE 64u /* as many as a word has bits */

/* Finds the stored hashes of pages [first, first + count) in the index's map, or reads them into `room`. */
static enum leat_status stored_hashes(struct gather_worker *w, struct gather_file *f, uint64_t first, uint64_t count,
                                      uint8_t room[4 * HASHES_AT_ONCE], const uint8_t **hashes, struct leat_error *err)
{
    const struct part_extent *place = &f->part->hashes;
    struct gather_entered *e = entered_of(w, f);

    if (!e->asked_index) {
        e->asked_index = true;
        e->index_inside = place->file->system & FILE_REMOTE ? NULL : file_map_enter(place->file);
    }
    if (e->index_inside && bytes_inside(4 * first, 4 * count, place->bytes) &&
        file_map_fill(place->file, place->offset + 4 * first, 4 * count)) {
        *hashes = e->index_inside + place->offset + 4 * first;
        return LEAT_OK;
    }
    *hashes = room;
    return part_hashes(f->part, first, count, room, err);
}

/* Compares the page's hash with the stored one, if there is one, and checks its ids, which are in the CPU's cache then:
 * hashes that match do not say who made them. */
static enum leat_status check_page(struct gather_file *f, uint64_t page, const uint8_t *bytes, uint64_t size,
                                   const uint8_t *hash, struct leat_error *err)
{
    uint32_t width = f->part->token_width;

    if (hash && (uint32_t)f->part->kernels->hash(bytes, size).low != bytes_load32(hash))
        return part_damaged_page(f->part, page, NULL, NULL, err);
    if (f->column)
        return LEAT_OK;
    return part_check_ids(f->part, page * GATHER_PAGE / width, bytes, size / width, err);
}

/* Notes that the pages of the set bits were verified; returns how many of them were not before. */
static uint64_t note_verified(struct gather_file *f, uint64_t word, uint64_t bits)
{
    uint64_t before = 0;

    if (f->verified && bits != 0)
        before = atomic_fetch_or_explicit(&f->verified[word], bits, memory_order_relaxed);
    return (uint64_t)__builtin_popcountll(bits & ~before);
}

enum leat_status gather_verify(struct gather_worker *w, struct gather_file *f, uint64_t begin, uint64_t end,
                               const uint8_t *bytes, struct leat_error *err)
{
    uint64_t page = begin / GATHER_PAGE, last = (end + GATHER_PAGE - 1) / GATHER_PAGE;
    uint8_t room[4 * HASHES_AT_ONCE];
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && page < last) { /* those of a word of `verified` */
        uint64_t first = page, left = HASHES_AT_ONCE - page % HASHES_AT_ONCE, good = 0;
        uint64_t count = last - page < left ? last - page : left;
        const uint8_t *hashes = NULL;

        if (f->part->hashes.file)
            s = stored_hashes(w, f, first, count, room, &hashes, err);
        for (; s == LEAT_OK && page < first + count; page++) {
            uint64_t at = page * GATHER_PAGE, size = end - at < GATHER_PAGE ? end - at : GATHER_PAGE;

            if (is_verified(f, page))
                continue;
            s = check_page(f, page, bytes + (at - begin), size, hashes ? hashes + 4 * (page - first) : NULL, err);
            good |= (uint64_t)(s == LEAT_OK) << page % HASHES_AT_ONCE;
        }
        counter_bump(&w->pages_verified, note_verified(f, first / HASHES_AT_ONCE, good));
    }
    return s;
}

/* ---- Copying ----------------------------------------------------------------------------------------------------- */

void gather_copy_out(struct gather_worker *w, const struct gather_piece *p, uint64_t begin, uint64_t end,
                     const uint8_t *bytes)
{
    uint64_t from = begin > p->offset ? begin : p->offset;
    uint64_t to = end < p->offset + p->bytes ? end : p->offset + p->bytes;

    if (from >= to)
        return;
    counter_bump(&w->copied, to - from);
    if (!p->span || bytes != p->span + (begin - gather_span_begin(p)))
        memcpy(p->to + (from - p->offset), bytes + (from - begin), (size_t)(to - from));
}

bool gather_shrank(const struct gather_file *f)
{
    struct stat st;

    if (f->verify && !f->verified && f->part->hashes.file)
        return false;

    return fstat(f->map->fd, &st) != 0 || (uint64_t)st.st_size < f->map->size;
}

/* The number of pieces whose pages are prefetched together. */
#define FETCHED_AT_ONCE 4u

/* Prefetches from a piece, unless its number is `end` or more. */
static void fetch_piece(const struct gather_worker *w, const struct gather_job *job, uint32_t piece, uint32_t end,
                        bool soon)
{
    if (piece < end && job->pieces[piece].engine->fetch)
        job->pieces[piece].engine->fetch(w, &job->pieces[piece], soon);
}

enum leat_status gather_copy_piece(struct gather_worker *w, const struct gather_engine *engine, struct gather_job *job,
                                   uint32_t piece, uint32_t end, struct leat_error *err)
{
    struct gather_piece *p = &job->pieces[piece];
    enum leat_status s;

    fetch_piece(w, job, piece + 1, end, true);
    s = engine->copy(w, &w->gather->files[p->file], p, err);
    for (uint32_t i = piece > 0 ? 2 : 1; piece % FETCHED_AT_ONCE == 0 && i < 2 + FETCHED_AT_ONCE; i++)
        fetch_piece(w, job, piece + i, end, false);
    return s;
}
