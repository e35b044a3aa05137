/*
 * part_shuffle.c: the steps in which the parts of a run are shuffled together: see leat_part_counts() in leat_pack.h.
 *
 * The order is that of a keyed hash of the number that a document has without shuffling (shuffle.h), and a part of the
 * result has the documents whose keys lie in its range. So a part needs to know only how many documents come before its
 * own, to tell which part each of them falls to: they count, then each part leaves a parcel for each part and output,
 * and each part takes the parcels for it from all others and shuffles them, as a whole run does. Documents are read and
 * written in long stretches twice, and no part reads what it does not need.
 *
 * What documents do not carry (inputs, tokenizer, metadata) goes into a dataset without documents beside the parcels. A
 * part of the result lists the inputs of the whole run, since its documents may come from all of them; but rejects and
 * page sums only of its own share of the inputs, so that they are right when the parts are added up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/options.h"
#include "base/status.h"
#include "base/tiny.h"
#include "base/wide.h"
#include "join_inputs.h"
#include "join_metadata.h"
#include "merge_run.h"
#include "sorting/parcels.h"
#include "sorting/slices.h"

#define COUNTS_WORDS 1
#define CHUNK_BYTES  TINY_OR((size_t)32, (size_t)16 << 10)

static enum leat_status check_part(const char *call, uint64_t count, uint64_t part, bool given, struct leat_error *err)
{
    if (given && part >= 1 && part <= count && count < SIZE_MAX / 8 / (SPLITS_MAX + 1))
        return LEAT_OK;
    return status_set(err, LEAT_E_ARGUMENT, "%s: missing files or dataset, or no part %llu of %llu", call,
                      (unsigned long long)part, (unsigned long long)count);
}

static enum leat_status check_duplicates(const struct merge *m, const char *call, struct leat_error *err)
{
    if (!m->options.dedup == !m->same)
        return LEAT_OK;
    return status_set(err, LEAT_E_ARGUMENT, "%s: deduplicating needs the files of leat_part_duplicates()", call);
}

/* Begins a step that reads one part. */
static enum leat_status begin_step(struct merge *m, const char *call, const char *file, const char *dataset,
                                   const struct leat_merge_options *options, struct leat_error *err)
{
    struct leat_merge_report none = LEAT_MERGE_REPORT_INIT;
    enum leat_status s = merge_begin(m, &none, file, options, NULL, err);

    if (s == LEAT_OK)
        s = check_duplicates(m, call, err);
    return s == LEAT_OK ? merge_open_part(m, dataset, err) : s;
}

/* ---- How many documents each output gets ---- */

static enum leat_status count_document(struct merge *m, const struct document *d, size_t output, struct leat_error *err)
{
    uint64_t *counts = m->context;

    (void)d;
    counts[output]++;
    return pace_step(&m->pace, 0, err);
}

static enum leat_status count_documents(struct merge *m, uint64_t *counts, struct leat_error *err)
{
    enum leat_status s;

    m->take = count_document;
    m->context = counts;
    if (!m->options.dedup && m->splits.count == 0) {
        counts[0] = m->parts.documents;
        return LEAT_OK;
    }
    s = merge_take_duplicates(m, m->options.memory, err);
    return s == LEAT_OK ? merge_documents(m, err) : s;
}

static enum leat_status write_counts(const char *file, const uint64_t *counts, size_t outputs, uint64_t documents,
                                     struct leat_error *err)
{
    struct slices_writer w;
    enum leat_status s = slices_begin(&w, file, 1, documents, COUNTS_WORDS, err);

    for (size_t i = 0; s == LEAT_OK && i < outputs; i++)
        s = slices_put(&w, 0, (struct triple) { counts[i], 0, 0 }, err);
    if (s == LEAT_OK)
        s = slices_finish(&w, err);
    slices_end(&w);
    return s;
}

enum leat_status leat_part_counts(const char *file, const char *dataset, const char *const *duplicates, uint64_t count,
                                  uint64_t part, const struct leat_merge_options *options, struct leat_error *err)
{
    struct merge m = { .same = duplicates, .same_count = count, .part = part };
    uint64_t *counts = NULL;
    enum leat_status s = check_part("leat_part_counts", count, part, file && dataset, err);

    if (s == LEAT_OK)
        s = begin_step(&m, "leat_part_counts", file, dataset, options, err);
    if (s == LEAT_OK) {
        counts = calloc(m.splits.count + 1, sizeof *counts);
        s = counts ? count_documents(&m, counts, err) : status_no_memory(err, m.splits.count * sizeof *counts);
    }
    if (s == LEAT_OK)
        s = write_counts(file, counts, m.splits.count + 1, m.parts.documents, err);
    free(counts);
    if (m.temporary)
        merge_end(&m);
    return s;
}

