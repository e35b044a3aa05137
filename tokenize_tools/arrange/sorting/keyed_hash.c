/* keyed_hash.c: computes SipHash (Aumasson and Bernstein: SipHash: a fast short-input PRF, 2012). */
#include "keyed_hash.h"

static uint64_t rotate(uint64_t x, unsigned by)
{
    return x << by | x >> (64 - by);
}

static void rounds(uint64_t v[4], unsigned count)
{
    while (count-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

void keyed_hash_begin(struct keyed_hash *h, const uint64_t key[2])
{
    h->v[0] = key[0] ^ 0x736f6d6570736575u;
    h->v[1] = key[1] ^ 0x646f72616e646f6du ^ 0xee; /* 0xee: 128 bits */
    h->v[2] = key[0] ^ 0x6c7967656e657261u;
    h->v[3] = key[1] ^ 0x7465646279746573u;
    h->words = 0;
}

void keyed_hash_add(struct keyed_hash *h, uint64_t word)
{
    h->v[3] ^= word;
    rounds(h->v, 2);
    h->v[0] ^= word;
    h->words++;
}

void keyed_hash_end(struct keyed_hash *h, uint64_t out[2])
{
    keyed_hash_add(h, h->words * 8 << 56); /* the length in bytes */
    h->v[2] ^= 0xee;
    rounds(h->v, 4);
    out[0] = h->v[0] ^ h->v[1] ^ h->v[2] ^ h->v[3];
    h->v[1] ^= 0xdd;
    rounds(h->v, 4);
    out[1] = h->v[0] ^ h->v[1] ^ h->v[2] ^ h->v[3];
}
