/*
 * verify.c: everything there is to check, in one pass over both files, by several threads.
 *
 * The work is cut into tasks that know nothing of each other: 16 MiB of the token file, with the directory entries and
 * document starts that belong to it, or 16 MiB of a section. All hashes are sums over pages, so each task adds its own
 * pages. At the end the sums are compared, and the small records are checked by one thread (verify_records.c).
 */
#include "verify.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/tiny.h"

#define TASK_BYTES   TINY_OR((uint64_t)128 << 10, (uint64_t)16 << 20)
#define TASK_CHUNKS  (TASK_BYTES / FORMAT_CHUNK_BYTES)
#define BUFFER_BYTES TINY_OR((uint64_t)4 << 10, (uint64_t)256 << 10) /* stays in the second-level cache while hashed */
#define STARTS       (BUFFER_BYTES / FORMAT_ORIGIN_BYTES + 1)
#define WALK_STARTS  TINY_OR(3u, 2048u) /* fetched at once while walking along the tokens: about a task's worth */
#define MAX_THREADS  1024u

/* A thread's own. */
struct worker {
    struct verify *v;
    const uint8_t *bytes; /* the piece that is looked at: in a window of the file, or in `buffer` */
    uint8_t *buffer;
    uint64_t *starts;
    struct leat_error err;
};

/* ---- Damage ---- */

void verify_note(struct verify *v, enum leat_status status, const struct leat_error *why, uint64_t rank)
{
    pthread_mutex_lock(&v->lock);
    if (v->status == LEAT_OK || rank < v->rank) {
        v->status = status;
        v->first = *why;
        v->rank = rank;
    }
    v->report->damaged_others++;
    if (!verify_is_damage(status)) /* a disk that fails, a lack of memory */
        v->stopped = true;
    pthread_mutex_unlock(&v->lock);
}

static void note_page(struct worker *w, uint64_t page)
{
    struct verify *v = w->v;
    uint64_t document, documents;
    enum leat_status s = part_damaged_page(v->part, page, &document, &documents, &w->err);

    pthread_mutex_lock(&v->lock);
    v->report->damaged_pages++;
    if (v->status == LEAT_OK || VERIFY_RANK_PAGES + page < v->rank) {
        v->status = s;
        v->first = w->err;
        v->rank = VERIFY_RANK_PAGES + page;
    }
    if (v->report->part == LEAT_NONE || (v->report->part == v->part_number && page < v->report->page)) {
        v->report->part = v->part_number;
        v->report->page = page;
        v->report->first_document = document == LEAT_NONE ? LEAT_NONE : v->part->first_document + document;
        v->report->documents = documents;
    }
    pthread_mutex_unlock(&v->lock);
}

/* ---- A stretch of a file, piece by piece ---- */

static uint64_t task_bytes(uint64_t size, uint64_t task)
{
    uint64_t left = size - task * TASK_BYTES;

    return left < TASK_BYTES ? left : TASK_BYTES;
}

struct stretch {
    struct file_map *file;
    uint64_t offset;
    struct file_window window;
    bool mapped;
};

static struct stretch open_stretch(struct file_map *file, uint64_t offset, uint64_t bytes)
{
    struct stretch s = { .file = file, .offset = offset };

    s.mapped = bytes > 0 && file_window_open(&s.window, file, offset, bytes) == LEAT_OK;
    return s;
}

static void close_stretch(struct stretch *s)
{
    if (s->mapped)
        file_window_close(&s->window, s->file);
}

/* Sets w->bytes to `count` bytes, at `at` in the stretch. */
static enum leat_status load_piece(struct worker *w, const struct stretch *s, uint64_t at, uint64_t count)
{
    if (s->mapped) {
        w->bytes = s->window.bytes + at;
        return LEAT_OK;
    }
    w->bytes = w->buffer;
    return file_map_read(s->file, s->offset + at, w->buffer, count, &w->err);
}

/* ---- Tokens ---- */

static uint64_t token_at(const struct part *p, const uint8_t *bytes, uint64_t i)
{
    return p->header.token_width == 2 ? bytes_load16(bytes + 2 * i) : bytes_load32(bytes + 4 * i);
}

