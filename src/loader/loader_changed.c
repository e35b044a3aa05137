/* loader_changed.c: the runs of rows that the plan changes (plan/plan_row.h), for loader_segments.h. */
#include "loader.h"
#include "plan/plan_row.h"

/* A sentinel counts fully. */
#define FULL_WEIGHT 255u

enum leat_status loader_changed_find(const struct leat_loader *l, struct loader_slot *slot, uint32_t row, bool *ends,
                                     struct leat_error *err)
{
    struct loader_segments *x = &slot->segments;
    const struct leat_piece *p = slot->pieces + slot->first_piece[row];
    bool own_labels = l->plan->order->own_labels;
    uint32_t done = 0; /* of the piece */
    enum leat_status s;

    x->changed.count = 0;
    s = plan_row_add(l->plan, &slot->samples[row], p, &x->changed, err);
    for (size_t i = 0; s == LEAT_OK && i < x->changed.count; i++) {
        const struct leat_stretch *t = &x->changed.items[i];
        struct loader_run run = { .piece = *p, .count = t->count, .document = t->begins };

        for (; done == p->count; done = 0)
            run.piece = *++p;
        run.first = t->literal ? 0 : (uint32_t)(t->token - p->token);
        /* what stands for a banned document's tokens has no loss either */
        run.weight = t->literal && leat_plan_banned(l->plan, t->source, t->document, slot->samples[row].number)
                         ? 0
                         : FULL_WEIGHT;
        run.id = t->literal ? (uint32_t)t->token : LOADER_OF_DATASET;
        run.chain = i == 0 || (own_labels && done == 0);
        run.search = !t->literal && t->document == LEAT_NONE;
        done += t->count;
        *ends = !t->literal && run.first + run.count == p->count;
        s = loader_runs_add(x, &run, err);
    }
    return s;
}
