/*
 * document_reader.c: moves two buffers over each part. A block has the starts, origins, ids and hashes of up to
 * BLOCK_DOCUMENTS documents; it is cut short where their ids exceed BLOCK_ID_BYTES. A window has WINDOW_BYTES of
 * tokens, and moves on only when a document's next token lies outside it: small documents share one read, and a
 * document of any length passes through in chunks. Helpers read the next windows ahead. Begin and end tokens are
 * checked and left out, since the writer of the output adds them.
 */
#include "document_reader.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/status.h"
#include "base/tiny.h"

#define BLOCK_DOCUMENTS TINY_OR((uint64_t)5, (uint64_t)4096)
#define BLOCK_ID_BYTES                                                                                                 \
    TINY_OR((uint64_t)16, (uint64_t)1 << 20) /* a document with a longer id has a block of its
                                                                      own */
#define WINDOW_BYTES                                                                                                   \
    TINY_OR((uint64_t)64, (uint64_t)256 << 10) /* so a window lies in the level 2 cache when it
                                                                      is copied on */

static enum leat_status make_windows(struct document_reader *r, struct leat_error *err)
{
    for (unsigned i = 0; i < (helpers_count(r->helpers) > 0 ? READER_WINDOWS : 1); i++) {
        struct reader_window *w = &r->windows[i];

        w->ids = file_buffer(WINDOW_BYTES);
        w->mask = r->parts->mask ? malloc((size_t)r->window_room) : NULL;
        if (!w->ids || (r->parts->mask && !w->mask))
            return status_no_memory(err, WINDOW_BYTES);
    }
    return LEAT_OK;
}

enum leat_status document_reader_open(struct document_reader *r, const struct merge_parts *parts,
                                      struct helpers *helpers, struct pace *pace, struct leat_error *err)
{
    *r = (struct document_reader) {
        .parts = parts,
        .helpers = helpers,
        .pace = pace,
        .width = parts->first.token_width,
        .begin_token = parts->first.begin_token,
        .end_token = parts->first.end_token,
        .window_room = WINDOW_BYTES / parts->first.token_width,
    };
    r->starts = malloc((BLOCK_DOCUMENTS + 1) * sizeof *r->starts);
    r->origins = malloc(BLOCK_DOCUMENTS * sizeof *r->origins);
    r->hashes = malloc(BLOCK_DOCUMENTS * sizeof *r->hashes);
    if (!r->starts || !r->origins || !r->hashes)
        return status_no_memory(err, BLOCK_DOCUMENTS * sizeof *r->origins);
    return make_windows(r, err);
}

void document_reader_close(struct document_reader *r)
{
    for (unsigned i = 0; i < READER_WINDOWS; i++) {
        helpers_drop(r->helpers, &r->windows[i].job);
        free(r->windows[i].ids);
        free(r->windows[i].mask);
    }
    free(r->starts);
    free(r->origins);
    free(r->hashes);
    free(r->ids);
    memset(r, 0, sizeof *r);
}

/* ---- Blocks ---- */

/* Returns how many documents, at least one, have ids of at most BLOCK_ID_BYTES together. Sets *bytes to the size of
 * these ids. */
static uint64_t cut_by_ids(const struct document_reader *r, uint64_t count, uint64_t *bytes)
{
    uint64_t n = 1;

    *bytes = r->origins[0].id_bytes;
    while (n < count && r->origins[n].id_bytes <= BLOCK_ID_BYTES && *bytes + r->origins[n].id_bytes <= BLOCK_ID_BYTES)
        *bytes += r->origins[n++].id_bytes;
    return n;
}

static enum leat_status load_ids(struct document_reader *r, uint64_t bytes, struct leat_error *err)
{
    uint64_t there;
    enum leat_status s = GROW(r->ids, bytes + 1, r->id_room, err);

    if (s != LEAT_OK)
        return s;
    r->id_at = 0;
    return bytes > 0 ? leat_dataset_ids(r->part->dataset, r->first, r->count, r->ids, r->id_room, &there, err)
                     : LEAT_OK;
}

/* Loads a block: the documents of the part from `first` on, as many as fit. */
static enum leat_status load_block(struct document_reader *r, uint64_t first, struct leat_error *err)
{
    const struct merge_part *s = r->part;
    uint64_t left = s->first_document + s->documents - first, id_bytes;
    enum leat_status status;

