/* rows_body.h: defines each number of the outputs that are made together (rows_outputs.h), one at a time. It is
 * plain inline C, so that device kernels can include it. */
#ifndef LEAT_ROWS_BODY_H
#define LEAT_ROWS_BODY_H

#include <string.h>

#include "rows.h"

/* Returns the number of inputs in row `row` of the slot; 0 for a row that only the outputs have. */
ROWS_BODY uint32_t rows_length(const struct rows_job *j, uint32_t row)
{
    return row < j->layout.rows ? ((const uint32_t *)(const void *)(j->base + j->layout.lengths_at))[row] : 0;
}

ROWS_BODY uint32_t rows_flags(const struct rows_job *j, uint32_t row)
{
    return row < j->layout.rows ? j->base[j->layout.flags_at + row] : 0;
}

/*
 * Returns the address of a place that counts from the base, modulo 2^64. On the host this is a sum of integers,
 * since a row outside of the slot is no part of the object that the base points into; on a device the compiler must
 * see that it lies in global memory.
 */
ROWS_BODY const uint8_t *rows_from(const uint8_t *base, uint64_t place)
{
#if defined(__CUDA_ARCH__)
    return base + place;
#else
    return (const uint8_t *)((uintptr_t)base + (uintptr_t)place);
#endif
}

/* Returns the address of a row's tokens. For a row that only the outputs have, it is any address in the slot. */
ROWS_BODY const uint8_t *rows_begin(const struct rows_job *j, uint32_t row)
{
    const struct rows_layout *l = &j->layout;

    if (row >= l->rows)
        return j->base;
    if (l->rows_at)
        return rows_from(j->base, ((const uint64_t *)(const void *)rows_from(j->base, l->rows_at))[row]);
    return j->base + l->tokens_at + (size_t)row * l->width * l->token_width;
}

/* Returns token `i` of a row in the slot; i <= its length. It is read byte by byte, so that every machine reads the
 * same number. */
