#include "counter.h"

/* Values from 0 to 15 have a class each. For larger ones, the four bits after the highest one choose among 16
 * classes. */
static unsigned class_of(uint64_t value)
{
    unsigned shift;

    if (value < 16)
        return (unsigned)value;
    shift = 59u - (unsigned)__builtin_clzll(value);
    return 16u * (shift + 1) + (unsigned)(value >> shift & 15);
}

/* Returns the largest value of a class. */
static uint64_t class_end(unsigned number)
{
    unsigned shift;

    if (number < 16)
        return number;
    shift = number / 16 - 1;
    return (((uint64_t)16 + number % 16) << shift) + (((uint64_t)1 << shift) - 1);
}

void durations_add(struct durations *h, uint64_t value)
{
    counter_bump(&h->classes[class_of(value)], 1);
    counter_bump(&h->count, 1);
    counter_bump(&h->sum, value);
    if (value > counter_value(&h->max))
        atomic_store_explicit(&h->max, value, memory_order_relaxed);
}

uint64_t durations_quantile(const struct durations *h, double share)
{
    uint64_t count = 0, below = 0, max = counter_value(&h->max);

    for (unsigned i = 0; i < DURATIONS_CLASSES; i++)
        count += counter_value(&h->classes[i]);
    for (unsigned i = 0; i < DURATIONS_CLASSES && count > 0; i++) {
        below += counter_value(&h->classes[i]);
        if ((double)below >= share * (double)count)
            return class_end(i) < max ? class_end(i) : max;
    }
    return max;
}

uint64_t durations_mean(const struct durations *h)
{
    uint64_t count = counter_value(&h->count);

    return count ? counter_value(&h->sum) / count : 0;
}