    r->first = r->at = first;
    r->count = left < BLOCK_DOCUMENTS ? left : BLOCK_DOCUMENTS;
    status = leat_dataset_origins(s->dataset, first, r->count, r->origins, err);
    if (status != LEAT_OK)
        return status;
    r->count = cut_by_ids(r, r->count, &id_bytes);
    status = load_ids(r, id_bytes, err);
    if (status == LEAT_OK)
        status = leat_dataset_starts(s->dataset, first, r->count + 1, r->starts, err);
    if (status != LEAT_OK)
        return status;
    return s->hashes ? leat_dataset_text_hashes(s->dataset, first, r->count, r->hashes, err) : LEAT_OK;
}

/* Goes to the next part that has documents; r->part becomes NULL if there is none. */
static void next_part(struct document_reader *r)
{
    const struct merge_parts *all = r->parts;

    r->part = NULL;
    while (!r->part && r->part_number < all->count) {
        const struct merge_part *s = &all->items[r->part_number++];

        if (s->documents > 0)
            r->part = s;
    }
    r->at = r->first = r->part ? r->part->first_document : 0;
    r->count = 0;
}

static enum leat_status lacks_token(const struct document_reader *r, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_TOKEN, r->part->name,
                         "%.300s: the document at token %" PRIu64
                         " lacks its begin or end token, and only whole documents are "
                         "merged. If the dataset was adopted from a file that was cut, use it in a list (@FILE); else "
                         "verify it",
                         r->part->name, (r->token - r->part->first_token));
}

enum leat_status document_reader_next(struct document_reader *r, struct document *d, bool *more, struct leat_error *err)
{
    uint64_t i, fixed = (r->begin_token != LEAT_NONE) + (r->end_token != LEAT_NONE);
    enum leat_status s = LEAT_OK;

    r->pace->bytes += (r->token_end - r->token) * r->width; /* counts the tokens of the previous document that nobody
                                                               took */
    r->token = r->token_end;
    if (!r->part || r->at == r->part->first_document + r->part->documents)
        next_part(r);
    *more = r->part != NULL;
    if (!r->part)
        return LEAT_OK;
    if (r->at == r->first + r->count) {
        s = load_block(r, r->at, err);
        if (s == LEAT_OK)
            s = pace_call(r->pace, err);
    }
    if (s != LEAT_OK)
        return s;
    i = r->at++ - r->first;
    r->token = r->starts[i];
    r->token_end = r->starts[i + 1];
    r->at_begin = true;
    r->has_id = false;
    if (r->token_end - r->token < fixed)
        return lacks_token(r, err);
    d->number = r->number++;
    d->tokens = r->token_end - r->token - fixed;
    d->origin = r->origins[i];
    d->origin.id = d->origin.id_bytes > 0 ? r->ids + r->id_at : NULL;
    r->id_at += d->origin.id_bytes;
    d->origin.text_hash = r->part->hashes && !bytes_all_zero(r->hashes[i], 16) ? r->hashes[i] : NULL;
    if (d->origin.input != LEAT_NONE)
        d->origin.input = d->origin.input - r->part->first_input + r->part->first_as_output;
    return LEAT_OK;
}

/* ---- Tokens ---- */

static void fill_window(struct job *j)
{
    struct reader_window *w = (void *)((char *)j - offsetof(struct reader_window, job));
    struct leat_error *err = &w->error;

    w->status = leat_dataset_read(w->part->dataset, w->first, w->count, w->ids, err);
    if (w->status == LEAT_OK)
        w->status = merge_part_check(w->part, w->first, w->count, err);
    if (w->status == LEAT_OK && w->mask)
        w->status = leat_dataset_mask(w->part->dataset, w->first, w->count, w->mask, err);
}

/* Queues a window for the helpers, which fill it with the tokens from `first` on, as many as fit up to the part's
 * end. */
static void give_window(struct document_reader *r, struct reader_window *w, uint64_t first)
{
    uint64_t left = r->part->first_token + r->part->tokens - first;

    w->part = r->part;
    w->first = first;
    w->count = left < r->window_room ? left : r->window_room;
    w->job.run = fill_window;
    helpers_give(r->helpers, &w->job);
}

static bool holds(const struct document_reader *r, const struct reader_window *w)
{
    return w->part == r->part && r->token >= w->first && r->token - w->first < w->count;
}

