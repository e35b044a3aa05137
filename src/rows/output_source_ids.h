/* output_source_ids.h: the number of the row's source for its tokens, -1 for padding. */
#ifndef LEAT_OUTPUT_SOURCE_IDS_H
#define LEAT_OUTPUT_SOURCE_IDS_H

#include "rows_line.h"

/* Returns the number of the row's source, or -1. All numbers of a stretch are equal, as in output_attention_mask.h. */
ROWS_BODY int64_t output_source_ids(const struct rows_line *r, struct rows_stretch s, uint32_t i)
{
    (void)i;
    return s.begin < r->length ? r->source : -1;
}

#endif
