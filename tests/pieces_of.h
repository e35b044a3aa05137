/* pieces_of.h: the pieces of the sample with a number: at most `room` of them, and how many it has. */
#ifndef LEAT_TESTS_PIECES_OF_H
#define LEAT_TESTS_PIECES_OF_H

#include <stdlib.h>
#include <string.h>

#include "leat.h"

static inline enum leat_status pieces_of(const struct leat_plan *plan, uint64_t number, struct leat_piece *pieces,
                                         uint64_t room, uint64_t *count, struct leat_error *err)
{
    struct leat_sample x;
    enum leat_status s = leat_plan_sample(plan, number, &x, err);
    struct leat_piece *all;

    if (s != LEAT_OK)
        return s;
    all = malloc((size_t)x.pieces * sizeof *all + 1);
    if (!all)
        return LEAT_E_NO_MEMORY;
    s = leat_plan_pieces(plan, &x, 1, all, err);
    if (s == LEAT_OK && room > 0)
        memcpy(pieces, all, (size_t)(x.pieces < room ? x.pieces : room) * sizeof *all);
    free(all);
    if (s == LEAT_OK)
        *count = x.pieces;
    return s;
}

#endif
