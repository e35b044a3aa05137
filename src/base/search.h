/*
 * search.h: binary search among numbers. What is asked of a number is a function of the caller's, which the compiler
 * puts in place of the call: a search costs what a loop of the caller's own would.
 */
#ifndef LEAT_BASE_SEARCH_H
#define LEAT_BASE_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "leat.h"

#define SEARCH_INLINE static inline __attribute__((always_inline))

/*
 * The first number of low..high-1 that is not before what is looked for, or `high` if all are. `before` must hold for
 * no number that comes after one for which it does not. The last number that is before it is one less than the result.
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

/* The same, where asking may fail; *found then is undefined. */
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
