/*
 * outputs.c: collects the documents of each output in a batch, which a helper writes when it is full. A document whose
 * tokens or id fit into no batch goes to the writer directly, after the batch of the documents before it.
 */
#include "outputs.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "base/tiny.h"
#include "private.h"
#include "splits/split_fractions.h"

/* ---- Batches ---- */

/* Another core copies and hashes the ids while they lie in the level 2 cache of the core that collects them: 128 KiB to
 * 1 MiB of ids take equal time. */
#define BATCH_BYTES     TINY_OR((size_t)32, (size_t)256 << 10)
#define BATCH_DOCUMENTS TINY_OR((size_t)3, (size_t)1024)
#define BATCH_TEXTS     TINY_OR((size_t)16, (size_t)64 << 10) /* bytes of the documents' ids */

/* Documents on their way to a writer, collected until there are enough for a helper. The last one may be open: its ids
 * are in the batch, its end is not known yet. */
struct batch {
    struct batch *next; /* in the queue's list of spare batches */
    struct batch_queue *queue;
    struct job job;
    struct leat_writer *writer;
    struct leat_place place;
    uint32_t width;
    uint64_t count; /* documents that have ended */
    size_t bytes;   /* size of all ids */
    size_t open;    /* size of the open document's ids */
    size_t texts;   /* bytes used in `text` */
    uint64_t lengths[BATCH_DOCUMENTS];
    struct leat_origin origins[BATCH_DOCUMENTS];
    uint8_t hashes[BATCH_DOCUMENTS][16];
    char text[BATCH_TEXTS];
    bool masked; /* true if `mask` has a byte for each id */
    uint8_t mask[BATCH_BYTES / 2];
    _Alignas(8) uint8_t ids[BATCH_BYTES];
};

static void batch_begin(struct batch *b, struct leat_writer *writer, uint32_t width)
{
    b->next = NULL;
    b->writer = writer;
    b->width = width;
    b->count = 0;
    b->masked = false;
    b->bytes = b->open = b->texts = 0;
}

/* Adds ids to the open document, with their mask (NULL if the dataset stores none). Returns false, and adds nothing, if
 * they do not fit. */
static bool batch_append(struct batch *b, const void *ids, const uint8_t *mask, uint64_t bytes)
{
    if (bytes > BATCH_BYTES - b->bytes)
        return false;
    if (mask)
        memcpy(b->mask + b->bytes / b->width, mask, (size_t)bytes / b->width);
    b->masked = mask != NULL;
    memcpy(b->ids + b->bytes, ids, (size_t)bytes);
    b->bytes += (size_t)bytes;
    b->open += (size_t)bytes;
    return true;
}

/* Ends the open document, which may have no ids. Returns false, and changes nothing, if its origin does not fit. */
static bool batch_end_document(struct batch *b, const struct leat_origin *origin)
{
    struct leat_origin *o = &b->origins[b->count];

    if (b->count == BATCH_DOCUMENTS || origin->id_bytes > BATCH_TEXTS - b->texts)
        return false;
    *o = *origin;
    if (origin->id) {
        o->id = memcpy(b->text + b->texts, origin->id, (size_t)origin->id_bytes);
        b->texts += (size_t)origin->id_bytes;
    }
    if (origin->text_hash)
        o->text_hash = memcpy(b->hashes[b->count], origin->text_hash, sizeof b->hashes[0]);
    b->lengths[b->count++] = b->open / b->width;
    b->open = 0;
    return true;
}

/* Returns the batch's documents as leat_writer_place() and leat_writer_put() take them. */
static struct leat_documents batch_documents(const struct batch *b)
{
    struct leat_documents d = LEAT_DOCUMENTS_INIT;

    d.ids = b->ids;
    d.lengths = b->lengths;
    d.origins = b->origins;
    d.count = b->count;
    d.id_width = b->width;
    d.mask = b->masked ? b->mask : NULL;
    return d;
}

/* ---- The queue ---- */

#define WAITING_MAX 2u /* batches per helper */

/* Keeps a batch to be filled again; NULL is fine. */
static void queue_drop(struct batch_queue *c, struct batch *b)
{
    if (!b)
        return;
    pthread_mutex_lock(&c->lock);
    b->next = c->spare;
    c->spare = b;
    pthread_mutex_unlock(&c->lock);
}

static void put_job(struct job *j)
{
    struct batch *b = (void *)((char *)j - offsetof(struct batch, job));
    struct leat_documents d = batch_documents(b);
    struct batch_queue *c = b->queue;

    pthread_mutex_lock(&c->lock);
    c->waiting--;
    pthread_mutex_unlock(&c->lock);
    leat_writer_put(b->writer, &d, &b->place, NULL);
    queue_drop(c, b);
}

