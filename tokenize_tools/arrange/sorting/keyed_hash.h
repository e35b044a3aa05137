/*
 * keyed_hash.h: SipHash-2-4 with 128 bits, of numbers of 64 bits. Nobody who does not know the key can make two
 * messages with one hash. With XXH3 that is possible: it is made for speed, and its key is no secret.
 */
#ifndef LEAT_ARRANGE_KEYED_HASH_H
#define LEAT_ARRANGE_KEYED_HASH_H

#include <stdint.h>

struct keyed_hash {
    uint64_t v[4];
    uint64_t words;
};

/* The key comes from random_words(), anew for each run. */
void keyed_hash_begin(struct keyed_hash *h, const uint64_t key[2]);
void keyed_hash_add(struct keyed_hash *h, uint64_t word);
void keyed_hash_end(struct keyed_hash *h, uint64_t out[2]);

#endif