/* Adds the counts of a part to `counts`. */
static enum leat_status add_counts(const char *file, uint64_t *counts, size_t outputs, struct leat_error *err)
{
    struct slice_reader r;
    struct triple t;
    bool more = true;
    size_t i = 0;
    enum leat_status s = slice_open(&r, file, 1, 0, COUNTS_WORDS, err);

    if (s == LEAT_OK && r.left != outputs)
        s = status_set(err, LEAT_E_MISMATCH, "%s is not of this run", file);
    while (s == LEAT_OK) {
        s = slice_next(&r, &t, &more, err);
        if (s != LEAT_OK || !more)
            break;
        counts[i++] += t.a; /* numbers only choose places: any sum will do */
    }
    slice_close(&r);
    return s;
}

/* ---- A parcel for each part and output ---- */

struct scatter {
    uint64_t ranges;
    size_t outputs;
    uint64_t *numbers; /* by output: of the next document */
    uint64_t *sizes;   /* of the parcels */
    uint32_t cost;     /* of a token, with its mask */
    uint8_t *block;    /* for shuffle_put_tokens() */
    struct parcels_writer writer;
};

/* The document's record, and the parcel that it goes to: those of a part are neighbours. */
static uint64_t choose_parcel(struct merge *m, const struct document *d, size_t output, struct shuffle_record *r)
{
    struct scatter *sc = m->context;

    *r = shuffle_record_of(d);
    r->number = sc->numbers[output]++;
    return wide_high(shuffle_key(m->options.seed, r->number), sc->ranges) * sc->outputs + output;
}

static enum leat_status measure_document(struct merge *m, const struct document *d, size_t output,
                                         struct leat_error *err)
{
    struct scatter *sc = m->context;
    struct shuffle_record r;
    uint64_t parcel = choose_parcel(m, d, output, &r);

    sc->sizes[parcel] += shuffle_record_bytes(&r, sc->cost);
    return pace_step(&m->pace, 0, err);
}

static enum leat_status append(void *context, uint64_t where, const void *bytes, uint64_t count, struct leat_error *err)
{
    return parcels_put(context, where, bytes, count, err);
}

static enum leat_status scatter_document(struct merge *m, const struct document *d, size_t output,
                                         struct leat_error *err)
{
    static const uint8_t zeros[8];
    struct scatter *sc = m->context;
    struct shuffle_record r;
    uint64_t parcel = choose_parcel(m, d, output, &r);
    uint64_t rest = shuffle_record_bytes(&r, sc->cost) - sizeof r - r.tokens * sc->cost - r.id_bytes;
    struct shuffle_target to = { append, &sc->writer, parcel };
    enum leat_status s = parcels_put(&sc->writer, parcel, &r, sizeof r, err);

    if (s == LEAT_OK)
        s = shuffle_put_tokens(&to, &m->reader, m->parts.first.token_width, sc->block, err);
    if (s == LEAT_OK)
        s = parcels_put(&sc->writer, parcel, d->origin.id, r.id_bytes, err);
    return s == LEAT_OK ? parcels_put(&sc->writer, parcel, zeros, rest, err) : s;
}

/* The numbers that this part's first documents have. */
static enum leat_status find_numbers(struct scatter *sc, const char *const *counts, uint64_t part,
                                     struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    memset(sc->numbers, 0, sc->outputs * sizeof *sc->numbers);
    for (uint64_t i = 0; s == LEAT_OK && i + 1 < part; i++)
        s = add_counts(counts[i], sc->numbers, sc->outputs, err);
    return s;
}

static enum leat_status go_through(struct merge *m, const char *const *counts,
                                   enum leat_status (*take)(struct merge *, const struct document *, size_t,
                                                            struct leat_error *),
                                   struct leat_error *err)
{
    enum leat_status s = find_numbers(m->context, counts, m->part, err);

    m->take = take;
    duplicates_end(&m->duplicates);
    if (s == LEAT_OK)
        s = merge_take_duplicates(m, m->options.memory, err);
    return s == LEAT_OK ? merge_documents(m, err) : s;
}

/* The dataset without documents. */
static enum leat_status write_frame(struct merge *m, const char *file, struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status s;

    m->options.force = 1; /* what a killed process left */
    s = merge_open_outputs(m, &file, 1, err);
    if (s == LEAT_OK)
        s = join_inputs(&m->parts, &m->outputs, err);
    if (s == LEAT_OK)
        s = join_metadata(&m->parts, &m->outputs, err);
    return s == LEAT_OK ? outputs_finish(&m->outputs, NULL, &info, err) : s;
}

static enum leat_status scatter(struct merge *m, const char *file, const char *const *counts, struct leat_error *err)
{
    struct scatter *sc = m->context;
    uint64_t parcels = sc->ranges * sc->outputs, memory = m->options.memory;
    enum leat_status s;

