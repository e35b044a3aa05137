/*
 * gather.c: opens the files of a plan, and gathers the pieces of jobs from them.
 *
 * gather_begin() lets the engine of each piece's file begin, if it works ahead and the page cache does not have the
 * piece. gather_finish() waits for what was begun, or lets the engine copy the piece; if that fails, the last resort
 * does. The files build on each other: gather_worker.c, gather_pool.c, gather_choose.c, gather.c.
 */
#include "gather_engine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/counter.h"
#include "base/file.h"
#include "base/status.h"
#include "gather_pool.h"
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

static enum leat_status count_files(struct gather *g, const struct leat_plan *plan, uint64_t sources, uint32_t columns,
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
        if (files > UINT32_MAX / 2 / (1 + columns))
            return status_argument(err, "plan", "the plan's sources have more than 2^31 datasets or columns");
    }
    g->token_files = (uint32_t)files;
    files *= 1 + columns;
    g->file_count = (uint32_t)files;
    g->files = calloc(files, sizeof *g->files);
    return g->files ? LEAT_OK : status_no_memory(err, files * sizeof *g->files);
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

static enum leat_status add_file(struct gather *g, struct gather_file *f, struct part *part, uint64_t *bitmaps,
                                 struct leat_error *err)
{
    enum leat_status s;

    f->part = part;
    f->map = part->data.file;
    f->offset = part->data.offset;
    f->bytes = part->data.bytes;
    f->verify = g->verify && (part->hashes.file || part_may_hold_wrong_ids(part));
    g->unhashed += f->bytes > 0 && !part->hashes.file;
    g->unaligned |= f->offset % GATHER_PAGE != 0;
    f->has_holes = f->map->cache != NULL;
    g->has_holes |= f->has_holes;
    f->network = f->map->system & FILE_REMOTE;
    f->may_be_fuse = f->map->system & FILE_MAY_BE_FUSE;
    s = file_map_check_process(f->map, err);
    /* to ask a server whether a file has shrunk costs more than to hash its pages again */
    if (s == LEAT_OK && !f->network && (!f->may_be_fuse || g->wanted != LEAT_ENGINE_URING))
        s = make_bitmap(f, bitmaps, err);
    return s;
}

/* Opens a part's column, whose entries must be like those of all other parts. */
static enum leat_status add_column(struct gather *g, struct gather_file *f, const struct leat_dataset *d, uint64_t part,
                                   const struct leat_column_info *like, uint64_t *bitmaps, struct leat_error *err)
{
    struct leat_column_info info = LEAT_COLUMN_INFO_INIT;
    enum leat_status s = column_open_part(&f->column, d, part, like->name, err);

    if (s != LEAT_OK)
        return s;
    leat_column_info(f->column, &info);
    if (info.type != like->type || info.width != like->width || info.at != like->at)
        return status_set_in(err, LEAT_E_INCOMPATIBLE, f->column->values.path,
                             "column %s is %sx%u%s in the plan's first dataset, but %sx%u%s in %s: all of a plan must "
                             "be alike",
                             like->name, leat_column_type_name(like->type), like->width,
                             like->at ? " per document" : "", leat_column_type_name(info.type), info.width,
                             info.at ? " per document" : "", dataset_part(d, part)->name);
    return add_file(g, f, &f->column->bytes, bitmaps, err);
}

static enum leat_status add_files(struct gather *g, const struct leat_plan *plan, uint64_t source,
                                  const struct gather_columns *columns, uint64_t *bitmaps, struct leat_error *err)
{
    const struct leat_dataset *d = dataset_of(plan, source);
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < d->part_count; i++) {
        struct gather_file *f = &g->files[g->first_file[source] + i];

        s = add_file(g, f, dataset_part(d, i), bitmaps, err);
        for (uint32_t k = 0; s == LEAT_OK && k < columns->count; k++) {
            f += g->token_files;
            s = add_column(g, f, d, i, &columns->columns[k], bitmaps, err);
        }
    }
    return s;
}

