/*
 * rows.h: from the rows of a slot to what was asked for: inputs, labels, masks, positions, documents, sequences, as
 * rows_outputs.h has them. The kernels are chosen by CPU level; rows_body.h and the output_NAME.h say for one number what
 * they do for all, and are what they are tested against. rows_device.h is what a device runs.
 *
 * A slot holds, at offsets from its base: tokens (stored width, little-endian), for each row its number of inputs and its
 * flags, and, if documents were asked for, a bit for each token that is the first of its document: `start_words` words of
 * 64 bits for each row, lowest bit first. Bit 0 of each row is set. Beyond the tokens that the row has (length + 1) no bit
 * is set. Rows of tokens follow each other, `width` tokens each; or they lie apart, and the slot says where each begins.
 *
 * Where a device makes the outputs, many threads at once begin in the middle of a row, so the slot also says what lies
 * before each word of such bits, and before each row: "marks" and "heads", made by rows_mark().
 */
#ifndef LEAT_ROWS_H
#define LEAT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "rows_outputs.h"

#define ROWS_IGNORED (-100) /* a label without loss */

struct rows_layout {
    uint32_t rows, width, token_width, start_words; /* start_words 0: documents are not known */
    size_t tokens_at, lengths_at, flags_at, starts_at;
    size_t marks_at, heads_at; /* marks_at 0: there are none */
    size_t rows_at;            /* a uint64_t a row: where it begins, from the base. 0: rows follow each other */
};

/* Of the tokens of a row that lie before a word of `starts`: where the last document among them begins, and how many
 * documents begin behind token 0. */
struct rows_mark {
    uint32_t begin, documents;
};

/* Of the rows before a row: their documents (a row without tokens counts as one), how many of them are shorter than the
 * longest, and how many have tokens at all. There is one more head than rows: what all of them have. */
struct rows_head {
    uint32_t documents, shorter, filled, reserved;
};

/* All that a kernel needs; plain numbers and pointers, so that it can be handed to a device. */
struct rows_job {
    const uint8_t *base; /* of the slot */
    struct rows_layout layout;
    uint32_t rows, length; /* of the outputs: at least the slot's rows and the longest of its lengths */
    uint32_t number_bytes, unshifted, mask_first;
    uint32_t pad; /* the token behind a row's end */
    uint64_t cu_seqlens_room;
/* where each output goes; NULL: not wanted */
#define ROWS_FIELD(field, name, kind, documents) kind##_TYPE *field;
    ROWS_OUTPUTS(ROWS_FIELD)
#undef ROWS_FIELD
};

struct rows_kernels {
    const char *name;
    /* `count` tokens of a stored width of 2 or 4 to numbers of 4 or 8 bytes. */
    void (*widen)(void *to, unsigned number_bytes, const void *from, unsigned token_width, size_t count);
    /* 0, 1, 2, ... */
    void (*count_up)(void *to, unsigned number_bytes, size_t count);
    void (*fill)(void *to, unsigned number_bytes, int64_t value, size_t count);
/* A stretch of an output that is made singly; `to` is where the row's numbers begin. */
#define ROWS_KERNEL(field, name, kind, documents)                                                                      \
    void (*field)(void *to, unsigned number_bytes, struct rows_line row, struct rows_stretch s);
    ROWS_OUTPUTS_SINGLY(ROWS_KERNEL)
#undef ROWS_KERNEL
};

/* The fastest row that this CPU has; row `number`, fastest first, for tests, as of checksum.h. Constant memory. */
const struct rows_kernels *rows_kernels(void);
const struct rows_kernels *rows_row(unsigned number, int *usable);

/* Does a job on the host. `cu_seqlens_room` was checked by rows_sequences(). */
void rows_fill(const struct rows_kernels *k, const struct rows_job *job);

/* Fills marks and heads of a slot. */
void rows_mark(uint8_t *base, const struct rows_layout *layout);

/* How many stretches of one document there are in the outputs, padding counted as one of its own, and the longest. */
uint64_t rows_sequences(const struct rows_job *job, uint64_t *longest);

#endif