/* The pages of one buffer: hash by hash against the pages section; their sum is added to *sum. */
static enum leat_status check_hashes(struct worker *w, uint64_t offset, uint64_t count, struct hash128 *sum)
{
    struct part *p = w->v->part;
    uint32_t found[BUFFER_BYTES / FORMAT_PAGE_BYTES], stored[BUFFER_BYTES / FORMAT_PAGE_BYTES];
    uint64_t page = offset / FORMAT_PAGE_BYTES, pages = bytes_pieces(count, FORMAT_PAGE_BYTES);
    enum leat_status s = part_section(p, FORMAT_PAGES, 4 * page, stored, 4 * pages, &w->err);

    if (s != LEAT_OK)
        return s;
    p->kernels->pages(sum, w->bytes, (size_t)count, page, found);
    for (uint64_t i = 0; i < pages; i++)
        if (found[i] != bytes_le32(stored[i]))
            note_page(w, page + i);
    return LEAT_OK;
}

/* The first id of the buffer, if any, that is not below the vocabulary size. */
static enum leat_status check_ids(struct worker *w, uint64_t first, uint64_t count)
{
    const struct part *p = w->v->part;
    const struct format_header *h = &p->header;
    uint64_t i = 0;

    if (h->token_width == 2 && h->vocabulary == 65536)
        return LEAT_OK;
    if ((h->token_width == 2 ? p->kernels->max16(w->bytes, (size_t)count)
                             : p->kernels->max32(w->bytes, (size_t)count)) < h->vocabulary)
        return LEAT_OK;
    while (token_at(p, w->bytes, i) < h->vocabulary)
        i++;
    return status_set_at(&w->err, LEAT_E_TOKEN, (first + i) * h->token_width,
                         "token %llu of %s is %llu, not below the vocabulary size %llu; write the dataset again",
                         (unsigned long long)(first + i), p->tokens.path, (unsigned long long)token_at(p, w->bytes, i),
                         (unsigned long long)h->vocabulary);
}

/* A cursor over the document starts that fetches them a block at a time, and what the directory says on the way. */
struct walk {
    uint64_t number;       /* of the start under the cursor */
    uint64_t first, count; /* of the block in w->starts */
    uint64_t before;       /* the start before the one under the cursor; 0 before the first */
    uint64_t chunk, last;  /* the chunks of this task whose entries are still to be checked */
    uint64_t entries[TASK_CHUNKS];
    uint64_t first_chunk;
};

/* The start under the cursor, whose number must be at most `documents`. */
static enum leat_status walk_start(struct worker *w, struct walk *k, uint64_t *start)
{
    enum leat_status s = LEAT_OK;

    if (k->number - k->first >= k->count) {
        uint64_t left = w->v->part->header.documents + 1 - k->number;

        k->first = k->number;
        k->count = left < WALK_STARTS ? left : WALK_STARTS;
        s = part_starts(w->v->part, k->first, k->count, w->starts, &w->err);
    }
    if (s == LEAT_OK)
        *start = w->starts[k->number - k->first];
    return s;
}

static enum leat_status wrong_border(struct worker *w, uint64_t document, uint64_t token, const char *what)
{
    return status_set_at(&w->err, LEAT_E_TOKEN, token * w->v->part->header.token_width,
                         "document %llu of %s %s (token %llu of the file); write the dataset again",
                         (unsigned long long)document, w->v->part->name, what, (unsigned long long)token);
}

static enum leat_status wrong_entry(struct worker *w, uint64_t chunk)
{
    const struct part *p = w->v->part;

    return status_set_at(&w->err, LEAT_E_DOCUMENTS, p->header.sections[FORMAT_DIRECTORY].offset + 8 * chunk,
                         "%s: entry %llu of its directory is not the first document that begins at or after token "
                         "%llu; write the dataset again",
                         p->index.path, (unsigned long long)chunk,
                         (unsigned long long)(chunk * (FORMAT_CHUNK_BYTES / p->header.token_width)));
}

/* Entries of chunks that begin at or before `start`, the start under the cursor, must name it: the one before it lies
 * before them. Where no document begins any more the entry is `documents`, whose start is the end of the tokens. */
static enum leat_status check_entries(struct worker *w, struct walk *k, uint64_t start)
{
    uint64_t chunk_tokens = FORMAT_CHUNK_BYTES / w->v->part->header.token_width;

    for (; k->chunk < k->last && k->chunk * chunk_tokens <= start; k->chunk++)
        if (bytes_le64(k->entries[k->chunk - k->first_chunk]) != k->number)
            return wrong_entry(w, k->chunk);
    return LEAT_OK;
}

