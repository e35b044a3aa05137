/* loader_runs.c: which tokens the rows of a slot have that are in segments, in their order (loader_segments.h): those
 * of the plan's pieces, and for labels ahead those that follow them. */
#include "base/grow.h"
#include "loader.h"
#include "plan/plan_row.h"

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

enum leat_status loader_runs_find(const struct leat_loader *l, struct loader_slot *slot, uint32_t row,
                                  struct leat_error *err)
{
    uint32_t end = slot->first_piece[row + 1];
    bool ends = true; /* with the last token of its last piece, after which further ones follow */
    enum leat_status s =
        plan_row_changes(l->plan) ? loader_changed_find(l, slot, row, &ends, err) : find_pieces(l, slot, row, err);

    if (s == LEAT_OK && ends && l->plan->order->blocks && !l->plan->order->pieces && end > slot->first_piece[row])
        s = add_beyond(l, &slot->segments, &slot->pieces[end - 1], err);
    return s;
}
