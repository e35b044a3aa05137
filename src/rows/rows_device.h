/*
 * rows_device.h: how a device makes the outputs: any 16 bytes of a row's numbers, independent of those before. A device
 * runs this body in one thread per 16 bytes; tests run it on the host, in any order, against rows_body.h and the
 * output_NAME.h, which define the numbers. Why not stretch by stretch, like the host? A thread that starts in the
 * middle of a row does not know the stretches before it: it has the marks and heads of rows_mark().
 *
 * Masks and weights are a second pass over the same numbers (rows_do_mask()), so that batches without them pay nothing:
 * in one pass, the registers of each thread rose from 47 to 56 (sm_90). Rows in segments (rows_segments.h) have a pass
 * of their own instead of both.
 */
#ifndef LEAT_ROWS_DEVICE_H
#define LEAT_ROWS_DEVICE_H

#include "rows_body.h"
#include "rows_segments.h"

#if defined(__CUDA_ARCH__)
#define ROWS_UNROLL     _Pragma("unroll")
#define ROWS_ONE_BY_ONE _Pragma("unroll 1")
#else
#define ROWS_UNROLL
#define ROWS_ONE_BY_ONE
#endif

#define ROWS_MOST_VECTOR 4u

/* Returns how many stretches the outputs have before `row`, counting at most `rows` rows of the slot. */
ROWS_BODY uint32_t rows_stretches_before(const struct rows_job *j, uint32_t row)
{
    const struct rows_layout *l = &j->layout;
    uint32_t inside = row < l->rows ? row : l->rows;
    const struct rows_head *h = (const struct rows_head *)(const void *)(j->base + l->heads_at) + inside;

    /* In each row that is shorter than the outputs' rows, the padding is one more stretch. `width` is the length of
     * the longest row plus one. */
    return h->documents + (j->length + 1 > l->width ? h->filled : h->shorter) + (row - inside);
}

/* Returns the row as one thread sees it. `token_width` is the job's, passed as a constant. */
ROWS_BODY struct rows_line rows_line(const struct rows_job *j, uint32_t row, uint32_t token_width)
{
    const struct rows_layout *l = &j->layout;
    struct rows_line r;

    r.tokens = rows_begin(j, row);
    r.length = rows_length(j, row);
    r.flags = rows_flags(j, row);
    r.mask = rows_mask(j, row);
    r.starts = 0;
    r.marks = 0;
    r.token_width = token_width;
    r.first_sequence = 0;
    r.source = j->layout.segments_at ? rows_source(j, row) : -1;
    r.source_weight = rows_source_weight(j, row);
    if (l->marks_at && row < l->rows) {
        r.starts = (const uint64_t *)(const void *)(j->base + l->starts_at) + (size_t)row * l->start_words;
        r.marks = (const struct rows_mark *)(const void *)(j->base + l->marks_at) + (size_t)row * l->start_words;
    }
    if (j->cu_seqlens && token_width > 0) /* no other pass needs it */
        r.first_sequence = rows_stretches_before(j, row);
    return r;
}

ROWS_BODY int rows_line_start(const struct rows_line *r, uint32_t i)
{
    return r->starts ? (int)(r->starts[i / 64] >> i % 64 & 1) : i == 0;
}

/* Returns the place where the stretch of input `i` begins, and its number in the row. */
ROWS_BODY struct rows_mark rows_line_stretch(const struct rows_line *r, uint32_t i)
{
    uint32_t at = i < r->length ? i : r->length > 0 ? r->length - 1 : 0;
    struct rows_mark m = { 0, 0 };

    if (r->starts) {
        uint64_t bits = r->starts[at / 64] & ~(uint64_t)0 >> (63 - at % 64);

        if (at < 64)
            bits &= ~(uint64_t)1;
        m = r->marks[at / 64];
        if (bits)
            m.begin = at / 64 * 64 + ROWS_LAST(bits);
        m.documents += ROWS_COUNT(bits);
    }
    if (i >= r->length) {
        m.begin = r->length;
        m.documents += r->length > 0;
    }
    return m;
}

