/*
 * histogram.h: how often durations of which size were seen: 16 classes for each doubling, so that a quantile is right
 * to within 1/16, in a few nanoseconds a duration. One thread adds; others may read meanwhile, and see about now.
 */
#ifndef LEAT_HISTOGRAM_H
#define LEAT_HISTOGRAM_H

#include <stdatomic.h>
#include <stdint.h>

#define HISTOGRAM_CLASSES (16u * 61u)

struct histogram {
    atomic_uint_fast64_t classes[HISTOGRAM_CLASSES];
    atomic_uint_fast64_t count, sum, max;
};

void histogram_add(struct histogram *h, uint64_t value);

/* The least bound that at least this share of all values lie below or at; 0 of none. */
uint64_t histogram_quantile(const struct histogram *h, double share);
uint64_t histogram_mean(const struct histogram *h);

/* An addition by the only thread that writes: no locked instruction. */
static inline void histogram_bump(atomic_uint_fast64_t *counter, uint64_t by)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by, memory_order_relaxed);
}

static inline uint64_t histogram_value(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

#endif
