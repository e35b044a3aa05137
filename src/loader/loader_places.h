/*
 * loader_places.h: what the rows of a batch are: the samples of a plan, or whole documents in an order of their own.
 */
#ifndef LEAT_LOADER_PLACES_H
#define LEAT_LOADER_PLACES_H

#include "leat.h"
#include "order/permute.h"
#include "plan/plan.h"

/* Documents of one dataset of a source, which follow each other in the order of all. */
struct loader_range {
    uint64_t first;    /* documents in the ranges before */
    uint64_t document; /* the first one's number in the source */
    uint32_t source, part;
};

struct loader_places {
    const struct leat_plan *plan;
    enum leat_rows rows;
    uint64_t positions; /* LEAT_NONE: without end */
    uint32_t max_length;
    /* Of documents: */
    uint64_t documents; /* of all ranges */
    struct loader_range *ranges;
    uint64_t range_count;
    struct permute permute;
};

/* `max_length` 0: the plan's. */
enum leat_status loader_places_open(struct loader_places *p, const struct leat_plan *plan, enum leat_rows rows,
                                    uint64_t max_length, struct leat_error *err);
void loader_places_close(struct loader_places *p);

/* The rows of positions [first, first + count); *got: fewer only where they end. */
enum leat_status loader_places_get(const struct loader_places *p, uint64_t first, uint64_t count,
                                   struct leat_sample *samples, uint64_t *got, struct leat_error *err);

/* Tokens that a row has: length + 1, but for an empty document. */
static inline uint64_t loader_places_tokens(const struct loader_places *p, const struct leat_sample *sample)
{
    /* an empty document is the only one whose piece is set */
    return p->rows == LEAT_ROWS_DOCUMENTS && sample->piece ? 0 : (uint64_t)sample->length + 1;
}

#endif
