/*
 * outputs.c: see outputs.h. Documents gather in a batch for each output, which the crew puts when it is full; one that
 * fits into no batch, by its tokens or its id, goes to the writer directly, after the batch of those before it.
 */
#include "outputs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "splits/split_fractions.h"

/* Takes the name over. */
static enum leat_status open_writer(struct outputs *o, char *name, const struct leat_writer_options *options,
                                    struct leat_error *err)
{
    struct output *item = &o->items[o->count++];

    item->name = name;
    return leat_writer_open(&item->writer, name, options, err);
}

enum leat_status outputs_open_each(struct outputs *o, char **names, size_t count, const struct merge_parts *parts,
                                   const struct leat_merge_options *options, struct leat_error *err)
{
    struct leat_writer_options w = LEAT_WRITER_OPTIONS_INIT;
    struct leat_stored_tokenizer *tokenizer = NULL;
    enum leat_status s = leat_dataset_tokenizer(parts->opened[0], &tokenizer, err);

    *o = (struct outputs) { .width = parts->first.token_width };
    if (s != LEAT_OK && s != LEAT_E_NOT_FOUND)
        return s;
    w.vocabulary = parts->first.vocabulary;
    w.end_token = parts->first.end_token;
    w.begin_token = parts->first.begin_token;
    w.fingerprint = parts->first.fingerprint;
    w.tokenizer = tokenizer;
    w.created = options->created;
    w.force = options->force || options->in_place; /* what a killed process left of an index */
    w.index_only = options->in_place;
    w.store_mask = parts->mask;
    w.store_lines = parts->lines;
    w.store_ids = parts->ids;
    w.store_hashes = parts->hashes;
    o->items = calloc(count, sizeof *o->items);
    s = o->items ? LEAT_OK : status_no_memory(err, count * sizeof *o->items);
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        s = open_writer(o, names[i], &w, err);
        names[i] = NULL;
    }
    leat_stored_tokenizer_free(tokenizer);
    if (s == LEAT_OK)
        crew_begin(&o->crew, options->threads);
    return s;
}

enum leat_status outputs_open(struct outputs *o, const char *name, const struct merge_parts *parts,
                              const struct leat_merge_options *options, struct leat_error *err)
{
    size_t count = (size_t)options->split_count + 1;
    char **names = calloc(count, sizeof *names);
    enum leat_status s = names ? LEAT_OK : status_no_memory(err, count * sizeof *names);

    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        names[i] = i + 1 < count
                       ? split_fractions_output(name, options->splits[i].name, options->split_folders != 0, "")
                       : strdup(name);
        if (!names[i])
            s = status_no_memory(err, strlen(name));
    }
    if (s == LEAT_OK)
        s = outputs_open_each(o, names, count, parts, options, err);
    for (size_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
    return s;
}

enum leat_status outputs_copy(struct outputs *o, size_t i, const struct document *d, struct document_reader *reader,
                              struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    bool last = false;

    while (s == LEAT_OK && !last) {
        struct token_chunk chunk;

        s = document_reader_chunk(reader, &chunk, &last, err);
        if (s == LEAT_OK)
            s = outputs_append(o, i, chunk.ids, chunk.mask, chunk.count, err);
    }
    return s == LEAT_OK ? outputs_end_document(o, i, &d->origin, err) : s;
}

/* ---- Documents ---- */

static enum leat_status append_directly(struct outputs *o, size_t i, const void *ids, const uint8_t *mask,
                                        uint64_t count, struct leat_error *err)
{
    return leat_writer_append_masked(o->items[i].writer, ids, o->width, mask, count, err);
}

/* Hands the documents that have ended to the crew; the open one stays, in a new batch. */
static enum leat_status hand_over(struct outputs *o, struct output *item, struct leat_error *err)
{
    struct batch *full = item->batch;
    enum leat_status s = LEAT_OK;

    item->batch = NULL;
    if (full->open > 0) {
        item->batch = crew_batch(&o->crew, item->writer, o->width, err);
        s = item->batch ? LEAT_OK : LEAT_E_NO_MEMORY;
    }
    if (s == LEAT_OK && item->batch)
        batch_move_open(item->batch, full);
    if (s == LEAT_OK && full->count > 0)
        return crew_put(&o->crew, full, err);
    crew_drop(&o->crew, full);
    return s;
}

static enum leat_status need_batch(struct outputs *o, struct output *item, struct leat_error *err)
{
    if (!item->batch)
        item->batch = crew_batch(&o->crew, item->writer, o->width, err);
    return item->batch ? LEAT_OK : LEAT_E_NO_MEMORY;
}

