/*
 * merge.c: leat_merge(): reads finished datasets document by document and arranges them anew. Duplicates are found
 * first, from the stored hashes of texts and their tokens; then each document is dropped, or goes to the output that
 * its text chooses: copied at once, or into the buckets of the shuffle, which are written at the end. leat_pack()
 * arranges its documents by this call, too, so that shares, once merged, have the bytes of a single run.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/options.h"
#include "base/own_file.h"
#include "base/path.h"
#include "base/status.h"
#include "base/tiny.h"
#include "divide.h"
#include "document_reader.h"
#include "duplicates.h"
#include "join_facts.h"
#include "merge.h"
#include "merge_parts.h"
#include "outputs.h"
#include "shuffle.h"
#include "splits/split_fractions.h"

#define MEMORY_STANDARD   ((uint64_t)2 << 30)
#define MEMORY_ITSELF     ((uint64_t)16 << 20) /* used beside the memory for sorting, as leat_pack.h says */
#define MEMORY_PER_OUTPUT ((uint64_t)8 << 20)
#define MEMORY_MIN        TINY_OR((uint64_t)1 << 10, (uint64_t)64 << 10)

struct merge {
    struct leat_merge_options options;
    bool folders;    /* see merge_into() */
    char *temporary; /* temporary files lie beside this path */
    struct merge_parts parts;
    const char *field; /* field that documents are divided by, or whose values they carry; NULL: none */
    struct outputs outputs;
    struct split_fractions splits;
    struct duplicates duplicates;
    struct shuffle shuffle;
    struct document_reader reader;
    struct pace pace;
};

/* ---- The request ---- */

/*
 * Returns LEAT_E_EMPTY if a filter left no document of the whole run: such a run has failed, and a run in shares
 * can only tell when they are merged. If it was split, the documents that are missing here may be in the other
 * splits.
 */
static enum leat_status check_kept(const struct merge *m, struct leat_error *err)
{
    const struct merge_part *first = &m->parts.items[0];
    const char *keep = merge_parts_metadata(first, METADATA_KEEP);

    if (!m->parts.whole_run || m->parts.documents > 0 || m->options.allow_empty || !keep ||
        merge_parts_metadata(first, METADATA_SPLITS))
        return LEAT_OK;
    return status_set_hint(err, LEAT_E_EMPTY, LEAT_HINT_EMPTY, NULL,
                           "no document is left in any part of the run, which kept the records with %.300s; a dataset "
                           "without documents is not made",
                           keep);
}

static enum leat_status check_request(struct merge *m, struct leat_error *err)
{
    const struct leat_merge_options *o = &m->options;
    const char *what = o->dedup ? "deduplication" : o->split_count > 0 ? "splitting" : NULL;
    enum leat_status s = shares_check(&m->parts, err);
    char text[SHARES_TEXT];

    if (s == LEAT_OK)
        s = divide_field(&m->parts, &m->field, err);
    if (s != LEAT_OK)
        return s;
    if (m->parts.shares.of && (o->shuffle || o->dedup || (m->field && o->split_count > 0))) {
        shares_print(text, &m->parts.shares);
        return status_set(
            err, LEAT_E_INCOMPATIBLE,
            "these are only share %s of a run, and %s needs all shares at once; add the missing shares, or merge "
            "without it",
            text,
            o->dedup     ? "deduplication"
            : o->shuffle ? "shuffling"
                         : "splitting by values");
    }
    s = check_kept(m, err);
    return s == LEAT_OK && what ? merge_parts_need_hashes(&m->parts, what, err) : s;
}

/* Sets the metadata of all outputs. */
static enum leat_status set_metadata(struct merge *m, struct leat_error *err)
{
    const struct leat_merge_options *o = &m->options;
    enum leat_status s = join_metadata(&m->parts, &m->outputs, err);
    char seed[24];

    snprintf(seed, sizeof seed, "%" PRIu64, o->seed);
    if (s == LEAT_OK && o->shuffle)
        s = outputs_set_metadata(&m->outputs, METADATA_SHUFFLE, seed, err);
    if (s == LEAT_OK && o->dedup)
        s = outputs_set_metadata(&m->outputs, METADATA_DEDUP, "1", err);
    if (s != LEAT_OK || o->split_count == 0)
        return s;
    s = outputs_set_metadata(&m->outputs, METADATA_SPLITS, m->splits.text, err);
    for (size_t i = 0; s == LEAT_OK && i <= o->split_count; i++)
        s = leat_writer_set_metadata(m->outputs.items[i].writer, METADATA_SPLIT,
                                     i < o->split_count ? o->splits[i].name : NULL, err);
    return s;
}

/* ---- Documents ---- */