/* Puts the cursor on the first document that begins at or after the first chunk, which the directory names. */
static enum leat_status begin_walk(struct worker *w, struct walk *k, uint64_t chunk, uint64_t count)
{
    struct part *p = w->v->part;
    uint64_t first = chunk * (FORMAT_CHUNK_BYTES / p->header.token_width), starts[2] = { 0, 0 };
    enum leat_status s = part_section(p, FORMAT_DIRECTORY, 8 * chunk, k->entries, 8 * count, &w->err);

    if (s != LEAT_OK)
        return s;
    k->first_chunk = k->chunk = chunk;
    k->last = chunk + count;
    k->number = bytes_le64(k->entries[0]);
    if (k->number > p->header.documents)
        return wrong_entry(w, chunk);
    s = k->number == 0 ? part_starts(p, 0, 1, starts + 1, &w->err) : part_starts(p, k->number - 1, 2, starts, &w->err);
    k->before = starts[0];
    if (s == LEAT_OK && (starts[1] < first || (k->number > 0 && starts[0] >= first)))
        return wrong_entry(w, chunk);
    return s;
}

/*
 * Moves the cursor over documents in which all is well at a glance: they begin strictly inside [first, last), which is
 * in w->bytes, and before the next directory entry, and have their begin and end tokens. What is not so
 * plain is left to check_borders(). With 500 tokens a document this takes a tenth of the time of verifying instead of
 * a fifth.
 */
static void skip_plain(struct worker *w, struct walk *k, uint64_t first, uint64_t last)
{
    const struct part *p = w->v->part;
    const struct format_header *h = &p->header;
    bool begins = h->begin_token != LEAT_NONE, ends = h->end_token != LEAT_NONE;
    uint64_t chunk_start = k->chunk * (FORMAT_CHUNK_BYTES / h->token_width);
    uint64_t stop = k->chunk < k->last && chunk_start < last ? chunk_start : last;
    uint64_t before = k->before > first ? k->before : first, i = k->number - k->first;

    for (; i < k->count; i++) {
        uint64_t start = w->starts[i];

        if (start < before || (start == before && (begins || ends)) || start >= stop ||
            (begins && ends && start - before < 2) ||
            (ends && token_at(p, w->bytes, start - 1 - first) != h->end_token) ||
            (begins && token_at(p, w->bytes, start - first) != h->begin_token))
            break;
        before = start;
    }
    if (k->number < k->first + i) {
        k->number = k->first + i;
        k->before = before;
    }
}

/*
 * The tokens [first, first + count) are in w->bytes. Documents that end in (first, first + count] must end with the
 * end token, those that begin in [first, first + count) begin with the begin token. The cursor stands on the first
 * start that is not below `first`; it is left on the first one not below first + count, or behind all of them.
 */
static enum leat_status check_borders(struct worker *w, struct walk *k, uint64_t first, uint64_t count)
{
    const struct format_header *h = &w->v->part->header;
    uint64_t last = first + count, start = 0;
    uint64_t fixed = (h->end_token != LEAT_NONE) + (h->begin_token != LEAT_NONE);

    for (; k->number <= h->documents; k->number++, k->before = start) {
        enum leat_status s;

        skip_plain(w, k, first, last);
        s = walk_start(w, k, &start);
        if (s != LEAT_OK)
            return s;
        if (start < k->before || start < first)
            return status_set(&w->err, LEAT_E_DOCUMENTS,
                              "document %llu of %s begins before the one before it; write the dataset again",
                              (unsigned long long)k->number, w->v->part->name);
        if ((s = check_entries(w, k, start)) != LEAT_OK)
            return s;
        if (start > first && start <= last && start > k->before && h->end_token != LEAT_NONE &&
            token_at(w->v->part, w->bytes, start - 1 - first) != h->end_token)
            return wrong_border(w, k->number - 1, start - 1, "does not end with the end-of-document token");
        if (start <= last && k->number > 0 && start - k->before < fixed)
            return wrong_border(w, k->number - 1, start,
                                fixed == 2 ? "is too short for its begin and end token"
                                           : "is empty: its begin or end token is missing");
        if (start >= last && last < h->tokens)
            return LEAT_OK; /* its begin is in the next buffer */
        if (k->number < h->documents && start < last && h->begin_token != LEAT_NONE &&
            token_at(w->v->part, w->bytes, start - first) != h->begin_token)
            return wrong_border(w, k->number, start, "does not begin with the begin token");
    }
    return LEAT_OK;
}

/* One piece of tokens at byte `offset` of the file: its pages, its ids, the documents that end or begin in it. What is
 * wrong with the documents ends only the checks that go by them. */