/* Returns an empty batch; NULL if there is no memory. */
static struct batch *queue_batch(struct batch_queue *c, struct leat_writer *writer, uint32_t width,
                                 struct leat_error *err)
{
    struct batch *b;

    pthread_mutex_lock(&c->lock);
    b = c->spare;
    if (b)
        c->spare = b->next;
    pthread_mutex_unlock(&c->lock);
    if (!b)
        b = malloc(sizeof *b);
    if (!b) {
        status_no_memory(err, sizeof *b);
        return NULL;
    }
    batch_begin(b, writer, width);
    b->queue = c;
    return b;
}

/* Gives the documents of a batch their place, and writes them now or later. The batch has no open document, and belongs
 * to the queue afterwards. If writing fails in another thread, the next call of the writer fails and says why. */
static enum leat_status queue_put(struct batch_queue *c, struct batch *b, struct leat_error *err)
{
    struct leat_documents d = batch_documents(b);
    enum leat_status s = leat_writer_place(b->writer, &d, &b->place, err);
    bool given;

    if (s != LEAT_OK) {
        queue_drop(c, b);
        return s;
    }
    pthread_mutex_lock(&c->lock);
    given = c->waiting < WAITING_MAX * c->helpers.count;
    c->waiting += given;
    pthread_mutex_unlock(&c->lock);
    if (given) {
        b->job.run = put_job;
        helpers_give_away(&c->helpers, &b->job);
        return LEAT_OK;
    }
    s = leat_writer_put(b->writer, &d, &b->place, err);
    queue_drop(c, b);
    return s;
}

/* Waits until all batches are written, and ends the threads. A zeroed struct is fine. */
static void queue_end(struct batch_queue *c)
{
    if (!c->helpers.begun)
        return;
    helpers_end(&c->helpers);
    for (struct batch *b = c->spare, *next; b; b = next) {
        next = b->next;
        free(b);
    }
    pthread_mutex_destroy(&c->lock);
    *c = (struct batch_queue) { .spare = NULL };
}

/* ---- Datasets ---- */

static struct learned learned_of(const struct merge_parts *parts)
{
    struct learned all = { 0 }, one;

    for (size_t i = 0; i < parts->count; i++) {
        const char *value = merge_parts_metadata(&parts->items[i], LEARNED_KEY);

        if (!value || !learned_read(&one, value))
            one = (struct learned) { .tokens = 1 }; /* of no role, so that the sum has none */
        learned_add(&all, &one);
    }
    return all;
}

enum leat_status outputs_open_each(struct outputs *o, char **names, size_t count, const struct merge_parts *parts,
                                   const struct leat_merge_options *options, struct leat_error *err)
{
    struct leat_writer_options w = LEAT_WRITER_OPTIONS_INIT;
    struct leat_stored_tokenizer *tokenizer = NULL;
    enum leat_status s = leat_dataset_tokenizer(parts->opened[0], &tokenizer, err);

    *o = (struct outputs) { .parts = parts, .width = parts->first.token_width, .from = learned_of(parts) };
    if (s != LEAT_OK && s != LEAT_E_NOT_FOUND)
        return s;
    w.vocabulary = parts->first.vocabulary;
    w.end_token = parts->first.end_token;
    w.begin_token = parts->first.begin_token;
    w.fingerprint = parts->first.fingerprint;
    w.tokenizer = tokenizer;
    w.created = options->created;
    w.force = options->force;
    w.store_mask = parts->mask;
    w.store_lines = parts->lines;
    w.store_ids = parts->ids;
    w.store_hashes = parts->hashes;
    o->items = calloc(count, sizeof *o->items);
    s = o->items ? LEAT_OK : status_no_memory(err, count * sizeof *o->items);
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        struct output *item = &o->items[o->count++];

        item->name = names[i];
        names[i] = NULL;
        s = leat_writer_open(&item->writer, item->name, &w, err);
        if (s == LEAT_OK && parts->column_count > 0)
            s = leat_writer_keep_values(item->writer, err);
    }
    leat_stored_tokenizer_free(tokenizer);
    if (s != LEAT_OK)
        return s;
    pthread_mutex_init(&o->queue.lock, NULL);
    helpers_begin(&o->queue.helpers, options->threads);
    return LEAT_OK;
}

enum leat_status outputs_open(struct outputs *o, const char *name, bool folders, const struct merge_parts *parts,
                              const struct leat_merge_options *options, struct leat_error *err)
{
    size_t count = (size_t)options->split_count + 1;
    char **names = calloc(count, sizeof *names);
    enum leat_status s = names ? LEAT_OK : status_no_memory(err, count * sizeof *names);

    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        names[i] = i + 1 < count ? split_fractions_output(name, options->splits[i].name, folders, "") : strdup(name);
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
    return s == LEAT_OK ? outputs_end_document(o, i, d->number, &d->origin, err) : s;
}