enum leat_status gather_open(struct gather *g, const struct leat_plan *plan, const struct gather_columns *columns,
                             bool in_stretches, enum leat_engine wanted, bool verify, bool threaded, uint64_t max_bytes,
                             struct leat_error *err)
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
    g->in_stretches = in_stretches;
    s = count_files(g, plan, info.sources, columns->count, err);
    for (uint32_t i = 0; i < g->file_count && g->files; i++)
        g->files[i].direct = -1;
    for (uint64_t i = 0; s == LEAT_OK && i < info.sources; i++)
        s = add_files(g, plan, i, columns, &bitmaps, err);
    if (s == LEAT_OK)
        s = gather_worker_open(&g->worker, g, err);
    if (s != LEAT_OK)
        return s;
    gather_choose(g);
    for (uint32_t i = 0; i < g->file_count; i++)
        file_map_bring(g->files[i].map);
    return LEAT_OK;
}

void gather_start(struct gather *g, const atomic_bool *stop, struct gate *gate)
{
    g->gate = gate;
    gather_worker_start(&g->worker, stop);
    g->started = true;
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
    counter_bump(&g->worker.read_bytes, done.read_bytes);
    counter_bump(&g->worker.pages_verified, done.pages_verified);
    counter_bump(&g->worker.copied, done.copied);
    counter_bump(&g->worker.busy_ns, done.pool_ns);
    atomic_store(&g->counters.max_in_flight, atomic_load(&from->counters.max_in_flight));
}

int gather_share(struct gather *g, unsigned threads, int node)
{
    return gather_pool_open(&g->pool, g, threads, node);
}

void gather_set_urgent(struct gather *g, bool urgent)
{
    gather_pool_set_urgent(g->pool, urgent);
}

void gather_stop(struct gather *g)
{
    gather_pool_stop(g->pool);
    for (int e = 1; e < GATHER_ENGINE_COUNT; e++)
        if (engines[e]->close)
            engines[e]->close(g);
    if (g->started)
        gather_worker_stop(&g->worker);
    g->started = false;
    g->gate = NULL;
}

void gather_forget(struct gather *g)
{
    gather_pool_forget(g->pool);
    g->reader = NULL;
    g->uring = NULL;
    g->warm = NULL;
}

struct gather_done gather_done(const struct gather *g)
{
    struct gather_done d = { .pool_ns = 0 };

    for (unsigned i = 0;; i++) {
        const struct gather_worker *w = i == 0   ? &g->worker
                                        : i == 1 ? &g->reader_worker
                                                 : gather_pool_worker(g->pool, i - 2);

        if (!w)
            return d;
        d.read_bytes += counter_value(&w->read_bytes);
        d.pages_verified += counter_value(&w->pages_verified);
        d.copied += counter_value(&w->copied);
        d.pool_ns += counter_value(&w->busy_ns);
    }
}

void gather_count_caches(const struct gather *g, struct cache_counts *counts)
{
    for (uint32_t i = 0; i < g->file_count && g->has_holes; i++)
        file_map_count(g->files[i].map, counts);
}

void gather_close(struct gather *g)
{
    gather_stop(g);
    gather_pool_close(g->pool);
    g->pool = NULL;
    warm_close(g->warm);
    g->warm = NULL;
    for (uint32_t i = 0; i < g->file_count && g->files; i++) {
        if (g->files[i].map)
            gather_release(g, &g->files[i]);
        free(g->files[i].verified);
        free(g->files[i].populated);
        file_close(&g->files[i].direct);
        leat_column_close(g->files[i].column);
    }
    free(g->files);
    free(g->first_file);
    gather_worker_close(&g->worker);
    gather_worker_close(&g->reader_worker);
    g->files = NULL;
    g->first_file = NULL;
}

bool gather_works_ahead(const struct gather *g)
{
    if (g->has_holes || gather_pool_wants(g->pool))
        return true;
    for (int e = 1; e < GATHER_ENGINE_COUNT; e++)
        if (engines[e]->begin && atomic_load_explicit(&g->in_use[e], memory_order_relaxed) > 0)
            return true;
    return false;
}

