/*
 * loader_runs.c: a part of the second stage: which tokens a row in segments has, in their order (loader_segments.h):
 * those of the plan's pieces, or of a row that the plan changes, those of plan/plan_row.h; and for labels ahead the
 * tokens that follow them.
 */
#include "base/grow.h"
#include "loader_segments.h"

/* the weight of a sentinel of fill-in-the-middle */
#define FULL_WEIGHT 255u

static enum leat_status add_run(struct loader_segments *x, const struct loader_run *run, struct leat_error *err)
{
    enum leat_status s = GROW(x->runs, x->run_count + 1, x->run_room, err);

    if (s == LEAT_OK)
        x->runs[x->run_count++] = *run;
    return s;
}

/* Adds the tokens after the last label of a row of windows, up to the end of what the plan uses of the dataset. Rows
 * of other orders end with their own tokens: what follows is another document, or the rest of one, which the plan
 * leaves out or shows elsewhere. */
static enum leat_status add_beyond(const struct loader_shape *shape, struct loader_segments *x,
                                   const struct leat_piece *last, struct leat_error *err)
{
    const struct plan_part *part = &shape->plan->sources[last->source].parts[last->part];
    uint64_t end = last->offset + last->count, more = part->end > end ? part->end - end : 0;
    struct loader_run run = {
        .piece = *last, .first = last->count, .id = LOADER_OF_DATASET, .search = true, .beyond = true
    };

    run.count = more < shape->options.outputs.ahead ? (uint32_t)more : shape->options.outputs.ahead;
    run.piece.count += run.count;
    return run.count > 0 ? add_run(x, &run, err) : LEAT_OK;
}

/* Adds the tokens after a row of windows over chosen documents, stretch by stretch, as far as the part's chosen
 * documents reach. */
static enum leat_status add_chosen_beyond(const struct loader_shape *shape, struct loader_segments *x,
                                          const struct leat_sample *sample, struct leat_error *err)
{
    const struct plan_source *source = &shape->plan->sources[sample->source];
    const struct plan_part *part = &source->parts[plan_source_part(source, sample->block)];
    uint64_t token = plan_choice_token(shape->plan, sample) + sample->tokens, pieces;
    uint64_t more = part->first + part->used - token;
    enum leat_status s = LEAT_OK;

    more = more < shape->options.outputs.ahead ? more : shape->options.outputs.ahead;
    while (s == LEAT_OK && more > 0) {
        struct loader_run run = { .id = LOADER_OF_DATASET, .search = true, .beyond = true };

        s = plan_choice_tokens(shape->plan, sample->source, token, more, &run.piece, 1, &pieces, err);
        if (s != LEAT_OK)
            break;
        run.count = run.piece.count;
        token += run.count;
        more -= run.count;
        s = add_run(x, &run, err);
    }
    return s;
}

static enum leat_status find_pieces(const struct loader_shape *shape, struct loader_places *places, uint32_t row,
                                    struct leat_error *err)
{
    uint32_t first = places->first[row], end = places->first[row + 1];
    enum leat_status s = LEAT_OK;

    for (uint32_t k = first; s == LEAT_OK && k < end; k++) {
        const struct leat_piece *p = &places->pieces[k];
        struct loader_run run = { .piece = *p,
                                  .count = p->count,
                                  .id = LOADER_OF_DATASET,
                                  .chain = k == first || shape->plan->order->own_labels,
                                  .document = true, /* it is a document of its row, even if it begins inside one */
                                  .search = p->document == LEAT_NONE };

        if (p->count > 0)
            s = add_run(places->segments, &run, err);
    }
    return s;
}

/* Adds the runs of a row that the plan changes. *ends: the row ends with the last token of its last piece. */
static enum leat_status find_changed(const struct loader_shape *shape, struct loader_places *places, uint32_t row,
                                     bool *ends, struct leat_error *err)
{
    struct loader_segments *x = places->segments;
    const struct leat_piece *p = places->pieces + places->first[row];
    bool own_labels = shape->plan->order->own_labels;
    uint32_t done = 0; /* number of the piece's tokens that earlier runs have */
    enum leat_status s;

    x->changed.count = 0;
    s = plan_row_add(shape->plan, &places->step.samples[row], p, &x->changed, err);
    for (size_t i = 0; s == LEAT_OK && i < x->changed.count; i++) {
        const struct leat_stretch *t = &x->changed.items[i];
        struct loader_run run = { .piece = *p, .count = t->count, .document = t->begins };

        for (; done == p->count; done = 0)
            run.piece = *++p;
        run.first = t->literal ? 0 : (uint32_t)(t->token - p->token);
        /* tokens that stand in place of a banned document's have no loss */
        run.weight =
            t->literal && leat_plan_banned(shape->plan, t->source, t->document, places->step.samples[row].number)
                ? 0
                : FULL_WEIGHT;
        run.id = t->literal ? (uint32_t)t->token : LOADER_OF_DATASET;
        run.chain = i == 0 || (own_labels && done == 0);
        run.search = !t->literal && t->document == LEAT_NONE;
        done += t->count;
        *ends = !t->literal && run.first + run.count == p->count;
        s = add_run(x, &run, err);
    }
    return s;
}

enum leat_status loader_runs_find(const struct loader_shape *shape, struct loader_places *places, uint32_t row,
                                  struct leat_error *err)
{
    uint32_t end = places->first[row + 1];
    bool ends = true; /* the row ends with the last token of its last piece, so that tokens follow it */
    enum leat_status s = plan_row_changes(shape->plan) ? find_changed(shape, places, row, &ends, err)
                                                       : find_pieces(shape, places, row, err);

    if (s != LEAT_OK || !ends || !shape->plan->order->blocks || shape->plan->order->pieces || end == places->first[row])
        return s;
    if (shape->plan->sources[places->step.samples[row].source].choice)
        return add_chosen_beyond(shape, places->segments, &places->step.samples[row], err);
    return add_beyond(shape, places->segments, &places->pieces[end - 1], err);
}
