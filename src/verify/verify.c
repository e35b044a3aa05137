/*
 * verify.c: checks everything, in one pass over both files, by several threads.
 *
 * The work is cut into independent tasks: 16 MiB of the token file, with the directory entries and document starts that
 * belong to it, or 16 MiB of a section. All hashes are sums over pages, so each task adds its own pages. This file has
 * the threads and the tasks of sections; verify_tokens.c has those of tokens; verify_share.c is for both. At the end
 * one thread compares the sums and checks the small records.
 */
#include "verify.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/options.h"
#include "base/status.h"
#include "base/thread.h"
#include "column/column.h"
#include "dataset/dataset.h"
#include "format/format.h"
#include "private.h"

/* ---- Sections ---------------------------------------------------------------------------------------------------- */

/* Verifies a section of the index in one task: its pages' sum, and the rules of those sections in which no sum finds
 * mistakes: document starts, id ends, lines, origins. */

/* Checks that numbers never fall, neither within the block nor from the number before it. */
static enum leat_status check_rising(struct verify_worker *w, const struct verify_area *a, uint64_t at, uint64_t count)
{
    uint64_t before = 0;
    enum leat_status s = at == 0 ? LEAT_OK : part_section(w->v->part, a->kind, at - 8, &before, 8, &w->err);

