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
    struct leat_piece *all = pieces;

    if (s != LEAT_OK)
        return s;
    if (room < x.pieces)
        all = malloc((size_t)x.pieces * sizeof *all);
    s = all ? leat_plan_pieces(plan, &x, 1, all, err) : LEAT_E_NO_MEMORY;
    if (s == LEAT_OK && room > 0 && all != pieces)
        memcpy(pieces, all, (size_t)room * sizeof *all);
    if (all != pieces)
        free(all);
    if (s == LEAT_OK)
        *count = x.pieces;
    return s;
}

#endif
