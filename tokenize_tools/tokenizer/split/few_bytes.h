/*
 * few_bytes.h: finds bytes of a small set in a text, 64 bytes at a time. Each has a bit of its own in two tables of 16,
 * by its low and its high half, so two look-ups tell them from all others.
 */
#ifndef LEAT_TOKENIZER_FEW_BYTES_H
#define LEAT_TOKENIZER_FEW_BYTES_H

#include <stddef.h>
#include <stdint.h>

#define FEW_BYTES       8u
#define FEW_BYTES_BLOCK 64u

struct few_bytes {
    uint8_t high[16], low[16];
    uint8_t bytes[FEW_BYTES];
    unsigned count;
};

/* Adds a byte that is not in the set, if it has room. */
void few_bytes_add(struct few_bytes *f, uint8_t byte);

/* Goes through whole blocks of text[*at..bytes) until one has bytes of the set. Returns a bit for each, and moves *at
 * to that block. Returns 0 if no block has any; then less than a block is left at *at. */
typedef uint64_t few_bytes_function(const struct few_bytes *f, const uint8_t *text, size_t bytes, size_t *at);

extern few_bytes_function few_bytes_find_avx512, few_bytes_find_avx2, few_bytes_find_neon, few_bytes_find_words;

/* Returns the function of the fastest level that this CPU has. */
few_bytes_function *few_bytes_finder(void);

#endif
