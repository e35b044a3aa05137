/*
 * loader_change.c: another plan for a running loader.
 *
 * What can fail is done first, beside the stage, which goes on: the new plan is compared with the old one up to where
 * the consumer is, a second loader without a ring tells whether its rows fit into the slots, and its files are opened.
 * Then the stage is stopped and set back to the consumer's place; slots that were filled or begun beyond it come back
 * as those do that a consumer has given back, since a device may still copy them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/counter.h"
#include "base/status.h"
#include "loader.h"

#define ALIGNMENT 64u

/* That the plan gave the samples that were shown so far; at the beginning, none was. */
static enum leat_status compare_past(const struct leat_loader *l, const struct leat_plan *plan, struct leat_error *err)
{
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    char text[LEAT_PLAN_STATE_BYTES];
    enum leat_status s;

    state.position = counter_value(&l->consumer.cursor);
    if (state.position == 0)
        return LEAT_OK;
    s = leat_plan_state_save(l->plan, &state, text, err);
    return s == LEAT_OK ? leat_plan_state_load(plan, text, strlen(text), &state, err) : s;
}

/* That the plan makes rows and batches by the same rules. */
static enum leat_status compare_order(const struct leat_loader *l, const struct leat_plan *plan, struct leat_error *err)
{
    const struct plan_rules *old = &l->plan->rules, *new = &plan->rules;

    if (plan->order != l->plan->order || memcmp(new->fit, old->fit, sizeof old->fit) != 0)
        return status_set(err, LEAT_E_INCOMPATIBLE,
                          "the loader's rows are of order %s: another order, or other options of it, need a new loader",
                          leat_order_name((enum leat_order)old->order));
    if (memcmp(new->by_tokens, old->by_tokens, sizeof old->by_tokens) != 0)
        return status_set(err, LEAT_E_INCOMPATIBLE,
                          "the new plan has other max-tokens, max-rows or pool than the loader's: batches by other "
                          "tokens need a new loader");
    return l->deal.samples ? plan_deal_check(plan, l->options.batch, l->options.ranks.world, err) : LEAT_OK;
}

/* `masks`: the new plan has some by itself. */
static enum leat_status compare_rows(const struct leat_loader *l, const struct leat_loader *with, bool masks,
                                     struct leat_error *err)
{
    if (with->shape.segmented != l->shape.segmented)
        return status_set(
            err, LEAT_E_INCOMPATIBLE,
            "the loader's rows have tokens that no dataset has, or the new plan's do: open a loader with it "
            "at this position");
    if (with->shape.token_width != l->shape.token_width || with->shape.pad != l->shape.pad ||
        with->shape.narrow != l->shape.narrow)
        return status_set(err, LEAT_E_INCOMPATIBLE,
                          "the tokens of the new plan are not the old one's: they differ in their bytes, end token or "
                          "vocabulary");
    if (with->sizes.slot_bytes > l->sizes.slot_bytes || with->sizes.output_bytes > l->sizes.output_bytes ||
        with->shape.max_length > l->shape.max_length || with->shape.whole_length > l->shape.whole_length ||
        (masks && !l->shape.masks) ||
        /* what comes before the tokens stays where it is */
        with->sizes.slot_bytes - with->sizes.tokens_at > l->sizes.slot_bytes - l->sizes.tokens_at ||
        with->sizes.tokens > l->sizes.tokens)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "the rows of the new plan need more room than the loader's slots have (up to %u inputs%s, "
                          "instead of %u): open a loader with it at this position",
                          with->shape.max_length, masks && !l->shape.masks ? ", and a mask" : "", l->shape.max_length);
    return LEAT_OK;
}

/* That the rows of the plan fit into the slots: by a loader of the same options that never gets a ring. */
static enum leat_status check_rows(const struct leat_loader *l, const struct leat_plan *plan, uint64_t *positions,
                                   struct leat_error *err)
{
    size_t bytes = bytes_divide_up(sizeof *l, ALIGNMENT) * ALIGNMENT;
    struct leat_loader *with = aligned_alloc(ALIGNMENT, bytes);
    enum leat_status s;
    bool masks;

    if (!with)
        return status_no_memory(err, bytes);
    memset(with, 0, bytes);
    with->plan = plan;
    with->options = l->options;
    with->device.ops = l->device.ops;
    with->shape.rows = l->shape.rows;
    with->weights = l->weights;
    s = loader_take_plan(with, err);
    masks = with->shape.masks;
    with->shape.masks |= l->shape.masks; /* also for the loss of labels that options take: slots have the room for it */
    if (s == LEAT_OK && !loader_layout_size(with))
        s = status_argument(err, "plan", "a batch of %u rows of %u tokens does not fit into memory", l->shape.rows,
                            with->shape.max_length + 1);
    if (s == LEAT_OK)
        s = compare_rows(l, with, masks, err);
    *positions = with->shape.positions;
    free(with);
    return s;
}

/* Sets the stage, which has stopped, back to the consumer's place, with these files. */
static void set_back(struct leat_loader *l, struct gather *files)
{
    struct loader_stage *st = &l->stage;

    for (unsigned i = 0; i < st->begun_count; i++) {
        unsigned slot = st->begun[(st->begun_first + i) % RING_MAX];

        gather_end(&l->gather, &l->slots[slot].job);
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
    counter_bump(&st->rows_damaged, l->consumer.damaged - st->damaged); /* what is made again is counted again */
    st->damaged = l->consumer.damaged;
    st->ended = st->finishing = false;
    l->tokens.count = 0; /* its pool is the old plan's */
    l->ahead.position = st->announced = 0;
    atomic_store(&l->end.at, LEAT_NONE);
    atomic_store(&l->thread.stop, false);
}

/* Starts again. What fails here ends the loader. */
static enum leat_status go_on(struct leat_loader *l, struct leat_error *err)
{
    struct leat_error own, *why = err ? err : &own;
    enum leat_status s = LEAT_OK;

    if (l->gather.memory_is_written)
        s = status_set(why, LEAT_E_IO, "reads of the plan before did not end: they may still write to the ring");
    if (s == LEAT_OK)
        s = loader_ahead_open(l, why);
    if (s == LEAT_OK && l->options.io.threads > 0)
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
        s = check_rows(l, plan, &positions, err);
    if (s == LEAT_OK)
        s = loader_sources_room(l, plan->rules.source_count, err);
    if (s == LEAT_OK)
        s = loader_open_files(l, &files, plan, err);
    if (s != LEAT_OK) {
        gather_close(&files);
        return s;
    }
    loader_end_thread(l);
    l->plan = plan;
    l->shape.positions = positions;
    set_back(l, &files);
    return go_on(l, err);
}
