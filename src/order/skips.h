/* skips.h: samples that are left out. Sample n keeps its number; position p counts only the samples that are shown.
 * It is equal for all orders, and pure. */
#ifndef LEAT_SKIPS_H
#define LEAT_SKIPS_H

#include <stdbool.h>
#include <stdint.h>

#include "leat.h"

struct skips_range {
    uint64_t first, end;
};

struct skip {
    uint64_t first, end;
    uint64_t before; /* samples skipped before this range */
};

struct skips {
    struct skip *items; /* ascending, disjoint, not adjoining */
    uint64_t count;
};

/* Copies ranges, which must be ascending, disjoint and not empty, and joins adjoining ones. skips_free() releases
 * the result; a struct of zeros may be freed, too. */
enum leat_status skips_make(struct skips *s, const struct skips_range *ranges, uint64_t count, struct leat_error *err);
void skips_free(struct skips *s);

/* Returns the number of the sample at position p. */
uint64_t skips_number(const struct skips *s, uint64_t position);

/* Returns the position of sample n; if it is skipped (*skipped), the position of the next sample shown. */
uint64_t skips_position(const struct skips *s, uint64_t n, bool *skipped);

/* Returns the first sample of the first skip after sample n; UINT64_MAX: no further skip. */
uint64_t skips_next(const struct skips *s, uint64_t n);

#endif