static enum leat_status choose_output(const struct merge *m, const struct document *d, size_t *output,
                                      struct leat_error *err)
{
    *output = 0;
    if (m->splits.count == 0)
        return LEAT_OK;
    if (!d->origin.text_hash)
        return status_set_hint(err, LEAT_E_NOT_FOUND, LEAT_HINT_PACK, NULL,
                               "document %" PRIu64 " has no text hash, which splitting needs; pack its input again",
                               d->number);
    *output = split_fractions_choose(&m->splits, d->origin.text_hash);
    return LEAT_OK;
}

static enum leat_status take_document(struct merge *m, const struct document *d, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    bool drop = false;
    size_t output;

    if (m->options.dedup)
        s = duplicates_has(&m->duplicates, d->number, &drop, err);
    if (s == LEAT_OK && !drop)
        s = choose_output(m, d, &output, err);
    if (drop && m->options.shuffle)
        m->pace.bytes += d->tokens * m->parts.first.token_width; /* these tokens need not be written at the end */
    if (s != LEAT_OK || drop)
        return s;
    return m->options.shuffle ? shuffle_put(&m->shuffle, output, d, &m->reader, err)
                              : outputs_copy(&m->outputs, output, d, &m->reader, err);
}

/* Takes all documents that stay, in order. */
static enum leat_status take_documents(struct merge *m, struct leat_error *err)
{
    bool more = true;
    enum leat_status s = document_reader_open(&m->reader, &m->parts, &m->outputs.queue.helpers, &m->pace, err);

    while (s == LEAT_OK) {
        struct document d;

        s = document_reader_next(&m->reader, &d, &more, err);
        if (s != LEAT_OK || !more)
            break;
        s = take_document(m, &d, err);
    }
    document_reader_close(&m->reader);
    return s;
}

/* ---- The whole ---- */

static enum leat_status open_parts(struct merge *m, const char *const *names, size_t count, struct leat_error *err)
{
    const struct leat_merge_options *o = &m->options;
    enum leat_status refused, s = split_fractions_make(&m->splits, o->splits, o->split_count, err);
    struct leat_error why;

    if (s == LEAT_OK)
        s = merge_parts_open(&m->parts, names, count, err);
    if (s != LEAT_OK)
        return s;
    refused = check_request(m, &why);
    /* Reading all indexes comes last, since it takes longest. If an index is damaged, this is reported instead of
     * what the quick checks refused, which the damage may have caused. */
    s = merge_parts_check_indexes(&m->parts, &m->pace, err);
    if (s == LEAT_OK && refused != LEAT_OK && err)
        *err = why;
    return s == LEAT_OK ? refused : s;
}

/* Opens the parts that `given` names, as people or a shell's pattern give them. */
static enum leat_status open_given(struct merge *m, const char *output, const char *const *given, size_t count,
                                   struct leat_merge_report *report, struct leat_error *err)
{
    struct merge_names names;
    enum leat_status s = merge_names_take(&names, output, given, count, &m->options, err);

    report->parts = names.count;
    if (s == LEAT_OK)
        s = open_parts(m, names.items, names.count, err);
    merge_names_free(&names);
    return s;
}

static enum leat_status begin_shuffle(struct merge *m, uint64_t memory, struct leat_error *err)
{
    struct shuffle_plan plan = {
        .path = m->temporary,
        .seed = m->options.seed,
        .memory = memory,
        .width = m->parts.first.token_width,
        .masked = m->parts.mask,
        .bytes = shuffle_bytes(&m->parts),
        .outputs = m->outputs.count,
        .helpers = &m->outputs.queue.helpers,
    };

    return shuffle_begin(&m->shuffle, &plan, err);
}

/* Merges the parts into the outputs, which are open. */
static enum leat_status merge(struct merge *m, struct leat_error *err)
{
    const struct leat_merge_options *o = &m->options;
    uint64_t memory = o->memory;
    enum leat_status s = join_inputs(&m->parts, &m->outputs, err);

    if (s != LEAT_OK)
        return s;
    m->pace.total = m->parts.token_bytes * (o->shuffle ? 2 : 1);
    if (o->dedup)
        s = duplicates_find(&m->duplicates, &m->parts, m->temporary, memory, &m->outputs.queue.helpers, &m->pace, err);
    if (o->dedup)
        memory -= memory / 4; /* the duplicates' numbers may take the rest */
    if (s == LEAT_OK && o->shuffle)
        s = begin_shuffle(m, memory, err);
    if (s == LEAT_OK)
        s = take_documents(m, err);
    if (s == LEAT_OK && o->shuffle)
        s = shuffle_write(&m->shuffle, &m->outputs, &m->pace, err);
    /* The space on the disk is freed first, since finishing the outputs may need it. */
    shuffle_end(&m->shuffle);
    if (s == LEAT_OK)
        s = set_metadata(m, err);
    return s == LEAT_OK ? pace_call(&m->pace, err) : s;
}

