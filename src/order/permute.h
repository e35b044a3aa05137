/*
 * permute.h: the keyed permutation of [0, n): where the i-th draw of a source's epoch lies, and which draw a place is.
 * Pure arithmetic: no tables, nothing to build, no memory. docs/ORDER.md, "Permutation", version 1, is the rule, with
 * frozen vectors; another rule is another version. It shuffles; it does not keep secrets.
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
    uint64_t rows, columns; /* a place x is (x / columns, x mod columns); rows * columns >= n */
    struct wide_divider by_columns;
    uint64_t state; /* of seed and source; an epoch's keys follow from it */
};

/* Of the seed and a source's number; permute_forward() of an epoch is then a permutation of [0, n). 1 <= n <=
 * PERMUTE_MAX: the caller has checked. */
struct permute permute_make(uint64_t n, uint64_t seed, uint64_t source);

/* Where draw i < n of this epoch lies. */
uint64_t permute_forward(const struct permute *p, uint64_t epoch, uint64_t i);

/* The same for many draws, each of its own permutation and epoch: `at` becomes its place. Four are worked on side by
 * side, since each is a long chain of products that a processor waits for. */
struct permute_draw {
    const struct permute *permute;
    uint64_t epoch, at;
};
void permute_forward_many(struct permute_draw *draws, size_t count);

/* The inverse: which draw lies at x < n. */
uint64_t permute_inverse(const struct permute *p, uint64_t epoch, uint64_t x);

#endif
