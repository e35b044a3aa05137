/*
 * gather.c: see gather.h. Files, jobs, verifying, and what engines share.
 *
 * gather_begin() lets the engine of each piece's file begin, if it works ahead and the page cache does not have the
 * piece. gather_finish() waits for what was begun, or lets the engine copy the piece; if that fails, the last resort
 * does. Pages are verified once: a bitmap per file remembers which were. Maps that a job touches stay entered until it
 * ends.
 */
#include "gather_engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/counter.h"
#include "base/file.h"
#include "base/mounts.h"
#include "base/status.h"
#include "crew.h"
#include "warm.h"

static const struct gather_engine *const engines[GATHER_ENGINE_COUNT] = { [LEAT_ENGINE_MAP] = &engine_map,
                                                                          [LEAT_ENGINE_PREAD] = &engine_pread,
                                                                          [LEAT_ENGINE_ADVISE] = &engine_advise,
                                                                          [LEAT_ENGINE_URING] = &engine_uring };

/* ---- Opening ---- */

static const struct leat_dataset *dataset_of(const struct leat_plan *plan, uint64_t source)
{
    struct leat_plan_source_info info = LEAT_PLAN_SOURCE_INFO_INIT;

    leat_plan_source_info(plan, source, &info, NULL); /* cannot fail: the source exists */
    return info.dataset;
}

static enum leat_status count_files(struct gather *g, const struct leat_plan *plan, uint64_t sources,
                                    struct leat_error *err)
{
    uint64_t files = 0;

    g->source_count = (uint32_t)sources;
    g->first_file = calloc(sources, sizeof *g->first_file);
    if (!g->first_file)
        return status_no_memory(err, sources * sizeof *g->first_file);
    for (uint64_t i = 0; i < sources; i++) {
        g->first_file[i] = (uint32_t)files;
        files += dataset_of(plan, i)->part_count;
        if (files > UINT32_MAX / 2)
            return status_argument(err, "plan", "the plan's sources have more than 2^31 datasets");
    }
    g->file_count = (uint32_t)files;
    g->files = calloc(files, sizeof *g->files);
    return g->files ? LEAT_OK : status_no_memory(err, files * sizeof *g->files);
}

enum leat_status gather_hand_open(struct gather_hand *h, struct gather *g, struct leat_error *err)
{
    void *scratch =
        mmap(NULL, GATHER_SCRATCH + 2 * GATHER_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    h->gather = g;
    h->scratch = scratch == MAP_FAILED ? NULL : scratch;
    h->entered = calloc(g->file_count, sizeof *h->entered);
    h->inside_of = calloc(g->file_count, sizeof *h->inside_of);
    h->guests = calloc(g->source_count, sizeof *h->guests);
    if (!h->scratch)
        return status_no_memory(err, GATHER_SCRATCH);
    if (h->entered && h->inside_of && h->guests)
        return LEAT_OK;
    return status_no_memory(err, g->file_count * sizeof *h->entered);
}

void gather_hand_close(struct gather_hand *h)
{
    if (h->scratch)
        munmap(h->scratch, GATHER_SCRATCH + 2 * GATHER_PAGE);
    free(h->entered);
    free(h->inside_of);
    free(h->guests);
    h->guests = NULL;
    h->scratch = NULL;
    h->entered = NULL;
    h->inside_of = NULL;
}

/* A bit per page, unless the bitmaps get too large; their memory is not touched before pages are verified. */
static enum leat_status make_bitmap(struct gather_file *f, uint64_t *total, struct leat_error *err)
{
    uint64_t words = bytes_divide_up(bytes_divide_up(f->bytes, GATHER_PAGE), 64);

