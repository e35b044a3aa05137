/*
 * order_fit_samples.c: the samples of order fit and their pieces. Which documents the rows of a batch hold is
 * arithmetic; then the documents of each source are looked up together, since asking a dataset has a cost per call.
 */
#include <stdlib.h>

#include "base/search.h"
#include "base/status.h"
#include "order_fit.h"

typedef unsigned long long ull;

struct wanted {
    const struct fit_order *o;
    uint64_t number;
};

SEARCH_INLINE bool begins_by(const void *context, uint64_t stretch)
{
    const struct wanted *w = context;

    return w->o->stretches[stretch].begin <= w->number;
}

static const struct stretch *stretch_of(const struct leat_plan *plan, uint64_t n)
{
    const struct fit_order *o = plan->derived;

    return &o->stretches[search_first(1, o->count, begins_by, &(struct wanted) { o, n }) - 1];
}

/* ---- Looking up ---- */

#define ROWS_AT_ONCE 64u

/* Rows of which some pieces are wanted: of samples[i], from pieces[first[i]] on. */
struct batch {
    const struct leat_plan *plan;
    const struct leat_sample *samples;
    uint64_t count;  /* at most ROWS_AT_ONCE */
    bool first_only; /* of each row, only its first piece is wanted */
    struct leat_piece *pieces;
    uint64_t first[ROWS_AT_ONCE];
    /* Those of one source, and their pieces: */
    uint32_t source, rows[ROWS_AT_ONCE], row_count;
    uint64_t piece_count;
    struct fit_piece *room;
    struct fit_found *found;
    uint64_t *numbers, *starts, *tokens;
};

static uint32_t pieces_of(const struct batch *b, uint64_t row)
{
    return b->first_only ? 1 : b->samples[row].pieces;
}

static enum leat_status batch_make(struct batch *b, struct leat_error *err)
{
    uint64_t pieces = 0;

    for (uint64_t i = 0; i < b->count; i++) {
        b->first[i] = pieces;
        pieces += pieces_of(b, i);
    }
    b->room = malloc((size_t)b->plan->max_pieces * sizeof *b->room);
    b->found = malloc((size_t)pieces * sizeof *b->found);
    b->numbers = malloc((size_t)pieces * 3 * sizeof *b->numbers);
    if (!b->room || !b->found || !b->numbers)
        return status_no_memory(err, pieces * sizeof *b->found);
    b->starts = b->numbers + pieces;
    b->tokens = b->starts + pieces;
    return LEAT_OK;
}

/* Takes the rows of the source of row `first`; false: they were those of an earlier one. */
static bool take_source(struct batch *b, uint64_t first)
{
    b->source = b->samples[first].source;
    b->row_count = 0;
    for (uint64_t i = 0; i < b->count; i++)
        if (b->samples[i].source == b->source)
            b->rows[b->row_count++] = (uint32_t)i;
    return b->rows[0] == first;
}

static void find_pieces(struct batch *b)
{
    b->piece_count = 0;
    for (uint32_t i = 0; i < b->row_count; i++) {
        const struct leat_sample *x = &b->samples[b->rows[i]];

        fit_documents_row(&stretch_of(b->plan, x->number)->documents[b->source], x->block, x->epoch, x->number, b->room,
                          pieces_of(b, b->rows[i]), b->found + b->piece_count);
        b->piece_count += pieces_of(b, b->rows[i]);
    }
}

static void set_pieces(const struct batch *b)
{
    const struct plan_source *s = &b->plan->sources[b->source];
    uint64_t k = 0;

    for (uint32_t i = 0; i < b->row_count; i++)
        for (uint32_t j = 0; j < pieces_of(b, b->rows[i]); j++, k++) {
            uint64_t token = b->starts[k] + b->found[k].from;
            uint32_t part = plan_source_part_of_token(s, token);

            b->pieces[b->first[b->rows[i]] + j] = (struct leat_piece) { .token = token,
                                                                        .offset = token - s->parts[part].list_token,
                                                                        .document = b->numbers[k],
                                                                        .source = b->source,
                                                                        .part = part,
                                                                        .at = b->found[k].at,
                                                                        .count = b->found[k].places + 1 };
        }
}

