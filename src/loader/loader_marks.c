/*
 * loader_marks.c: the fifth stage, when the tokens have come: where documents begin in rows, and which tokens have no
 * loss, by the masks of datasets and plans (leat_plan_mask()) and by the loader's options (struct leat_loader_outputs).
 *
 * Starts become bits before the rows, from the starts of the documents in and
 * near them. Masks are few bytes, and come through the page cache, whatever reads the tokens; they follow the tokens in
 * the slot, so that one copy brings both to a device. Gaps in rows of whole documents have no loss (struct leat_piece):
 * a mask of 0. Options clear the mask of what they name, so that host and GPU follow.
 */
#include <string.h>

#include "base/status.h"
#include "dataset/part_index.h"
#include "loader_stages.h"

#define STARTS_AT_ONCE 256u

/* ---- Documents ---- */

uint64_t *loader_documents_clear(const struct loader_memory *m, uint32_t row)
{
    const struct rows_layout *y = &m->layout;
    uint64_t *words = (uint64_t *)(void *)(m->base + y->starts_at) + (size_t)row * y->start_words;

    memset(words, 0, y->start_words * sizeof *words);
    words[0] = 1;
    return words;
}

/* Sets the bits of one piece, from place `place` of a row on. */
static enum leat_status find_in_piece(const struct loader_shape *shape, const struct leat_piece *piece, uint32_t place,
                                      uint64_t *words, struct leat_error *err)
{
    struct part *p = dataset_part(shape->plan->sources[piece->source].dataset, piece->part);
    uint64_t from, to, starts[STARTS_AT_ONCE];
    enum leat_status s = part_documents_near(p, piece->offset, piece->offset + piece->count, &from, &to, err);

    while (s == LEAT_OK && from < to) {
        uint64_t count = to - from < STARTS_AT_ONCE ? to - from : STARTS_AT_ONCE;

        s = part_starts(p, from, count, starts, err);
        for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
            uint64_t at = starts[i] - piece->offset; /* huge if the document starts before the piece */

            if (at < piece->count)
                words[(place + at) / 64] |= (uint64_t)1 << (place + at) % 64;
        }
        from += count;
    }
    return s;
}

static enum leat_status find_documents(const struct loader_shape *shape, const struct loader_places *places,
                                       const struct loader_memory *m, uint32_t row, struct leat_error *err)
{
    uint64_t *words = loader_documents_clear(m, row);
    enum leat_status s = LEAT_OK;
    uint32_t tokens = 0;

    for (uint32_t k = places->first[row]; s == LEAT_OK && k < places->first[row + 1]; k++) {
        const struct leat_piece *piece = &places->pieces[k];
        uint32_t at = shape->options.outputs.unshifted ? tokens : piece->at;

        tokens += piece->count + loader_places_gap(shape, piece);
        if (piece->count == 0)
            continue;
        /* a piece starts a new document in its row, even if it begins inside a document */
        words[at / 64] |= (uint64_t)1 << at % 64;
        if (piece->document == LEAT_NONE)
            s = find_in_piece(shape, piece, at, words, err);
    }
    return s;
}

/*
 * Where documents begin, and masks, are read when the tokens have come, page by page of an index. On a file server each
 * page took its time with nothing else under way: cold rows with positions came 17 times slower than without. So the
 * index is announced with the rows; of document starts, all in a region of tokens, since rows there come again.
 */

#define REGION ((uint64_t)1 << 20) /* in tokens */

static void announce_starts(uint64_t announced[LOADER_ANNOUNCED], uint32_t file, const struct leat_piece *piece,
                            struct part *p)
{
    uint64_t last = (piece->offset + piece->count - 1) / REGION;

    for (uint64_t at = piece->offset / REGION; at <= last; at++) {
        uint64_t number = ((uint64_t)file << 40 | at) + 1; /* 0: nothing was announced */
        uint64_t *seen = &announced[(number * UINT64_C(0x9e3779b97f4a7c15) >> 32) % LOADER_ANNOUNCED];

        if (*seen == number)
            continue;
        *seen = number;
        part_index_announce_starts(p, at * REGION, (at + 1) * REGION < p->tokens ? (at + 1) * REGION : p->tokens);
    }
}