static enum leat_status check_piece(struct worker *w, struct walk *walk, uint64_t offset, uint64_t bytes,
                                    struct hash128 *sum, enum leat_status *documents)
{
    uint32_t width = w->v->part->header.token_width;
    uint64_t first = offset / width, count = bytes / width, rank = offset / FORMAT_PAGE_BYTES;
    enum leat_status s = check_hashes(w, offset, bytes, sum);

    if (s != LEAT_OK)
        return s;
    if ((s = check_ids(w, first, count)) != LEAT_OK)
        verify_note(w->v, s, &w->err, VERIFY_RANK_TOKENS + rank);
    if (*documents == LEAT_OK && (*documents = check_borders(w, walk, first, count)) != LEAT_OK)
        verify_note(w->v, *documents, &w->err, VERIFY_RANK_DOCUMENTS + rank);
    return LEAT_OK;
}

static void check_tokens(struct worker *w, uint64_t task)
{
    struct part *p = w->v->part;
    uint64_t offset = task * TASK_BYTES, bytes = task_bytes(p->tokens.size, task);
    uint64_t rank = offset / FORMAT_PAGE_BYTES;
    struct hash128 sum = { 0, 0 };
    struct walk walk = { 0 };
    enum leat_status s = LEAT_OK, documents;
    struct stretch stretch;

    documents = begin_walk(w, &walk, task * TASK_CHUNKS, bytes_pieces(bytes, FORMAT_CHUNK_BYTES));
    if (documents != LEAT_OK)
        verify_note(w->v, documents, &w->err, VERIFY_RANK_DOCUMENTS + rank);
    stretch = open_stretch(&p->tokens, offset, bytes);
    for (uint64_t at = 0; s == LEAT_OK && at < bytes; at += BUFFER_BYTES) {
        uint64_t here = bytes - at < BUFFER_BYTES ? bytes - at : BUFFER_BYTES;

        s = load_piece(w, &stretch, at, here);
        if (s == LEAT_OK)
            s = check_piece(w, &walk, offset + at, here, &sum, &documents);
    }
    close_stretch(&stretch);
    if (s != LEAT_OK)
        verify_note(w->v, s, &w->err, rank);
    pthread_mutex_lock(&w->v->lock);
    checksum_add(&w->v->token_sum, sum);
    pthread_mutex_unlock(&w->v->lock);
}

/* ---- Sections ---- */

/* Numbers that must not fall, over the block and against the one before it. */
static enum leat_status check_rising(struct worker *w, const struct verify_area *a, uint64_t at, uint64_t count)
{
    uint64_t before = 0;
    enum leat_status s = at == 0 ? LEAT_OK : part_section(w->v->part, a->kind, at - 8, &before, 8, &w->err);

    before = bytes_le64(before);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i += 8) {
        uint64_t value = bytes_load64(w->bytes + i);

        if (value < before)
            return status_set_at(
                &w->err, a->kind == FORMAT_DOCUMENTS ? LEAT_E_DOCUMENTS : LEAT_E_RECORD, a->place.offset + at + i,
                "%s: entry %llu of its %s section is less than the one "
                "before it; write the dataset again",
                w->v->part->index.path, (unsigned long long)((at + i) / 8), format_section_name(a->kind));
        before = value;
    }
    return s;
}

static void count_documents(struct verify *v, uint64_t input, uint64_t documents, uint64_t tokens)
{
    if (input < v->inputs && documents > 0) {
        atomic_fetch_add_explicit(&v->counts[input].documents, documents, memory_order_relaxed);
        atomic_fetch_add_explicit(&v->counts[input].tokens, tokens, memory_order_relaxed);
    }
}

static uint64_t input_of(const struct worker *w, uint64_t i)
{
    return bytes_load64(w->bytes + FORMAT_ORIGIN_BYTES * i + 8);
}

/* Counts the documents [first, first + n), whose origins are in w->bytes, by input. Mostly they are all of one, and
 * then only the ends of the range are fetched. */
static enum leat_status count_origins(struct worker *w, uint64_t first, uint64_t n)
{
    uint64_t run = 0, same = 1; /* the first document of a run from one input */
    enum leat_status s;

