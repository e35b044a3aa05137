/*
 * shuffle_record.h: a document in a bucket: these fields, then its tokens in the stored width, then its id, then zeros
 * up to a multiple of 8, so that tokens are aligned in memory. In this machine's order: no other process reads it.
 */
#ifndef LEAT_ARRANGE_SHUFFLE_RECORD_H
#define LEAT_ARRANGE_SHUFFLE_RECORD_H

#include <stdint.h>

#include "base/tiny.h"
#include "sorting/buckets.h"

struct shuffle_record {
    uint64_t number; /* among its output's documents, without shuffling */
    uint64_t tokens;
    uint64_t input, offset, line, id_bytes; /* of the origin */
    uint8_t hash[16];                       /* zeros: none */
};

/* With a mask, tokens lie in blocks of so many, the last one of fewer, each followed by their mask. */
#define SHUFFLE_BLOCK TINY_OR((uint64_t)8, (uint64_t)4096)

/* The bytes of a record with everything after it; `cost`: of a token, with its mask. Documents that exist in files
 * cannot overflow it. */
static inline uint64_t shuffle_record_bytes(const struct shuffle_record *r, uint32_t cost)
{
    return (sizeof *r + r->tokens * cost + r->id_bytes + 7) / 8 * 8;
}

/* A bucket gets a record of this many bytes. */
static inline void shuffle_record_count(struct bucket *b, uint64_t bytes)
{
    b->records++;
    if (bytes > b->longest)
        b->longest = bytes;
}

#endif