/* Returns the stretch of input `i` with its end, in a row of `numbers`; searches the starts after `i` for the end. */
ROWS_BODY struct rows_stretch rows_line_place(const struct rows_line *r, uint32_t i, uint32_t numbers)
{
    struct rows_mark m = rows_line_stretch(r, i);
    struct rows_stretch s;

    s.begin = m.begin;
    s.end = rows_line_end(r, i, numbers);
    s.number = m.documents;
    return s;
}

/* ---- Stores ---- */

struct rows_vector8 {
    int64_t number[2];
};
struct rows_vector4 {
    int32_t number[4];
};

/*
 * Stores `count` numbers at place `at`; 16 bytes at once if they are whole and the place is aligned. 8-byte numbers
 * are stored with __stcs: the GPU's cache need not keep them, and the kernel takes a tenth less time for large
 * batches. Other numbers are not: ptxas would spill registers on some GPUs (sm_86, sm_89).
 */
ROWS_BODY void rows_store(void *numbers, uint64_t at, const int64_t *values, uint32_t count, uint32_t number_bytes)
{
    const uint32_t most = 16 / number_bytes;
    uint8_t *to = (uint8_t *)numbers + at * number_bytes;

#if defined(__CUDA_ARCH__)
    if (count == most && ((size_t)to & 15) == 0) {
        if (number_bytes == 8)
            __stcs((longlong2 *)(void *)to, make_longlong2(values[0], values[1]));
        else
            *(int4 *)(void *)to = make_int4((int)values[0], (int)values[1], (int)values[2], (int)values[3]);
        return;
    }
#endif
    ROWS_UNROLL
    for (uint32_t k = 0; k < most; k++)
        if (k < count) {
            if (number_bytes == 8)
                ((int64_t *)(void *)to)[k] = values[k];
            else
                ((int32_t *)(void *)to)[k] = (int32_t)values[k];
        }
}

ROWS_BODY void rows_store_mask(uint8_t *mask, uint64_t at, const uint8_t *values, uint32_t count, uint32_t number_bytes)
{
    const uint32_t most = 16 / number_bytes;

#if defined(__CUDA_ARCH__)
    if (count == most && ((size_t)(mask + at) & (most - 1)) == 0) {
        if (number_bytes == 8)
            *(uchar2 *)(void *)(mask + at) = make_uchar2(values[0], values[1]);
        else
            *(uchar4 *)(void *)(mask + at) = make_uchar4(values[0], values[1], values[2], values[3]);
        return;
    }
#endif
    ROWS_UNROLL
    for (uint32_t k = 0; k < most; k++)
        if (k < count)
            mask[at + k] = values[k];
}

/* Stores numbers that are 0 or 1 as bytes of a mask. */
ROWS_BODY void rows_store_as_mask(uint8_t *to, uint64_t at, const int64_t *numbers, uint32_t count,
                                  uint32_t number_bytes)
{
    const uint32_t most = 16 / number_bytes;
    uint8_t mask[ROWS_MOST_VECTOR];

    ROWS_UNROLL
    for (uint32_t k = 0; k < most; k++)
        mask[k] = (uint8_t)numbers[k];
    rows_store_mask(to, at, mask, count, number_bytes);
}

/* The functions that store the numbers of an output that is made singly, by its kind. */
#define ROWS_NUMBERS_STORE rows_store
#define ROWS_MASK_STORE    rows_store_as_mask

/* ---- The outputs ---- */

ROWS_BODY void rows_do_tokens(const struct rows_job *j, const struct rows_line *r, uint64_t at, uint32_t i,
                              uint32_t count, uint32_t number_bytes)
{
    const uint32_t most = 16 / number_bytes;
    int64_t inputs[ROWS_MOST_VECTOR], labels[ROWS_MOST_VECTOR];
    uint8_t loss[ROWS_MOST_VECTOR];

    ROWS_UNROLL
    for (uint32_t k = 0; k < most; k++) {
        uint32_t label = rows_label_token(j, i + k), place = i + k;
        int inside = k < count && i + k < r->length;

        if (inside && j->layout.own_labels)
            place += rows_line_stretch(r, i + k).documents;
        loss[k] = inside && r->flags == 0 && !(rows_masks_first(j) && label > 0 && rows_line_start(r, label));
        inputs[k] = inside && j->inputs ? rows_line_token(r, place) : j->pad;
        labels[k] = loss[k] && j->labels ? (int64_t)rows_line_token(r, rows_label_token(j, place)) : j->ignored;
    }
    if (j->inputs)
        rows_store(j->inputs, at, inputs, count, number_bytes);
    if (j->labels)
        rows_store(j->labels, at, labels, count, number_bytes);
    if (j->loss_mask)
        rows_store_mask(j->loss_mask, at, loss, count, number_bytes);
}

