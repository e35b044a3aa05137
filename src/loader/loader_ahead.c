/*
 * loader_ahead.c: rows of datasets on servers are announced long before their batch is begun: slots hold what a disk
 * needs, and a server takes a hundred times as long. The plan knows every place, so that a step waits for the network
 * only if all of it is slower than training.
 */
#include <stdlib.h>

#include "base/status.h"
#include "base/tiny.h"
#include "loader.h"

#define AHEAD_BYTES    TINY_OR((uint64_t)64 << 10, (uint64_t)32 << 20) /* 42 batches of 64 windows of 4,096 tokens */
#define AHEAD_BATCHES  TINY_OR(3u, 64u)
#define BATCHES_AT_ONE 4u /* call: a batch that is due does not wait for all of them */

enum leat_status loader_ahead_open(struct leat_loader *l, struct leat_error *err)
{
    uint64_t row = ((uint64_t)l->shape.max_length + 1) * l->shape.token_width + GATHER_PAGE,
             fit = AHEAD_BYTES / row / l->shape.rows;
    struct loader_slot *rows;

    if (!l->gather.has_holes || l->tokens.samples)
        return LEAT_OK;
    l->ahead.batches = fit < 1 ? 1 : fit < AHEAD_BATCHES ? fit : AHEAD_BATCHES;
    rows = l->ahead.rows = calloc(1, sizeof *rows);
    if (!rows)
        return status_no_memory(err, sizeof *rows);
    rows->samples = calloc(l->shape.rows, sizeof *rows->samples);
    rows->first_piece = calloc((size_t)l->shape.rows + 1, sizeof *rows->first_piece);
    if (l->shape.segmented && loader_segments_open(l, rows, err) != LEAT_OK)
        return LEAT_E_NO_MEMORY;
    return rows->samples && rows->first_piece ? LEAT_OK : status_no_memory(err, l->shape.rows * sizeof *rows->samples);
}

static enum leat_status announce_segments(struct leat_loader *l, struct loader_slot *rows, struct leat_error *err)
{
    enum leat_status s = loader_pieces_length(l, rows, err);

    if (s == LEAT_OK)
        s = loader_segments_begin(l, rows, rows->places, err);
    for (uint32_t i = 0; s == LEAT_OK && i < rows->job.count; i++)
        gather_announce(&l->gather, &rows->reads[i]);
    return s;
}

/* Announces the next batch. False: the plan ends, or fails, which the batch's own turn says. */
static bool announce(struct leat_loader *l, struct loader_slot *rows)
{
    struct leat_error unsaid;
    uint64_t got = 0;
    enum leat_status s = loader_deal_rows(l, l->ahead.position, rows->samples, &got, &unsaid);

    rows->places = (uint32_t)got;
    if (s == LEAT_OK)
        s = loader_pieces_find(l, rows, &unsaid);
    if (s == LEAT_OK && l->shape.segmented && got > 0)
        s = announce_segments(l, rows, &unsaid);
    for (uint32_t i = 0; s == LEAT_OK && !l->shape.segmented && i < rows->first_piece[rows->places]; i++) {
        const struct leat_piece *p = &rows->pieces[i];
        struct gather_piece read = { .file = loader_file_of(l, p),
                                     .offset = p->offset * l->shape.token_width,
                                     .bytes = (uint64_t)p->count * l->shape.token_width };

        if (read.bytes > 0)
            gather_announce(&l->gather, &read);
    }
    l->ahead.position += l->options.batch;
    return s == LEAT_OK && got == l->shape.rows;
}

void loader_ahead(struct leat_loader *l)
{
    const uint64_t batch = l->options.batch, next = l->stage.position;

    if (l->ahead.position < next)
        l->ahead.position = next;
    for (unsigned i = 0; i < BATCHES_AT_ONE && l->ahead.rows && l->ahead.position - next < l->ahead.batches * batch;
         i++)
        if (!announce(l, l->ahead.rows))
            loader_ahead_close(l);
}

void loader_ahead_close(struct leat_loader *l)
{
    struct loader_slot *rows = l->ahead.rows;

    if (!rows)
        return;
    loader_segments_close(rows);
    free(rows->samples);
    free(rows->first_piece);
    free(rows->pieces);
    free(rows->reads);
    free(rows);
    l->ahead.rows = NULL;
}
