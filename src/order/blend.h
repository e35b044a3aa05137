/*
 * blend.h: which source draw k belongs to, and which draw of that source it is: a Huffman tree of two-way splits, exact
 * in integers, with an exact inverse. docs/ORDER.md, "Blend", version 1, is the rule, with frozen vectors; another rule
 * is another version.
 *
 * After k draws each source has received its share of k to within 1.5 (seen: 1.15 with up to 1000 sources).
 */
#ifndef LEAT_BLEND_H
#define LEAT_BLEND_H

#include <stdint.h>

#include "base/wide.h"
#include "leat.h"

#define BLEND_VERSION  1u
#define BLEND_MAX      ((uint64_t)1 << 48) /* limit of the sum of the weights */
#define BLEND_MAX_DRAW ((uint64_t)1 << 62)

struct blend_node; /* blend.c */

struct blend {
    struct blend_node *nodes; /* leaves first, in the order of their sources; NULL: there is only one leaf */
    uint32_t *leaf_of;        /* leaf of each source; BLEND_NO_LEAF: weight 0 */
    uint32_t leaves, root;
    uint32_t only; /* source of the only leaf */
    struct wide_divider total;
};

#define BLEND_NO_LEAF UINT32_MAX

/*
 * Makes a blend of the weights of `count` sources, by number. They must not all be 0, and have a sum of at most
 * BLEND_MAX (the caller checks both). Only their ratios count. On success blend_free() releases the blend; a blend
 * of zeros may be freed, too.
 */
enum leat_status blend_make(struct blend *b, const uint64_t *weights, uint32_t count, struct leat_error *err);
void blend_free(struct blend *b);

/* Returns the source of draw k < BLEND_MAX_DRAW. Sets *draw to the number of draws before k that went to this source.
 */
uint32_t blend_draw(const struct blend *b, uint64_t k, uint64_t *draw);

/* Finds the sources of draws [k, k + count), count at most BLEND_RANGE_MAX, k + count at most BLEND_MAX_DRAW: faster
 * than one by one. */
#define BLEND_RANGE_MAX 64u
void blend_range(const struct blend *b, uint64_t k, uint32_t count, uint32_t *sources, uint64_t *draws);

/* Returns the inverse of blend_draw(): the draw k that is draw `draw` of this source, whose weight is not 0;
 * UINT64_MAX if that is not below BLEND_MAX_DRAW. */
uint64_t blend_place(const struct blend *b, uint32_t source, uint64_t draw);

/* Adds to counts[source] the draws that each source has among the first k. */
void blend_count(const struct blend *b, uint64_t k, uint64_t *counts);

#endif