/* Returns the memory for sorting if the caller gives no limit: in a control group, the rest of this process's share. */
static uint64_t usual_memory(uint64_t splits)
{
    uint64_t others = memory_resident() + MEMORY_ITSELF + (splits + 1) * MEMORY_PER_OUTPUT;
    uint64_t all = memory_within_groups(MEMORY_STANDARD + others);

    return all > others ? all - others : 0;
}

static enum leat_status merge_and_finish(struct merge *m, struct leat_merge_report *report, struct leat_error *err)
{
    enum leat_status s = merge(m, err);

    if (s == LEAT_OK)
        s = outputs_finish(&m->outputs, report->splits, report->info, err);
    if (s == LEAT_OK) {
        report->documents = m->parts.documents;
        report->deduplicated = m->options.dedup ? duplicates_count(&m->duplicates) : 0;
    }
    return s;
}

/* Removes the files that a stopped run of leat_pack() left beside those of the outputs' writers. The writers have
 * removed theirs, so nobody can resume that run. */
static void remove_stopped_run(const struct outputs *o)
{
    static const char *const suffixes[] = { ".partial.run", ".partial.rejects" };

    for (size_t i = 0; i < 2 * o->count; i++) {
        const char *name = o->items[i / 2].name;
        char *path = path_append(name, file_dataset_length(name, strlen(name)), suffixes[i % 2], NULL);

        if (path)
            (void)file_remove(path, NULL);
        free(path);
    }
}

static enum leat_status merge_or_divide(struct merge *m, const char *output, const char *const *names, size_t count,
                                        struct leat_merge_report *report, struct leat_error *err)
{
    enum leat_status s = open_given(m, output, names, count, report, err);

    report->datasets = m->parts.count;
    report->first_share = m->parts.shares.of ? m->parts.shares.first : 0;
    report->last_share = m->parts.shares.of ? m->parts.shares.last : 0;
    report->shares = m->parts.shares.of;
    if (s == LEAT_OK && m->field && !m->parts.shares.of)
        return divide(output, &m->parts, m->field, &m->options, report, err);
    if (s == LEAT_OK)
        s = outputs_open(&m->outputs, output, m->folders, &m->parts, &m->options, err);
    if (s == LEAT_OK && m->options.force)
        remove_stopped_run(&m->outputs);
    return s == LEAT_OK ? merge_and_finish(m, report, err) : s;
}

/* Reads the options and the report. On failure too end_merge() must follow. */
static enum leat_status begin_merge(struct merge *m, struct leat_merge_report *full, const char *output,
                                    const struct leat_merge_options *options, const struct leat_merge_report *report,
                                    struct leat_error *err)
{
    static const struct options_reserved reserved[] = { OPTIONS_RESERVED(leat_merge_options, reserved), { 0, 0 } };
    struct leat_merge_options *o = &m->options;
    enum leat_status s = options_read(full, sizeof *full, NULL, report, "leat_merge_report", err);

    *o = (struct leat_merge_options)LEAT_MERGE_OPTIONS_INIT;
    if (s == LEAT_OK)
        s = options_read(o, sizeof *o, reserved, options, "leat_merge_options", err);
    if (s != LEAT_OK)
        return s;
    if (o->memory == 0)
        o->memory = usual_memory(o->split_count);
    if (o->memory < MEMORY_MIN)
        o->memory = MEMORY_MIN;
    m->pace = (struct pace) { .progress = o->progress, .context = o->context };
    m->temporary = path_append(output, strlen(output), ".partial.arrange", NULL);
    return m->temporary ? LEAT_OK : status_no_memory(err, strlen(output));
}

static void end_merge(struct merge *m)
{
    outputs_abandon(&m->outputs);
    duplicates_end(&m->duplicates);
    merge_parts_close(&m->parts);
    split_fractions_free(&m->splits);
    free(m->temporary);
}

enum leat_status merge_into(const char *output, const char *const *parts, uint64_t count, bool folders,
                            const struct leat_merge_options *options, struct leat_merge_report *report,
                            struct leat_error *err)
{
    struct leat_merge_report full = LEAT_MERGE_REPORT_INIT;
    struct merge m = { .folders = folders, .duplicates.numbers.fd = -1, .shuffle.buckets.fd = -1 };
    enum leat_status s;

    if (!output || !parts || count == 0)
        return status_argument(err, !output ? "output" : "parts", "leat_merge: missing output or parts");
    s = own_file_check_local(output, err);
    if (s == LEAT_OK)
        s = begin_merge(&m, &full, output, options, report, err);
    if (s == LEAT_OK)
        s = merge_or_divide(&m, output, parts, count, &full, err);
    if (s == LEAT_OK && report)
        options_fill(report, &full, sizeof full);
    end_merge(&m);
    return s;
}

enum leat_status leat_merge(const char *output, const char *const *parts, uint64_t count,
                            const struct leat_merge_options *options, struct leat_merge_report *report,
                            struct leat_error *err)
{
    return merge_into(output, parts, count, false, options, report, err);
}
