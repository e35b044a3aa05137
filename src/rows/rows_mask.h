/*
 * rows_mask.h: leaves out what a dataset's mask does, after the outputs of a job have been made on the host. Apart from
 * rows.h, since device kernels, which are made from that, do not know masks.
 */
#ifndef LEAT_ROWS_MASK_H
#define LEAT_ROWS_MASK_H

#include "rows.h"

/* `mask`: a byte per token of the slot, `width` for each of its rows; labels that are a token with 0 get no loss. */
void rows_mask(const struct rows_job *job, const uint8_t *mask, uint64_t width);

#endif
