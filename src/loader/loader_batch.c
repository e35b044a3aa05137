/* loader_batch.c: a batch's calls: writes its outputs to the caller's memory, or lends them; and its state. */
#include "base/bytes.h"
#include "base/options.h"
#include "base/status.h"
#include "loader.h"
#include "loader_values.h"
#include "rows/rows_segments.h"

static const struct loader_slot *slot_of(const struct leat_batch *batch)
{
    return (const struct loader_slot *)(const void *)batch;
}

const void *leat_batch_row(const struct leat_batch *batch, uint32_t row)
{
    return row < batch->rows && !loader_forked(slot_of(batch)->loader)
               ? loader_slot_row(&slot_of(batch)->places, &slot_of(batch)->memory, row)
               : NULL;
}

/* Returns the name of a wanted output that needs to know documents; NULL: there is none. */
static const char *needs_documents(const struct leat_outputs *o)
{
#define ASK(field, name, kind, documents)                                                                              \
    if (documents && o->field)                                                                                         \
        return #field;
    ROWS_OUTPUTS(ASK, ASK)
#undef ASK
    return o->mask_first ? "mask_first" : NULL;
}

static enum leat_status check_outputs(const struct loader_slot *slot, const struct leat_outputs *o,
                                      struct leat_error *err)
{
    const struct leat_batch *b = &slot->batch;
    const char *needing = needs_documents(o);

    if (o->number_bytes != 4 && o->number_bytes != 8)
        return status_argument(err, "number_bytes", "numbers of outputs have 4 or 8 bytes, not %u", o->number_bytes);
    if (o->number_bytes == 4 && (o->inputs || o->labels) && !slot->loader->shape.narrow)
        return status_argument(err, "number_bytes", "ids of this vocabulary do not fit into 4 signed bytes; use 8");
    if (o->length > (uint64_t)1 << 30)
        return status_argument(err, "length", "outputs of length %" PRIu64 " are too long; the limit is 2^30",
                               o->length);
    if (o->rows > LOADER_MAX_BATCH)
        return status_argument(err, "rows", "outputs of %" PRIu64 " rows are too many; the limit is 2^31", o->rows);
    if (o->length && o->length < b->length)
        return status_argument(err, "length", "outputs of length %" PRIu64 " are too short for a batch of length %u",
                               o->length, b->length);
    if (o->rows && o->rows < b->rows)
        return status_argument(err, "rows", "outputs of %" PRIu64 " rows are too small for a batch of %u", o->rows,
                               b->rows);
    if (!o->unshifted != !slot->loader->shape.options.outputs.unshifted)
        return status_argument(
            err, "unshifted",
            "`unshifted` must be the same in these outputs and in the options that the loader was opened "
            "with, because rows for unshifted labels have their last token among the inputs");
    if (o->ahead_labels && slot->loader->shape.options.outputs.ahead == 0)
        return status_argument(err, "ahead",
                               "ahead_labels need a loader that has labels ahead: set `ahead` when opening it");
    if (needing && !slot->loader->shape.documents)
        return status_argument(
            err, "wanted",
            "%s needs a loader that knows where documents start: name an output that needs this (such as "
            "position_ids) in `outputs` when opening the loader",
            needing);
    return LEAT_OK;
}

static enum leat_status check_sequences(const struct rows_job *job, struct leat_error *err)
{
    uint64_t longest, sequences, length = job->layout.segments_at ? rows_whole_length(job) : job->length;

    if (!job->cu_seqlens)
        return LEAT_OK;
    if (length > INT32_MAX / job->rows)
        return status_set(err, LEAT_E_RANGE, "%u rows of %" PRIu64 " tokens are too many for sequences of 32 bits",
                          job->rows, length);
    sequences = rows_sequences(job, &longest);
    if (sequences + 1 <= job->cu_seqlens_room)
        return LEAT_OK;
    return status_set(err, LEAT_E_RANGE,
                      "the batch has %" PRIu64 " sequences, which need room for %" PRIu64
                      " numbers; there is room for %" PRIu64,
                      sequences, sequences + 1, job->cu_seqlens_room);
}

enum leat_status leat_batch_write(const struct leat_batch *batch, const struct leat_outputs *outputs, void *stream,
                                  struct leat_error *err)
{
    const struct loader_slot *slot = slot_of(batch);
    struct leat_loader *l = slot->loader;
    static const struct options_reserved reserved[] = { OPTIONS_RESERVED(leat_outputs, reserved), { 0, 0 } };
    struct leat_outputs full = LEAT_OUTPUTS_INIT;
    enum leat_status s = loader_check_process(l, err);
    struct backend_values values[1 + LOADER_COLUMNS];
    unsigned count = 0;
    struct rows_job job;

    if (s != LEAT_OK)
        return s;
    s = options_read(&full, sizeof full, reserved, outputs, "leat_outputs", err);
    if (s == LEAT_OK)
        s = check_outputs(slot, &full, err);
    if (s == LEAT_OK)
        s = loader_values_wanted(slot, &full, values, &count, err);
    if (s != LEAT_OK)
        return s;
    job = loader_job(slot, &full);
    s = check_sequences(&job, err);
    if (s == LEAT_OK)
        s = l->device.ops->fill(l->device.backend, slot->number, &job, values, count, stream, err);
    return s;
}

enum leat_status leat_batch_borrow(const struct leat_batch *batch, struct leat_outputs *outputs, void *stream,
                                   struct leat_error *err)
{
    const struct loader_slot *slot = slot_of(batch);
    struct leat_loader *l = slot->loader;
    enum leat_status s = loader_check_process(l, err);
    struct leat_outputs full;
    uint8_t *outputs_at; /* they lie after the slot */

    if (s != LEAT_OK)
        return s;
    if (!l->shape.options.outputs.borrow)
        return status_argument(
            err, "borrow", "the loader cannot lend batches: set `outputs.borrow` and `outputs.wanted` when opening it");
    s = l->device.ops->await(l->device.backend, slot->number, stream, err);
    if (s != LEAT_OK)
        return s;
    outputs_at = l->device.ops->outputs(l->device.backend, slot->number);
    loader_borrowed(slot, outputs_at, &full);
    loader_values_borrowed(slot, outputs_at - l->device.memory.slot_bytes, &full);
    options_fill(outputs, &full, sizeof full);
    return LEAT_OK;
}

enum leat_status leat_batch_state(const struct leat_batch *batch, char text[LEAT_PLAN_STATE_BYTES],
                                  struct leat_error *err)
{
    const struct leat_loader *l = slot_of(batch)->loader;
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    enum leat_status s = loader_check_process(l, err);

    if (s != LEAT_OK)
        return s;
    state.position = batch->cursor;
    state.damaged = batch->damaged;
    return leat_plan_state_save(l->shape.plan, &state, text, err);
}