void loader_index_announce(const struct loader_shape *shape, uint64_t announced[LOADER_ANNOUNCED],
                           const struct loader_places *places)
{
    bool starts = shape->documents || shape->segmented;
    uint32_t count = starts || shape->plan->masks ? places->first[places->step.filled] : 0;

    for (uint32_t k = 0; k < count; k++) {
        const struct leat_piece *piece = &places->pieces[k];
        struct part *p = dataset_part(shape->plan->sources[piece->source].dataset, piece->part);

        if (starts && piece->count > 0 && piece->document == LEAT_NONE)
            announce_starts(announced, shape->first_file[piece->source] + piece->part, piece, p);
        if (shape->plan->masks)
            part_index_announce_mask(p, piece->offset, piece->offset + piece->count);
    }
}

/* ---- Loss ---- */

/* Returns the token of a source whose labels lose their loss, or LEAT_NONE if no token does. */
static uint64_t begin_token_of(const struct loader_shape *shape, uint32_t source)
{
    struct leat_info info = LEAT_INFO_INIT;

    if (!shape->options.outputs.mask_begin)
        return LEAT_NONE;
    leat_dataset_info(shape->plan->sources[source].dataset, &info);
    return info.begin_token;
}

enum leat_status loader_loss_open(struct loader_shape *shape, struct leat_error *err)
{
    const struct leat_loader_outputs *o = &shape->options.outputs;
    bool known = !o->mask_begin;

    shape->ignored = o->ignore_index != 0 ? o->ignore_index : -100;
    for (size_t i = 0; !known && i < shape->plan->rules.source_count; i++)
        known = begin_token_of(shape, (uint32_t)i) != LEAT_NONE;
    if (shape->ignored >= 0)
        return status_argument(err, "ignore_index", "ignore_index must be below 0, not %d: other numbers are tokens",
                               (int)shape->ignored);
    if (!known)
        return status_argument(err, "mask_begin", "the datasets have no begin token: leave mask_begin out");
    shape->masks |= o->mask_row_first || o->mask_begin;
    return LEAT_OK;
}

static uint32_t token_at(const struct loader_shape *shape, const uint8_t *tokens, uint64_t i)
{
    const uint8_t *p = tokens + i * shape->token_width;
    uint32_t t = p[0] | (uint32_t)p[1] << 8;

    return shape->token_width == 2 ? t : t | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

void loader_loss_tokens(const struct loader_shape *shape, uint32_t source, const uint8_t *tokens, uint64_t count,
                        uint64_t second, uint8_t *mask)
{
    uint64_t begin_token = begin_token_of(shape, source);

    if (shape->options.outputs.mask_row_first && second < count)
        mask[second] = 0;
    for (uint64_t i = 0; begin_token != LEAT_NONE && i < count; i++)
        if (token_at(shape, tokens, i) == begin_token)
            mask[i] = 0;
}

/* ---- Masks ---- */

static enum leat_status find_mask(const struct loader_shape *shape, const struct loader_places *places,
                                  const struct loader_memory *m, uint32_t row, struct leat_error *err)
{
    uint8_t *mask = m->base + m->layout.masks_at + (size_t)row * m->layout.mask_width, *to = mask;
    enum leat_status s = LEAT_OK;

    for (uint32_t k = places->first[row]; s == LEAT_OK && k < places->first[row + 1]; k++) {
        const struct leat_piece *p = &places->pieces[k];
        uint64_t gap = loader_places_gap(shape, p);

        s = leat_plan_mask(shape->plan, places->step.samples[row].number, p, 0, p->count, to, err);
        memset(to + p->count, 0, gap);
        to += p->count + gap;
    }
    if (s == LEAT_OK)
        loader_loss_tokens(shape, places->step.samples[row].source, loader_slot_row(places, m, row),
                           (uint64_t)(to - mask), 1, mask);
    return s;
}

enum leat_status loader_marks_find(const struct loader_shape *shape, const struct loader_places *places,
                                   const struct loader_memory *m, uint32_t row, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (loader_slot_damaged(m, row))
        return LEAT_OK;
    if (shape->documents)
        s = find_documents(shape, places, m, row, err);
    return s == LEAT_OK && shape->masks ? find_mask(shape, places, m, row, err) : s;
}
