/*
 * durations.h: counts durations by size: 16 classes per doubling, so that a quantile is right to within 1/16, in a few
 * nanoseconds per duration. One thread adds; others may read meanwhile and see roughly the current state.
 */
#ifndef LEAT_BASE_DURATIONS_H
#define LEAT_BASE_DURATIONS_H

#include <stdatomic.h>
#include <stdint.h>

#define DURATIONS_CLASSES (16u * 61u)

struct durations {
    atomic_uint_fast64_t classes[DURATIONS_CLASSES];
    atomic_uint_fast64_t count, sum, max;
};

void durations_add(struct durations *h, uint64_t value);

/* The smallest bound that at least this share of all durations stays within; 0 if none was added. */
uint64_t durations_quantile(const struct durations *h, double share);
uint64_t durations_mean(const struct durations *h);

#endif
