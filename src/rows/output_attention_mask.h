/* output_attention_mask.h: 1 for the tokens of a row, 0 for the padding behind them. */
#ifndef LEAT_OUTPUT_ATTENTION_MASK_H
#define LEAT_OUTPUT_ATTENTION_MASK_H

#include "rows_line.h"

/* Asked of the stretch, which is one question for all its numbers. Rows that are nothing but padding are one stretch, and
 * attended to: a softmax over nothing is no number. */
ROWS_BODY int64_t output_attention_mask(const struct rows_line *r, struct rows_stretch s, uint32_t i)
{
    (void)r;
    (void)i;
    return s.number == 0;
}

#endif
