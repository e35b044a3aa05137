/*
 * loader_places.c: the second stage, the places of a step's rows: their pieces, as the plan's order gives them, and the
 * length of the batch. With it the third, what is gathered: each piece is a read. Rows in segments are cut before that
 * (loader_segments.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/status.h"
#include "loader_segments.h"

enum leat_status loader_places_open(const struct loader_shape *shape, struct loader_places *places,
                                    struct loader_reads *reads, struct leat_error *err)
{
    enum leat_status s = GROW(places->pieces, shape->rows, places->room, err);

    if (s == LEAT_OK)
        s = GROW(reads->job.pieces, shape->rows, reads->room, err);
    places->step.samples = calloc(shape->rows, sizeof *places->step.samples);
    places->first = calloc((size_t)shape->rows + 1, sizeof *places->first);
    reads->first = calloc((size_t)shape->rows + 1, sizeof *reads->first);
    if (s == LEAT_OK && (!places->step.samples || !places->first || !reads->first))
        s = status_no_memory(err, shape->rows * sizeof *places->step.samples);
    if (s == LEAT_OK && shape->values)
        s = loader_found_open(shape, &places->found, err);
    return s == LEAT_OK && shape->segmented ? loader_segments_open(shape, &places->segments, err) : s;
}

void loader_places_close(struct loader_places *places, struct loader_reads *reads)
{
    free(places->step.samples);
    free(places->first);
    free(places->pieces);
    free(reads->first);
    free(reads->job.pieces);
    loader_segments_close(places->segments);
    loader_found_close(places->found);
}

/* ---- Pieces ---- */

/* The tokens of a row lie together in a slot, so each piece must begin where the one before it ends, or, if pieces have
 * labels of their own, at that label's place, or after its gap. */
static enum leat_status check_row(const struct loader_shape *shape, const struct leat_sample *sample,
                                  const struct leat_piece *pieces, struct leat_error *err)
{
    uint64_t at = 0, tokens = 0;

    for (uint32_t i = 0; i < sample->pieces && pieces[i].at == at; i++) {
        tokens += pieces[i].count + loader_gap_after(shape, pieces[i].count - 1);
        at = tokens - (shape->plan->order->own_labels ? i + 1 : 0);
    }
    if (tokens == sample->tokens)
        return LEAT_OK;
    return status_set(err, LEAT_E_UNSUPPORTED,
                      "sample %" PRIu64 " has pieces with labels of their own; the loader has no room for these",
                      sample->number);
}

static enum leat_status find_pieces(const struct loader_shape *shape, struct loader_places *places,
                                    struct leat_error *err)
{
    uint64_t count = 0;
    enum leat_status s;

    places->first[0] = 0;
    for (uint32_t i = 0; i < places->step.filled; i++) {
        count += places->step.samples[i].pieces;
        places->first[i + 1] = (uint32_t)count;
    }
    if (count > UINT32_MAX / 2)
        return status_set(err, LEAT_E_RANGE, "a batch of %" PRIu64 " pieces is too large; take fewer rows", count);
    s = GROW(places->pieces, count, places->room, err);
    if (s == LEAT_OK)
        s = plan_order_pieces(shape->plan, places->step.samples, places->step.filled, places->pieces, err);
    for (uint32_t i = 0; s == LEAT_OK && shape->plan->order->pieces && i < places->step.filled; i++) {
        const struct leat_piece *pieces = places->pieces + places->first[i];

        places->step.samples[i].token = pieces->token;
        places->step.samples[i].offset = pieces->offset;
        places->step.samples[i].part = pieces->part;
        s = check_row(shape, &places->step.samples[i], pieces, err);
    }
    return s;
}

/* Returns the length of a batch that has this row of so many inputs. Padding within a row counts (`own_labels`). */
static uint64_t length_with(const struct loader_shape *shape, const struct leat_sample *sample, uint64_t inputs)
{
    uint64_t length = shape->plan->order->own_labels ? plan_length_at(shape->plan, sample->number) : 0;

    return length > inputs ? length : inputs;
}

/* Finds the length of a batch whose pieces are known, which is that of its longest row. A rank that has no row in
 * the last batch takes the length of the plan's last row: its arrays must have the shape of the other ranks', in
 * programs with collectives or of fixed shapes. */
static enum leat_status find_length(const struct loader_shape *shape, struct loader_places *places,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint64_t longest = 1, got;
    struct leat_sample last;

    for (uint32_t i = 0; i < places->step.filled; i++) {
        uint64_t length = length_with(shape, &places->step.samples[i], loader_places_inputs(shape, places, i));

        longest = length > longest ? length : longest;
    }
    if (places->step.filled == 0)
        s = plan_samples(shape->plan, shape->positions - 1, 1, &last, &got, err);
    if (s == LEAT_OK && places->step.filled == 0)
        longest = length_with(shape, &last, shape->options.outputs.unshifted ? last.tokens : last.length);
    places->length = places->whole_length = longest > 1 ? (uint32_t)longest : 1;
    return s;
}

enum leat_status loader_places_find(const struct loader_shape *shape, struct loader_places *places,
                                    struct loader_reads *reads, uint8_t *tokens, struct leat_error *err)
{
    enum leat_status s = find_pieces(shape, places, err);

    reads->job.count = 0;
    if (s == LEAT_OK)
        s = find_length(shape, places, err);
    if (s == LEAT_OK && places->segments)
        s = loader_segments_cut(shape, places, reads, tokens, err);
    else if (s == LEAT_OK)
        memcpy(reads->first, places->first, ((size_t)places->step.filled + 1) * sizeof *reads->first);
    for (uint32_t k = 0; s == LEAT_OK && !places->segments && k < places->first[places->step.filled]; k++)
        s = loader_reads_add(shape, reads, &places->pieces[k], 0, places->pieces[k].count, NULL, err);
    return s == LEAT_OK && places->found ? loader_values_find(shape, places, reads, err) : s;
}