    while (same < n && input_of(w, same) == input_of(w, 0))
        same++;
    if (same == n) {
        if ((s = part_starts(w->v->part, first, 1, w->starts, &w->err)) == LEAT_OK &&
            (s = part_starts(w->v->part, first + n, 1, w->starts + 1, &w->err)) == LEAT_OK)
            count_documents(w->v, input_of(w, 0), n, w->starts[1] - w->starts[0]);
        return s;
    }
    s = part_starts(w->v->part, first, n + 1, w->starts, &w->err);
    for (uint64_t i = 1; s == LEAT_OK && i <= n; i++)
        if (i == n || input_of(w, i) != input_of(w, run)) {
            count_documents(w->v, input_of(w, run), i - run, w->starts[i] - w->starts[run]);
            run = i;
        }
    return s;
}

/* Origins name inputs that exist, and do not fall where they are said not to. */
static enum leat_status check_origins(struct worker *w, const struct verify_area *a, uint64_t at, uint64_t count)
{
    uint64_t first = at / FORMAT_ORIGIN_BYTES, n = count / FORMAT_ORIGIN_BYTES, last[2] = { 0, 0 };
    bool ordered = a->place.flags & FORMAT_ORDERED;
    enum leat_status s = LEAT_OK;

    if (at > 0)
        s = part_section(w->v->part, FORMAT_ORIGINS, at - FORMAT_ORIGIN_BYTES, last, sizeof last, &w->err);
    last[0] = bytes_le64(last[0]);
    last[1] = bytes_le64(last[1]);
    for (uint64_t i = 0; s == LEAT_OK && i < n; i++) {
        uint64_t offset = bytes_load64(w->bytes + FORMAT_ORIGIN_BYTES * i), input = input_of(w, i);
        const char *wrong = NULL;

        if (input != LEAT_NONE && input >= w->v->inputs)
            wrong = "names an input that does not exist";
        else if (ordered && (input < last[1] || (input == last[1] && offset < last[0])))
            wrong = "lies before the one before it, and they are said to be in order";
        if (wrong)
            return status_set_at(&w->err, LEAT_E_RECORD, a->place.offset + at + FORMAT_ORIGIN_BYTES * i,
                                 "%s: the origin of document %llu %s; write the dataset again", w->v->part->index.path,
                                 (unsigned long long)(first + i), wrong);
        last[0] = offset;
        last[1] = input;
    }
    return s == LEAT_OK ? count_origins(w, first, n) : s;
}

/* One task of a section. Whether its bytes or only their meaning is wrong shows in the sum, which goes on. */
static void check_section(struct worker *w, struct verify_area *a, uint64_t task)
{
    uint64_t begin = task * TASK_BYTES, bytes = task_bytes(a->place.bytes, task);
    struct stretch stretch = open_stretch(&w->v->part->index, a->place.offset + begin, bytes);
    struct hash128 sum = { 0, 0 };
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0; at < bytes && (s == LEAT_OK || verify_is_damage(s)); at += BUFFER_BYTES) {
        uint64_t here = bytes - at < BUFFER_BYTES ? bytes - at : BUFFER_BYTES, from = begin + at;

        s = load_piece(w, &stretch, at, here);
        if (s == LEAT_OK) {
            w->v->part->kernels->pages(&sum, w->bytes, (size_t)here, from / CHECKSUM_PAGE, NULL);
            if (a->kind == FORMAT_DOCUMENTS || a->kind == FORMAT_ID_ENDS)
                s = check_rising(w, a, from, here);
            else if (a->kind == FORMAT_ORIGINS)
                s = check_origins(w, a, from, here);
        }
        if (s != LEAT_OK && a->kind == FORMAT_ORIGINS)
            atomic_store(&w->v->uncounted, true);
        if (s != LEAT_OK)
            verify_note(w->v, s, &w->err, verify_is_damage(s) ? VERIFY_RANK_RECORDS + a->place.offset + from : from);
    }
    close_stretch(&stretch);
    pthread_mutex_lock(&w->v->lock);
    checksum_add(&a->sum, sum);
    pthread_mutex_unlock(&w->v->lock);
}

/* ---- Threads ---- */

/* The next task, or false; on the way what the last one did is counted. */
static bool next_task(struct verify *v, uint64_t done, uint64_t *task)
{
    bool go_on;

    pthread_mutex_lock(&v->lock);
    v->report->bytes += done;
    if (!v->stopped && v->options->progress &&
        v->options->progress(v->options->context, v->report->bytes, v->total) != 0) {
        v->stopped = true;
        v->status = status_set(&v->first, LEAT_E_STATE, "verifying %s was stopped", v->part->name);
        v->rank = 0;
    }
    go_on = !v->stopped && v->next_task < v->tasks;
    *task = v->next_task;
    v->next_task += go_on;
    pthread_mutex_unlock(&v->lock);
    return go_on;
}

