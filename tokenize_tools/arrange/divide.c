/*
 * divide.c: writes a dataset for each value of a field.
 *
 * A run packs all values into one dataset, which is divided here. So packing has one writer, whose checkpoints do not
 * cost more for many values; shares of a run may lack values; and the number of values is checked before anything is
 * divided. The price is to read and write the tokens once more.
 *
 * First all ids are read, to find the values; then the documents, once for each AT_ONCE values, whose writers are open
 * at one time, each with its files and its memory. Then merge_documents() shuffles, deduplicates or splits value by
 * value: each dataset is the one that packing its records alone with these options makes. All of this happens in a
 * folder (by_stage.h); at the end the datasets get their names.
 */
#include "divide.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/file.h"
#include "base/status.h"
#include "base/tiny.h"
#include "join_facts.h"
#include "merge_documents.h"
#include "outputs.h"
#include "splits/by_stage.h"
#include "splits/by_values.h"

/* Values whose datasets are written at the same time, if there is memory for them, and the process may open so many
 * files. */
#define AT_ONCE      TINY_OR((size_t)3, (size_t)64)
#define WRITER_BYTES ((uint64_t)4 << 20)
#define INPUT_BYTES  ((uint64_t)256) /* memory that each writer takes per input */
#define WRITER_FILES 10u             /* files that a writer keeps open */
#define OTHER_FILES  10u             /* files that are open beside the writers for a moment */

struct division {
    const struct leat_merge_options *options;
    const char *field;
    struct merge_parts *parts;
    struct by_values values;
    struct by_stage stage;
    size_t each;             /* datasets per value: its splits, then the rest */
    struct leat_info *infos; /* one per dataset */
    struct pace pace;
    uint64_t arranging; /* bytes that arranging the present value adds to the bytes that are done */
    uint64_t deduplicated;
};

enum leat_status divide_field(const struct merge_parts *parts, const char **field, struct leat_error *err)
{
    *field = parts->count > 0 ? merge_parts_metadata(&parts->items[0], BY_METADATA_IDS) : NULL;
    for (size_t i = 1; i < parts->count; i++) {
        const char *other = merge_parts_metadata(&parts->items[i], BY_METADATA_IDS);

        if (!other != !*field || (other && strcmp(other, *field) != 0))
            return status_set_in(
                err, LEAT_E_INCOMPATIBLE, parts->items[0].name,
                "%.300s and %.300s cannot be joined: the documents of one are to be divided by \"%.100s\", "
                "those of the other %s%.100s%s",
                parts->items[0].name, parts->items[i].name, *field ? *field : other,
                *field && other ? "by \"" : "are not", *field && other ? other : "", *field && other ? "\"" : "");
    }
    return LEAT_OK;
}

static bool arranges(const struct leat_merge_options *o)
{
    return o->shuffle || o->dedup || o->split_count > 0;
}

/* ---- Values ---- */

/* Takes a document's value off its id, and sets *at to the value's place. */
static enum leat_status take_value(struct division *d, struct document *document, bool add, size_t *at,
                                   struct leat_error *err)
{
    struct leat_origin *o = &document->origin;
    size_t bytes = by_values_before(o->id, o->id_bytes);
    enum leat_status s = LEAT_OK;
    bool is_new;

    if (bytes == SIZE_MAX)
        return status_set(err, LEAT_E_RECORD, "document %" PRIu64 " has no value to divide it by", document->number);
    if (add)
        s = by_values_add(&d->values, o->id, d->field, document->number + 1, at, &is_new, err);
    else
        *at = by_values_find(&d->values, o->id);
    if (s == LEAT_OK && *at == d->values.count)
        return status_set(err, LEAT_E_MISMATCH,
                          "document %" PRIu64 " has another value than when the values were counted", document->number);
    o->id += bytes + 1;
    o->id_bytes -= bytes + 1;
    return s;
}

/* Reads all documents. Adds their values if `add` is true; copies the documents with the values from `first` on to
 * `outputs`, unless it is NULL. */
static enum leat_status each_document(struct division *d, bool add, struct outputs *outputs, size_t first,
                                      struct leat_error *err)
{
    struct document_reader reader;
    struct document document;
    bool more = true;
    size_t at = 0;
    enum leat_status s =
        document_reader_open(&reader, d->parts, outputs ? &outputs->queue.helpers : NULL, &d->pace, err);

    while (s == LEAT_OK) {
        s = document_reader_next(&reader, &document, &more, err);
        if (s != LEAT_OK || !more)
            break;
        s = take_value(d, &document, add, &at, err);
        if (s == LEAT_OK && outputs && at >= first && at - first < outputs->count)
            s = outputs_copy(outputs, at - first, &document, &reader, err);
        if (s == LEAT_OK)
            s = pace_step(&d->pace, 0, err);
    }
    document_reader_close(&reader);
    return s;
}

