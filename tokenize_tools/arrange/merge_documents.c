/*
 * merge_documents.c: reads datasets document by document and arranges them anew. Duplicates are found first, from the
 * stored hashes of texts and their tokens; then each document is dropped, or goes to the output that its text chooses:
 * copied at once, or into the buckets of the shuffle, which are written at the end.
 */
#include "merge_documents.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/path.h"
#include "base/status.h"
#include "document_reader.h"
#include "duplicates.h"
#include "join_facts.h"
#include "outputs.h"
#include "shuffle.h"
#include "splits/split_fractions.h"

struct merge {
    const struct leat_merge_options *options;
    char *temporary; /* temporary files lie beside this path */
    struct merge_parts *parts;
    struct outputs outputs;
    struct split_fractions splits;
    struct duplicates duplicates;
    struct shuffle shuffle;
    struct document_reader reader;
    struct pace *pace;
};

/* Sets the metadata of all outputs. */
static enum leat_status set_metadata(struct merge *m, struct leat_error *err)
{
    const struct leat_merge_options *o = m->options;
    enum leat_status s = join_metadata(m->parts, &m->outputs, err);
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

    if (m->options->dedup)
        s = duplicates_has(&m->duplicates, d->number, &drop, err);
    if (s == LEAT_OK && !drop)
        s = choose_output(m, d, &output, err);
    if (drop && m->options->shuffle)
        m->pace->bytes += d->tokens * m->parts->first.token_width; /* done already, since it is not written */
    if (s != LEAT_OK || drop)
        return s;
    return m->options->shuffle ? shuffle_put(&m->shuffle, output, d, &m->reader, err)
                               : outputs_copy(&m->outputs, output, d, &m->reader, err);
}

/* Takes all documents that stay, in order. */
static enum leat_status take_documents(struct merge *m, struct leat_error *err)
{
    bool more = true;
    enum leat_status s = document_reader_open(&m->reader, m->parts, &m->outputs.queue.helpers, m->pace, err);

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

static enum leat_status begin_shuffle(struct merge *m, uint64_t memory, struct leat_error *err)
{
    struct shuffle_plan plan = {
        .path = m->temporary,
        .seed = m->options->seed,
        .memory = memory,
        .width = m->parts->first.token_width,
        .masked = m->parts->mask,
        .bytes = shuffle_bytes(m->parts),
        .outputs = m->outputs.count,
        .helpers = &m->outputs.queue.helpers,
    };

    return shuffle_begin(&m->shuffle, &plan, err);
}

/* Merges the parts into the outputs, which are open. */
static enum leat_status merge(struct merge *m, struct leat_error *err)
{
    const struct leat_merge_options *o = m->options;
    uint64_t memory = o->memory;
    enum leat_status s = join_inputs(m->parts, &m->outputs, err);

    if (s != LEAT_OK)
        return s;
    m->pace->total = m->parts->token_bytes * (o->shuffle ? 2 : 1) + m->parts->column_bytes;
    if (o->dedup)
        s = duplicates_find(&m->duplicates, m->parts, m->temporary, memory, &m->outputs.queue.helpers, m->pace, err);
    if (o->dedup)
        memory -= memory / 4; /* the duplicates' numbers may take the rest */
    if (s == LEAT_OK && o->shuffle)
        s = begin_shuffle(m, memory, err);
    if (s == LEAT_OK)
        s = take_documents(m, err);
    if (s == LEAT_OK && o->shuffle)
        s = shuffle_write(&m->shuffle, &m->outputs, m->pace, err);
    /* The space on the disk is freed first, since finishing the outputs may need it. */
    shuffle_end(&m->shuffle);
    if (s == LEAT_OK)
        s = set_metadata(m, err);
    return s == LEAT_OK ? pace_call(m->pace, err) : s;
}

static enum leat_status merge_and_finish(struct merge *m, struct leat_merge_report *report, struct leat_error *err)
{
    enum leat_status s = merge(m, err);

    if (s == LEAT_OK)
        s = outputs_finish(&m->outputs, report->splits, report->info, m->pace, err);
    if (s == LEAT_OK) {
        report->documents = m->parts->documents;
        report->deduplicated = m->options->dedup ? duplicates_count(&m->duplicates) : 0;
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

enum leat_status merge_documents(const char *output, bool folders, struct merge_parts *parts,
                                 const struct leat_merge_options *options, struct pace *pace,
                                 struct leat_merge_report *report, struct leat_error *err)
{
    struct merge m = { .options = options,
                       .parts = parts,
                       .pace = pace,
                       .duplicates.numbers.fd = -1,
                       .shuffle.buckets.fd = -1,
                       .temporary = path_append(output, strlen(output), ".partial.arrange", NULL) };
    enum leat_status s = m.temporary ? LEAT_OK : status_no_memory(err, strlen(output));

    if (s == LEAT_OK)
        s = split_fractions_make(&m.splits, options->splits, options->split_count, err);
    if (s == LEAT_OK)
        s = outputs_open(&m.outputs, output, folders, parts, options, err);
    if (s == LEAT_OK && options->force)
        remove_stopped_run(&m.outputs);
    if (s == LEAT_OK)
        s = merge_and_finish(&m, report, err);
    outputs_abandon(&m.outputs);
    duplicates_end(&m.duplicates);
    split_fractions_free(&m.splits);
    free(m.temporary);
    return s;
}