    sc->writer.fd = -1;
    sc->cost = m->parts.first.token_width + m->parts.mask;
    sc->block = m->parts.mask ? malloc((size_t)SHUFFLE_BLOCK * sc->cost) : NULL;
    sc->numbers = calloc(sc->outputs, sizeof *sc->numbers);
    sc->sizes = calloc((size_t)parcels, sizeof *sc->sizes);
    s = sc->numbers && sc->sizes && (sc->block || !m->parts.mask) ? LEAT_OK
                                                                  : status_no_memory(err, parcels * sizeof *sc->sizes);
    if (s == LEAT_OK)
        s = go_through(m, counts, measure_document, err);
    if (s == LEAT_OK)
        s = parcels_begin(&sc->writer, file, sc->sizes, parcels, memory - memory / 4, err);
    if (s == LEAT_OK)
        s = go_through(m, counts, scatter_document, err);
    if (s == LEAT_OK)
        s = write_frame(m, file, err);
    if (s == LEAT_OK)
        s = parcels_finish(&sc->writer, err);
    parcels_end(&sc->writer);
    free(sc->numbers);
    free(sc->sizes);
    free(sc->block);
    return s;
}

enum leat_status leat_part_scatter(const char *file, const char *dataset, const char *const *counts,
                                   const char *const *duplicates, uint64_t count, uint64_t part,
                                   const struct leat_merge_options *options, struct leat_error *err)
{
    struct scatter sc = { .ranges = count };
    struct merge m = { .same = duplicates, .same_count = count, .part = part, .context = &sc };
    enum leat_status s = check_part("leat_part_scatter", count, part, file && dataset && counts, err);

    if (s == LEAT_OK)
        s = begin_step(&m, "leat_part_scatter", file, dataset, options, err);
    sc.outputs = m.splits.count + 1;
    m.pace.total = m.parts.token_bytes;
    if (s == LEAT_OK)
        s = scatter(&m, file, counts, err);
    if (m.temporary)
        merge_end(&m);
    return s;
}

/* ---- A part of the result ---- */

/* Takes the rest of the record, whose first fields are in the bucket. */
static enum leat_status take_rest(struct merge *m, struct parcel_reader *r, size_t bucket, uint64_t bytes,
                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint8_t chunk[CHUNK_BYTES];

    while (s == LEAT_OK && bytes > 0) {
        uint64_t here = bytes < sizeof chunk ? bytes : sizeof chunk;

        s = parcel_take(r, chunk, here, err);
        if (s == LEAT_OK)
            s = buckets_append(&m->shuffle.buckets, bucket, chunk, here, err);
        if (s == LEAT_OK)
            s = pace_step(&m->pace, here, err);
        bytes -= here;
    }
    return s;
}

/* The numbers in a record may be anything: the sum is compared only when all has been read. */
static bool is_sound(const struct shuffle_record *r, const struct merge_part *part, uint32_t cost, uint64_t left)
{
    return r->tokens <= left / cost && r->id_bytes <= left && shuffle_record_bytes(r, cost) - sizeof *r <= left &&
           (r->input == LEAT_NONE || r->input < part->inputs);
}

static enum leat_status take_parcel(struct merge *m, struct parcel_reader *r, const struct merge_part *part,
                                    size_t output, uint64_t left, struct leat_error *err)
{
    uint32_t cost = m->shuffle.cost;
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && left > 0) {
        struct shuffle_record record;
        size_t bucket;
        uint64_t rest;

        s = left < sizeof record ? parcel_damaged(r, err) : parcel_take(r, &record, sizeof record, err);
        if (s == LEAT_OK && !is_sound(&record, part, cost, left - sizeof record))
            s = parcel_damaged(r, err);
        if (s != LEAT_OK)
            break;
        rest = shuffle_record_bytes(&record, cost) - sizeof record;
        if (record.input != LEAT_NONE)
            record.input += part->first_as_output;
        s = shuffle_put_record(&m->shuffle, output, &record, &bucket, err);
        if (s == LEAT_OK)
            s = take_rest(m, r, bucket, rest, err);
        left -= sizeof record + rest;
    }
    return s;
}

/* Opens the file of a part, and calls `take` if it is set; adds the sizes of the parcels for this part to *sum. */
static enum leat_status take_file(struct merge *m, const char *file, const struct merge_part *part, bool take,
                                  uint64_t *sum, struct leat_error *err)
{
    size_t outputs = m->splits.count + 1;
    struct parcel_reader r;
    enum leat_status s = parcel_open(&r, file, m->same_count * outputs, err);

    for (size_t i = 0; s == LEAT_OK && i < outputs; i++) {
        uint64_t bytes;

        s = parcel_choose(&r, (m->part - 1) * outputs + i, &bytes, err);
        if (s == LEAT_OK && take)
            s = take_parcel(m, &r, part, i, bytes, err);
        else if (s == LEAT_OK)
            *sum += bytes; /* of real files */
    }
    parcel_close(&r);
    return s;
}