static uint64_t run_task(struct worker *w, uint64_t task)
{
    struct verify *v = w->v;

    if (task < v->token_tasks) {
        check_tokens(w, task);
        return task_bytes(v->part->tokens.size, task);
    }
    task -= v->token_tasks;
    for (unsigned i = 0; i < v->area_count; i++) {
        uint64_t tasks = bytes_pieces(v->areas[i].place.bytes, TASK_BYTES);

        if (task < tasks) {
            check_section(w, &v->areas[i], task);
            return task_bytes(v->areas[i].place.bytes, task);
        }
        task -= tasks;
    }
    return 0;
}

static void *work(void *context)
{
    struct worker w = { .v = context };
    uint64_t task, done = 0;

    w.buffer = malloc(BUFFER_BYTES);
    w.starts = malloc(STARTS * sizeof *w.starts);
    if (!w.buffer || !w.starts)
        verify_note(w.v, status_no_memory(&w.err, BUFFER_BYTES), &w.err, 0);
    else
        while (next_task(w.v, done, &task))
            done = run_task(&w, task);
    free(w.buffer);
    free(w.starts);
    return NULL;
}

static unsigned usable_cpus(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    return count > 0 ? (unsigned)count : 1;
}

/* This thread works too, so that threads that cannot be made only cost time. */
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
    const struct format_header *h = &v->part->header;

    for (unsigned kind = 1; kind < FORMAT_KINDS; kind++)
        if (h->sections[kind].present)
            v->areas[v->area_count++] = (struct verify_area) { .kind = kind, .place = h->sections[kind] };
    for (unsigned i = 0; i < h->other_count; i++)
        v->areas[v->area_count++] = (struct verify_area) { .kind = 0, .place = h->others[i] };
    v->token_tasks = bytes_pieces(v->part->tokens.size, TASK_BYTES);
    v->tasks = v->token_tasks;
    for (unsigned i = 0; i < v->area_count; i++)
        v->tasks += bytes_pieces(v->areas[i].place.bytes, TASK_BYTES);
}

static enum leat_status verify_part(const struct leat_dataset *d, uint64_t number, uint64_t total, unsigned threads,
                                    const struct leat_verify_options *options, struct leat_verify_report *report,
                                    struct leat_error *err)
{
    struct verify v = {
        .part = &d->parts[number],
        .dataset = d,
        .part_number = number,
        .total = total,
        .report = report,
        .options = options,
        .inputs = d->parts[number].header.sections[FORMAT_INPUTS].entries,
    };

    if (v.inputs < SIZE_MAX / sizeof *v.counts)
        v.counts = calloc((size_t)v.inputs + 1, sizeof *v.counts);
    if (!v.counts)
        return status_no_memory(err, v.inputs);
    pthread_mutex_init(&v.lock, NULL);
    list_areas(&v);
    run(&v, threads);
    if (!v.stopped)
        verify_records(&v);
    pthread_mutex_destroy(&v.lock);
    free(v.counts);
    if (v.status != LEAT_OK && err)
        *err = v.first;
    return v.status;
}

enum leat_status leat_dataset_verify(const struct leat_dataset *d, const struct leat_verify_options *options,
                                     struct leat_verify_report *report, struct leat_error *err)
{
    struct leat_verify_options all = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_verify_report full = { .part = LEAT_NONE, .page = LEAT_NONE, .first_document = LEAT_NONE };
    enum leat_status status = LEAT_OK;
    struct leat_error why;
    uint64_t total = 0;

    if (options)
        struct_give(&all, sizeof all, options, options->size < sizeof all ? options->size : sizeof all);
    if (all.threads == 0)
        all.threads = usable_cpus();
    if (all.threads > MAX_THREADS)
        all.threads = MAX_THREADS;
    for (uint64_t i = 0; i < d->part_count; i++)
        total += d->parts[i].tokens.size + d->parts[i].index.size;
    for (uint64_t i = 0; i < d->part_count; i++) {
        enum leat_status s = verify_part(d, i, total, all.threads, &all, &full, &why);

        if (s != LEAT_OK && status == LEAT_OK) {
            status = s;
            if (err)
                *err = why;
        }
        if (s != LEAT_OK && !verify_is_damage(s))
            break;
    }
    if (report)
        struct_give(report, report->size, &full, sizeof full);
    return status;
}
