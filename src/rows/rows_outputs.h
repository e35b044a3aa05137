/*
 * rows_outputs.h: the outputs of a batch, a row each. Loader, devices and tests go through the rows for everything that
 * all outputs have: a field of struct rows_job, room, borrowing, places on a device.
 *
 * By default an output is made singly: each number by itself, on host and devices, by the function that defines it
 * in output_NAME.h:
 *
 *     int64_t output_NAME(const struct rows_line *r, struct rows_stretch s, uint32_t i);    (number `i` of row `r`)
 *
 * Outputs that one pass or copy can make at once are made together: their numbers are defined in rows_body.h, and made
 * by code of their own in rows.c and rows_device.h.
 *
 * To add one: output_NAME.h, its include and its row here, its number and its field in leat/loader.h, each after the
 * others; the rest follows on host and GPU. scripts/gen_ptx.sh regenerates the kernels, and `ptxas -v` reports what
 * they spill.
 * Its expected values in test_loader_outputs.c, computed in another way; in Python a row in batch.h and its type in
 * batch.pyi.
 */
#ifndef LEAT_ROWS_OUTPUTS_H
#define LEAT_ROWS_OUTPUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "output_attention_mask.h"
#include "output_source_ids.h"

enum rows_output_kind {
    ROWS_NUMBERS,   /* rows x length numbers of number_bytes */
    ROWS_MASK,      /* rows x length bytes */
    ROWS_WEIGHTS,   /* rows x length floats; never made singly */
    ROWS_SEQUENCES, /* cu_seqlens_room numbers of four bytes; never made singly */
    ROWS_AHEAD      /* ahead x rows x length numbers of number_bytes; never made singly */
};
#define ROWS_NUMBERS_TYPE   void
#define ROWS_MASK_TYPE      uint8_t
#define ROWS_WEIGHTS_TYPE   void
#define ROWS_SEQUENCES_TYPE int32_t
#define ROWS_AHEAD_TYPE     void

/*
 * The outputs. A row has the macro for how it is made; the field of struct leat_outputs and struct rows_job; the
 * NAME of LEAT_OUTPUT_NAME; the kind; and whether documents must be known. A use gives a macro for each way of
 * making: the same one twice, or ROWS_SKIP for the way that it skips.
 */
/* clang-format off */
#define ROWS_OUTPUTS(together, singly)                                                                                 \
    together(inputs, INPUTS, ROWS_NUMBERS, false)                                                                      \
    together(labels, LABELS, ROWS_NUMBERS, false)                                                                      \
    together(position_ids, POSITION_IDS, ROWS_NUMBERS, true)                                                           \
    together(document_ids, DOCUMENT_IDS, ROWS_NUMBERS, true)                                                           \
    together(loss_mask, LOSS_MASK, ROWS_MASK, false)                                                                   \
    together(cu_seqlens, CU_SEQLENS, ROWS_SEQUENCES, true)                                                             \
    together(loss_weights, LOSS_WEIGHTS, ROWS_WEIGHTS, false)                                                          \
    together(ahead_labels, AHEAD_LABELS, ROWS_AHEAD, false)                                                            \
    singly(attention_mask, ATTENTION_MASK, ROWS_MASK, false)                                                           \
    singly(source_ids, SOURCE_IDS, ROWS_NUMBERS, false)
/* clang-format on */
#define ROWS_SKIP(field, name, kind, documents)

/* The number of an output in an array of all outputs: ROWS_OUTPUT_INPUTS and so on. */
#define ROWS_OUTPUT_NUMBER(field, name, kind, documents) ROWS_OUTPUT_##name,
enum rows_output { ROWS_OUTPUTS(ROWS_OUTPUT_NUMBER, ROWS_OUTPUT_NUMBER) ROWS_OUTPUT_COUNT };

/* Returns the bytes of an output. */
static inline uint64_t rows_output_bytes(enum rows_output_kind kind, uint64_t numbers, uint32_t number_bytes,
                                         uint64_t cu_seqlens_room, uint32_t ahead)
{
    switch (kind) {
    case ROWS_NUMBERS:
        return numbers * number_bytes;
    case ROWS_MASK:
        return numbers;
    case ROWS_WEIGHTS:
        return numbers * 4;
    case ROWS_AHEAD:
        return numbers * number_bytes * ahead;
    default:
        return cu_seqlens_room * 4;
    }
}

#endif
