/*
 * loader_change.c: another plan for a running loader.
 *
 * What can fail is done first, beside the stage, which goes on: the new plan is compared with the old one up to where
 * the consumer is, the shape of its rows is compared with the slots, and its files are opened.
 * Then the stage is stopped and set back to the consumer's place; slots that were filled or begun beyond it come back
 * as those do that a consumer has given back, since a device may still copy them.
 */
#include <string.h>

#include "base/counter.h"
#include "base/status.h"
#include "loader.h"

/* Checks that the plan gives the samples that were shown so far; at the beginning, none was. */
static enum leat_status compare_past(const struct leat_loader *l, const struct leat_plan *plan, struct leat_error *err)
{
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    char text[LEAT_PLAN_STATE_BYTES];
    enum leat_status s;

    state.position = counter_value(&l->consumer.cursor);
    if (state.position == 0)
        return LEAT_OK;
    s = leat_plan_state_save(l->shape.plan, &state, text, err);
    return s == LEAT_OK ? leat_plan_state_load(plan, text, strlen(text), &state, err) : s;
}

/* Checks that the plan makes rows and batches by the rules of the loader's plan. */
static enum leat_status compare_order(const struct leat_loader *l, const struct leat_plan *plan, struct leat_error *err)
{
    const struct plan_rules *old = &l->shape.plan->rules, *new = &plan->rules;
    bool differs = plan->order != l->shape.plan->order || memcmp(new->fit, old->fit, sizeof old->fit) != 0;

    for (size_t i = 0; !differs && i < old->source_count && i < new->source_count; i++)
        differs = memcmp(new->sources[i].fit, old->sources[i].fit, sizeof old->sources[i].fit) != 0;
    if (differs)
        return status_set(err, LEAT_E_INCOMPATIBLE,
                          "the loader's rows are of order %s: another order, or other options of it, need a new loader",
                          leat_order_name((enum leat_order)old->order));
    if (memcmp(new->by_tokens, old->by_tokens, sizeof old->by_tokens) != 0)
        return status_set(err, LEAT_E_INCOMPATIBLE,
                          "the new plan has other max-tokens, max-rows or pool than the loader's: batches by other "
                          "tokens need a new loader");
    return l->steps.deal.samples ? plan_deal_check(plan, l->shape.options.ranks.balance, l->shape.options.batch,
                                                   l->shape.options.ranks.world, err)
                                 : LEAT_OK;
}

/* Compares the shapes of the rows. `masks`: the new plan has masks by itself. */
static enum leat_status compare_rows(const struct loader_shape *old, const struct loader_shape *new, bool masks,
                                     struct leat_error *err)
{
    const struct loader_sizes *z = &new->sizes, *room = &old->sizes;

    if (new->segmented != old->segmented)
        return status_set(
            err, LEAT_E_INCOMPATIBLE,
            "the loader's rows have tokens that no dataset has, or the new plan's do: open a loader with it "
            "at this position");
    if (new->token_width != old->token_width || new->pad != old->pad || new->narrow != old->narrow)
        return status_set(err, LEAT_E_INCOMPATIBLE,
                          "the tokens of the new plan are not the old one's: they differ in their bytes, end token or "
                          "vocabulary");
    if (z->slot_bytes > room->slot_bytes || z->output_bytes > room->output_bytes || new->max_length > old->max_length ||
        new->whole_length > old->whole_length || (masks && !old->masks) ||
        /* what lies before the tokens keeps its place, so the room after tokens_at must be enough */
        z->slot_bytes - z->tokens_at > room->slot_bytes - room->tokens_at || z->tokens > room->tokens)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "the rows of the new plan need more room than the loader's slots have (up to %u inputs%s, "
                          "instead of %u): open a loader with it at this position",
                          new->max_length, masks && !old->masks ? ", and a mask" : "", old->max_length);
    return LEAT_OK;
}

/* Checks that the rows of the plan fit into the slots, by the shape that a loader of these options would have with
 * it. */
