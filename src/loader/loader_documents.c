/*
 * loader_documents.c: marks where documents begin in the rows of a slot, from the starts of the documents in and near
 * its tokens.
 */
#include <string.h>

#include "loader.h"

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
        uint32_t at = l->options.unshifted ? tokens : piece->at;

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
