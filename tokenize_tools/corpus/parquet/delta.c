/* delta.c: see delta.h. */
#include "delta.h"

#include "base/bytes.h"
#include "rle.h"

static uint64_t unzigzag(uint64_t value)
{
    return value >> 1 ^ (0 - (value & 1));
}

bool delta_open(struct delta *d, const uint8_t *bytes, const uint8_t *end)
{
    uint64_t block, first;

    *d = (struct delta) { .at = bytes, .end = end };
    if (!rle_varint(&d->at, end, &block) || !rle_varint(&d->at, end, &d->minis) || !rle_varint(&d->at, end, &d->left) ||
        !rle_varint(&d->at, end, &first))
        return false;
    d->value = unzigzag(first);
    if (d->minis == 0 || d->minis > block || block > UINT32_MAX || block % d->minis != 0)
        return false;
    d->per_mini = block / d->minis;
    d->mini = d->minis; /* a block begins */
    d->taken = d->per_mini;
    return d->per_mini % 8 == 0; /* so that a miniblock has whole bytes */
}

/* Goes to the next miniblock. */
static bool next_mini(struct delta *d)
{
    uint64_t bytes;

    if (d->mini == d->minis) {
        uint64_t min;

        if (!rle_varint(&d->at, d->end, &min) || (uint64_t)(d->end - d->at) < d->minis)
            return false;
        d->min = unzigzag(min);
        d->widths = d->at;
        d->at += d->minis;
        d->mini = 0;
    }
    bytes = d->per_mini / 8 * d->widths[d->mini];
    if (d->widths[d->mini] > 64 || (uint64_t)(d->end - d->at) < bytes)
        return false;
    d->bits = d->at;
    d->at += bytes;
    d->mini++;
    d->taken = 0;
    return true;
}

bool delta_next(struct delta *d, uint64_t *value)
{
    unsigned width;

    if (d->left == 0)
        return false;
    *value = d->value;
    if (--d->left == 0)
        return true;
    if (d->taken == d->per_mini && !next_mini(d))
        return false;
    width = d->widths[d->mini - 1];
    d->value += d->min + rle_bits(d->bits, d->at, d->taken++ * width, width);
    return true;
}

bool delta_pass(struct delta *d)
{
    uint64_t differences = d->left > 0 ? d->left - 1 : 0;

    for (; differences > 0; differences -= differences < d->per_mini ? differences : d->per_mini)
        if (!next_mini(d))
            return false;
    return true;
}