ROWS_BODY uint32_t rows_token(const struct rows_job *j, uint32_t row, uint32_t i)
{
    const uint8_t *p = rows_begin(j, row) + (size_t)i * j->layout.token_width;
    uint32_t t = p[0] | (uint32_t)p[1] << 8;

    return j->layout.token_width == 2 ? t : t | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Returns the address of a row's mask; NULL if it has none. */
ROWS_BODY const uint8_t *rows_mask(const struct rows_job *j, uint32_t row)
{
    const struct rows_layout *l = &j->layout;

    return l->masks_at && row < l->rows ? j->base + l->masks_at + (size_t)row * l->mask_width : 0;
}

ROWS_BODY int32_t rows_source(const struct rows_job *j, uint32_t row)
{
    return row < j->layout.rows ? ((const int32_t *)(const void *)(j->base + j->layout.sources_at))[row] : -1;
}

ROWS_BODY float rows_source_weight(const struct rows_job *j, uint32_t row)
{
    const struct rows_layout *l = &j->layout;

    return l->source_weights_at && row < l->rows ? ((const float *)(const void *)(j->base + l->source_weights_at))[row]
                                                 : 1.0f;
}

/* Returns 1 if token `i` is known to be the first of its document. */
ROWS_BODY int rows_start(const struct rows_job *j, uint32_t row, uint32_t i)
{
    const uint64_t *words = (const uint64_t *)(const void *)(j->base + j->layout.starts_at);

    if (i == 0 || row >= j->layout.rows || j->layout.start_words == 0)
        return i == 0;
    return (int)(words[(size_t)row * j->layout.start_words + i / 64] >> i % 64 & 1);
}

/* Returns the number of the token in the slot's row that input `i` is; `i` is below the row's length. Each stretch
 * before it may have one more token than inputs. */
ROWS_BODY uint32_t rows_place(const struct rows_job *j, uint32_t row, uint32_t i)
{
    uint32_t place = i;

    for (uint32_t at = 1; j->layout.own_labels && at <= i; at++)
        place += (uint32_t)rows_start(j, row, at);
    return place;
}

ROWS_BODY int64_t rows_input(const struct rows_job *j, uint32_t row, uint32_t i)
{
    return i < rows_length(j, row) ? rows_token(j, row, rows_place(j, row, i)) : j->pad;
}

/* Returns 1 if a label that is the first token of its document has no loss: because this was asked for, or, in rows
 * with labels of their own, because the outputs are unshifted: then the end of another document would predict it. */
ROWS_BODY uint32_t rows_masks_first(const struct rows_job *j)
{
    return j->layout.own_labels ? j->unshifted : j->mask_first;
}

/* Returns the number of the token in the row that is the label of its token `i`. */
ROWS_BODY uint32_t rows_label_token(const struct rows_job *j, uint32_t i)
{
    return j->unshifted ? i : i + 1;
}

/* Returns how much a label counts, in 255ths. */
ROWS_BODY uint8_t rows_weight(const struct rows_job *j, uint32_t row, uint32_t i)
{
    uint32_t label = rows_label_token(j, i);

    if (i >= rows_length(j, row) || rows_flags(j, row) != 0 ||
        (rows_masks_first(j) && label > 0 && rows_start(j, row, label)))
        return 0;
    return rows_mask(j, row) ? rows_mask(j, row)[rows_label_token(j, rows_place(j, row, i))] : 255;
}

/* Returns the bits of the float weight / 255, correctly rounded. They are the same on all devices, whose divisions
 * may differ. 1 / 255 is 0.010101... to base 256, so the quotient repeats the bits of the weight. */
ROWS_BODY uint32_t rows_weight_float(uint8_t weight)
{
    uint32_t zeros = weight ? 7 - ROWS_LAST((uint64_t)weight) : 0;
    uint64_t bits = (uint64_t)weight * 0x0101010101010101u << zeros;

    return weight ? ((125 - zeros) << 23) + (uint32_t)(bits >> 40) + (uint32_t)(bits >> 39 & 1) : 0;
}

/*
 * Returns the bits of the float that is the weight of a label, in 255ths, times the weight of its source: one
 * product, rounded to nearest, on all devices. It is 0, or between the smallest and the largest normal number, since
 * both factors are (loader_sources.c); so it does not matter how a CPU or a device treats other floats.
 */
ROWS_BODY uint32_t rows_weight_of(uint8_t weight, float source_weight)
{
    uint32_t bits = rows_weight_float(weight);
    float product;

    memcpy(&product, &bits, sizeof product);
#if defined(__CUDA_ARCH__)
    product = __fmul_rn(product, source_weight); /* this product is never fused with a sum */
#else
    product *= source_weight;
#endif
    memcpy(&bits, &product, sizeof bits);
    return bits;
}

ROWS_BODY uint8_t rows_loss(const struct rows_job *j, uint32_t row, uint32_t i)
{
    return rows_weight(j, row, i) != 0;
}

ROWS_BODY int64_t rows_label(const struct rows_job *j, uint32_t row, uint32_t i)
{
    return rows_loss(j, row, i) ? (int64_t)rows_token(j, row, rows_label_token(j, rows_place(j, row, i))) : j->ignored;
}

/* Returns 1 if a stretch begins at number `i`. The padding after a row is a stretch of its own. */
ROWS_BODY int rows_stretch(const struct rows_job *j, uint32_t row, uint32_t i)
{
    uint32_t length = rows_length(j, row);

    return i == length || (i < length ? rows_start(j, row, i) : i == 0);
}

ROWS_BODY int64_t rows_position(const struct rows_job *j, uint32_t row, uint32_t i)
{
    uint32_t begin = i;

    while (begin > 0 && !rows_stretch(j, row, begin))
        begin--;
    return i - begin;
}

ROWS_BODY int64_t rows_document(const struct rows_job *j, uint32_t row, uint32_t i)
{
    int64_t number = 0;

    for (uint32_t at = 1; at <= i; at++)
        number += rows_stretch(j, row, at);
    return number;
}

/* Returns a row as the kernels see it on the host. */
ROWS_BODY struct rows_line rows_line_here(const struct rows_job *j, uint32_t number)
{
    const struct rows_layout *l = &j->layout;
    struct rows_line r = { .tokens = rows_begin(j, number),
                           .token_width = l->token_width,
                           .source = rows_source(j, number),
                           .source_weight = rows_source_weight(j, number) };
    const void *lengths = j->base + l->lengths_at, *starts = j->base + l->starts_at;

    if (number >= l->rows)
        return r;
    r.length = ((const uint32_t *)lengths)[number];
    r.flags = j->base[l->flags_at + number];
    r.mask = rows_mask(j, number);
    if (l->start_words > 0)
        r.starts = (const uint64_t *)starts + (size_t)number * l->start_words;
    return r;
}

#endif
