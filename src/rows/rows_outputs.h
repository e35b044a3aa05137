/*
 * rows_outputs.h: the outputs of a batch, a row each. Loader, devices and tests go through the rows for everything that
 * all outputs have: a field of struct rows_job, room, borrowing, places on a device.
 *
 * By default an output is made one by one: each number by itself, on host and devices, by the function that defines it
 * in output_NAME.h:
 *
 *     int64_t output_NAME(const struct rows_line *r, struct rows_stretch s, uint32_t i);    (number `i` of row `r`)
 *
 * Outputs that one pass or copy can make at once are made together: their numbers are defined in rows_body.h, and made
 * by code of their own in rows.c and rows_device.h.
 */
#ifndef LEAT_ROWS_OUTPUTS_H
#define LEAT_ROWS_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "output_attention_mask.h"

enum rows_output_kind {
    ROWS_NUMBERS,  /* rows x length numbers of number_bytes */
    ROWS_MASK,     /* rows x length bytes */
    ROWS_SEQUENCES /* cu_seqlens_room numbers of four bytes; never one by one */
};
#define ROWS_NUMBERS_TYPE   void
#define ROWS_MASK_TYPE      uint8_t
#define ROWS_SEQUENCES_TYPE int32_t

/* The field, of struct leat_outputs and struct rows_job; LEAT_OUTPUT_name; the kind; whether documents must be
 * known. */
#define ROWS_OUTPUTS_TOGETHER(each)                                                                                    \
    each(inputs, INPUTS, ROWS_NUMBERS, false) each(labels, LABELS, ROWS_NUMBERS, false)                                \
        each(position_ids, POSITION_IDS, ROWS_NUMBERS, true) each(document_ids, DOCUMENT_IDS, ROWS_NUMBERS, true)      \
            each(loss_mask, LOSS_MASK, ROWS_MASK, false) each(cu_seqlens, CU_SEQLENS, ROWS_SEQUENCES, true)
#define ROWS_OUTPUTS_SINGLY(each) each(attention_mask, ATTENTION_MASK, ROWS_MASK, false)
#define ROWS_OUTPUTS(each)        ROWS_OUTPUTS_TOGETHER(each) ROWS_OUTPUTS_SINGLY(each)

/* An output's number in an array of all: ROWS_OUTPUT_INPUTS ... */
#define ROWS_OUTPUT_NUMBER(field, name, kind, documents) ROWS_OUTPUT_##name,
enum rows_output { ROWS_OUTPUTS(ROWS_OUTPUT_NUMBER) ROWS_OUTPUT_COUNT };

/* Bytes of an output. */
static inline uint64_t rows_output_bytes(enum rows_output_kind kind, uint64_t numbers, uint32_t number_bytes,
                                         uint64_t cu_seqlens_room)
{
    return kind == ROWS_NUMBERS ? numbers * number_bytes : kind == ROWS_MASK ? numbers : 4 * cu_seqlens_room;
}

#endif