/* ---- Documents ---- */

static enum leat_status append_directly(struct outputs *o, size_t i, const void *ids, const uint8_t *mask,
                                        uint64_t count, struct leat_error *err)
{
    return leat_writer_append(o->items[i].writer, ids, o->width, mask, count, err);
}

static enum leat_status need_batch(struct outputs *o, struct output *item, struct leat_error *err)
{
    if (!item->batch)
        item->batch = queue_batch(&o->queue, item->writer, o->width, err);
    return item->batch ? LEAT_OK : LEAT_E_NO_MEMORY;
}

/* Queues the documents that have ended, and moves the open one to a new batch. */
static enum leat_status give_copy(struct outputs *o, struct output *item, struct leat_error *err)
{
    struct batch *full = item->batch;
    enum leat_status s = LEAT_OK;

    item->batch = NULL;
    if (full->open > 0)
        s = need_batch(o, item, err);
    if (s == LEAT_OK && item->batch) {
        full->bytes -= full->open;
        batch_append(item->batch, full->ids + full->bytes, full->masked ? full->mask + full->bytes / full->width : NULL,
                     full->open);
        full->open = 0;
    }
    if (s == LEAT_OK && full->count > 0)
        return queue_put(&o->queue, full, err);
    queue_drop(&o->queue, full);
    return s;
}

/* Gives the open document's ids to the writer, after the documents before it. */
static enum leat_status go_direct(struct outputs *o, size_t i, struct leat_error *err)
{
    struct output *item = &o->items[i];
    enum leat_status s = item->batch->count > 0 ? give_copy(o, item, err) : LEAT_OK;
    struct batch *b = item->batch;

    item->direct = true;
    if (s == LEAT_OK && b)
        s = append_directly(o, i, b->ids, b->masked ? b->mask : NULL, b->open / o->width, err);
    queue_drop(&o->queue, b);
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
        s = give_copy(o, item, err);
        if (s == LEAT_OK)
            s = need_batch(o, item, err);
        if (s == LEAT_OK)
            batch_append(item->batch, ids, mask, bytes);
        return s;
    }
    s = go_direct(o, i, err);
    return s == LEAT_OK ? append_directly(o, i, ids, mask, count, err) : s;
}

enum leat_status outputs_end_document(struct outputs *o, size_t i, uint64_t number, const struct leat_origin *origin,
                                      struct leat_error *err)
{
    struct output *item = &o->items[i];
    enum leat_status s = item->direct ? LEAT_OK : need_batch(o, item, err);

    if (s == LEAT_OK && o->parts->column_count > 0)
        s = merge_sources_add(&item->sources, item->writer, number, err);
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

/* Says in the metadata of an output how much of it training learns, if it has a mask. */
static enum leat_status set_learned(const struct outputs *o, struct leat_writer *w, struct leat_error *err)
{
    struct learned l = { 0 };
    char text[LEARNED_TEXT];

    if (!leat_writer_learned(w, &l.tokens, &l.documents_without))
        return LEAT_OK;
    learned_choose_roles(&l, &o->from);
    learned_print(&l, text);
    return leat_writer_set_metadata(w, LEARNED_KEY, text, err);
}

static enum leat_status make_columns(struct outputs *o, struct pace *pace, struct leat_error *err)
{
    struct leat_writer **writers = calloc(o->count, sizeof(struct leat_writer *));
    enum leat_status s;

    if (!writers)
        return status_no_memory(err, o->count * sizeof(struct leat_writer *));
    for (size_t i = 0; i < o->count; i++)
        writers[i] = o->items[i].writer;
    s = merge_columns_make(o->parts, writers, o->count, pace, err);
    free(writers);
    return s;
}

enum leat_status outputs_finish(struct outputs *o, struct leat_info *splits, struct leat_info *info, struct pace *pace,
                                struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < o->count; i++)
        if (o->items[i].batch)
            s = give_copy(o, &o->items[i], err);
    for (size_t i = 0; s == LEAT_OK && i < o->count; i++)
        s = set_learned(o, o->items[i].writer, err);
    for (size_t i = 0; s == LEAT_OK && i < o->count; i++)
        s = merge_sources_end(&o->items[i].sources, o->items[i].writer, err);
    for (size_t i = 0; s == LEAT_OK && i < o->count; i++)
        s = leat_writer_prepare(o->items[i].writer, err);
    if (s == LEAT_OK)
        s = make_columns(o, pace, err);
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
        queue_drop(&o->queue, o->items[i].batch);
    queue_end(&o->queue);
    for (size_t i = 0; i < o->count; i++) {
        leat_writer_abandon(o->items[i].writer);
        free(o->items[i].name);
    }
    free(o->items);
    o->items = NULL;
    o->count = 0;
}
