/*
 * verify.c: checks everything, in one pass over both files, by several threads.
 *
 * The work is cut into independent tasks: 16 MiB of the token file, with the directory entries and document starts that
 * belong to it, or 16 MiB of a section. All hashes are sums over pages, so each task adds its own pages. This file has
 * the threads and what they share; verify_tokens.c and verify_sections.c do a task. At the end one thread compares the
 * sums and checks the small records (verify_records.c).
 */
#include "verify.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/options.h"
#include "base/status.h"
#include "base/thread.h"
#include "dataset/dataset.h"

#define MAX_THREADS 1024u

/* ---- Damage ---- */

/* Called under the lock. */
static void keep_first(struct verify *v, enum leat_status status, const struct leat_error *why, uint64_t rank)
{
    if (v->status == LEAT_OK || rank < v->rank) {
        v->status = status;
        v->first = *why;
        v->rank = rank;
    }
}

void verify_note(struct verify *v, enum leat_status status, const struct leat_error *why, uint64_t rank)
{
    pthread_mutex_lock(&v->lock);
    keep_first(v, status, why, rank);
    v->report->damaged_others++;
    v->found.damaged_others++;
    if (!verify_is_damage(status, why)) /* a failing disk, no memory */
        v->stopped = true;
    pthread_mutex_unlock(&v->lock);
}

void verify_note_page(struct verify_worker *w, uint64_t page, const struct leat_error *why)
{
    struct verify *v = w->v;
    uint64_t document, documents;
    struct leat_error made;
    enum leat_status s = part_damaged_page(v->part, page, &document, &documents, &made);

    pthread_mutex_lock(&v->lock);
    v->found.damaged_pages++;
    v->report->damaged_pages++;
    keep_first(v, s, why ? why : &made, VERIFY_RANK_PAGES + page);
    if (v->found.page == LEAT_NONE || page < v->found.page) {
        v->found.page = page;
        v->found.first_document = document;
        v->found.documents = documents;
    }
    if (v->report->part == LEAT_NONE || (v->report->part == v->part_number && page < v->report->page)) {
        v->report->part = v->part_number;
        v->report->page = page;
        v->report->first_document = document == LEAT_NONE ? LEAT_NONE : v->part->first_document + document;
        v->report->documents = documents;
    }
    pthread_mutex_unlock(&v->lock);
}

/* ---- A stretch of a file, chunk by chunk ---- */

struct verify_stretch verify_open_stretch(const struct verify_worker *w, struct file_map *file, uint64_t offset,
                                          uint64_t bytes)
{
    struct verify_stretch s = { .file = file, .offset = offset };

    s.mapped = bytes > 0 && w->maps && file_window_open(&s.window, file, offset, bytes) == LEAT_OK;
    return s;
}

void verify_close_stretch(struct verify_stretch *s)
{
    if (s->mapped)
        file_window_close(&s->window, s->file);
}

enum leat_status verify_load_chunk(struct verify_worker *w, const struct verify_stretch *s, uint64_t at, uint64_t count)
{
    if (s->mapped) {
        w->bytes = s->window.bytes + at;
        return LEAT_OK;
    }
    w->bytes = w->buffer;
    return file_map_read(s->file, s->offset + at, w->buffer, count, &w->err);
}

/* ---- Threads ---- */

/* Gives the next task, or false; also counts what the last one did. */
static bool next_task(struct verify *v, uint64_t done, uint64_t *task)
{
    bool go_on;

    pthread_mutex_lock(&v->lock);
    v->report->bytes += done;
    if (!v->stopped && v->options->progress &&
        v->options->progress(v->options->context, v->report->bytes, v->total) != 0) {
        v->stopped = true;
        v->status = status_set(&v->first, LEAT_E_STOPPED, "verifying %s was stopped", v->part->name);
        v->rank = 0;
    }
    go_on = !v->stopped && v->next_task < v->tasks;
    *task = v->next_task;
    v->next_task += go_on;
    pthread_mutex_unlock(&v->lock);
    return go_on;
}

static uint64_t run_task(struct verify_worker *w, uint64_t task)
{
    struct verify *v = w->v;
    struct verify_area *a = v->areas;

    if (task < v->token_tasks) {
        verify_tokens(w, task);
        return verify_task_bytes(v->part->data.bytes, task);
    }
    task -= v->token_tasks;
    for (uint64_t tasks; task >= (tasks = bytes_divide_up(a->place.bytes, VERIFY_TASK_BYTES)); a++)
        task -= tasks;
    verify_section(w, a, task);
    return verify_task_bytes(a->place.bytes, task);
}

/* A map is the faster way where the page cache holds a file in large pages, on ext4, by a tenth to a half. In pages of
 * 4 KiB, as on a tmpfs and in files that were written in small pieces, reading is two to three times as fast as making
 * their page tables. So two tasks try both; not the first, for which a thread's memory is new. */
