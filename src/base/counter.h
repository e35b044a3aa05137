/* counter.h: figures that one thread writes while others may read them: counters, and durations by size. */
#ifndef LEAT_BASE_COUNTER_H
#define LEAT_BASE_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

/* Adds to a counter that only this thread writes, which needs no locked instruction. */
static inline void counter_bump(atomic_uint_fast64_t *counter, uint64_t by)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by, memory_order_relaxed);
}

static inline uint64_t counter_value(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

/* ---- Durations --------------------------------------------------------------------------------------------------- */

/*
 * Counts durations by size: 16 classes per doubling, so that a quantile is right to within 1/16, in a few nanoseconds
 * per duration. One thread adds; others may read meanwhile and see roughly the current state.
 */

#define DURATIONS_CLASSES (16u * 61u)

struct durations {
    atomic_uint_fast64_t classes[DURATIONS_CLASSES];
    atomic_uint_fast64_t count, sum, max;
};

void durations_add(struct durations *h, uint64_t value);

/* Returns the smallest bound that at least this share of all durations stays within; 0 if none was added. */
uint64_t durations_quantile(const struct durations *h, double share);
uint64_t durations_mean(const struct durations *h);

#endif
