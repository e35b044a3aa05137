/*
 * permute_lanes.h: the network of permute.c for 16 draws side by side, as this processor does it fastest. One draw
 * is a long chain of dependent products, so that a processor has time for others meanwhile.
 */
#ifndef LEAT_PERMUTE_LANES_H
#define LEAT_PERMUTE_LANES_H

#include <stdint.h>

#define PERMUTE_LANES 16

struct permute_lanes {
    uint64_t row[PERMUTE_LANES], column[PERMUTE_LANES];   /* before the rounds, and after */
    uint64_t rows[PERMUTE_LANES], columns[PERMUTE_LANES]; /* at most 2^24 + 2 */
    uint64_t key[PERMUTE_LANES];                          /* of the first round */
};

/* So many rounds, an even number. */
typedef void permute_rounds(struct permute_lanes *lanes, unsigned rounds);

permute_rounds *permute_lanes_rounds(void);

#endif