ROWS_BODY void rows_do_stretches(const struct rows_job *j, const struct rows_line *r, uint64_t at, uint32_t i,
                                 uint32_t count, uint32_t number_bytes)
{
    const uint32_t most = 16 / number_bytes;
    int64_t positions[ROWS_MOST_VECTOR], documents[ROWS_MOST_VECTOR];

    ROWS_UNROLL
    for (uint32_t k = 0; k < most; k++) {
        struct rows_mark m = rows_line_stretch(r, i + k);

        positions[k] = i + k - m.begin;
        documents[k] = m.documents;
        if (j->cu_seqlens && k < count && m.begin == i + k)
            j->cu_seqlens[r->first_sequence + m.documents] = (int32_t)(at + k);
    }
    if (j->position_ids)
        rows_store(j->position_ids, at, positions, count, number_bytes);
    if (j->document_ids)
        rows_store(j->document_ids, at, documents, count, number_bytes);
}

/* Makes 16 bytes of an output that is made singly. */
#define ROWS_DO_SINGLY(field, name, kind, documents)                                                                   \
    ROWS_BODY void rows_do_##field(const struct rows_job *j, const struct rows_line *r, uint32_t row, uint64_t at,     \
                                   uint32_t i, uint32_t count, uint32_t number_bytes)                                  \
    {                                                                                                                  \
        struct rows_line line = documents ? *r : rows_line_undivided(r);                                               \
        int64_t numbers[ROWS_MOST_VECTOR];                                                                             \
                                                                                                                       \
        line.source = rows_source(j, row); /* set late to save a register */                                           \
        ROWS_UNROLL                                                                                                    \
        for (uint32_t k = 0; k < 16 / number_bytes; k++)                                                               \
            numbers[k] = k < count ? output_##field(&line, rows_line_place(&line, i + k, j->length), i + k) : 0;       \
        kind##_STORE(j->field, at, numbers, count, number_bytes);                                                      \
    }
ROWS_OUTPUTS(ROWS_SKIP, ROWS_DO_SINGLY)
#undef ROWS_DO_SINGLY

/* Makes 16 bytes of a row's numbers, from number i < length on. `number_bytes` is the job's, passed as a constant. */
ROWS_BODY void rows_do(const struct rows_job *j, const struct rows_line *r, uint32_t row, uint32_t i,
                       uint32_t number_bytes)
{
    const uint32_t most = 16 / number_bytes;
    uint64_t at = (uint64_t)row * j->length + i;
    uint32_t count = j->length - i < most ? j->length - i : most;

    rows_do_tokens(j, r, at, i, count, number_bytes);
    if (j->position_ids || j->document_ids || j->cu_seqlens)
        rows_do_stretches(j, r, at, i, count, number_bytes);
#define ROWS_DO(field, name, kind, documents)                                                                          \
    if (j->field)                                                                                                      \
        rows_do_##field(j, r, row, at, i, count, number_bytes);
    ROWS_OUTPUTS(ROWS_SKIP, ROWS_DO)
#undef ROWS_DO
}

/* Fills the rest of `sequences` after the last stretch: number `k`, then every `step`-th. */
ROWS_BODY void rows_do_sequences_end(const struct rows_job *j, uint64_t k, uint64_t step)
{
    if (!j->cu_seqlens)
        return;
    for (k += rows_stretches_before(j, j->rows); k < j->cu_seqlens_room; k += step)
        j->cu_seqlens[k] = (int32_t)((uint64_t)j->rows * j->length);
}

/* ---- Masks and weights ---- */

/* Returns 1 if the second pass has something to do. */
ROWS_BODY int rows_has_mask_pass(const struct rows_job *j)
{
    return j->loss_weights || (j->layout.masks_at && (j->labels || j->loss_mask));
}

