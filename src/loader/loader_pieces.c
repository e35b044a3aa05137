/* loader_pieces.c: Finds the pieces of a slot's rows, as the plan's order gives them. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "dataset/part_index.h"
#include "loader.h"

/* ---- Pieces ------------------------------------------------------------------------------------------------------ */

enum leat_status loader_pieces_room(struct loader_slot *slot, uint64_t count, struct leat_error *err)
{
    struct leat_piece *pieces;

    if (count <= slot->piece_room)
        return LEAT_OK;
    if (count > UINT32_MAX)
        return status_set(err, LEAT_E_RANGE, "a batch of %" PRIu64 " pieces is too large; take fewer rows", count);
    pieces = realloc(slot->pieces, (size_t)count * sizeof *pieces);
    if (!pieces)
        return status_no_memory(err, count * sizeof *pieces);
    slot->pieces = pieces;
    slot->piece_room = (uint32_t)count;
    return loader_reads_room(slot, count, err);
}

enum leat_status loader_reads_room(struct loader_slot *slot, uint64_t count, struct leat_error *err)
{
    size_t room = slot->read_room;
    enum leat_status s;

    if (count > UINT32_MAX / 2)
        return status_set(err, LEAT_E_RANGE, "a batch of %" PRIu64 " reads is too large; take fewer rows", count);
    s = GROW(slot->reads, count, room, err);
    slot->read_room = (uint32_t)room;
    slot->job.pieces = slot->reads;
    return s;
}

uint32_t loader_pieces_gap_after(const struct leat_loader *l, uint64_t places)
{
    uint64_t align = l->plan->rules.fit[PLAN_FIT_ALIGN], over = align > 0 ? places % align : 0;

    return over > 0 ? (uint32_t)(align - over) : 0;
}

uint32_t loader_pieces_gap(const struct leat_loader *l, const struct leat_piece *piece)
{
    return loader_pieces_gap_after(l, l->options.outputs.unshifted ? piece->count : piece->count - 1);
}

uint32_t loader_pieces_tokens(const struct leat_loader *l, const struct loader_slot *slot, uint32_t row)
{
    uint64_t tokens = 0;

    for (uint32_t k = slot->first_piece[row]; k < slot->first_piece[row + 1]; k++)
        tokens += slot->pieces[k].count + loader_pieces_gap(l, &slot->pieces[k]);
    return (uint32_t)tokens;
}

/* The tokens of a row lie together in a slot, so each piece must begin where the one before it ends, or, if pieces have
 * labels of their own, at that label's place, or after its gap. */
static enum leat_status check_row(const struct leat_loader *l, const struct leat_sample *sample,
                                  const struct leat_piece *pieces, struct leat_error *err)
{
    uint64_t at = 0, tokens = 0;

    for (uint32_t i = 0; i < sample->pieces && pieces[i].at == at; i++) {
        tokens += pieces[i].count + loader_pieces_gap_after(l, pieces[i].count - 1);
        at = tokens - (l->plan->order->own_labels ? i + 1 : 0);
    }
    if (tokens == sample->tokens)
        return LEAT_OK;
    return status_set(err, LEAT_E_UNSUPPORTED,
                      "sample %" PRIu64 " has pieces with labels of their own; the loader has no room for these",
                      sample->number);
}

enum leat_status loader_pieces_find(struct leat_loader *l, struct loader_slot *slot, struct leat_error *err)
{
    enum leat_status s;
    uint64_t count = 0;

    slot->first_piece[0] = 0;
    for (uint32_t i = 0; i < slot->places; i++) {
        count += slot->samples[i].pieces;
        slot->first_piece[i + 1] = (uint32_t)count;
    }
    s = loader_pieces_room(slot, count, err); /* also refuses a count that 32 bits do not hold */
    if (s == LEAT_OK)
        s = plan_order_pieces(l->plan, slot->samples, slot->places, slot->pieces, err);
    if (!l->plan->order->pieces) /* each row is one piece */
        return s;
    for (uint32_t i = 0; s == LEAT_OK && i < slot->places; i++) {
        const struct leat_piece *pieces = slot->pieces + slot->first_piece[i];

        slot->samples[i].token = pieces->token;
        slot->samples[i].offset = pieces->offset;
        slot->samples[i].part = pieces->part;
        s = check_row(l, &slot->samples[i], pieces, err);
    }
    return s;
}

/* ---- Documents --------------------------------------------------------------------------------------------------- */

/* Marks where documents begin in the rows of a slot, from the starts of the documents in and near its tokens. */

#define STARTS_AT_ONCE 256u

uint64_t *loader_documents_clear(const struct loader_slot *slot, uint32_t row)
{
    const struct rows_layout *y = &slot->layout;
    uint64_t *words = (uint64_t *)(void *)(slot->memory + y->starts_at) + (size_t)row * y->start_words;

    memset(words, 0, y->start_words * sizeof *words);
    words[0] = 1;
    return words;
}