static uint64_t run_timed(struct verify_worker *w, uint64_t task)
{
    struct verify *v = w->v;
    uint64_t mapped = atomic_load(&v->mapped_ns), read = atomic_load(&v->read_ns), began = clock_ns(), done;

    w->maps = task == VERIFY_BY_MAP || (mapped > 0 && mapped < read);
    done = run_task(w, task);
    if (task == VERIFY_BY_MAP)
        atomic_store(&v->mapped_ns, clock_ns() - began);
    else if (task == VERIFY_BY_MAP + 1 && task < v->token_tasks)
        atomic_store(&v->read_ns, clock_ns() - began);
    return done;
}

static void *work(void *context)
{
    struct verify_worker w = { .v = context };
    uint64_t task, done = 0;

    w.buffer = file_buffer(VERIFY_BUFFER_BYTES);
    w.starts = malloc(VERIFY_STARTS * sizeof *w.starts);
    if (!w.buffer || !w.starts)
        verify_note(w.v, status_no_memory(&w.err, VERIFY_BUFFER_BYTES), &w.err, 0);
    else
        while (next_task(w.v, done, &task))
            done = run_timed(&w, task);
    free(w.buffer);
    free(w.starts);
    return NULL;
}

/* This thread works too, so threads that cannot be started only cost time. */
static void run(struct verify *v, unsigned threads)
{
    pthread_t ids[MAX_THREADS];
    unsigned made = 0;

    if (threads > v->tasks)
        threads = v->tasks > 0 ? (unsigned)v->tasks : 1;
    while (made + 1 < threads && pthread_create(&ids[made], NULL, work, v) == 0)
        made++;
    work(v);
    for (unsigned i = 0; i < made; i++)
        pthread_join(ids[i], NULL);
}

static void list_areas(struct verify *v)
{
    const struct format_place *place;
    unsigned kind;

    while ((place = part_place_number(v->part, v->area_count, &kind)) != NULL)
        v->areas[v->area_count++] = (struct verify_area) { .kind = kind, .place = *place };
    if (!v->options->index_only) /* without tokens there may still be documents */
        v->token_tasks = v->part->data.bytes > 0 ? bytes_divide_up(v->part->data.bytes, VERIFY_TASK_BYTES) : 1;
    v->tasks = v->token_tasks;
    for (unsigned i = 0; i < v->area_count; i++)
        v->tasks += bytes_divide_up(v->areas[i].place.bytes, VERIFY_TASK_BYTES);
}

static enum leat_status verify_part(const struct leat_dataset *d, uint64_t number, uint64_t total, unsigned threads,
                                    const struct leat_verify_options *options, struct leat_verify_report *report,
                                    struct leat_error *err)
{
    struct verify v = {
        .part = dataset_part(d, number),
        .part_number = number,
        .total = total,
        .report = report,
        .options = options,
        .inputs = dataset_part(d, number)->inputs,
        .found = { sizeof v.found, number, 0, 0, LEAT_NONE, LEAT_NONE, 0 },
    };

    if (v.inputs < SIZE_MAX / sizeof *v.counts)
        v.counts = calloc((size_t)v.inputs + 1, sizeof *v.counts);
    if (!v.counts)
        return status_no_memory(err, v.inputs);
    pthread_mutex_init(&v.lock, NULL);
    list_areas(&v);
    run(&v, threads);
    if (!v.stopped && v.part->index)
        verify_records(&v);
    pthread_mutex_destroy(&v.lock);
    free(v.counts);
    if (options->damaged && v.found.damaged_pages + v.found.damaged_others > 0)
        options->damaged(options->context, &v.found);
    if (v.status != LEAT_OK && err)
        *err = v.first;
    return v.status;
}

/* Of the files that are checked. */
static uint64_t bytes_of(const struct part *p, bool index_only)
{
    return (index_only ? 0 : p->data.bytes) + (p->index ? p->index->file.size : 0);
}

enum leat_status leat_dataset_verify(const struct leat_dataset *d, const struct leat_verify_options *options,
                                     struct leat_verify_report *report, struct leat_error *err)
{
    struct leat_verify_options all = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_verify_report full = { .part = LEAT_NONE, .page = LEAT_NONE, .first_document = LEAT_NONE };
    enum leat_status status = LEAT_OK;
    struct leat_error why;
    uint64_t total = 0;

    status = options_read(&all, sizeof all, NULL, options, "leat_verify_options", err);
    if (status != LEAT_OK)
        return status;
    if (all.threads == 0)
        all.threads = thread_cpus();
    if (all.threads > MAX_THREADS)
        all.threads = MAX_THREADS;
    for (uint64_t i = 0; i < d->part_count; i++) {
        const struct part *p = dataset_part(d, i);

        total += bytes_of(p, all.index_only);
        full.unhashed_parts += p->data.bytes > 0 && !p->hashes.file;
    }
    for (uint64_t i = 0; i < d->part_count; i++) {
        enum leat_status s = verify_part(d, i, total, all.threads, &all, &full, &why);

        if (s != LEAT_OK && status == LEAT_OK) {
            status = s;
            if (err)
                *err = why;
        }
        if (s != LEAT_OK && !verify_is_damage(s, &why))
            break;
    }
    if (report)
        options_fill(report, &full, sizeof full);
    return status;
}