    if (!f->verify || 8 * words > GATHER_BITMAPS - *total)
        return LEAT_OK;
    *total += 8 * words;
    f->verified = calloc(words + 1, sizeof *f->verified);
    return f->verified ? LEAT_OK : status_no_memory(err, 8 * words);
}

static enum leat_status add_files(struct gather *g, const struct leat_plan *plan, uint64_t source, uint64_t *bitmaps,
                                  struct leat_error *err)
{
    const struct leat_dataset *d = dataset_of(plan, source);
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < d->part_count; i++) {
        struct gather_file *f = &g->files[g->first_file[source] + i];

        f->part = dataset_part(d, i);
        f->map = f->part->data.file;
        f->offset = f->part->data.offset;
        f->bytes = f->part->data.bytes;
        f->verify = g->verify && (f->part->hashes.file || part_may_hold_wrong_ids(f->part));
        g->unhashed += f->bytes > 0 && !f->part->hashes.file;
        g->unaligned |= f->offset % GATHER_PAGE != 0;
        f->has_holes = f->map->cache != NULL;
        g->has_holes |= f->has_holes;
        f->network = f->map->system & FILE_REMOTE;
        f->doubted = f->map->system & FILE_MAY_BE_FUSE;
        s = file_map_check_process(f->map, err);
        /* to ask a server whether a file has shrunk costs more than to hash its pages again */
        if (s == LEAT_OK && !f->network && (!f->doubted || g->wanted != LEAT_ENGINE_URING))
            s = make_bitmap(f, bitmaps, err);
    }
    return s;
}

enum leat_status gather_open(struct gather *g, const struct leat_plan *plan, enum leat_engine wanted, bool verify,
                             bool threaded, uint64_t max_bytes, struct leat_error *err)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    uint64_t bitmaps = 0;
    enum leat_status s;

    memset(g, 0, sizeof *g);
    g->wanted = wanted;
    g->verify = verify;
    g->threaded = threaded;
    g->max_bytes = max_bytes;
    leat_plan_info(plan, &info);
    s = count_files(g, plan, info.sources, err);
    for (uint32_t i = 0; i < g->file_count && g->files; i++)
        g->files[i].direct = -1;
    for (uint64_t i = 0; s == LEAT_OK && i < info.sources; i++)
        s = add_files(g, plan, i, &bitmaps, err);
    if (s == LEAT_OK)
        s = gather_hand_open(&g->hand, g, err);
    if (s != LEAT_OK)
        return s;
    gather_choose(g);
    for (uint32_t i = 0; i < g->file_count; i++)
        file_map_bring(g->files[i].map);
    return LEAT_OK;
}

/* ---- Waiting for file systems ---- */

struct mounts *gather_mounts(const struct gather *g, uint32_t file)
{
    struct mounts *m = g->files[file].part->mounts;

    return file > 0 && g->files[file - 1].part->mounts == m ? NULL : m;
}

static struct mounts *mounts_of(const struct gather *g, uint32_t source)
{
    return g->first_file[source] < g->file_count ? g->files[g->first_file[source]].part->mounts : NULL;
}

void gather_hand_attend(struct gather_hand *h, const atomic_bool *stop)
{
    for (uint32_t i = 0; i < h->gather->source_count; i++)
        if (mounts_of(h->gather, i))
            mounts_attend(mounts_of(h->gather, i), &h->guests[i], stop);
}

void gather_hand_leave(struct gather_hand *h)
{
    for (uint32_t i = 0; i < h->gather->source_count; i++)
        if (mounts_of(h->gather, i))
            mounts_leave(mounts_of(h->gather, i), &h->guests[i]);
}

void gather_attend(struct gather *g, const atomic_bool *stop, struct gate *gate)
{
    g->gate = gate;
    gather_hand_attend(&g->hand, stop);
    g->attended = true;
}

void gather_wake(const struct gather *g)
{
    for (uint32_t i = 0; i < g->source_count; i++)
        if (mounts_of(g, i))
            mounts_wake(mounts_of(g, i));
}

static void add_count(atomic_uint_fast64_t *to, const atomic_uint_fast64_t *from)
{
    counter_bump(to, counter_value(from));
}

void gather_follow(struct gather *g, struct gather *from)
{
    struct gather_done done = gather_done(from);

    for (uint32_t i = 0; i < g->file_count && i < from->file_count; i++) {
        atomic_uint_fast64_t *verified = from->files[i].verified;

        if (g->files[i].part != from->files[i].part)
            continue;
        from->files[i].verified = g->files[i].verified;
        g->files[i].verified = verified;
    }
    add_count(&g->counters.bytes, &from->counters.bytes);
    add_count(&g->counters.reads, &from->counters.reads);
    add_count(&g->counters.hits, &from->counters.hits);
    add_count(&g->counters.storage_ns, &from->counters.storage_ns);
    counter_bump(&g->hand.read_bytes, done.read_bytes);
    counter_bump(&g->hand.pages_verified, done.pages_verified);
    counter_bump(&g->hand.copied, done.copied);
    counter_bump(&g->hand.busy_ns, done.crew_ns);
    atomic_store(&g->counters.max_in_flight, atomic_load(&from->counters.max_in_flight));
}

