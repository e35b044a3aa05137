/*
 * permute.h: the keyed permutation of [0, n): the place of draw i in an epoch of a source, and the draw of a place.
 * Pure arithmetic: no tables, nothing to build, no memory. docs/ORDER.md, "Permutation", version 1, is the rule, with
 * frozen vectors; another rule is another version. It shuffles; it is not cryptography.
 */
#ifndef LEAT_PERMUTE_H
#define LEAT_PERMUTE_H

#include <stddef.h>
#include <stdint.h>

#include "base/wide.h"

#define PERMUTE_VERSION 1u
#define PERMUTE_MAX     ((uint64_t)1 << 48)

struct permute {
    uint64_t n;
    uint64_t rows; /* a place x is (x / columns, x mod columns); rows * columns >= n */
    struct wide_divider columns;
    uint64_t state; /* state made from seed and source; gives an epoch's keys */
};

/* Takes the seed and a source's number; permute_forward() of an epoch is then a permutation of [0, n). The caller has
 * checked that 1 <= n <= PERMUTE_MAX. */
struct permute permute_make(uint64_t n, uint64_t seed, uint64_t source);

/* Returns the place of draw i < n in this epoch. */
uint64_t permute_forward(const struct permute *p, uint64_t epoch, uint64_t i);

/* Permutes many draws, each with its own permutation and epoch: `at` becomes its place. Several are computed side by
 * side, because each is a long chain of dependent products: the more at once, the better. */
struct permute_draw {
    const struct permute *permute;
    uint64_t epoch, at;
};
void permute_forward_many(struct permute_draw *draws, size_t count);

/* permute_number() returns a number for place `place` of something that is drawn once: mix(key(place)) of
 * docs/ORDER.md, of p's seed and source. permute_numbers() sets numbers[place] for all places below `count`. */
uint64_t permute_number(const struct permute *p, uint64_t epoch, uint64_t place);
void permute_numbers(const struct permute *p, uint64_t epoch, uint64_t *numbers, size_t count);

/* Returns the inverse of permute_forward(): the draw at place x < n. */
uint64_t permute_inverse(const struct permute *p, uint64_t epoch, uint64_t x);

#endif
