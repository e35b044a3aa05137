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

#define ROWS_AT_ONCE 256u

/* A row of which some pieces are wanted. */
struct row {
    const struct leat_sample *sample;
    const struct fit_documents *documents; /* of its source, at its length */
    const struct fit_pattern *pattern;     /* NULL: it is full */
    uint64_t first;                        /* of its pieces among those of the batch */
    uint32_t pieces;                       /* that are wanted */
    bool taken;                            /* with the others of its source */
};

struct batch {
    const struct leat_plan *plan;
    struct row rows[ROWS_AT_ONCE];
    uint64_t count, piece_count; /* of all rows; then of those of one source */
    bool first_only;             /* of each row, only its first piece is wanted */
    struct leat_piece *pieces;
    /* The rows of one source, and their pieces: */
    uint32_t source, mine[ROWS_AT_ONCE], my_count;
    struct fit_drawing drawing;
    struct fit_found *found;
    uint64_t *numbers, *starts, *tokens;
};

/* Programs give samples back: cut ones, or those of another plan, would lead beyond what is here. */
static enum leat_status take_rows(struct batch *b, const struct leat_sample *samples, struct leat_error *err)
{
    const struct stretch *stretch = NULL;

    for (uint64_t i = 0; i < b->count; i++) {
        const struct leat_sample *x = &samples[i];
        struct row *r = &b->rows[i];
        uint32_t pieces = 0;

        if (i == 0 || x->number != x[-1].number + 1 || x->number == stretch->end)
            stretch = stretch_of(b->plan, x->number);
        if (x->source < b->plan->rules.source_count && x->block < stretch->documents[x->source].rows) {
            r->documents = &stretch->documents[x->source];
            r->pattern = fit_documents_pattern(r->documents, x->block);
            pieces = r->pattern ? r->pattern->pieces : 1;
            if (r->pattern)
                fit_fetch_entries(&r->documents->fit, r->pattern);
        }
        if (pieces == 0 || x->pieces != pieces)
            return status_set(err, LEAT_E_ARGUMENT, "sample %llu is not one that leat_plan_samples() of this plan gave",
                              (ull)x->number);
        r->sample = x;
        r->first = b->piece_count;
        r->pieces = b->first_only ? 1 : pieces;
        r->taken = false;
        b->piece_count += r->pieces;
    }
    return LEAT_OK;
}

static enum leat_status batch_make(struct batch *b, struct leat_error *err)
{
    uint64_t pieces = b->piece_count;

    b->drawing.pieces = malloc((size_t)pieces * sizeof *b->drawing.pieces);
    b->drawing.draws = malloc((size_t)pieces * sizeof *b->drawing.draws);
    b->drawing.numbers = malloc((size_t)b->plan->max_pieces * sizeof *b->drawing.numbers);
    b->found = malloc((size_t)pieces * sizeof *b->found);
    b->numbers = malloc((size_t)pieces * 3 * sizeof *b->numbers);
    if (!b->drawing.pieces || !b->drawing.draws || !b->drawing.numbers || !b->found || !b->numbers)
        return status_no_memory(err, pieces * sizeof *b->found);
    b->starts = b->numbers + pieces;
    b->tokens = b->starts + pieces;
    return LEAT_OK;
}

/* Takes the rows of the source of row `first`, which is the first of them. */
static void take_source(struct batch *b, uint64_t first)
{
    b->source = b->rows[first].sample->source;
    b->my_count = 0;
    for (uint64_t i = first; i < b->count; i++)
        if (b->rows[i].sample->source == b->source) {
            b->mine[b->my_count++] = (uint32_t)i;
            b->rows[i].taken = true;
        }
}

static void find_pieces(struct batch *b)
{
    uint64_t drawn = 0;

    for (uint32_t i = 0; i < b->my_count; i++)
        if (b->rows[b->mine[i]].pattern)
            fit_fetch_classes(&b->rows[b->mine[i]].documents->fit, b->rows[b->mine[i]].pattern);
    b->piece_count = b->drawing.count = 0;
    for (uint32_t i = 0; i < b->my_count; i++) {
        const struct row *r = &b->rows[b->mine[i]];

        fit_documents_row(r->documents, r->pattern, r->sample, b->first_only, &b->drawing, b->found + b->piece_count);
        b->piece_count += r->pieces;
    }
    permute_forward_many(b->drawing.draws, b->drawing.count);
    b->piece_count = 0;
    for (uint32_t i = 0; i < b->my_count; i++) {
        const struct row *r = &b->rows[b->mine[i]];

        if (r->pattern) {
            fit_documents_drawn(r->documents, &b->drawing, drawn, r->pieces, b->found + b->piece_count);
            drawn += r->pieces;
        }
        b->piece_count += r->pieces;
    }
}