int gather_share(struct gather *g, unsigned threads, int node)
{
    return crew_open(&g->crew, g, threads, node);
}

void gather_hurry(struct gather *g, bool hurry)
{
    crew_hurry(g->crew, hurry);
}

void gather_stop(struct gather *g)
{
    crew_stop(g->crew);
    for (int e = 1; e < GATHER_ENGINE_COUNT; e++)
        if (engines[e]->close)
            engines[e]->close(g);
    if (g->attended)
        gather_hand_leave(&g->hand);
    g->attended = false;
    g->gate = NULL;
}

void gather_forget(struct gather *g)
{
    crew_forget(g->crew);
    g->reader = NULL;
    g->uring = NULL;
    g->warm = NULL;
}

struct gather_done gather_done(const struct gather *g)
{
    struct gather_done d = { .crew_ns = 0 };

    for (unsigned i = 0;; i++) {
        const struct gather_hand *h = i == 0 ? &g->hand : i == 1 ? &g->reader_hand : crew_hand(g->crew, i - 2);

        if (!h)
            return d;
        d.read_bytes += counter_value(&h->read_bytes);
        d.pages_verified += counter_value(&h->pages_verified);
        d.copied += counter_value(&h->copied);
        d.crew_ns += counter_value(&h->busy_ns);
    }
}

void gather_close(struct gather *g)
{
    gather_stop(g);
    crew_close(g->crew);
    g->crew = NULL;
    warm_close(g->warm);
    g->warm = NULL;
    for (uint32_t i = 0; i < g->file_count && g->files; i++) {
        if (g->files[i].map)
            gather_release(g, &g->files[i]);
        free(g->files[i].verified);
        free(g->files[i].populated);
        file_close(&g->files[i].direct);
    }
    free(g->files);
    free(g->first_file);
    gather_hand_close(&g->hand);
    gather_hand_close(&g->reader_hand);
    g->files = NULL;
    g->first_file = NULL;
}

bool gather_works_ahead(const struct gather *g)
{
    if (g->has_holes || crew_wants(g->crew))
        return true;
    for (int e = 1; e < GATHER_ENGINE_COUNT; e++)
        if (engines[e]->begin && atomic_load_explicit(&g->in_use[e], memory_order_relaxed) > 0)
            return true;
    return false;
}

/* ---- Verifying ---- */

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

static struct gather_entered *enter(struct gather_hand *h, const struct gather_file *f)
{
    uint32_t number = (uint32_t)(f - h->gather->files);
    struct gather_entered *e = &h->entered[number];

    if (!e->asked && !e->asked_index)
        h->inside_of[h->inside_count++] = number;
    return e;
}

/* The stored hashes of pages [first, first + count): in the index's map, or read into `room`. */
static enum leat_status stored_hashes(struct gather_hand *h, struct gather_file *f, uint64_t first, uint64_t count,
                                      uint8_t room[4 * HASHES_AT_ONCE], const uint8_t **hashes, struct leat_error *err)
{
    const struct part_extent *place = &f->part->hashes;
    struct gather_entered *e = enter(h, f);

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

/* Compares the page's hash with the stored one, if there is one, and looks at its ids, which are in the CPU's cache
 * then: sums that fit say nothing about who made them. */
static enum leat_status check_page(struct gather_file *f, uint64_t page, const uint8_t *bytes, uint64_t size,
                                   const uint8_t *hash, struct leat_error *err)
{
    uint32_t width = f->part->token_width;

    if (hash && (uint32_t)f->part->kernels->hash(bytes, size).low != bytes_load32(hash))
        return part_damaged_page(f->part, page, NULL, NULL, err);
    return part_check_ids(f->part, page * GATHER_PAGE / width, bytes, size / width, err);
}

/* Notes that pages were verified, those of the bits of a word; returns how many were not before. */
static uint64_t note_verified(struct gather_file *f, uint64_t word, uint64_t bits)
{
    uint64_t before = 0;

    if (f->verified && bits != 0)
        before = atomic_fetch_or_explicit(&f->verified[word], bits, memory_order_relaxed);
    return (uint64_t)__builtin_popcountll(bits & ~before);
}

enum leat_status gather_verify(struct gather_hand *h, struct gather_file *f, uint64_t begin, uint64_t end,
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
            s = stored_hashes(h, f, first, count, room, &hashes, err);
        for (; s == LEAT_OK && page < first + count; page++) {
            uint64_t at = page * GATHER_PAGE, size = end - at < GATHER_PAGE ? end - at : GATHER_PAGE;

            if (is_verified(f, page))
                continue;
            s = check_page(f, page, bytes + (at - begin), size, hashes ? hashes + 4 * (page - first) : NULL, err);
            good |= (uint64_t)(s == LEAT_OK) << page % HASHES_AT_ONCE;
        }
        counter_bump(&h->pages_verified, note_verified(f, first / HASHES_AT_ONCE, good));
    }
    return s;
}

