/* parallel.h: runs the same work on several threads, for measurements; and makes random-looking numbers from a seed. */
#ifndef LEAT_BENCH_PARALLEL_H
#define LEAT_BENCH_PARALLEL_H

#include <stdbool.h>
#include <stdint.h>

/* Calls work(context, 0) to work(context, threads - 1) at the same time and waits for all; false: a thread could not
 * be started (the others have run). */
bool parallel_run(unsigned threads, void (*work)(void *context, unsigned index), void *context);

/* SplitMix64: the next number of a sequence that begins with *state. */
static inline uint64_t parallel_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

#endif