/* ---- Datasets ---- */

static enum leat_status add_names(struct division *d, struct leat_error *err)
{
    const struct leat_merge_options *o = d->options;
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < d->values.count; i++) {
        struct by_name name;

        by_values_name(&d->values, i, &name);
        for (size_t k = 0; s == LEAT_OK && k < d->each; k++) {
            char all[BY_NAME_BYTES + 80];

            snprintf(all, sizeof all, "%s%s%s", name.text, k + 1 < d->each ? "." : "",
                     k + 1 < d->each ? o->splits[k].name : "");
            s = by_stage_add(&d->stage, all, o->force, err);
        }
    }
    return s;
}

/* Returns the name of the dataset that gets the rest of value i's documents. */
static const char *name_of(const struct division *d, size_t i)
{
    return d->stage.items[i * d->each + d->each - 1].name;
}

static enum leat_status set_metadata(struct division *d, struct outputs *outputs, size_t first, struct leat_error *err)
{
    enum leat_status s = join_metadata(d->parts, outputs, err);
    char count[24];

    snprintf(count, sizeof count, "%zu", d->values.count);
    if (s == LEAT_OK)
        s = outputs_set_metadata(outputs, BY_METADATA_IDS, NULL, err);
    if (s == LEAT_OK)
        s = outputs_set_metadata(outputs, BY_METADATA, d->field, err);
    if (s == LEAT_OK)
        s = outputs_set_metadata(outputs, BY_METADATA_VALUES, count, err);
    for (size_t i = 0; s == LEAT_OK && i < outputs->count; i++)
        s = leat_writer_set_metadata(outputs->items[i].writer, BY_METADATA_VALUE, d->values.items[first + i], err);
    return s;
}

/* Returns the path at which a value's documents are collected: that of the value's dataset, or that of a dataset
 * which is still to be arranged. */
static char *collected(const struct division *d, size_t i)
{
    return by_stage_path(&d->stage, name_of(d, i), arranges(d->options) ? ".packed" : "");
}

/* Writes the datasets of `count` values. */
static enum leat_status write_values(struct division *d, size_t first, size_t count, struct leat_error *err)
{
    struct leat_merge_options options = *d->options;
    struct leat_info infos[AT_ONCE];
    struct outputs outputs = { 0 };
    char *names[AT_ONCE] = { NULL };
    enum leat_status s = LEAT_OK;

    options.force = 0; /* in the folder */
    for (size_t i = 0; i < count; i++)
        infos[i] = (struct leat_info)LEAT_INFO_INIT;
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        names[i] = collected(d, first + i);
        s = names[i] ? LEAT_OK : status_no_memory(err, BY_NAME_BYTES);
    }
    if (s == LEAT_OK)
        s = outputs_open_each(&outputs, names, count, d->parts, &options, err);
    if (s == LEAT_OK)
        s = join_inputs(d->parts, &outputs, err);
    if (s == LEAT_OK)
        s = each_document(d, false, &outputs, first, err);
    if (s == LEAT_OK)
        s = set_metadata(d, &outputs, first, err);
    if (s == LEAT_OK)
        s = outputs_finish(&outputs, infos, &infos[count - 1], &d->pace, err);
    for (size_t i = 0; i < count; i++) {
        d->infos[(first + i) * d->each + d->each - 1] = infos[i];
        free(names[i]);
    }
    outputs_abandon(&outputs);
    return s;
}

/* ---- Arranging ---- */

static uint32_t on_progress(void *context, uint64_t done, uint64_t total)
{
    const struct division *d = context;
    uint64_t here = total > 0 ? (uint64_t)((double)d->arranging * ((double)done / (double)total)) : 0;

    return d->pace.progress ? d->pace.progress(d->pace.context, d->pace.done + here, d->pace.total) : 0;
}

static enum leat_status arrange_value(struct division *d, size_t i, struct leat_error *err)
{
    struct leat_merge_options options = *d->options;
    struct leat_merge_report report = LEAT_MERGE_REPORT_INIT;
    struct pace pace = { .progress = on_progress, .context = d };
    struct merge_parts parts = { 0 };
    char *packed = collected(d, i), *name = by_stage_path(&d->stage, name_of(d, i), "");
    char *index = by_stage_path(&d->stage, name_of(d, i), ".packed.leat");
    char *tokens = by_stage_path(&d->stage, name_of(d, i), ".packed.tokens");
    enum leat_status s = LEAT_OK;

