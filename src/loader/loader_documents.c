/*
 * loader_documents.c: where documents begin in the rows of a slot, by the starts of all documents
 * that begin in or near its tokens.
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

enum leat_status loader_documents_find(struct leat_loader *l, const struct loader_slot *slot, uint32_t row,
                                       struct leat_error *err)
{
    uint64_t *words = loader_documents_clear(slot, row);
    const struct leat_sample *sample = &slot->samples[row];
    struct part *p = dataset_part(l->plan->sources[sample->source].dataset, sample->part);
    uint64_t tokens = slot->pieces[row].bytes / l->token_width, from, to, starts[STARTS_AT_ONCE];
    enum leat_status s = LEAT_OK;

    if (tokens == 0 || l->options.rows == LEAT_ROWS_DOCUMENTS)
        return LEAT_OK;
    s = part_documents_near(p, sample->offset, sample->offset + tokens, &from, &to, err);
    while (s == LEAT_OK && from < to) {
        uint64_t count = to - from < STARTS_AT_ONCE ? to - from : STARTS_AT_ONCE;

        s = part_starts(p, from, count, starts, err);
        for (uint64_t i = 0; s == LEAT_OK && i < count; i++) {
            uint64_t at = starts[i] - sample->offset; /* huge where it lies before the row */

            if (at < tokens)
                words[at / 64] |= (uint64_t)1 << at % 64;
        }
        from += count;
    }
    return s;
}
