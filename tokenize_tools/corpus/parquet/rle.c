/* rle.c: see rle.h. */
#include "rle.h"

#include "base/bytes.h"

bool rle_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;

        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

uint64_t rle_bits(const uint8_t *bytes, const uint8_t *end, uint64_t bit, unsigned width)
{
    const uint8_t *from = bytes + bit / 8;
    unsigned shift = (unsigned)(bit % 8), got = 8 - shift;
    uint64_t value;

    if (width == 0)
        return 0;
    if (end - from >= 9) {
        value = bytes_load64(from) >> shift;
        if (shift + width > 64)
            value |= (uint64_t)from[8] << (64 - shift);
    } else {
        value = (uint64_t)*from++ >> shift;
        for (; got < width; got += 8)
            value |= (uint64_t)*from++ << got;
    }
    return width == 64 ? value : value & (((uint64_t)1 << width) - 1);
}

void rle_open(struct rle *r, const uint8_t *bytes, size_t count, unsigned width)
{
    *r = (struct rle) { .at = bytes, .end = bytes + count, .width = width };
}

static bool next_run(struct rle *r)
{
    size_t bytes = (r->width + 7) / 8;
    uint64_t head;

    if (r->packed)
        r->at += r->bit / 8; /* runs are of eight numbers: of whole bytes */
    if (!rle_varint(&r->at, r->end, &head))
        return false;
    r->packed = head & 1;
    r->left = head >> 1;
    r->bit = 0;
    if (r->packed)
        return bytes_multiply(r->left, 8, &r->left);
    if ((size_t)(r->end - r->at) < bytes)
        return false;
    r->value = 0;
    for (size_t i = 0; i < bytes; i++)
        r->value |= (uint32_t)r->at[i] << 8 * i;
    r->at += bytes;
    return true;
}

bool rle_next(struct rle *r, uint32_t *value)
{
    while (r->left == 0)
        if (!next_run(r))
            return false;
    if (r->packed) {
        /* the last run may end with the last number that is needed */
        if ((r->bit + r->width + 7) / 8 > (uint64_t)(r->end - r->at))
            return false;
        *value = (uint32_t)rle_bits(r->at, r->end, r->bit, r->width);
        r->bit += r->width;
    } else {
        *value = r->value;
    }
    r->left--;
    return true;
}

bool rle_ended(const struct rle *r)
{
    uint64_t run = r->packed ? (r->bit + r->left * r->width) / 8 : 0, left = (uint64_t)(r->end - r->at);

    return run >= left;
}