    before = bytes_le64(before);
    for (uint64_t i = 0; s == LEAT_OK && i < count; i += 8) {
        uint64_t value = bytes_load64(w->bytes + i);

        if (value < before)
            return status_set_at(&w->err, a->kind == FORMAT_DOCUMENTS ? LEAT_E_DOCUMENTS : LEAT_E_RECORD,
                                 w->v->part->index->file.path, a->place.offset + at + i,
                                 "%s: entry %" PRIu64
                                 " of its %s section is less than the previous one; write the dataset again",
                                 w->v->part->index->file.path, (at + i) / 8, format_section_name(a->kind));
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

static uint64_t input_of(const struct verify_worker *w, uint64_t i)
{
    return bytes_load64(w->bytes + FORMAT_ORIGIN_BYTES * i + 8);
}

/* Counts documents [first, first + n) by input; their origins are in w->bytes. Mostly all come from one input, and
 * then only the ends of the range are fetched. */
static enum leat_status count_origins(struct verify_worker *w, uint64_t first, uint64_t n)
{
    uint64_t run = 0, same = 1; /* the first document of a run from one input */
    enum leat_status s;

    while (same < n && input_of(w, same) == input_of(w, 0))
        same++;
    if (same == n) {
        s = part_starts(w->v->part, first, 1, w->starts, &w->err);
        if (s == LEAT_OK)
            s = part_starts(w->v->part, first + n, 1, w->starts + 1, &w->err);
        if (s == LEAT_OK)
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

/* Checks that origins name existing inputs, and never fall if the index says so. */
static enum leat_status check_origins(struct verify_worker *w, const struct verify_area *a, uint64_t at, uint64_t count)
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
            wrong = "lies before the previous one, although its index says that they are in order";
        if (wrong)
            return status_set_at(&w->err, LEAT_E_RECORD, w->v->part->index->file.path,
                                 a->place.offset + at + FORMAT_ORIGIN_BYTES * i,
                                 "%s: the origin of document %" PRIu64 " %s; write the dataset again",
                                 w->v->part->index->file.path, first + i, wrong);
        last[0] = offset;
        last[1] = input;
    }
    return s == LEAT_OK ? count_origins(w, first, n) : s;
}

/* Checks that line numbers count from 1. */
static enum leat_status check_lines(struct verify_worker *w, const struct verify_area *a, uint64_t at, uint64_t count)
{
    for (uint64_t i = 0; i < count; i += 8)
        if (bytes_load64(w->bytes + i) == 0)
            return status_set_at(&w->err, LEAT_E_RECORD, w->v->part->index->file.path, a->place.offset + at + i,
                                 "%s: the line of document %" PRIu64
                                 " is 0, but lines count from 1; write the dataset again",
                                 w->v->part->index->file.path, (at + i) / 8);
    return LEAT_OK;
}

/* Checks the pages' hashes that a mask has beside its sum. */
static enum leat_status check_mask(struct verify_worker *w, const struct verify_area *a, uint64_t at, uint64_t count)
{
    uint32_t found[VERIFY_BUFFER_BYTES / CHECKSUM_PAGE], stored[VERIFY_BUFFER_BYTES / CHECKSUM_PAGE];
    uint64_t page = at / CHECKSUM_PAGE, pages = bytes_divide_up(count, CHECKSUM_PAGE);
    enum leat_status s = part_section(w->v->part, FORMAT_MASK_PAGES, 4 * page, stored, 4 * pages, &w->err);
    struct hash128 sum = { 0, 0 };

    w->v->part->kernels->pages(&sum, w->bytes, (size_t)count, page, found);
    for (uint64_t i = 0; s == LEAT_OK && i < pages; i++)
        if (found[i] != bytes_le32(stored[i]))
            return status_set_at(&w->err, LEAT_E_CHECKSUM, w->v->part->index->file.path,
                                 a->place.offset + at + i * CHECKSUM_PAGE,
                                 "%s: page %" PRIu64 " of its mask does not match its hash; %s",
                                 w->v->part->index->file.path, page + i, part_remedy(w->v->part, false));
    return s;
}

/* Does one task of a section. The sum shows whether its bytes are wrong or only their meaning, so it goes on after a
 * mistake. */
static void verify_section(struct verify_worker *w, struct verify_area *a, uint64_t task)
{
    uint64_t begin = task * VERIFY_TASK_BYTES, bytes = verify_task_bytes(a->place.bytes, task);
    struct verify_stretch stretch = verify_open_stretch(w, &w->v->part->index->file, a->place.offset + begin, bytes);
    struct hash128 sum = { 0, 0 };
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0; at < bytes && (s == LEAT_OK || verify_is_damage(s, &w->err)); at += VERIFY_BUFFER_BYTES) {
        uint64_t here = bytes - at < VERIFY_BUFFER_BYTES ? bytes - at : VERIFY_BUFFER_BYTES, from = begin + at;

        s = verify_load_chunk(w, &stretch, at, here);
        if (s == LEAT_OK) {
            w->v->part->kernels->pages(&sum, w->bytes, (size_t)here, from / CHECKSUM_PAGE, NULL);
            if (a->kind == FORMAT_DOCUMENTS || a->kind == FORMAT_ID_ENDS)
                s = check_rising(w, a, from, here);
            else if (a->kind == FORMAT_LINES)
                s = check_lines(w, a, from, here);
            else if (a->kind == FORMAT_MASK)
                s = check_mask(w, a, from, here);
            else if (a->kind == FORMAT_ORIGINS)
                s = check_origins(w, a, from, here);
        }
        if (s != LEAT_OK && a->kind == FORMAT_ORIGINS)
            atomic_store(&w->v->uncounted, true);
        if (s != LEAT_OK)
            verify_note(w->v, s, &w->err,
                        verify_is_damage(s, &w->err) ? VERIFY_RANK_RECORDS + a->place.offset + from : from);
    }
    verify_close_stretch(&stretch);
    pthread_mutex_lock(&w->v->lock);
    checksum_add(&a->sum, sum);
    pthread_mutex_unlock(&w->v->lock);
}

/* ---- What is small, or needs all results ------------------------------------------------------------------------- */

/* Makes the checks that are small or need all threads' results: sums, padding between sections, inputs against what
 * was counted, the tokenizer and metadata records. */

/* Notes a failure. A failure to read has a lower rank than all damage. */
static void note(struct verify *v, enum leat_status s, const struct leat_error *why, uint64_t offset)
{
    if (s != LEAT_OK)
        verify_note(v, s, why, verify_is_damage(s, why) ? VERIFY_RANK_RECORDS + offset : offset);
}

static void check_sums(struct verify *v)
{
    struct leat_error why;

    for (unsigned i = 0; i < v->area_count; i++) {
        const struct verify_area *a = &v->areas[i];

        if (!checksum_equal(a->sum, a->place.sum))
            verify_note(v,
                        status_set_at(&why, LEAT_E_CHECKSUM, v->part->index->file.path, a->place.offset,
                                      "the %s section of %s (bytes %" PRIu64 " to %" PRIu64
                                      ") is damaged: its checksum does not match; %s",
                                      format_section_name(a->kind), v->part->index->file.path, a->place.offset,
                                      a->place.offset + a->place.bytes, part_remedy(v->part, false)),
                        &why, VERIFY_RANK_SUMS + a->place.offset);
    }
    /* this says more than the pages do only if the pages section is sound */
    if (!v->index_only && v->found.damaged_pages == 0 &&
        !checksum_equal(v->token_sum, v->part->index->header.token_sum))
        verify_note(v,
                    status_set_at(&why, LEAT_E_CHECKSUM, v->part->data.file->path, 0,
                                  "%s is damaged: the sum of its page hashes does not match its index, although the "
                                  "short hash of each page does; %s",
                                  v->part->data.file->path, part_remedy(v->part, true)),
                    &why, VERIFY_RANK_PAGES);
}

/* Checks that the bytes between one section and the next are zero. */
static void check_padding(struct verify *v)
{
    uint8_t bytes[FORMAT_ALIGNMENT];
    struct leat_error why;

    for (unsigned i = 0; i < v->area_count; i++) {
        uint64_t end = v->areas[i].place.offset + v->areas[i].place.bytes, next = format_align(end);
        enum leat_status s;

        if (end == v->part->index->file.size || next > v->part->index->file.size)
            continue; /* the last one */
        s = file_map_read(&v->part->index->file, end, bytes, next - end, &why);
        if (s == LEAT_OK && !bytes_all_zero(bytes, next - end))
            s = status_set_at(&why, LEAT_E_SECTION, v->part->index->file.path, end,
                              "%s: the bytes after its %s section are not zero: it is damaged; %s",
                              v->part->index->file.path, format_section_name(v->areas[i].kind),
                              part_remedy(v->part, false));
        note(v, s, &why, end);
    }
}

static void check_inputs(struct verify *v)
{
    uint64_t paths = 0, path_bytes = part_place(v->part, FORMAT_INPUT_PATHS)->bytes;
    uint64_t section = part_place(v->part, FORMAT_INPUTS)->offset;
    uint8_t record[FORMAT_INPUT_BYTES];
    struct records_input input;
    struct leat_error why;

    for (uint64_t i = 0; i <= v->inputs; i++) {
        uint64_t at = FORMAT_INPUT_BYTES * i;
        const char *wrong = NULL;

        if (i < v->inputs) {
            enum leat_status s = part_section(v->part, FORMAT_INPUTS, at, record, sizeof record, &why);

            if (s != LEAT_OK) {
                note(v, s, &why, section + at);
                return;
            }
            records_load_input(&input, record);
            if (input.path_offset != paths || !bytes_inside(paths, input.path_bytes, path_bytes))
                wrong = "its path does not follow the previous one";
            else if (!atomic_load(&v->uncounted) &&
                     (input.documents != v->counts[i].documents || input.tokens != v->counts[i].tokens))
                wrong = "its number of documents or tokens does not match the origins";
            paths += input.path_bytes;
        } else if (paths != path_bytes) {
            wrong = "the paths do not end with the path of the last input";
        }
        if (wrong) {
            status_set_at(&why, LEAT_E_RECORD, v->part->index->file.path, section + at,
                          "%s: input %" PRIu64 " is invalid: %s; write the dataset again", v->part->index->file.path, i,
                          wrong);
            note(v, LEAT_E_RECORD, &why, section + at);
            return;
        }
    }
}

/* Checks that the ids end where their section does. */
static void check_id_ends(struct verify *v)
{
    const struct format_place *ends = part_place(v->part, FORMAT_ID_ENDS);
    const struct format_place *ids = part_place(v->part, FORMAT_IDS);
    struct leat_error why;
    uint64_t last = 0;
    enum leat_status s = LEAT_OK;

    if (!ends->present)
        return;
    if (ends->entries > 0)
        s = part_section(v->part, FORMAT_ID_ENDS, 8 * (ends->entries - 1), &last, 8, &why);
    if (s == LEAT_OK && bytes_le64(last) != ids->bytes)
        s = status_set_at(&why, LEAT_E_RECORD, v->part->index->file.path, ends->offset,
                          "%s: the id of the last document does not end with the ids section; write the dataset again",
                          v->part->index->file.path);
    note(v, s, &why, ends->offset);
}

/* Checks the stored records by reading them whole: the first part's tokenizer and any part's metadata. */
static void check_stored(struct verify *v)
{
    struct leat_dataset alone = { .parts = v->part, .part_count = 1 };
    struct leat_stored_tokenizer *tokenizer;
    struct leat_metadata *metadata;
    struct leat_error why;
    enum leat_status s;

    if (part_has(v->part, FORMAT_TOKENIZER)) {
        s = leat_dataset_tokenizer(&alone, &tokenizer, &why);
        leat_stored_tokenizer_free(tokenizer);
        note(v, s, &why, part_place(v->part, FORMAT_TOKENIZER)->offset);
    }
    s = leat_dataset_metadata(&alone, 0, &metadata, &why);
    leat_metadata_free(metadata);
    note(v, s, &why, part_place(v->part, FORMAT_METADATA)->offset);
}

/* Makes the checks after the threads: the sums, the padding, inputs, tokenizer and metadata. */
static void verify_records(struct verify *v)
{
    check_sums(v);
    check_padding(v);
    check_inputs(v);
    check_id_ends(v);
    check_stored(v);
    v->report->bytes += v->part->index->file.size;
    for (unsigned i = 0; i < v->area_count; i++)
        v->report->bytes -= v->areas[i].place.bytes; /* the tasks have counted these bytes */
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

static uint32_t column_progress(void *context, uint64_t bytes)
{
    struct verify *v = context;

    v->report->bytes += bytes;
    return v->options->progress ? v->options->progress(v->options->context, v->report->bytes, v->total) : 0;
}

/* Verifies the columns of a part, one after another, in the calling thread. */
static void verify_columns(struct verify *v, const struct leat_dataset *d, struct column_folder *folder)
{
    struct column_names found;
    struct leat_error why;
    enum leat_status s = column_search_part(folder, d, v->part_number, &found, &why);

    note(v, s, &why, 0);
    for (size_t i = 0; !v->stopped && i < found.count; i++) {
        struct leat_column *c;

        s = column_open_part(&c, d, v->part_number, found.names[i], &why);
        if (s == LEAT_OK)
            s = column_verify(c, column_progress, v, &why);
        if (s != LEAT_OK)
            verify_note(v, s, &why, verify_is_damage(s, &why) ? VERIFY_RANK_COLUMNS + i : 0);
        leat_column_close(c);
    }
    column_names_free(&found);
}

/* Adds the bytes of all columns to *total, for the progress; none if one is damaged, which verifying it reports. */
static enum leat_status add_bytes_of_columns(const struct leat_dataset *d, uint64_t *total, struct leat_error *err)
{
    struct leat_columns *columns = NULL;
    struct leat_error why;
    enum leat_status s = leat_dataset_columns(d, &columns, &why);

    for (uint64_t i = 0; columns && i < columns->count; i++)
        *total += columns->columns[i].bytes;
    leat_columns_free(columns);
    if (s == LEAT_OK || verify_is_damage(s, &why))
        return LEAT_OK;
    if (err)
        *err = why;
    return s;
}

/* ---- The threads ------------------------------------------------------------------------------------------------- */

#define MAX_THREADS 1024u

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

/*
 * Times two tasks, one that maps the file and one that reads it. A map is faster if the page cache holds a file in
 * large pages, on ext4, by a tenth to a half. In pages of 4 KiB, as on a tmpfs and in files that were written in
 * small pieces, reading is two to three times as fast as making their page tables. The first task is not timed,
 * since a thread's memory is new for it.
 */
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

static void *verify_in_thread(void *context)
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

/* Runs the threads. This thread works, too, so if threads cannot be started it only takes longer. */
static void run_threads(struct verify *v, unsigned threads)
{
    pthread_t ids[MAX_THREADS];
    unsigned made = 0;

    if (threads > v->tasks)
        threads = v->tasks > 0 ? (unsigned)v->tasks : 1;
    while (made + 1 < threads && pthread_create(&ids[made], NULL, verify_in_thread, v) == 0)
        made++;
    verify_in_thread(v);
    for (unsigned i = 0; i < made; i++)
        pthread_join(ids[i], NULL);
}

static void list_areas(struct verify *v)
{
    const struct format_place *place;
    unsigned kind;

    while ((place = part_place_number(v->part, v->area_count, &kind)) != NULL)
        v->areas[v->area_count++] = (struct verify_area) { .kind = kind, .place = *place };
    if (!v->index_only) /* a dataset without tokens may still have documents */
        v->token_tasks = v->part->data.bytes > 0 ? bytes_divide_up(v->part->data.bytes, VERIFY_TASK_BYTES) : 1;
    v->tasks = v->token_tasks;
    for (unsigned i = 0; i < v->area_count; i++)
        v->tasks += bytes_divide_up(v->areas[i].place.bytes, VERIFY_TASK_BYTES);
}

static enum leat_status verify_part(const struct leat_dataset *d, struct column_folder *folder, uint64_t number,
                                    uint64_t total, bool index_only, const struct leat_verify_options *options,
                                    struct leat_verify_report *report, struct leat_error *err)
{
    struct verify v = {
        .part = dataset_part(d, number),
        .part_number = number,
        .total = total,
        .report = report,
        .options = options,
        .index_only = index_only,
        .inputs = dataset_part(d, number)->inputs,
        .found = { sizeof v.found, number, 0, 0, LEAT_NONE, LEAT_NONE, 0 },
    };

    if (v.inputs < SIZE_MAX / sizeof *v.counts)
        v.counts = calloc((size_t)v.inputs + 1, sizeof *v.counts);
    if (!v.counts)
        return status_no_memory(err, v.inputs);
    pthread_mutex_init(&v.lock, NULL);
    list_areas(&v);
    run_threads(&v, options->threads);
    if (!v.stopped && v.part->index)
        verify_records(&v);
    if (!v.stopped && !index_only)
        verify_columns(&v, d, folder);
    pthread_mutex_destroy(&v.lock);
    free(v.counts);
    if (options->damaged && v.found.damaged_pages + v.found.damaged_others > 0)
        options->damaged(options->context, &v.found);
    if (v.status != LEAT_OK && err)
        *err = v.first;
    return v.status;
}

/* Returns the bytes of the files that are checked. */
static uint64_t bytes_of(const struct part *p, bool index_only)
{
    return (index_only ? 0 : p->data.bytes) + (p->index ? p->index->file.size : 0);
}

static enum leat_status verify_all(const struct leat_dataset *d, bool index_only,
                                   const struct leat_verify_options *options, struct leat_verify_report *report,
                                   struct leat_error *err)
{
    static const struct options_reserved reserved[] = { OPTIONS_RESERVED(leat_verify_options, reserved), { 0, 0 } };
    struct leat_verify_options all = LEAT_VERIFY_OPTIONS_INIT;
    struct leat_verify_report full = { .part = LEAT_NONE, .page = LEAT_NONE, .first_document = LEAT_NONE };
    struct column_folder folder = { .path = NULL };
    enum leat_status status = LEAT_OK;
    struct leat_error why;
    uint64_t total = 0;

    status = options_read(&all, sizeof all, reserved, options, "leat_verify_options", err);
    if (status != LEAT_OK)
        return status;
    if (all.threads == 0)
        all.threads = thread_cpus();
    if (all.threads > MAX_THREADS)
        all.threads = MAX_THREADS;
    for (uint64_t i = 0; i < d->part_count; i++) {
        const struct part *p = dataset_part(d, i);

        total += bytes_of(p, index_only);
        full.unhashed_parts += p->data.bytes > 0 && !p->hashes.file;
    }
    if (!index_only)
        status = add_bytes_of_columns(d, &total, err);
    if (status != LEAT_OK)
        return status;
    for (uint64_t i = 0; i < d->part_count; i++) {
        enum leat_status s = verify_part(d, &folder, i, total, index_only, &all, &full, &why);

        if (s != LEAT_OK && status == LEAT_OK) {
            status = s;
            if (err)
                *err = why;
        }
        if (s != LEAT_OK && !verify_is_damage(s, &why))
            break;
    }
    column_folder_free(&folder);
    if (report)
        options_fill(report, &full, sizeof full);
    return status;
}

enum leat_status leat_dataset_verify(const struct leat_dataset *d, const struct leat_verify_options *options,
                                     struct leat_verify_report *report, struct leat_error *err)
{
    return verify_all(d, false, options, report, err);
}

enum leat_status leat_dataset_verify_index(const struct leat_dataset *d, const struct leat_verify_options *options,
                                           struct leat_error *err)
{
    return verify_all(d, true, options, NULL, err);
}