/* Returns how much the label of number `i` counts, in 255ths. */
ROWS_BODY uint8_t rows_line_weight(const struct rows_job *j, const struct rows_line *r, uint32_t i)
{
    uint32_t label = rows_label_token(j, i), before;

    if (i >= r->length || r->flags != 0 || (rows_masks_first(j) && label > 0 && rows_line_start(r, label)))
        return 0;
    before = j->layout.own_labels ? rows_line_stretch(r, i).documents : 0;
    return r->mask ? r->mask[label + before] : 255;
}

/* Takes the loss from a label that the mask leaves out, and writes its weight. */
ROWS_BODY void rows_do_mask(const struct rows_job *j, const struct rows_line *r, uint32_t row, uint32_t i)
{
    uint64_t at = (uint64_t)row * j->length + i;
    uint8_t weight = rows_line_weight(j, r, i);

    if (j->loss_weights)
        ((uint32_t *)j->loss_weights)[at] = rows_weight_of(weight, r->source_weight);
    if (weight == 0 && j->loss_mask)
        j->loss_mask[at] = 0;
    if (weight == 0 && j->labels && j->number_bytes == 8)
        ((int64_t *)j->labels)[at] = j->ignored;
    else if (weight == 0 && j->labels)
        ((int32_t *)j->labels)[at] = j->ignored;
}

/* ---- Rows in segments ---- */

ROWS_BODY void rows_store_one(const struct rows_job *j, void *numbers, uint64_t at, int64_t value)
{
    if (j->number_bytes == 8)
        ((int64_t *)numbers)[at] = value;
    else
        ((int32_t *)numbers)[at] = (int32_t)value;
}

/* Writes the places where the stretches of a whole row begin: one of the row's threads writes every j->length-th of
 * them. */
ROWS_BODY void rows_do_whole_begins(const struct rows_job *j, uint32_t row, uint32_t i)
{
    uint64_t before = rows_whole_stretches_before(j, row);
    uint32_t count = rows_whole_stretches(j, row);

    ROWS_ONE_BY_ONE
    for (uint32_t k = i; k < count; k += j->length)
        j->cu_seqlens[before + k] = (int32_t)(row * rows_whole_length(j) + rows_whole_begin(j, row, k));
}

/* Makes one number of an output that is made singly. */
#define ROWS_NUMBERS_ONE(to, at, value) rows_store_one(j, to, at, value)
#define ROWS_MASK_ONE(to, at, value)    ((to)[at] = (uint8_t)(value))
#define ROWS_DO_ONE(field, name, kind, documents)                                                                      \
    if (j->field)                                                                                                      \
        kind##_ONE(j->field, at, output_##field(r, rows_segment_stretch(&s, i + 1, documents), i));

/* Makes number `i` of a row. */
ROWS_BODY void rows_do_segment(const struct rows_job *j, const struct rows_line *r, uint32_t row, uint32_t i)
{
    uint64_t at = (uint64_t)row * j->length + i;
    struct rows_segment s = rows_segment_at(j, row, i);

    if (j->inputs)
        rows_store_one(j, j->inputs, at, rows_segment_input(j, &s, i));
    if (j->labels)
        rows_store_one(j, j->labels, at, rows_segment_label(j, &s, i, 0));
    if (j->ahead_labels)
        ROWS_ONE_BY_ONE
    for (uint32_t k = 0; k < j->layout.ahead; k++)
        rows_store_one(j, j->ahead_labels, (uint64_t)k * j->rows * j->length + at, rows_segment_label(j, &s, i, k + 1));
    if (j->loss_mask)
        j->loss_mask[at] = rows_segment_weight(j, &s, i, 0) != 0;
    if (j->loss_weights)
        ((uint32_t *)j->loss_weights)[at] = rows_weight_of(rows_segment_weight(j, &s, i, 0), r->source_weight);
    if (j->position_ids)
        rows_store_one(j, j->position_ids, at, rows_segment_position(&s, i));
    if (j->document_ids)
        rows_store_one(j, j->document_ids, at, s.document);
    ROWS_OUTPUTS(ROWS_SKIP, ROWS_DO_ONE)
    if (j->cu_seqlens)
        rows_do_whole_begins(j, row, i);
}

