/*
 * hash_key.h: a number that nobody can foresee, for a table whose keys a file chooses. With a hash that is the same
 * everywhere, a file can be made whose keys all have one place: 200,000 tokens of that kind took 24.8 s to open, any
 * others 0.05 s.
 */
#ifndef LEAT_TOKENIZER_HASH_KEY_H
#define LEAT_TOKENIZER_HASH_KEY_H

#include <stdint.h>

#include "base/random_words.h"

/* Another one at each call; odd. What is found in a table must not depend on it. */
static inline uint64_t hash_key_new(void)
{
    uint64_t key;

    random_words(&key, 1);
    return key | 1;
}

/*
 * The place of a number in a table of 2^bits places, bits at least 1. Multiplied with an odd number of which nothing is
 * known, two numbers have one place with a chance of at most 2 in 2^bits (Dietzfelbinger and others, 1997).
 */
static inline uint64_t hash_key_place(uint64_t number, uint64_t key, unsigned bits)
{
    return number * key >> (64 - bits);
}

#endif
