/*
 * deal.h: which rank of several gets which row of a global batch, so that the sums of the rows' costs are nearly equal
 * and all ranks have equally many rows. Pure arithmetic on integers, with equal results on every rank: docs/ORDER.md,
 * "Dealing rows to ranks", version 1, is the rule.
 */
#ifndef LEAT_DEAL_H
#define LEAT_DEAL_H

#include <stdint.h>

#include "leat.h"

#define DEAL_VERSION       1u
#define DEAL_LANES_VERSION 1u
#define DEAL_MAX_COST      ((uint64_t)1 << 62) /* highest sum of all rows' costs */

/* Sets ranks[i] to the rank of row i. `count` is a multiple of `world`. The costs add up to at most DEAL_MAX_COST. */
enum leat_status deal_rows(const uint64_t *costs, uint32_t count, uint32_t world, uint32_t *ranks,
                           struct leat_error *err);

/* Deals by lanes, as "Dealing rows by lanes", version 1, says: ranks[i] is row i's lane of `lanes`, a multiple of
 * `world`, and becomes its rank. `got` of the `count` rows have samples. `room`: memory for `world` numbers. */
void deal_lanes(uint32_t *ranks, uint32_t got, uint32_t count, uint64_t lanes, uint32_t world, uint64_t *room);

#endif