static enum leat_status check_rows(const struct loader_shape *old, const struct leat_plan *plan, uint64_t *positions,
                                   struct leat_error *err)
{
    struct loader_shape new = *old;
    enum leat_status s;
    bool masks;

    new.plan = plan;
    new.sizes = (struct loader_sizes) { .slot_bytes = 0 };
    s = loader_take_plan(&new, err);
    masks = new.masks;
    new.masks |= old->masks; /* the options may clear the loss of labels: slots have the room for that */
    if (s == LEAT_OK && !loader_layout_size(&new))
        s = status_argument(err, "plan", "a batch of %u rows of %u tokens does not fit into memory", new.rows,
                            new.max_length + 1);
    if (s == LEAT_OK)
        s = compare_rows(old, &new, masks, err);
    *positions = new.positions;
    return s;
}

/* Sets the stage, which has stopped, back to the consumer's place, with these files. */
static void set_back(struct leat_loader *l, struct gather *files)
{
    struct loader_stage *st = &l->stage;

    for (unsigned i = 0; i < st->begun_count; i++) {
        unsigned slot = st->begun[(st->begun_first + i) % RING_MAX];

        gather_end(&l->gather, &l->slots[slot].reads.job);
        atomic_fetch_or(&l->ring.given_back, (uint64_t)1 << slot);
    }
    ring_take_back(&l->ring);
    loader_ahead_close(l);
    gather_follow(files, &l->gather);
    gather_close(&l->gather);
    files->memory_is_written = l->gather.memory_is_written;
    l->gather = *files;
    l->gather.worker.gather = &l->gather;
    st->begun_first = st->begun_count = 0;
    st->position = counter_value(&l->consumer.cursor);
    st->batch = atomic_load(&l->ring.taken);
    counter_bump(&st->rows_damaged, l->consumer.damaged - st->damaged); /* rows that are made again are counted again */
    st->damaged = l->consumer.damaged;
    st->ended = st->finishing = false;
    l->steps.tokens.count = 0; /* its pool is the old plan's */
    l->steps.announced = 0;
    atomic_store(&l->end.at, LEAT_NONE);
    atomic_store(&l->thread.stop, false);
}

/* Starts the stage again. A failure ends the loader. */
static enum leat_status go_on(struct leat_loader *l, struct leat_error *err)
{
    struct leat_error own, *why = err ? err : &own;
    enum leat_status s = LEAT_OK;

    if (l->gather.memory_is_written)
        s = status_set(why, LEAT_E_IO, "reads of the plan before did not end: they may still write to the ring");
    if (s == LEAT_OK)
        s = loader_ahead_open(l, why);
    if (s == LEAT_OK && l->shape.options.io.threads > 0)
        s = loader_start_threads(l, why);
    if (s == LEAT_OK)
        return s;
    l->stage.ended = true;
    l->end.status = s;
    l->end.error = *why;
    atomic_store(&l->end.at, l->stage.batch);
    return s;
}

enum leat_status leat_loader_change(struct leat_loader *loader, const struct leat_plan *plan, struct leat_error *err)
{
    struct leat_loader *l = loader;
    enum leat_status s = loader_check_process(l, err);
    struct gather files = { .file_count = 0 };
    uint64_t positions = 0;

    if (s == LEAT_OK)
        s = compare_past(l, plan, err);
    if (s == LEAT_OK)
        s = compare_order(l, plan, err);
    if (s == LEAT_OK)
        s = check_rows(&l->shape, plan, &positions, err);
    if (s == LEAT_OK)
        s = loader_sources_room(l, plan->rules.source_count, err);
    if (s == LEAT_OK)
        s = loader_open_files(l, &files, plan, err);
    if (s != LEAT_OK) {
        gather_close(&files);
        return s;
    }
    loader_end_thread(l);
    l->shape.plan = plan;
    l->shape.positions = positions;
    l->shape.first_file = files.first_file;
    l->shape.files = files.token_files;
    set_back(l, &files);
    return go_on(l, err);
}
