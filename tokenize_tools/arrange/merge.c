/*
 * merge.c: leat_merge(): reads finished datasets document by document and arranges them anew. Duplicates are found
 * first, from the stored hashes of texts; then each document is dropped, or goes to the output that its text chooses:
 * copied at once, or into the buckets of the shuffle, which are written at the end. leat_pack() arranges what it has
 * encoded by the same call, so that shares, once merged, have the bytes of a single run.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/options.h"
#include "base/status.h"
#include "base/tiny.h"
#include "document_reader.h"
#include "duplicates.h"
#include "join_inputs.h"
#include "join_metadata.h"
#include "outputs.h"
#include "pace.h"
#include "shuffle.h"
#include "split_fractions.h"

#define MEMORY_STANDARD ((uint64_t)2 << 30)
#define MEMORY_MIN      TINY_OR((uint64_t)1 << 10, (uint64_t)64 << 10)

struct merge {
    struct leat_merge_options options;
    const char *temporary; /* temporary files lie beside this path */
    struct sources sources;
    struct outputs outputs;
    struct split_fractions splits;
    struct duplicates duplicates;
    struct shuffle shuffle;
    struct document_reader reader;
    struct pace pace;
};

/* ---- What is asked for ---- */

static enum leat_status check_request(const struct merge *m, struct leat_error *err)
{
    const struct leat_merge_options *o = &m->options;
    const char *what = o->dedup ? "deduplication" : o->split_count > 0 ? "splitting" : NULL;
    char text[SHARES_TEXT];

    if (m->sources.shares.of && (o->shuffle || o->dedup)) {
        shares_print(text, &m->sources.shares);
        return status_set(
            err, LEAT_E_INCOMPATIBLE,
            "these are only share %s of a run, and %s needs all shares at once; add the missing shares, or merge "
            "without it",
            text, o->dedup ? "deduplication" : "shuffling");
    }
    return what ? sources_need_hashes(&m->sources, what, err) : LEAT_OK;
}

static enum leat_status set_metadata(struct merge *m, struct leat_error *err)
{
    const struct leat_merge_options *o = &m->options;
    enum leat_status s = join_metadata(&m->sources, &m->outputs, err);
    char seed[24];

    snprintf(seed, sizeof seed, "%llu", (unsigned long long)o->seed);
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

static enum leat_status copy_document(struct merge *m, size_t output, const struct document *d, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    bool last = false;

    while (s == LEAT_OK && !last) {
        const void *ids;
        uint64_t count;

        s = document_reader_piece(&m->reader, &ids, &count, &last, err);
        if (s == LEAT_OK)
            s = outputs_append(&m->outputs, output, ids, count, err);
    }
    return s == LEAT_OK ? outputs_end_document(&m->outputs, output, &d->origin, err) : s;
}

static enum leat_status choose_output(const struct merge *m, const struct document *d, size_t *output,
                                      struct leat_error *err)
{
    *output = 0;
    if (m->splits.count == 0)
        return LEAT_OK;
    if (!d->origin.text_hash)
        return status_set_hint(err, LEAT_E_NOT_FOUND, LEAT_HINT_PACK,
                               "document %llu has no text hash, which splitting needs; pack its input again",
                               (unsigned long long)d->number);
    *output = split_fractions_choose(&m->splits, d->origin.text_hash);
    return LEAT_OK;
}

static enum leat_status arrange_document(struct merge *m, const struct document *d, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    bool drop = false;
    size_t output;

    if (m->options.dedup)
        s = duplicates_has(&m->duplicates, d->number, &drop, err);
    if (s == LEAT_OK && !drop)
        s = choose_output(m, d, &output, err);
    if (s != LEAT_OK || drop)
        return s;
    return m->options.shuffle ? shuffle_put(&m->shuffle, output, d, &m->reader, err) : copy_document(m, output, d, err);
}

static enum leat_status arrange_documents(struct merge *m, struct leat_error *err)
{
    bool more = true;
    enum leat_status s = document_reader_open(&m->reader, &m->sources, &m->pace, err);

    while (s == LEAT_OK) {
        struct document d;

        s = document_reader_next(&m->reader, &d, &more, err);
        if (s != LEAT_OK || !more)
            break;
        s = arrange_document(m, &d, err);
    }
    document_reader_close(&m->reader);
    return s;
}

/* ---- The whole ---- */

static enum leat_status merge(struct merge *m, const char *output, const char *const *names, size_t count,
                              struct leat_error *err)
{
    const struct leat_merge_options *o = &m->options;
    uint64_t memory = o->memory;
    enum leat_status s = split_fractions_make(&m->splits, o->splits, o->split_count, err);

