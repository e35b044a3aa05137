/*
 * search.h: binary search among numbers. The caller's function decides about a number; the compiler inlines it, so a
 * search costs no more than a loop in its place.
 */
#ifndef LEAT_BASE_SEARCH_H
#define LEAT_BASE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "leat.h"

#define SEARCH_INLINE static inline __attribute__((always_inline))

/*
 * Returns the first number of low..high-1 for which `before` is false, or `high` if it is true for all. `before`
 * must be true up to some number and false from there on. The last number for which it is true is one less than the
 * result.
 */
SEARCH_INLINE uint64_t search_first(uint64_t low, uint64_t high, bool (*before)(const void *context, uint64_t number),
                                    const void *context)
{
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        if (before(context, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Searches with a `before` that may fail, in which case the search fails, too, and *found is undefined. */
SEARCH_INLINE enum leat_status search_first_read(uint64_t *found, uint64_t low, uint64_t high,
                                                 enum leat_status (*before)(void *context, uint64_t number,
                                                                            bool *is_before, struct leat_error *err),
                                                 void *context, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && low < high) {
        uint64_t middle = low + (high - low) / 2;
        bool is_before = false;

        s = before(context, middle, &is_before, err);
        if (is_before)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low;
    return s;
}

#endif