/* Reads a piece if the page cache has it; false: it does not. */
static bool read_cached(struct gather *g, struct gather_file *f, struct gather_piece *p)
{
#if defined(RWF_NOWAIT)
    uint64_t begin = gather_span_begin(p), end = gather_span_end(f, p);
    struct iovec to = { p->span ? p->span : g->worker.scratch, (size_t)(end - begin) };

    if ((!p->span && end - begin > GATHER_SCRATCH) || f->resident < 0.02)
        return false;
    /* newer kernels (6.18 does) start to read what such a read finds missing: in addition to the engine's own reads,
     * that took a third of a disk's requests */
    if (residency_lacks(f->map->fd, f->offset + begin, end - begin))
        return false;
    if (preadv2(f->map->fd, &to, 1, (off_t)(f->offset + begin), RWF_NOWAIT) != (ssize_t)(end - begin))
        return false;
    if (gather_must_verify(f, begin, end) ? gather_verify(&g->worker, f, begin, end, to.iov_base, NULL) != LEAT_OK
                                          : gather_shrank(f))
        return false; /* plain reads find the reason */
    gather_copy_out(&g->worker, p, begin, end, to.iov_base);
    counter_bump(&g->worker.read_bytes, end - begin);
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

/* Returns true if all that a piece needs is here; what is not will be fetched, and gather_finish() waits for it. Until
 * the job ends, it stays. */
static bool is_here(struct gather_file *f, struct gather_piece *p)
{
    uint64_t begin = gather_span_begin(p), count = gather_span_end(f, p) - begin;

    if (!f->has_holes)
        return true;
    p->held = file_map_hold(f->map, f->offset + begin, count, 1, NULL, NULL) == LEAT_OK;
    return p->held && file_map_announce(f->map, f->offset + begin, count, true);
}

bool gather_announce_far(struct gather *g, const struct gather_piece *p)
{
    struct gather_file *f = &g->files[p->file];
    struct warm_stretch all = { f->map->fd, f->offset + p->offset, p->bytes, f->network };

    if (!f->has_holes)
        return !g->warm || f->hot || warm_add(g->warm, &all);
    gather_announce(g, p);
    return true;
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
        p->shared = g->pool && p->bytes > 0 && p->engine->copy && !g->files[p->file].has_holes;
        if (p->shared) {
            shared += p->bytes;
            job->cold |= !g->files[p->file].hot;
        }
    }
    if (g->uring_refused)
        gather_without_uring(g);
    gather_leave(&g->worker);
    for (int e = 1; e < GATHER_ENGINE_COUNT; e++)
        if (engines[e]->begin_job)
            engines[e]->begin_job(g, job);
    if (shared > 0)
        gather_pool_offer(g->pool, job, shared);
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

/* Waits until the pool has finished its part of the job; returns true if it has copied the piece. */
static bool is_copied(struct gather *g, struct gather_job *job, const struct gather_piece *p)
{
    if (!job->offered)
        return false;
    if (!job->awaited) {
        uint64_t began = clock_ns();

        gather_pool_await(g->pool, job);
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
    bool made = is_copied(g, job, p);
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
    engine = engines[f->engine]; /* of now, which may differ from when the job was begun */
    s = engine->copy && engine != last ? gather_copy_piece(&g->worker, engine, job, piece, job->count, err)
                                       : LEAT_E_NOT_MAPPED;
    if (s == LEAT_E_NOT_MAPPED) {
        uint64_t began = f->hot ? 0 : clock_ns();

        s = last->copy(&g->worker, f, p, err);
        g->server_failed |= s == LEAT_E_IO && f->network && err && err->os_error != EIO;
        if (!f->hot)
            counter_bump(&g->counters.storage_ns, clock_ns() - began);
    }
    if (f->hot)
        counter_bump(&g->counters.hits, 1);
    p->state = GATHER_DONE;
    return s;
}

void gather_end(struct gather *g, struct gather_job *job)
{
    gather_pool_end(g->pool, job);
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
    gather_leave(&g->worker);
}
