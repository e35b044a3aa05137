/* copy_back.h: what Snappy and LZ4 have in common: bytes that were given already come again. */
#ifndef LEAT_PARQUET_COPY_BACK_H
#define LEAT_PARQUET_COPY_BACK_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Copies `count` bytes from `distance` bytes before `to`, where they may overlap; `count` is at most `room`, and there
 * are `distance` bytes before `to`, not 0. */
static inline void copy_back(uint8_t *to, size_t distance, size_t count, size_t room)
{
    const uint8_t *from = to - distance;
    size_t at = 0;

    /* in steps of eight bytes, also a few too many where there is room for them */
    if (distance >= 8 && room - count >= 8)
        for (; at < count; at += 8)
            memcpy(to + at, from + at, 8);
    for (; at < count; at++)
        to[at] = from[at];
}

/* Copies `count` bytes that follow `from` and do not overlap `to`: `left` and `room` are what there is of both. */
static inline void copy_literal(uint8_t *to, const uint8_t *from, size_t count, size_t left, size_t room)
{
    if (count <= 16 && left >= 16 && room >= 16)
        memcpy(to, from, 16);
    else
        memcpy(to, from, count);
}

#endif
