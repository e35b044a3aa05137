/*
 * rows_segments.h: defines each number of the outputs of rows in *segments*, one at a time. It is plain inline C, so
 * that device kernels can include it.
 *
 * Rows are in segments if their tokens do not simply lie one after another: slices of rows, tokens after a row's end
 * that are labels ahead, tokens that no dataset has. A *segment* is consecutive places of a row of the outputs whose
 * tokens are stored one after another, with the tokens that their labels need. All that its numbers depend on stands
 * in struct rows_segment: where its tokens are, how many there are (places after them have no input, and labels
 * after them no loss), and where it lies in its document and in the whole row, of which these places may be a slice.
 *
 * A row's segments are sorted by place; the first begins at place 0, and the last is padding, which has no end.
 */
#ifndef LEAT_ROWS_SEGMENTS_H
#define LEAT_ROWS_SEGMENTS_H

#include "rows_body.h"

/* Returns a row. A row that only the outputs have is padding. */
ROWS_BODY const struct rows_segmented *rows_segmented(const struct rows_job *j, uint32_t row)
{
    return (const struct rows_segmented *)(const void *)(j->base + j->layout.segments_at) +
           (row < j->layout.rows ? row : j->layout.rows);
}

/* Returns the segments of a row. Behind them stand the places of the whole row where documents begin. */
ROWS_BODY const struct rows_segment *rows_segments(const struct rows_job *j, uint32_t row)
{
    const uint32_t *pool = (const uint32_t *)(const void *)(j->base + j->layout.pool_at);

    return (const struct rows_segment *)(const void *)(pool + rows_segmented(j, row)->pool);
}

ROWS_BODY const uint32_t *rows_begins(const struct rows_job *j, uint32_t row)
{
    return (const uint32_t *)(const void *)(rows_segments(j, row) + rows_segmented(j, row)->segments);
}

/* Returns the segment of number `i` of a row. */
ROWS_BODY struct rows_segment rows_segment_at(const struct rows_job *j, uint32_t row, uint32_t i)
{
    const struct rows_segment *segments = rows_segments(j, row);
    uint32_t low = 0, high = rows_segmented(j, row)->segments;

    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        if (segments[middle].first <= i)
            low = middle;
        else
            high = middle;
    }
    return segments[low];
}

ROWS_BODY uint32_t rows_segment_token(const struct rows_job *j, uint32_t token)
{
    struct rows_line r;

    r.tokens = j->base + j->layout.tokens_at;
    r.token_width = j->layout.token_width;
    return rows_line_token(&r, token);
}

ROWS_BODY int64_t rows_segment_input(const struct rows_job *j, const struct rows_segment *s, uint32_t i)
{
    return i - s->first < s->tokens ? rows_segment_token(j, s->token + (i - s->first)) : j->pad;
}

/* Returns which of a segment's tokens is the label of place `i` (`ahead` 0), or its label number `ahead` ahead. */
ROWS_BODY uint32_t rows_segment_label_token(const struct rows_job *j, const struct rows_segment *s, uint32_t i,
                                            uint32_t ahead)
{
    return i - s->first + !j->unshifted + ahead;
}

/* Returns how many of the segment's tokens can be labels. */
ROWS_BODY uint32_t rows_segment_labels(const struct rows_job *j, const struct rows_segment *s)
{
    return j->mask_first ? s->own : s->tokens;
}

/* Returns 1 if the first place's own token, as an unshifted label, has no loss: it is predicted by the end of
 * another document. */
ROWS_BODY int rows_segment_masks_first(const struct rows_job *j, const struct rows_segment *s)
{
    return j->unshifted && j->mask_first && s->position == 0 && s->document > 0;
}

/* Returns how much a label counts, in 255ths. `ahead` is 0 for the place's own label. */
ROWS_BODY uint8_t rows_segment_weight(const struct rows_job *j, const struct rows_segment *s, uint32_t i,
                                      uint32_t ahead)
{
    uint32_t token = rows_segment_label_token(j, s, i, ahead);

    if (token >= rows_segment_labels(j, s) || (token == 0 && rows_segment_masks_first(j, s)))
        return 0;
    return j->layout.masks_at ? j->base[j->layout.masks_at + s->token + token] : 255;
}

ROWS_BODY int64_t rows_segment_label(const struct rows_job *j, const struct rows_segment *s, uint32_t i, uint32_t ahead)
{
    return rows_segment_weight(j, s, i, ahead)
               ? (int64_t)rows_segment_token(j, s->token + rows_segment_label_token(j, s, i, ahead))
               : j->ignored;
}

ROWS_BODY int64_t rows_segment_position(const struct rows_segment *s, uint32_t i)
{
    return s->position + (i - s->first);
}

/* Returns the stretch up to `end` as an output that is made singly sees it. */
ROWS_BODY struct rows_stretch rows_segment_stretch(const struct rows_segment *s, uint32_t end, int documents)
{
    struct rows_stretch x;

    x.begin = s->first;
    x.end = end;
    x.number = documents ? s->document : !s->attention;
    return x;
}

/* ---- Sequences: those of the whole rows ---- */

/* Returns the length of whole rows in the outputs. */
ROWS_BODY uint64_t rows_whole_length(const struct rows_job *j)
{
    return (uint64_t)j->length * j->layout.slices;
}

/* Returns how many stretches all rows before `row` have: documents, and padding after a shorter row. */
ROWS_BODY uint64_t rows_whole_stretches_before(const struct rows_job *j, uint32_t row)
{
    uint32_t inside = row < j->layout.rows ? row : j->layout.rows;
    const struct rows_segmented *x = rows_segmented(j, row);

    return (uint64_t)x->documents + (rows_whole_length(j) > j->layout.whole_length ? inside : x->shorter) +
           (row - inside);
}

/* Returns how many documents begin in a row. */
ROWS_BODY uint32_t rows_whole_documents(const struct rows_job *j, uint32_t row)
{
    return row < j->layout.rows ? rows_segmented(j, row + 1)->documents - rows_segmented(j, row)->documents : 0;
}

/* Returns the place in the whole row where stretch `number` begins. */
ROWS_BODY uint32_t rows_whole_begin(const struct rows_job *j, uint32_t row, uint32_t number)
{
    return number < rows_whole_documents(j, row) ? rows_begins(j, row)[number] : rows_segmented(j, row)->length;
}

/* Returns how many stretches a row has. */
ROWS_BODY uint32_t rows_whole_stretches(const struct rows_job *j, uint32_t row)
{
    return (uint32_t)(rows_whole_stretches_before(j, row + 1) - rows_whole_stretches_before(j, row));
}

#endif