/* Sets the bits of one piece, from place `place` of a row on. */
static enum leat_status find_in_piece(struct leat_loader *l, const struct leat_piece *piece, uint32_t place,
                                      uint64_t *words, struct leat_error *err)
{
    struct part *p = dataset_part(l->plan->sources[piece->source].dataset, piece->part);
    uint64_t from, to, starts[STARTS_AT_ONCE];
    enum leat_status s = part_documents_near(p, piece->offset, piece->offset + piece->count, &from, &to, err);

    while (s == LEAT_OK && from < to) {
        uint64_t count = to - from < STARTS_AT_ONCE ? to - from : STARTS_AT_ONCE;

        s = part_starts(p, from, count, starts, err);
        for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
            uint64_t at = starts[i] - piece->offset; /* huge if it lies before the piece */

            if (at < piece->count)
                words[(place + at) / 64] |= (uint64_t)1 << (place + at) % 64;
        }
        from += count;
    }
    return s;
}

enum leat_status loader_documents_find(struct leat_loader *l, const struct loader_slot *slot, uint32_t row,
                                       struct leat_error *err)
{
    uint64_t *words = loader_documents_clear(slot, row);
    enum leat_status s = LEAT_OK;
    uint32_t tokens = 0;

    for (uint32_t k = slot->first_piece[row]; s == LEAT_OK && k < slot->first_piece[row + 1]; k++) {
        const struct leat_piece *piece = &slot->pieces[k];
        uint32_t at = l->options.outputs.unshifted ? tokens : piece->at;

        tokens += piece->count + loader_pieces_gap(l, piece);
        if (piece->count == 0)
            continue;
        /* a piece starts a new document in its row, even if it begins inside a document */
        words[at / 64] |= (uint64_t)1 << at % 64;
        if (piece->document == LEAT_NONE)
            s = find_in_piece(l, piece, at, words, err);
    }
    return s;
}

/*
 * Where documents begin, and masks, are read when the tokens have come, page by page of an index. On a file server each
 * page took its time with nothing else under way: cold rows with positions came 17 times slower than without. So the
 * index is announced with the rows; of document starts, all in a region of tokens, since rows there come again.
 */

#define REGION ((uint64_t)1 << 20) /* tokens */

static void announce_starts(struct leat_loader *l, const struct leat_piece *piece, struct part *p)
{
    uint64_t last = (piece->offset + piece->count - 1) / REGION;

    for (uint64_t at = piece->offset / REGION; at <= last; at++) {
        uint64_t number = ((uint64_t)loader_file_of(l, piece) << 40 | at) + 1; /* 0: nothing was announced */
        uint64_t *seen = &l->announced[(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) % LOADER_ANNOUNCED];

        if (*seen == number)
            continue;
        *seen = number;
        part_index_announce_starts(p, at * REGION, (at + 1) * REGION < p->tokens ? (at + 1) * REGION : p->tokens);
    }
}

void loader_index_announce(struct leat_loader *l, const struct loader_slot *slot)
{
    bool starts = l->documents || l->segmented;
    uint32_t count = starts || l->plan->masks ? slot->first_piece[slot->places] : 0;

    for (uint32_t k = 0; k < count; k++) {
        const struct leat_piece *piece = &slot->pieces[k];
        struct part *p = dataset_part(l->plan->sources[piece->source].dataset, piece->part);

        if (starts && piece->count > 0 && piece->document == LEAT_NONE)
            announce_starts(l, piece, p);
        if (l->plan->masks)
            part_index_announce_mask(p, piece->offset, piece->offset + piece->count);
    }
}

/* ---- Masks ------------------------------------------------------------------------------------------------------- */

/*
 * The masks of rows (leat_plan_mask()): read with the rows of a slot, in the order of their tokens. They are few bytes,
 * and come through the page cache, whatever reads the tokens. They follow the tokens in the slot, so that one copy
 * brings both to a device. Gaps in rows of whole documents have no loss (struct leat_piece): as a mask of 0.
 */

void loader_mask_open(struct leat_loader *l)
{
    l->masks = l->plan->masks;
}

void loader_mask_put(const struct leat_loader *l, struct loader_slot *slot)
{
    uint64_t width = 0;

    for (uint32_t i = 0; i < slot->places; i++)
        if (loader_pieces_tokens(l, slot, i) > width)
            width = loader_pieces_tokens(l, slot, i);
    slot->layout.masks_at = slot->bytes;
    slot->layout.mask_width = (uint32_t)width;
    slot->bytes += (size_t)(slot->batch.rows * width);
}

enum leat_status loader_mask_piece(const struct leat_loader *l, uint64_t number, const struct leat_piece *p,
                                   uint32_t first, uint32_t count, uint8_t *to, struct leat_error *err)
{
    return leat_plan_mask(l->plan, number, p, first, count, to, err);
}

enum leat_status loader_mask_row(struct leat_loader *l, const struct loader_slot *slot, uint32_t row,
                                 struct leat_error *err)
{
    uint8_t *mask = slot->memory + slot->layout.masks_at + (size_t)row * slot->layout.mask_width, *to = mask;
    enum leat_status s = LEAT_OK;

    for (uint32_t k = slot->first_piece[row]; s == LEAT_OK && k < slot->first_piece[row + 1]; k++) {
        const struct leat_piece *p = &slot->pieces[k];
        uint64_t gap = loader_pieces_gap(l, p);

        s = loader_mask_piece(l, slot->samples[row].number, p, 0, p->count, to, err);
        memset(to + p->count, 0, gap);
        to += p->count + gap;
    }
    if (s == LEAT_OK)
        loader_loss_tokens(l, loader_layout_row(slot, row), loader_pieces_tokens(l, slot, row), 1, mask);
    return s;
}
