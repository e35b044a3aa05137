/*
 * loader_runs.c: which tokens a row in segments has, in their order (loader_segments.h): those of the plan's pieces, or
 * of a row that the plan changes, those of plan/plan_row.h; and for labels ahead the tokens that follow them.
 */
#include "base/grow.h"
#include "loader.h"
#include "plan/plan_row.h"

/* A sentinel counts fully. */
#define FULL_WEIGHT 255u

enum leat_status loader_runs_add(struct loader_segments *x, const struct loader_run *run, struct leat_error *err)
{
    enum leat_status s = GROW(x->runs, x->run_count + 1, x->run_room, err);

    if (s == LEAT_OK)
        x->runs[x->run_count++] = *run;
    return s;
}

/*
 * Of windows, the tokens after a row's last label: those that follow it, up to the end of what the plan uses of the
 * dataset. Rows of other orders end with their own tokens: what follows is another document, or the rest of one, which
 * the plan leaves out or shows elsewhere.
 */
static enum leat_status add_beyond(const struct leat_loader *l, struct loader_segments *x,
                                   const struct leat_piece *last, struct leat_error *err)
{
    const struct plan_part *part = &l->plan->sources[last->source].parts[last->part];
    uint64_t end = last->offset + last->count, more = part->end > end ? part->end - end : 0;
    struct loader_run run = {
        .piece = *last, .first = last->count, .id = LOADER_OF_DATASET, .search = true, .beyond = true
    };

    run.count = more < l->options.outputs.ahead ? (uint32_t)more : l->options.outputs.ahead;
    run.piece.count += run.count;
    return run.count > 0 ? loader_runs_add(x, &run, err) : LEAT_OK;
}

static enum leat_status find_pieces(const struct leat_loader *l, struct loader_slot *slot, uint32_t row,
                                    struct leat_error *err)
{
    uint32_t first = slot->first_piece[row], end = slot->first_piece[row + 1];
    enum leat_status s = LEAT_OK;

    for (uint32_t k = first; s == LEAT_OK && k < end; k++) {
        const struct leat_piece *p = &slot->pieces[k];
        struct loader_run run = { .piece = *p,
                                  .count = p->count,
                                  .id = LOADER_OF_DATASET,
                                  .chain = k == first || l->plan->order->own_labels,
                                  .document = true, /* in its row, even if it begins inside of one */
                                  .search = p->document == LEAT_NONE };

        if (p->count > 0)
            s = loader_runs_add(&slot->segments, &run, err);
    }
    return s;
}

/* Adds the runs of a row that the plan changes. *ends: the row ends with the last token of its last piece. */
static enum leat_status find_changed(const struct leat_loader *l, struct loader_slot *slot, uint32_t row, bool *ends,
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

enum leat_status loader_runs_find(const struct leat_loader *l, struct loader_slot *slot, uint32_t row,
                                  struct leat_error *err)
{
    uint32_t end = slot->first_piece[row + 1];
    bool ends = true; /* with the last token of its last piece, after which further ones follow */
    enum leat_status s =
        plan_row_changes(l->plan) ? find_changed(l, slot, row, &ends, err) : find_pieces(l, slot, row, err);

    if (s == LEAT_OK && ends && l->plan->order->blocks && !l->plan->order->pieces && end > slot->first_piece[row])
        s = add_beyond(l, &slot->segments, &slot->pieces[end - 1], err);
    return s;
}