/* Gives what there is of the open document to the writer, after all that comes before it. */
static enum leat_status go_direct(struct outputs *o, size_t i, struct leat_error *err)
{
    struct output *item = &o->items[i];
    enum leat_status s = item->batch->count > 0 ? hand_over(o, item, err) : LEAT_OK;
    struct batch *b = item->batch;

    item->direct = true;
    if (s == LEAT_OK && b)
        s = append_directly(o, i, b->ids, b->masked ? b->mask : NULL, b->open / o->width, err);
    crew_drop(&o->crew, b);
    item->batch = NULL;
    return s;
}

enum leat_status outputs_append(struct outputs *o, size_t i, const void *ids, const uint8_t *mask, uint64_t count,
                                struct leat_error *err)
{
    struct output *item = &o->items[i];
    uint64_t bytes = count * o->width;
    enum leat_status s;

    if (count == 0)
        return LEAT_OK;
    if (item->direct)
        return append_directly(o, i, ids, mask, count, err);
    s = need_batch(o, item, err);
    if (s != LEAT_OK || batch_append(item->batch, ids, mask, bytes))
        return s;
    if (item->batch->count > 0 && bytes <= BATCH_BYTES - item->batch->open) {
        s = hand_over(o, item, err);
        if (s == LEAT_OK)
            s = need_batch(o, item, err);
        if (s == LEAT_OK)
            batch_append(item->batch, ids, mask, bytes);
        return s;
    }
    s = go_direct(o, i, err);
    return s == LEAT_OK ? append_directly(o, i, ids, mask, count, err) : s;
}

enum leat_status outputs_end_document(struct outputs *o, size_t i, const struct leat_origin *origin,
                                      struct leat_error *err)
{
    struct output *item = &o->items[i];
    enum leat_status s = item->direct ? LEAT_OK : need_batch(o, item, err);

    if (s == LEAT_OK && !item->direct && !batch_end_document(item->batch, origin))
        s = go_direct(o, i, err);
    else if (s != LEAT_OK || !item->direct)
        return s;
    item->direct = false;
    return s == LEAT_OK ? leat_writer_end_document(item->writer, origin, err) : s;
}

/* ---- Inputs and metadata ---- */

enum leat_status outputs_add_input(struct outputs *o, const char *path, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < o->count; i++)
        s = leat_writer_add_input(o->items[i].writer, path, NULL, err);
    return s;
}

enum leat_status outputs_set_input(struct outputs *o, uint64_t number, const struct leat_input *input,
                                   struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < o->count; i++)
        s = leat_writer_set_input(o->items[i].writer, number, input, err);
    return s;
}

enum leat_status outputs_set_metadata(struct outputs *o, const char *key, const char *value, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < o->count; i++)
        s = leat_writer_set_metadata(o->items[i].writer, key, value, err);
    return s;
}

/* Adds to a failure that some outputs have their names already: the caller must know that these exist. */
static void tell_finished(const struct outputs *o, size_t finished, struct leat_error *err)
{
    if (err && finished > 0)
        status_after(err, " (finished before that: %.200s%s%.200s)", o->items[0].name,
                     finished > 2    ? " to "
                     : finished == 2 ? " and "
                                     : "",
                     finished > 1 ? o->items[finished - 1].name : "");
}

enum leat_status outputs_finish(struct outputs *o, struct leat_info *splits, struct leat_info *info,
                                struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < o->count; i++)
        if (o->items[i].batch)
            s = hand_over(o, &o->items[i], err);
    for (size_t i = 0; s == LEAT_OK && i < o->count; i++)
        s = leat_writer_prepare(o->items[i].writer, err);
    for (size_t i = 0; s == LEAT_OK && i < o->count; i++) {
        struct leat_info *filled = i + 1 == o->count ? info : splits ? &splits[i] : NULL;

        s = leat_writer_finish(o->items[i].writer, filled, err);
        if (s == LEAT_OK)
            o->items[i].writer = NULL;
        else
            tell_finished(o, i, err);
    }
    return s;
}

void outputs_abandon(struct outputs *o)
{
    for (size_t i = 0; i < o->count; i++)
        crew_drop(&o->crew, o->items[i].batch);
    crew_end(&o->crew);
    for (size_t i = 0; i < o->count; i++) {
        leat_writer_abandon(o->items[i].writer);
        free(o->items[i].name);
    }
    free(o->items);
    o->items = NULL;
    o->count = 0;
}