static enum leat_status look_up_source(struct batch *b, struct leat_error *err)
{
    const struct fit_order *o = b->plan->derived;
    enum leat_status s;

    find_pieces(b);
    s = fit_lengths_documents(&o->lengths[b->source], b->found, b->piece_count, b->numbers, err);
    if (s == LEAT_OK)
        s = leat_dataset_document_list(b->plan->sources[b->source].dataset, b->numbers, b->piece_count, b->starts,
                                       b->tokens, err);
    for (uint64_t k = 0; s == LEAT_OK && k < b->piece_count; k++)
        if (b->tokens[k] != b->found[k].run->tokens)
            s = status_set(err, LEAT_E_DOCUMENTS,
                           "the list of documents by length is damaged: document %llu has %llu tokens, not %llu; make "
                           "it again with `leat fit`",
                           (ull)b->numbers[k], (ull)b->tokens[k], (ull)b->found[k].run->tokens);
    if (s == LEAT_OK)
        set_pieces(b);
    return s;
}

static enum leat_status look_up(struct batch *b, struct leat_error *err)
{
    enum leat_status s = batch_make(b, err);

    for (uint64_t i = 0; s == LEAT_OK && i < b->count; i++)
        if (take_source(b, i))
            s = look_up_source(b, err);
    free(b->room);
    free(b->found);
    free(b->numbers);
    return s;
}

/* ---- The calls ---- */

/* Fills in everything but what the first piece says. */
static void set_samples(const struct leat_plan *plan, uint64_t n, uint64_t count, struct leat_sample *samples)
{
    struct sampler_cursor at = { .phase = NULL };
    const struct stretch *stretch = NULL, *before;

    for (uint64_t i = 0; i < count; i++) {
        struct sampler_place place;
        struct leat_sample *x = &samples[i];

        before = stretch;
        stretch = stretch_of(plan, n + i);
        if (stretch != before)
            at = (struct sampler_cursor) { .phase = NULL };
        sampler_at(&stretch->sampler, &at, n + i, &place);
        *x = (struct leat_sample) {
            .number = n + i, .epoch = place.epoch, .block = place.block, .window = place.block, .source = place.source
        };
        x->pieces = fit_documents_count(&stretch->documents[place.source], place.block, &x->length);
        x->tokens = x->length + x->pieces;
    }
}

enum leat_status fit_samples(const struct leat_plan *plan, uint64_t n, uint64_t count, struct leat_sample *samples,
                             struct leat_error *err)
{
    struct leat_piece pieces[ROWS_AT_ONCE];
    enum leat_status s = LEAT_OK;

    set_samples(plan, n, count, samples);
    for (uint64_t at = 0, here; s == LEAT_OK && at < count; at += here) {
        struct batch b = { .plan = plan, .samples = samples + at, .first_only = true, .pieces = pieces };

        here = b.count = count - at < ROWS_AT_ONCE ? count - at : ROWS_AT_ONCE;
        s = look_up(&b, err);
        for (uint64_t i = 0; s == LEAT_OK && i < here; i++) {
            samples[at + i].token = pieces[i].token;
            samples[at + i].offset = pieces[i].offset;
            samples[at + i].part = pieces[i].part;
        }
    }
    return s;
}

enum leat_status fit_pieces(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                            struct leat_piece *pieces, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0, here; s == LEAT_OK && at < count; at += here) {
        struct batch b = { .plan = plan, .samples = samples + at, .pieces = pieces };

        here = b.count = count - at < ROWS_AT_ONCE ? count - at : ROWS_AT_ONCE;
        s = look_up(&b, err);
        for (uint64_t i = 0; i < here; i++)
            pieces += samples[at + i].pieces;
    }
    return s;
}
