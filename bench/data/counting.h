/*
 * counting.h: datasets of counting tokens, in which any misplaced byte shows: token p of the dataset is a function of
 * p alone, so a reader can be checked at any place without a second copy.
 *
 *   counting_token(p, width):  z = p * 0x9e3779b97f4a7c15;  z ^= z >> 32;  z *= 0xd6e8feb86659fd93;  z ^= z >> 32
 *                              (all modulo 2^64); the token is z modulo the vocabulary: 65536 for a width of 2,
 *                              2^20 for a width of 4.
 *   counting_length(n, mean):  the length of document n, from 0 to 2 * mean: the same function of
 *                              n + 0x636f756e74696e67, modulo 2 * mean + 1. The last document is cut where the tokens
 *                              end.
 *
 * It has no end or begin token and no tokenizer. Each document's origin is input 0, named "counting", at an offset
 * that equals the position of its first token.
 *
 * The room data/ has what the commands measure with: datasets that are computed. What may enter: data that several
 * commands or tests need; nothing that measures.
 */
#ifndef LEAT_BENCH_COUNTING_H
#define LEAT_BENCH_COUNTING_H

#include "leat.h"

static inline uint64_t counting_mix(uint64_t p)
{
    uint64_t z = p * 0x9e3779b97f4a7c15u;

    z ^= z >> 32;
    z *= 0xd6e8feb86659fd93u;
    return z ^ z >> 32;
}

static inline uint64_t counting_vocabulary(unsigned width)
{
    return width == 2 ? 65536 : (uint64_t)1 << 20;
}

static inline uint32_t counting_token(uint64_t p, unsigned width)
{
    return (uint32_t)(counting_mix(p) & (counting_vocabulary(width) - 1));
}

static inline uint64_t counting_length(uint64_t document, uint64_t mean)
{
    return counting_mix(document + 0x636f756e74696e67u) % (2 * mean + 1);
}

struct counting_options {
    uint64_t tokens;
    unsigned width;           /* bytes per token: 2 or 4 */
    uint64_t document_length; /* mean tokens per document, 1 to 2^40 */
    int replace;              /* 1: an existing dataset is replaced */
    /* Called now and then unless it is NULL. If it returns nonzero, counting_write() stops with LEAT_E_STOPPED. */
    uint32_t (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;
};
#define COUNTING_OPTIONS_INIT                                                                                          \
    {                                                                                                                  \
        .width = 2, .document_length = 500                                                                             \
    }

/* Writes the dataset `name`, and its facts to *info unless that is NULL. Leaves no files on failure. */
enum leat_status counting_write(const char *name, const struct counting_options *options, struct leat_info *info,
                                struct leat_error *err);

#endif
