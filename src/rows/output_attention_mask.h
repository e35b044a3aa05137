/* output_attention_mask.h: 1 for the tokens of a row, 0 for the padding after them. */
#ifndef LEAT_OUTPUT_ATTENTION_MASK_H
#define LEAT_OUTPUT_ATTENTION_MASK_H

#include "rows_line.h"

/* Returns 1 for a token, 0 for padding. All numbers of a stretch are equal, so one test is enough for them. A row of
 * only padding is one stretch of 1, because a softmax over nothing is NaN. */
ROWS_BODY int64_t output_attention_mask(const struct rows_line *r, struct rows_stretch s, uint32_t i)
{
    (void)r;
    (void)i;
    return s.number == 0;
}

#endif
