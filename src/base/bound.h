/*
 * bound.h: how much memory an encoder may use for a text. Everything that grows with the text is counted here before it
 * is allocated, including both copies while an allocation grows.
 */
#ifndef LEAT_BASE_BOUND_H
#define LEAT_BASE_BOUND_H

#include <stdbool.h>
#include <stdint.h>

#include "leat.h"

struct bound {
    uint64_t max, held; /* bytes */
};

/* Counts so many bytes more; false, and nothing counted, if that exceeds the bound. NULL is no bound. */
static inline bool bound_take(struct bound *b, uint64_t bytes)
{
    if (b && (b->held > b->max || bytes > b->max - b->held))
        return false;
    if (b)
        b->held += bytes;
    return true;
}

static inline void bound_give(struct bound *b, uint64_t bytes)
{
    if (b)
        b->held -= bytes;
}

/* LEAT_E_PIECE, with a sentence on a stretch of text of at least `bytes` that does not fit. */
enum leat_status bound_refuse(const struct bound *b, uint64_t bytes, struct leat_error *err);

#endif