static void set_pieces(const struct batch *b)
{
    const struct plan_source *s = &b->plan->sources[b->source];
    uint64_t k = 0;

    for (uint32_t i = 0; i < b->my_count; i++) {
        const struct row *r = &b->rows[b->mine[i]];

        for (uint32_t j = 0; j < r->pieces; j++, k++) {
            uint64_t token = b->starts[k] + b->found[k].from;
            uint32_t part = plan_source_part_of_token(s, token);

            b->pieces[r->first + j] = (struct leat_piece) { .token = token,
                                                            .offset = token - s->parts[part].list_token,
                                                            .document = b->numbers[k],
                                                            .source = b->source,
                                                            .part = part,
                                                            .at = b->found[k].at,
                                                            .count = b->found[k].places + 1 };
        }
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

/* The pieces of these rows, or the first of each; all go to `pieces`. */
static enum leat_status look_up(const struct leat_plan *plan, const struct leat_sample *samples, uint64_t count,
                                bool first_only, struct leat_piece *pieces, uint64_t *got, struct leat_error *err)
{
    struct batch b;
    enum leat_status s;

    b.plan = plan;
    b.count = count;
    b.piece_count = 0;
    b.first_only = first_only;
    b.pieces = pieces;
    s = take_rows(&b, samples, err);
    if (s != LEAT_OK)
        return s;
    *got = b.piece_count;
    s = batch_make(&b, err);
    for (uint64_t i = 0; s == LEAT_OK && i < b.count; i++)
        if (!b.rows[i].taken) {
            take_source(&b, i);
            s = look_up_source(&b, err);
        }
    free(b.drawing.pieces);
    free(b.drawing.draws);
    free(b.drawing.numbers);
    free(b.found);
    free(b.numbers);
    return s;
}

/* ---- The calls ---- */

/* Of one stretch. */
static void set_samples(const struct stretch *stretch, uint64_t n, uint64_t count, struct leat_sample *samples)
{
    struct sampler_cursor at = { .phase = NULL };
    struct sampler_place places[ROWS_AT_ONCE];

    for (uint64_t done = 0, here; done < count; done += here) {
        here = count - done < ROWS_AT_ONCE ? count - done : ROWS_AT_ONCE;
        sampler_range(&stretch->sampler, &at, n + done, here, places);
        for (uint64_t i = 0; i < here; i++) {
            const struct sampler_place *place = &places[i];
            const struct fit_pattern *p = fit_documents_pattern(&stretch->documents[place->source], place->block);
            uint32_t pieces = p ? p->pieces : 1, length = (uint32_t)stretch->length - (p ? p->room : 0);

            samples[done + i] = (struct leat_sample) { .number = n + done + i,
                                                       .epoch = place->epoch,
                                                       .block = place->block,
                                                       .window = place->block,
                                                       .source = place->source,
                                                       .pieces = pieces,
                                                       .length = length,
                                                       .tokens = length + pieces };
        }
    }
}

enum leat_status fit_samples(const struct leat_plan *plan, uint64_t n, uint64_t count, struct leat_sample *samples,
                             struct leat_error *err)
{
    (void)err;
    for (uint64_t done = 0, here; done < count; done += here) {
        const struct stretch *stretch = stretch_of(plan, n + done);
        uint64_t left = stretch->end - (n + done);

        here = count - done < left ? count - done : left;
        set_samples(stretch, n + done, here, samples + done);
    }
    return LEAT_OK;
}

enum leat_status fit_begins(const struct leat_plan *plan, struct leat_sample *samples, uint64_t count,
                            struct leat_error *err)
{
    struct leat_piece pieces[ROWS_AT_ONCE];
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0, here, got; s == LEAT_OK && at < count; at += here) {
        here = count - at < ROWS_AT_ONCE ? count - at : ROWS_AT_ONCE;
        s = look_up(plan, samples + at, here, true, pieces, &got, err);
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

    for (uint64_t at = 0, here, got; s == LEAT_OK && at < count; at += here, pieces += got) {
        here = count - at < ROWS_AT_ONCE ? count - at : ROWS_AT_ONCE;
        s = look_up(plan, samples + at, here, false, pieces, &got, err);
    }
    return s;
}
