/*
 * random_words.h: numbers that cannot be predicted, for the keys of hashes: what a file holds is chosen by its author,
 * who must not be able to choose what collides. They decide no result.
 */
#ifndef LEAT_BASE_RANDOM_WORDS_H
#define LEAT_BASE_RANDOM_WORDS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/random.h>
#include <time.h>

/* Fills words[0..count), at most 32, with other numbers at each call. Never waits. */
static inline void random_words(uint64_t *words, size_t count)
{
    struct timespec day = { 0 }, up = { 0 };
    uint64_t x;

    if (getrandom(words, count * sizeof *words, GRND_NONBLOCK) == (ssize_t)(count * sizeof *words))
        return;
    /* Without random numbers (early at boot, or forbidden), the clocks and the place of the stack serve, which a
     * file's author does not know either. */
    clock_gettime(CLOCK_REALTIME, &day);
    clock_gettime(CLOCK_MONOTONIC, &up);
    x = (uint64_t)day.tv_sec ^ (uint64_t)day.tv_nsec << 32 ^ (uintptr_t)&day;
    for (size_t i = 0; i < count; i++) {
        x = (x ^ x >> 29 ^ (uint64_t)up.tv_sec ^ (uint64_t)up.tv_nsec << 32) * 0x9e3779b97f4a7c15u;
        words[i] = x ^ x >> 32;
    }
}

#endif