/* ---- What engines share ---- */

const uint8_t *gather_inside(struct gather_hand *h, struct gather_file *f)
{
    struct gather_entered *e = enter(h, f);

    if (!e->asked) {
        e->asked = true;
        e->inside = file_map_enter(f->map);
        if (!e->inside && f->map->bytes && h == &h->gather->hand && !f->lost_map) {
            f->lost_map = true;
            if (f->map->owner == getpid()) /* else the lease is a parent's, and nobody has called it back */
                atomic_fetch_add(&h->gather->lost_maps, 1);
        }
    }
    return e->inside;
}

void gather_leave(struct gather_hand *h)
{
    for (uint32_t i = 0; i < h->inside_count; i++) {
        struct gather_entered *e = &h->entered[h->inside_of[i]];
        const struct gather_file *f = &h->gather->files[h->inside_of[i]];

        if (e->inside)
            file_map_leave(f->map);
        if (e->index_inside)
            file_map_leave(f->part->hashes.file);
        *e = (struct gather_entered) { .inside = NULL };
    }
    h->inside_count = 0;
}

void gather_copy_out(struct gather_hand *h, const struct gather_piece *p, uint64_t begin, uint64_t end,
                     const uint8_t *bytes)
{
    uint64_t from = begin > p->offset ? begin : p->offset;
    uint64_t to = end < p->offset + p->bytes ? end : p->offset + p->bytes;

    if (from >= to)
        return;
    counter_bump(&h->copied, to - from);
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

/* Reads a piece if the page cache has it; false: it does not. */
static bool read_cached(struct gather *g, struct gather_file *f, struct gather_piece *p)
{
#if defined(RWF_NOWAIT)
    uint64_t begin = gather_span_begin(p), end = gather_span_end(f, p);
    struct iovec to = { p->span ? p->span : g->hand.scratch, (size_t)(end - begin) };

    if ((!p->span && end - begin > GATHER_SCRATCH) || f->resident < 0.02)
        return false;
    /* newer kernels (6.18 does) start to read what such a read finds missing: in addition to the engine's own reads,
     * that took a third of a disk's requests */
    if (residency_lacks(f->map->fd, f->offset + begin, end - begin))
        return false;
    if (preadv2(f->map->fd, &to, 1, (off_t)(f->offset + begin), RWF_NOWAIT) != (ssize_t)(end - begin))
        return false;
    if (gather_must_verify(f, begin, end) ? gather_verify(&g->hand, f, begin, end, to.iov_base, NULL) != LEAT_OK
                                          : gather_shrank(f))
        return false; /* plain reads find the reason */
    gather_copy_out(&g->hand, p, begin, end, to.iov_base);
    counter_bump(&g->hand.read_bytes, end - begin);
    return true;
#else
    (void)g;
    (void)f;
    (void)p;
    return false;
#endif
}

/* ---- Jobs ---- */

bool gather_may_be_direct(enum leat_engine engine)
{
    return engine == LEAT_ENGINE_AUTO || engines[engine]->is_direct;
}

bool gather_is_direct(struct gather *g, uint32_t file)
{
    const struct gather_engine *engine = engines[g->files[file].engine];

    return engine->is_direct && g->files[file].offset % GATHER_PAGE == 0 && engine->is_direct(g, &g->files[file]);
}

/* Advises the kernel or sends a read, unless the piece can be had at once. */
static void begin_piece(struct gather *g, struct gather_job *job, struct gather_piece *p)
{
    struct gather_file *f = &g->files[p->file];

    if (!p->engine->begin)
        return;
    p->cached = read_cached(g, f, p);
    if (p->cached) {
        p->state = GATHER_DONE;
    } else if (!p->engine->begin(g, job, p)) {
        gather_without_uring(g);
        p->engine = engines[f->engine];
        if (p->engine->begin)
            p->engine->begin(g, job, p);
    }
}

/* Whether all that a piece needs is here; what is not will be fetched, and gather_finish() waits for it. Until the job
 * ends, it stays. */
static bool is_here(struct gather_file *f, struct gather_piece *p)
{
    uint64_t begin = gather_span_begin(p), count = gather_span_end(f, p) - begin;

    if (!f->has_holes)
        return true;
    p->held = file_map_hold(f->map, f->offset + begin, count, 1, NULL, NULL) == LEAT_OK;
    return p->held && file_map_announce(f->map, f->offset + begin, count, true);
}

void gather_announce(struct gather *g, const struct gather_piece *p)
{
    struct gather_file *f = &g->files[p->file];
    uint64_t begin = gather_span_begin(p), count = gather_span_end(f, p) - begin;

    if (!f->has_holes || file_map_hold(f->map, f->offset + begin, count, 1, NULL, NULL) != LEAT_OK)
        return;
    (void)file_map_announce(f->map, f->offset + begin, count, false);
    file_map_release(f->map, f->offset + begin, count);
}

/* Whether the CPU will copy a piece from what is in memory, or plain calls read it. */
static bool is_for_crew(const struct gather *g, const struct gather_piece *p)
{
    return g->crew && p->bytes > 0 && p->engine->copy && !g->files[p->file].has_holes;
}

void gather_begin(struct gather *g, struct gather_job *job)
{
    uint64_t shared = 0;

    job->offered = job->cold = false;
    job->waiting = job->next = job->in_flight = job->announced = 0;
    job->next_at = 0;
    job->later = NULL;
    for (uint32_t i = 0; i < job->count; i++) {
        struct gather_piece *p = &job->pieces[i];

        p->state = GATHER_TO_DO;
        p->in_flight = 0;
        p->cached = p->held = p->announced = p->left = false;
        p->unheld_ns = 0;
        if (g->unaligned && g->files[p->file].offset % GATHER_PAGE != 0)
            p->span = NULL; /* the tokens' pages are not pages of the file */
        p->engine = engines[g->files[p->file].engine];
        if (is_here(&g->files[p->file], p))
            begin_piece(g, job, p);
        p->shared = is_for_crew(g, p);
        if (p->shared) {
            shared += p->bytes;
            job->cold |= !g->files[p->file].hot;
        }
    }
    if (g->uring_refused)
        gather_without_uring(g);
    gather_leave(&g->hand);
    for (int e = 1; e < GATHER_ENGINE_COUNT; e++)
        if (engines[e]->begin_job)
            engines[e]->begin_job(g, job);
    if (shared > 0)
        crew_offer(g->crew, job, shared);
}

/* Waits for what is missing of a piece; LEAT_E_AGAIN after some milliseconds, so that the caller can begin more. */
static enum leat_status await_pages(struct gather *g, struct gather_file *f, struct gather_piece *p,
                                    struct leat_error *err)
{
    uint64_t begin = gather_span_begin(p), count = gather_span_end(f, p) - begin, began = clock_ns();
    enum leat_status s = LEAT_OK;

    if (!p->held)
        s = file_map_hold(f->map, f->offset + begin, count, GATHER_PATIENCE_NS, &p->unheld_ns, err);
    p->held |= s == LEAT_OK;
    if (s == LEAT_OK)
        s = file_map_need(f->map, f->offset + begin, count, GATHER_PATIENCE_NS, err);

    counter_bump(&g->counters.storage_ns, clock_ns() - began);
    g->server_failed |= s != LEAT_OK && s != LEAT_E_AGAIN && s != LEAT_E_CHECKSUM;
    return s;
}

/* How many pieces have their pages fetched together. */
#define FETCHED_AT_ONCE 4u

/* Pieces at `end` and after it are not fetched. */
static void fetch(const struct gather_hand *h, const struct gather_job *job, uint32_t piece, uint32_t end, bool soon)
{
    if (piece < end && job->pieces[piece].engine->fetch)
        job->pieces[piece].engine->fetch(h, &job->pieces[piece], soon);
}

static void fetch_later(const struct gather_hand *h, const struct gather_job *job, uint32_t piece, uint32_t end)
{
    if (piece % FETCHED_AT_ONCE == 0)
        for (uint32_t i = piece > 0 ? 2 : 1; i < 2 + FETCHED_AT_ONCE; i++)
            fetch(h, job, piece + i, end, false);
}

bool gather_take(struct gather_hand *h, struct gather_job *job, uint32_t piece, uint32_t end)
{
    struct gather_piece *p = &job->pieces[piece];
    enum leat_status s;

    fetch(h, job, piece + 1, end, true);
    s = p->engine->copy(h, &h->gather->files[p->file], p, NULL);
    fetch_later(h, job, piece, end);
    return s == LEAT_OK;
}

/* Whether the crew has made a piece; waits until it has finished the job. */
static bool is_made(struct gather *g, struct gather_job *job, const struct gather_piece *p)
{
    if (!job->offered)
        return false;
    if (!job->awaited) {
        uint64_t began = clock_ns();

        crew_await(g->crew, job);
        if (job->cold)
            counter_bump(&g->counters.storage_ns, clock_ns() - began);
    }
    return p->shared && !p->left;
}

enum leat_status gather_finish(struct gather *g, struct gather_job *job, uint32_t piece, struct leat_error *err)
{
    struct gather_piece *p = &job->pieces[piece];
    struct gather_file *f = &g->files[p->file];
    const struct gather_engine *engine, *last = engines[GATHER_LAST_RESORT];
    bool made = is_made(g, job, p);
    enum leat_status s = LEAT_OK;

    if (made)
        p->state = GATHER_DONE;
    if (p->state == GATHER_WAITING || p->in_flight > 0)
        s = p->engine->wait(g, job, piece, err);
    if (s == LEAT_OK && f->has_holes && p->state == GATHER_TO_DO)
        s = await_pages(g, f, p, err);
    if (s == LEAT_E_AGAIN)
        return s;
    counter_bump(&g->counters.reads, 1);
    counter_bump(&g->counters.bytes, p->bytes);
    if (p->cached || (made && f->hot))
        counter_bump(&g->counters.hits, 1);
    if (s != LEAT_OK || p->state == GATHER_DONE)
        return s;
    fetch(&g->hand, job, piece + 1, job->count, true);
    engine = engines[f->engine]; /* of now, which may differ from when the job was begun */
    s = engine->copy && engine != last ? engine->copy(&g->hand, f, p, err) : LEAT_E_NOT_MAPPED;
    if (s == LEAT_E_NOT_MAPPED) {
        uint64_t began = f->hot ? 0 : clock_ns();

        s = last->copy(&g->hand, f, p, err);
        g->server_failed |= s == LEAT_E_IO && f->network && err && err->os_error != EIO;
        if (!f->hot)
            counter_bump(&g->counters.storage_ns, clock_ns() - began);
    }
    if (f->hot)
        counter_bump(&g->counters.hits, 1);
    p->state = GATHER_DONE;
    fetch_later(&g->hand, job, piece, job->count);
    return s;
}

void gather_end(struct gather *g, struct gather_job *job)
{
    crew_end(g->crew, job);
    for (int e = 1; e < GATHER_ENGINE_COUNT; e++)
        if (engines[e]->end_job)
            engines[e]->end_job(g, job);
    for (uint32_t i = 0; i < job->count && g->has_holes; i++) {
        struct gather_piece *p = &job->pieces[i];
        uint64_t begin = gather_span_begin(p);

        if (p->held)
            file_map_release(g->files[p->file].map, g->files[p->file].offset + begin,
                             gather_span_end(&g->files[p->file], p) - begin);
        p->held = false;
    }
    gather_leave(&g->hand);
}
