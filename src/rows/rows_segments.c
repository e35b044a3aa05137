/* rows_segments.c: makes the outputs of rows in segments (rows_segments.h) on the host, segment by segment. In a
 * segment every output is a simple run of numbers. */
#include "rows_segments.h"

#include <string.h>

/* A segment of a row, in the outputs of a job. */
struct place {
    const struct rows_kernels *k;
    const struct rows_job *j;
    struct rows_segment s;
    uint32_t count; /* places */
    uint64_t at;    /* number of the first place in the outputs */
};

static uint8_t *number_at(const struct rows_job *j, void *numbers, uint64_t at)
{
    return (uint8_t *)numbers + at * j->number_bytes;
}

static void store(const struct rows_job *j, void *numbers, uint64_t at, int64_t value)
{
    if (j->number_bytes == 8)
        ((int64_t *)numbers)[at] = value;
    else
        ((int32_t *)numbers)[at] = (int32_t)value;
}

/* Writes the segment's tokens from `from` on, below `end`; and `rest` to the places that are left. */
static void put_tokens(const struct place *p, void *numbers, uint64_t at, uint32_t from, uint32_t end, int64_t rest)
{
    const struct rows_layout *l = &p->j->layout;
    uint32_t count = end <= from ? 0 : end - from < p->count ? end - from : p->count;
    const uint8_t *tokens = p->j->base + l->tokens_at + ((uint64_t)p->s.token + from) * l->token_width;

    p->k->widen(number_at(p->j, numbers, at), p->j->number_bytes, tokens, l->token_width, count);
    p->k->fill(number_at(p->j, numbers, at + count), p->j->number_bytes, rest, p->count - count);
}

/* Writes the labels, or labels ahead; a label without loss where the mask is 0. */
static void put_labels(const struct place *p, void *numbers, uint64_t at, uint32_t ahead)
{
    const struct rows_job *j = p->j;
    uint32_t from = rows_segment_label_token(j, &p->s, p->s.first, ahead);

    put_tokens(p, numbers, at, from, rows_segment_labels(j, &p->s), j->ignored);
    for (uint32_t i = 0; i < p->count && (j->layout.masks_at || rows_segment_masks_first(j, &p->s)); i++)
        if (rows_segment_weight(j, &p->s, p->s.first + i, ahead) == 0)
            store(j, numbers, at + i, j->ignored);
}

static void put_loss(const struct place *p, const struct rows_line *r)
{
    const struct rows_job *j = p->j;

    for (uint32_t i = 0; i < p->count; i++) {
        uint8_t weight = rows_segment_weight(j, &p->s, p->s.first + i, 0);
        uint32_t bits = rows_weight_of(weight, r->source_weight);

        if (j->loss_mask)
            j->loss_mask[p->at + i] = weight != 0;
        if (j->loss_weights)
            memcpy((uint8_t *)j->loss_weights + 4 * (p->at + i), &bits, sizeof bits);
    }
}

static void put_singly(const struct place *p, const struct rows_line *r, uint64_t row_at)
{
    const struct rows_job *j = p->j;

#define PUT(field, name, kind, documents)                                                                              \
    if (j->field)                                                                                                      \
        p->k->field((uint8_t *)j->field + rows_output_bytes(kind, row_at, j->number_bytes, 0, 0), j->number_bytes, *r, \
                    rows_segment_stretch(&p->s, p->s.first + p->count, documents));
    ROWS_OUTPUTS(ROWS_SKIP, PUT)
#undef PUT
}

static void put_segment(const struct place *p, const struct rows_line *r, uint64_t row_at)
{
    const struct rows_job *j = p->j;

    if (j->inputs)
        put_tokens(p, j->inputs, p->at, 0, p->s.tokens, j->pad);
    if (j->labels)
        put_labels(p, j->labels, p->at, 0);
    for (uint32_t k = 0; j->ahead_labels && k < j->layout.ahead; k++)
        put_labels(p, j->ahead_labels, (uint64_t)k * j->rows * j->length + p->at, k + 1);
    if (j->loss_mask || j->loss_weights)
        put_loss(p, r);
    if (j->position_ids)
        for (uint32_t i = 0; i < p->count; i++)
            store(j, j->position_ids, p->at + i, rows_segment_position(&p->s, p->s.first + i));
    if (j->document_ids)
        p->k->fill(number_at(j, j->document_ids, p->at), j->number_bytes, p->s.document, p->count);
    put_singly(p, r, row_at);
}

static void put_row(const struct rows_kernels *k, const struct rows_job *j, uint32_t row)
{
    struct rows_line r = rows_line_here(j, row);
    struct place p = { .k = k, .j = j, .at = (uint64_t)row * j->length };
    uint64_t row_at = p.at;
    const struct rows_segment *segments = rows_segments(j, row);
    uint32_t count = rows_segmented(j, row)->segments, end;

    for (uint32_t n = 0; n < count; n++, p.at += p.count) {
        p.s = segments[n];
        end = n + 1 < count ? segments[n + 1].first : j->length;
        p.count = (end < j->length ? end : j->length) - p.s.first;
        put_segment(&p, &r, row_at);
    }
}

static void put_sequences(const struct rows_job *j)
{
    uint64_t n = 0, whole = rows_whole_length(j);

    for (uint32_t row = 0; row < j->rows; row++)
        for (uint32_t k = 0; k < rows_whole_stretches(j, row); k++)
            j->cu_seqlens[n++] = (int32_t)(row * whole + rows_whole_begin(j, row, k));
    while (n < j->cu_seqlens_room)
        j->cu_seqlens[n++] = (int32_t)(j->rows * whole);
}

void rows_fill_segments(const struct rows_kernels *k, const struct rows_job *j)
{
    for (uint32_t row = 0; row < j->rows; row++)
        put_row(k, j, row);
    if (j->cu_seqlens)
        put_sequences(j);
}

/* Counts the labels that have a loss: in each segment, the labels are consecutive tokens. */
uint32_t rows_learned_in_segments(const struct rows_job *j, uint32_t row)
{
    const struct rows_segment *segments = rows_segments(j, row);
    uint32_t count = rows_segmented(j, row)->segments, learned = 0;

    for (uint32_t n = 0; n < count; n++) {
        const struct rows_segment *s = &segments[n];
        uint32_t next = n + 1 < count ? segments[n + 1].first : j->layout.whole_length / j->layout.slices;
        uint32_t places = next > s->first ? next - s->first : 0;
        uint32_t begin = rows_segment_label_token(j, s, s->first, 0), end = rows_segment_labels(j, s);

        if (begin + places < end)
            end = begin + places;
        begin += j->unshifted && (n == 0 || rows_segment_masks_first(j, s));
        for (uint32_t i = begin; j->layout.masks_at && i < end; i++)
            learned += j->base[j->layout.masks_at + s->token + i] != 0;
        if (!j->layout.masks_at && begin < end)
            learned += end - begin;
    }
    return learned;
}

uint64_t rows_whole_sequences(const struct rows_job *j, uint64_t *longest)
{
    uint64_t whole = rows_whole_length(j);

    *longest = 0;
    for (uint32_t row = 0; row < j->rows; row++) {
        uint32_t count = rows_whole_stretches(j, row);

        for (uint32_t k = 0; k < count; k++) {
            uint64_t end = k + 1 < count ? rows_whole_begin(j, row, k + 1) : whole;

            if (end - rows_whole_begin(j, row, k) > *longest)
                *longest = end - rows_whole_begin(j, row, k);
        }
    }
    return rows_whole_stretches_before(j, j->rows);
}
