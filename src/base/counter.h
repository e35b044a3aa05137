/* counter.h: counters that one thread writes while others may read them. */
#ifndef LEAT_BASE_COUNTER_H
#define LEAT_BASE_COUNTER_H

#include <stdatomic.h>
#include <stdint.h>

/* An addition by the only thread that writes: no locked instruction. */
static inline void counter_bump(atomic_uint_fast64_t *counter, uint64_t by)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + by, memory_order_relaxed);
}

static inline uint64_t counter_value(const atomic_uint_fast64_t *counter)
{
    return atomic_load_explicit(counter, memory_order_relaxed);
}

#endif