    options.force = 0;
    d->arranging = d->infos[i * d->each + d->each - 1].token_bytes * (options.shuffle ? 2 : 1);
    report.splits = &d->infos[i * d->each];
    report.info = &d->infos[i * d->each + d->each - 1];
    if (packed && name && index && tokens)
        s = merge_parts_open(&parts, (const char *const *)&packed, 1, err);
    else
        s = status_no_memory(err, BY_NAME_BYTES);
    if (s == LEAT_OK)
        s = merge_documents(name, false, &parts, &options, &pace, &report, err);
    merge_parts_close(&parts);
    if (s == LEAT_OK)
        s = file_remove(index, err);
    if (s == LEAT_OK)
        s = file_remove(tokens, err);
    d->deduplicated += report.deduplicated;
    d->pace.done += d->arranging;
    free(packed);
    free(name);
    free(index);
    free(tokens);
    return s;
}

/* ---- The whole ---- */

/* Returns the number of writers for which the process may still open files. */
static uint64_t writers_to_open(void)
{
    DIR *d = opendir("/proc/self/fd");
    uint64_t used = OTHER_FILES;
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0)
        files.rlim_cur = RLIM_INFINITY;
    for (; d && readdir(d); used++)
        ;
    if (d)
        closedir(d);
    return files.rlim_cur > used ? (files.rlim_cur - used) / WRITER_FILES : 0;
}

/* Returns the number of values to write in one pass: at least one, however little memory and few files there are. */
static size_t values_at_once(const struct division *d)
{
    uint64_t cost = WRITER_BYTES, by_memory, most = writers_to_open();

    for (size_t i = 0; i < d->parts->count; i++)
        cost += d->parts->items[i].inputs * INPUT_BYTES;
    by_memory = d->options->memory / cost;
    most = by_memory < most ? by_memory : most;
    return most < 1 ? 1 : most < AT_ONCE ? (size_t)most : AT_ONCE;
}

static enum leat_status write_all(struct division *d, struct leat_error *err)
{
    size_t at_once = values_at_once(d), count = d->values.count;
    uint64_t passes = (count + at_once - 1) / at_once, arranging = d->options->shuffle ? 2 : arranges(d->options);
    enum leat_status s = LEAT_OK;

    d->pace.done = d->pace.bytes = 0; /* the progress does not include counting the values */
    d->pace.total = d->parts->token_bytes * (passes + arranging);
    for (size_t first = 0; s == LEAT_OK && first < count; first += at_once)
        s = write_values(d, first, count - first < at_once ? count - first : at_once, err);
    for (size_t i = 0; s == LEAT_OK && arranges(d->options) && i < count; i++)
        s = arrange_value(d, i, err);
    return s == LEAT_OK ? by_stage_commit(&d->stage, d->options->force, err) : s;
}

static void report_all(struct division *d, struct leat_merge_report *report)
{
    report->documents = d->parts->documents;
    report->deduplicated = d->deduplicated;
    for (size_t i = 0; i < d->stage.count; i++) {
        size_t split = i % d->each;
        struct leat_by_output output = { .name = d->stage.items[i].final,
                                         .value = d->values.items[i / d->each],
                                         .split = split + 1 < d->each ? d->options->splits[split].name : NULL,
                                         .info = &d->infos[i] };

        if (report->info) {
            report->info->documents += d->infos[i].documents;
            report->info->tokens += d->infos[i].tokens;
            report->info->token_bytes += d->infos[i].token_bytes;
            report->info->index_bytes += d->infos[i].index_bytes;
        }
        if (d->options->output)
            d->options->output(d->options->context, &output);
    }
}

static enum leat_status make_infos(struct division *d, struct leat_error *err)
{
    size_t count = d->values.count * d->each;

    d->infos = calloc(count + 1, sizeof *d->infos); /* the count may be 0 */
    if (!d->infos)
        return status_no_memory(err, count * sizeof *d->infos);
    for (size_t i = 0; i < count; i++)
        d->infos[i] = (struct leat_info)LEAT_INFO_INIT;
    return LEAT_OK;
}

enum leat_status divide(const char *output, struct merge_parts *parts, const char *field,
                        const struct leat_merge_options *options, struct leat_merge_report *report,
                        struct leat_error *err)
{
    struct division d = { .options = options,
                          .field = field,
                          .parts = parts,
                          .each = (size_t)options->split_count + 1,
                          .pace = { .progress = options->progress, .context = options->context } };
    enum leat_status s = by_stage_open(&d.stage, output, err);

    if (s == LEAT_OK)
        s = each_document(&d, true, NULL, 0, err);
    if (s == LEAT_OK)
        s = add_names(&d, err);
    if (s == LEAT_OK)
        s = make_infos(&d, err);
    if (s == LEAT_OK)
        s = write_all(&d, err);
    if (s == LEAT_OK)
        report_all(&d, report);
    by_stage_close(&d.stage);
    by_values_free(&d.values);
    free(d.infos);
    return s;
}