/* As rows_do_sequences_end(). */
ROWS_BODY void rows_do_whole_end(const struct rows_job *j, uint64_t k, uint64_t step)
{
    if (!j->cu_seqlens)
        return;
    for (k += rows_whole_stretches_before(j, j->rows); k < j->cu_seqlens_room; k += step)
        j->cu_seqlens[k] = (int32_t)(j->rows * rows_whole_length(j));
}

/* ---- How the threads share the work ---- */

/*
 * A block has 256 threads. They are divided into groups of `group` (a power of two), each of which works at one row.
 * A group does a tile: ROWS_ROUNDS times `group` vectors of 16 bytes (or single numbers, in the passes below).
 * Neighbours in a group store neighbours in memory.
 */
#define ROWS_BLOCK  256u
#define ROWS_ROUNDS 4u

/* The passes that ask the job for the width of numbers, and do one number at a time. They take the place of this
 * width. */
#define ROWS_PASS_MASK     0u
#define ROWS_PASS_SEGMENTS 1u

struct rows_grid {
    uint32_t group_bits; /* log2 of `group` */
    uint32_t tiles;      /* of a row */
};

/* `number_bytes`: or ROWS_PASS_... */
ROWS_BODY uint32_t rows_vector(uint32_t number_bytes)
{
    return number_bytes > ROWS_PASS_SEGMENTS ? 16 / number_bytes : 1;
}

ROWS_BODY struct rows_grid rows_grid(const struct rows_job *j, uint32_t number_bytes, uint64_t *blocks)
{
    uint32_t vectors = (j->length + rows_vector(number_bytes) - 1) / rows_vector(number_bytes);
    struct rows_grid g = { 3, 1 };

    /* A group is no wider than a row needs, so that short rows share a block. */
    while (g.group_bits < 8 && ((uint32_t)ROWS_ROUNDS << g.group_bits) < vectors)
        g.group_bits++;
    g.tiles = (vectors + (ROWS_ROUNDS << g.group_bits) - 1) / (ROWS_ROUNDS << g.group_bits);
    *blocks = ((uint64_t)j->rows + (ROWS_BLOCK >> g.group_bits) - 1) / (ROWS_BLOCK >> g.group_bits) * g.tiles;
    return g;
}

ROWS_BODY void rows_do_pass(const struct rows_job *j, const struct rows_line *r, uint32_t row, uint32_t i,
                            uint32_t number_bytes)
{
    if (number_bytes == ROWS_PASS_SEGMENTS)
        rows_do_segment(j, r, row, i);
    else if (number_bytes == ROWS_PASS_MASK)
        rows_do_mask(j, r, row, i);
    else
        rows_do(j, r, row, i, number_bytes);
}

/* Does the work of thread `thread` of block `block`; there are `blocks` blocks. */
ROWS_BODY void rows_do_thread(const struct rows_job *j, struct rows_grid g, uint32_t block, uint32_t blocks,
                              uint32_t thread, uint32_t token_width, uint32_t number_bytes)
{
    const uint32_t most = rows_vector(number_bytes);
    uint32_t rows_of_block = ROWS_BLOCK >> g.group_bits, lane = thread & ((1u << g.group_bits) - 1);
    uint64_t row = (uint64_t)(block / g.tiles) * rows_of_block + (thread >> g.group_bits);
    uint64_t vector = ((uint64_t)(block % g.tiles) * ROWS_ROUNDS << g.group_bits) + lane;

    if (row < j->rows) {
        struct rows_line r = rows_line(j, (uint32_t)row, token_width);

        ROWS_ONE_BY_ONE /* unrolled code would be four times as large, for stores that nothing waits for */
            for (uint32_t round = 0; round < ROWS_ROUNDS;
                 round++, vector += (uint64_t)1 << g.group_bits) if (vector * most < j->length)
                rows_do_pass(j, &r, (uint32_t)row, (uint32_t)vector * most, number_bytes);
    }
    if (number_bytes == ROWS_PASS_SEGMENTS)
        rows_do_whole_end(j, (uint64_t)block * ROWS_BLOCK + thread, (uint64_t)blocks * ROWS_BLOCK);
    else if (number_bytes != ROWS_PASS_MASK)
        rows_do_sequences_end(j, (uint64_t)block * ROWS_BLOCK + thread, (uint64_t)blocks * ROWS_BLOCK);
}

#endif
