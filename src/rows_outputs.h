/*
 * rows_outputs.h: what can be made of a batch, a row for each output. Loader, devices and tests go through the rows for all
 * that is the same for each: room, borrowing, places on a device. What its numbers are stands in rows_body.h, how they are
 * made fast in rows.c and rows_device.h.
 */
#ifndef LEAT_ROWS_OUTPUTS_H
#define LEAT_ROWS_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "rows.h"

enum rows_output_kind {
    ROWS_NUMBERS,  /* rows x length numbers of number_bytes */
    ROWS_MASK,     /* rows x length bytes */
    ROWS_SEQUENCES /* sequences_room numbers of four bytes */
};

/* The field, of struct leat_outputs and struct rows_job; LEAT_OUTPUT_name; the kind; whether documents must be known. */
#define ROWS_OUTPUTS(each)                                                                                             \
    each(inputs, INPUTS, ROWS_NUMBERS, false) each(labels, LABELS, ROWS_NUMBERS, false)                                \
        each(positions, POSITIONS, ROWS_NUMBERS, true) each(documents, DOCUMENTS, ROWS_NUMBERS, true)                  \
            each(loss_mask, LOSS_MASK, ROWS_MASK, false) each(attention_mask, ATTENTION_MASK, ROWS_MASK, false)        \
                each(sequences, SEQUENCES, ROWS_SEQUENCES, true)

#define ROWS_OUTPUT_NUMBER(field, name, kind, documents) ROWS_OUTPUT_##name,
enum rows_output { ROWS_OUTPUTS(ROWS_OUTPUT_NUMBER) ROWS_OUTPUT_COUNT };

/* Bytes of an output. */
static inline uint64_t rows_output_bytes(enum rows_output_kind kind, uint64_t numbers, uint32_t number_bytes,
                                         uint64_t sequences_room)
{
    return kind == ROWS_NUMBERS ? numbers * number_bytes : kind == ROWS_MASK ? numbers : 4 * sequences_room;
}

#endif