    if (s == LEAT_OK)
        s = sources_open(&m->sources, names, count, err);
    if (s == LEAT_OK)
        s = check_request(m, err);
    if (s == LEAT_OK)
        s = outputs_open(&m->outputs, output, &m->sources, o, err);
    if (s == LEAT_OK)
        s = join_inputs(&m->sources, &m->outputs, err);
    if (s != LEAT_OK)
        return s;
    m->pace.total = m->sources.token_bytes * (o->shuffle ? 2 : 1);
    if (o->dedup) {
        s = duplicates_find(&m->duplicates, &m->sources, m->temporary, memory, &m->pace, err);
        memory -= memory / 4; /* which the duplicates' numbers may take */
    }
    if (s == LEAT_OK && o->shuffle)
        s = shuffle_begin(&m->shuffle, m->temporary, o->seed, memory, &m->sources, m->outputs.count, err);
    if (s == LEAT_OK)
        s = arrange_documents(m, err);
    if (s == LEAT_OK && o->shuffle)
        s = shuffle_write(&m->shuffle, &m->outputs, &m->pace, err);
    /* before the outputs are finished, which may need the space on the disk */
    shuffle_end(&m->shuffle);
    if (s == LEAT_OK)
        s = set_metadata(m, err);
    return s == LEAT_OK ? pace_call(&m->pace, err) : s;
}

static enum leat_status take_options(struct merge *m, const struct leat_merge_options *given, struct leat_error *err)
{
    enum leat_status s;

    m->options = (struct leat_merge_options)LEAT_MERGE_OPTIONS_INIT;
    s = options_read(&m->options, sizeof m->options, NULL, given, "leat_merge_options", err);
    if (m->options.memory == 0)
        m->options.memory = MEMORY_STANDARD;
    if (m->options.memory < MEMORY_MIN)
        m->options.memory = MEMORY_MIN;
    m->pace = (struct pace) { .progress = m->options.progress, .context = m->options.context };
    m->duplicates.numbers.fd = -1;
    m->shuffle.buckets.fd = -1;
    return s;
}

/* A path on the disk of the output that none of its files has. */
static char *temporary_name(const char *output, struct leat_error *err)
{
    size_t room = strlen(output) + sizeof ".partial.arrange";
    char *name = malloc(room);

    if (name)
        snprintf(name, room, "%s.partial.arrange", output);
    else
        status_no_memory(err, room);
    return name;
}

static enum leat_status merge_and_finish(struct merge *m, const char *output, const char *const *names, size_t count,
                                         struct leat_merge_report *report, struct leat_error *err)
{
    enum leat_status s = merge(m, output, names, count, err);

    if (s == LEAT_OK)
        s = outputs_finish(&m->outputs, report->splits, report->info, err);
    if (s == LEAT_OK) {
        report->documents = m->sources.documents;
        report->deduplicated = m->options.dedup ? duplicates_count(&m->duplicates) : 0;
    }
    return s;
}

enum leat_status leat_merge(const char *output, const char *const *parts, uint64_t count,
                            const struct leat_merge_options *options, struct leat_merge_report *report,
                            struct leat_error *err)
{
    struct leat_merge_report full = LEAT_MERGE_REPORT_INIT;
    struct merge m = { 0 };
    enum leat_status s;
    char *temporary;

    if (!output || !parts || count == 0)
        return status_set(err, LEAT_E_ARGUMENT, "leat_merge: missing output or parts");
    s = options_read(&full, sizeof full, NULL, report, "leat_merge_report", err);
    if (s == LEAT_OK)
        s = take_options(&m, options, err);
    if (s != LEAT_OK)
        return s;
    m.temporary = temporary = temporary_name(output, err);
    s = temporary ? merge_and_finish(&m, output, parts, count, &full, err) : LEAT_E_NO_MEMORY;
    if (s == LEAT_OK && report)
        options_fill(report, &full, sizeof full);
    outputs_abandon(&m.outputs);
    duplicates_end(&m.duplicates);
    sources_close(&m.sources);
    split_fractions_free(&m.splits);
    free(temporary);
    return s;
}