static enum leat_status take_files(struct merge *m, const char *const *files, bool take, uint64_t *sum,
                                   struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < m->parts.count; i++)
        s = take_file(m, files[i], &m->parts.items[i], take, sum, err);
    return s;
}

/* Each dataset has the name of the file that it belongs to. */
static enum leat_status open_frames(struct merge *m, const char *const *files, struct leat_error *err)
{
    size_t count = (size_t)m->same_count;
    char **names = calloc(count, sizeof *names);
    enum leat_status s = names ? LEAT_OK : status_no_memory(err, count * sizeof *names);

    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        size_t room = strlen(files[i]) + sizeof ".leat";

        names[i] = malloc(room);
        if (names[i])
            snprintf(names[i], room, "%s.leat", files[i]);
        else
            s = status_no_memory(err, room);
    }
    if (s == LEAT_OK)
        s = merge_open_parts(m, (const char *const *)names, count, err);
    if (s == LEAT_OK && (m->parts.count != count || m->parts.shares.of || m->parts.documents > 0))
        s = status_set(err, LEAT_E_MISMATCH, "%s and the others are not of the parts of one run", files[0]);
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        struct leat_info info = LEAT_INFO_INIT;

        leat_dataset_info(m->parts.opened[i], &info);
        if (!info.stores_mask != !m->parts.mask)
            s = status_set(err, LEAT_E_MISMATCH,
                           "only some of %s and the others store a mask: their parts cannot be "
                           "shuffled together",
                           files[0]);
    }
    for (size_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
    return s;
}

static enum leat_status set_metadata(struct merge *m, struct leat_error *err)
{
    struct shares share = { m->part, m->part, m->same_count };
    char text[SHARES_TEXT];
    enum leat_status s = merge_set_metadata(m, err);

    shares_print(text, &share);
    if (s == LEAT_OK)
        s = outputs_set_metadata(&m->outputs, SHARES_KEY, text, err);
    return s == LEAT_OK ? outputs_set_metadata(&m->outputs, SHARES_CUT_KEY, SHARES_CUT_ALL, err) : s;
}

static enum leat_status shuffle(struct merge *m, const char *const *outputs, const char *const *files,
                                struct leat_merge_report *report, struct leat_error *err)
{
    uint64_t bytes = 0;
    enum leat_status s = open_frames(m, files, err);

    if (s == LEAT_OK)
        s = merge_open_outputs(m, outputs, m->splits.count + 1, err);
    if (s == LEAT_OK)
        s = join_inputs_of(&m->parts, (size_t)m->part - 1, &m->outputs, err);
    if (s == LEAT_OK)
        s = take_files(m, files, false, &bytes, err);
    m->pace.total = 2 * bytes;
    if (s == LEAT_OK)
        s = shuffle_begin(&m->shuffle, m->temporary, m->options.seed, m->same_count, m->options.memory,
                          m->parts.first.token_width, m->parts.mask, bytes, m->outputs.count, &m->outputs.crew.helpers,
                          err);
    if (s == LEAT_OK)
        s = take_files(m, files, true, &bytes, err);
    if (s == LEAT_OK)
        s = shuffle_write(&m->shuffle, &m->outputs, &m->pace, err);
    shuffle_end(&m->shuffle); /* before the outputs are finished, which may need the space on the disk */
    if (s == LEAT_OK)
        s = set_metadata(m, err);
    if (s == LEAT_OK)
        s = outputs_finish(&m->outputs, report->splits, report->info, err);
    return s;
}

enum leat_status leat_part_shuffle(const char *const *outputs, const char *const *scattered, uint64_t count,
                                   uint64_t part, const struct leat_merge_options *options,
                                   struct leat_merge_report *report, struct leat_error *err)
{
    struct leat_merge_report full = LEAT_MERGE_REPORT_INIT;
    struct merge m = { .same_count = count, .part = part };
    enum leat_status s = check_part("leat_part_shuffle", count, part, outputs && outputs[0] && scattered, err);

    if (s == LEAT_OK)
        s = merge_begin(&m, &full, outputs[0], options, report, err);
    if (s == LEAT_OK && !m.options.shuffle)
        s = status_set(err, LEAT_E_ARGUMENT, "leat_part_shuffle: `shuffle` is not set");
    if (s == LEAT_OK)
        s = shuffle(&m, outputs, scattered, &full, err);
    if (s == LEAT_OK) {
        for (size_t i = 0; full.splits && i < m.splits.count; i++)
            full.documents += full.splits[i].documents;
        full.documents += full.info ? full.info->documents : 0;
    }
    if (s == LEAT_OK && report)
        options_fill(report, &full, sizeof full);
    if (m.temporary)
        merge_end(&m);
    return s;
}
