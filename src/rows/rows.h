/*
 * rows.h: makes the wanted outputs (rows_outputs.h) from the rows of a slot: inputs, labels, masks, positions,
 * documents, sequences. Kernels are chosen by CPU level; rows_body.h and the output_NAME.h define single numbers, and
 * kernels are tested against them. rows_device.h is what a device runs.
 *
 * A slot holds, at offsets from its base: tokens (stored width, little-endian), for each row its number of inputs, its
 * flags, its source and, if there are such, its source's weight, and, if documents were asked for, a bit for each token
 * that is the first of its document: `start_words` words of 64 bits for each row, lowest bit first. Bit 0 of each row
 * is set, and no bit after the row's length + 1 tokens. Rows of tokens follow each other, `width` tokens each; or they
 * lie apart, and the slot says where each begins.
 *
 * If a dataset stores a mask, the slot also has a byte for each token: `mask_width` for each row, in the order of the
 * row's tokens. A label that is a token with 0 has no loss; other bytes are its weight, in 255ths. The float of that
 * is multiplied with the weight of the row's source.
 *
 * On a device many threads start in the middle of a row, so the slot also says what lies before each word of such bits,
 * and before each row: "marks" and "heads", made by rows_mark().
 *
 * Rows that are slices, that have labels ahead, or tokens of their own are in *segments* (rows_segments.h). Such a slot
 * has tokens and their mask in an order that only the segments know, and no starts, marks and heads.
 *
 * The room src/rows/ makes outputs from tokens that are in memory. It knows no files, plans or threads; a new output
 * is a file output_NAME.h here.
 *
 * A *row* is a sample as it appears in a batch: a list of pieces. An *output* is an array made from a batch.
 */
#ifndef LEAT_ROWS_H
#define LEAT_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "rows_outputs.h"

struct rows_layout {
    uint32_t rows, width, token_width, start_words; /* start_words is 0 if documents are not known */
    size_t tokens_at, lengths_at, flags_at, starts_at;
    size_t sources_at;         /* an int32_t per row: the number of its source; -1 for a row of padding */
    size_t source_weights_at;  /* a float per row, which is the weight of its source; 0: all weights are 1 */
    size_t marks_at, heads_at; /* marks_at is 0 if there are no marks */
    size_t rows_at;            /* a uint64_t per row: the place of its tokens, from the base; 0: rows follow each
                                  other */
    size_t masks_at;           /* 0: no mask */
    uint32_t mask_width;
    uint32_t own_labels;           /* 1 if each stretch in the slot has one token more than it has inputs: its last
                                      label */
    uint32_t ahead;                /* number of labels ahead of each place; only rows in segments use this and the
                                      members below */
    uint32_t slices, whole_length; /* number of slices of a row; length of a whole row of the slot's batch */
    uint32_t reserved;
    size_t segments_at; /* a struct rows_segmented per row, and one more; 0: rows are not in segments */
    size_t pool_at;     /* uint32_t's: for each row its segments, then the places where documents begin in it */
    size_t end;         /* size of the slot's contents */
};

/* The places of a row from `first` up to the next segment; the last segment has no end. */
struct rows_segment {
    uint32_t first;
    uint32_t token;              /* number of its first token among all tokens in the slot, and of that token's mask */
    uint32_t tokens;             /* number of tokens stored from there on, which is more than the segment has places */
    uint32_t own;                /* number of those tokens that come before the next document */
    uint32_t position, document; /* position of the first place in its document, and number of this document in the
                                    whole row */
    uint32_t attention;          /* 0 in the padding after a shorter row */
};

/* A whole row of the slot. After the last there is a row of padding. Before the row lie `documents` documents, and
 * `shorter` rows with fewer places than the longest. */
struct rows_segmented {
    uint32_t pool, segments; /* place of its first segment in the pool, and number of its segments */
    uint32_t length;         /* number of places before the padding */
    uint32_t documents, shorter;
};

/* Facts about what lies before a word of `starts` in its row: where the last document begins, and how many documents
 * begin after token 0. */
struct rows_mark {
    uint32_t begin, documents;
};

/* Facts about what lies before a row: how many documents (a row without tokens counts as one), how many rows shorter
 * than the longest, and how many rows with tokens. There is one more head than rows, for all rows together. */
struct rows_head {
    uint32_t documents, shorter, filled, reserved;
};

/* The job of a kernel, with plain numbers and pointers only, so that a device can take it. */
struct rows_job {
    const uint8_t *base; /* of the slot */
    struct rows_layout layout;
    uint32_t rows, length; /* size of the outputs: at least the slot's rows and the longest of their lengths */
    uint32_t number_bytes, unshifted, mask_first;
    uint32_t pad;    /* token that stands in the padding */
    int32_t ignored; /* label that has no loss */
    uint64_t cu_seqlens_room;
/* memory of each output; NULL: not wanted */
#define ROWS_FIELD(field, name, kind, documents) kind##_TYPE *field;
    ROWS_OUTPUTS(ROWS_FIELD, ROWS_FIELD)
#undef ROWS_FIELD
};

struct rows_kernels {
    const char *name;
    /* Converts `count` tokens of 2 or 4 bytes to numbers of 4 or 8 bytes. */
    void (*widen)(void *to, unsigned number_bytes, const void *from, unsigned token_width, size_t count);
    /* Writes the numbers 0, 1, 2 and so on. */
    void (*count_up)(void *to, unsigned number_bytes, size_t count);
    void (*fill)(void *to, unsigned number_bytes, int64_t value, size_t count);
/* Makes a stretch of an output whose numbers are made one by one; `to` is where the row's numbers begin. */
#define ROWS_KERNEL(field, name, kind, documents)                                                                      \
    void (*field)(void *to, unsigned number_bytes, struct rows_line row, struct rows_stretch s);
    ROWS_OUTPUTS(ROWS_SKIP, ROWS_KERNEL)
#undef ROWS_KERNEL
};

/* Return the fastest row that this CPU has, and for tests row `number` of all rows, fastest first, as in checksum.h.
 * The memory is constant. */
const struct rows_kernels *rows_kernels(void);
const struct rows_kernels *rows_row(unsigned number, int *usable);

/* Does a job on the host. `cu_seqlens_room` was checked by rows_sequences(). */
void rows_fill(const struct rows_kernels *k, const struct rows_job *job);

/* Fills the marks and heads of a slot. */
void rows_mark(uint8_t *base, const struct rows_layout *layout);

/* Returns how many predictions of a row of the slot have a loss. The label at the first place of an unshifted row is
 * none. */
uint32_t rows_learned(const struct rows_job *job, uint32_t row);

/* Do the work of rows_fill(), rows_learned() and rows_sequences(), which call these for rows in segments. */
void rows_fill_segments(const struct rows_kernels *k, const struct rows_job *job);
uint32_t rows_learned_in_segments(const struct rows_job *job, uint32_t row);
uint64_t rows_whole_sequences(const struct rows_job *job, uint64_t *longest);

/* Returns how many stretches of one document the outputs have, and sets *longest to the length of the longest. The
 * padding after a row counts as a stretch. */
uint64_t rows_sequences(const struct rows_job *job, uint64_t *longest);

#endif