/* Lets helpers read what follows the last window, as far as windows are free. */
static void read_ahead(struct document_reader *r)
{
    const struct reader_window *last = &r->windows[(r->current + r->ahead) % READER_WINDOWS];

    while (helpers_count(r->helpers) > 0 && r->ahead + 1 < READER_WINDOWS &&
           last->first + last->count < r->part->first_token + r->part->tokens) {
        struct reader_window *w = &r->windows[(r->current + ++r->ahead) % READER_WINDOWS];

        give_window(r, w, last->first + last->count);
        last = w;
    }
}

/* Goes to a window that holds at least the token at r->token. Drops windows that were read ahead and do not hold it, or
 * could not be read: the cause may lie in another token. */
static enum leat_status load_window(struct document_reader *r, struct leat_error *err)
{
    struct reader_window *w = &r->windows[r->current];
    bool there = false;

    while (r->ahead > 0 && !there) {
        r->current = (r->current + 1) % READER_WINDOWS;
        r->ahead--;
        w = &r->windows[r->current];
        helpers_wait(r->helpers, &w->job);
        there = w->status == LEAT_OK && holds(r, w);
    }
    if (!there) {
        give_window(r, w, r->token);
        helpers_wait(r->helpers, &w->job);
    }
    if (w->status != LEAT_OK) {
        if (err)
            *err = w->error;
        w->count = 0;
        return w->status;
    }
    read_ahead(r);
    return pace_call(r->pace, err);
}

static uint64_t id_at(const struct document_reader *r, const struct reader_window *w, uint64_t i)
{
    return r->width == 2 ? ((const uint16_t *)w->ids)[i] : ((const uint32_t *)w->ids)[i];
}

/* Checks that the begin and end token have the mask of the ids next to them, since the writer of the output gives them
 * that. The chunk has `here` tokens, with a begin token before its ids if `begin`, and an end token if `end`. */
static enum leat_status check_mask(struct document_reader *r, const uint8_t *mask, uint64_t here, bool begin, bool end,
                                   struct leat_error *err)
{
    uint64_t ids = here - begin - end;
    bool same = true;

    if (begin)
        r->begin_mask = mask[0];
    else if (r->begin_token == LEAT_NONE && !r->has_id)
        r->begin_mask = ids > 0 ? mask[0] : UINT8_MAX;
    if (ids > 0) {
        same = r->has_id || mask[begin] == r->begin_mask;
        r->last_mask = mask[begin + ids - 1];
        r->has_id = true;
    }
    if (end)
        same = same && mask[here - 1] == (r->has_id ? r->last_mask : UINT8_MAX) &&
               (r->has_id || r->begin_mask == UINT8_MAX);
    return same ? LEAT_OK
                : status_set_in(err, LEAT_E_UNSUPPORTED, r->part->name,
                                "%.300s: the mask of the begin or end token of document %" PRIu64
                                " is not that of the token next "
                                "to it, as leat writes it: it cannot be written anew",
                                r->part->name, (r->at - 1));
}

enum leat_status document_reader_chunk(struct document_reader *r, struct token_chunk *chunk, bool *last,
                                       struct leat_error *err)
{
    const struct reader_window *w = &r->windows[r->current];
    uint64_t left = r->token_end - r->token, offset, here, skip, drop;
    enum leat_status s = LEAT_OK;

    *chunk = (struct token_chunk) { w->ids, w->mask, 0 };
    *last = left == 0;
    if (left == 0)
        return LEAT_OK;
    if (!holds(r, w))
        s = load_window(r, err);
    if (s != LEAT_OK)
        return s;
    w = &r->windows[r->current];
    offset = r->token - w->first;
    here = w->count - offset < left ? w->count - offset : left;
    skip = r->begin_token != LEAT_NONE && r->at_begin;
    drop = r->end_token != LEAT_NONE && here == left;
    if ((skip && id_at(r, w, offset) != r->begin_token) || (drop && id_at(r, w, offset + here - 1) != r->end_token))
        return lacks_token(r, err);
    if (w->mask)
        s = check_mask(r, w->mask + offset, here, skip, drop, err);
    chunk->ids = (const uint8_t *)w->ids + (offset + skip) * r->width;
    chunk->mask = w->mask ? w->mask + offset + skip : NULL;
    chunk->count = here - skip - drop;
    *last = here == left;
    r->token += here;
    r->pace->bytes += here * r->width;
    r->at_begin = false;
    return s;
}
