/*
 * loader_open.c: from options to a running loader: checks the options, sizes the ring, starts its threads.
 *
 * The number of slots is the hard part. The ring must hold enough reads to keep a disk busy, and enough batches for a
 * consumer that is late now and then, but take only a share of free memory. Slots are as large as the longest batch
 * needs, and are allocated here once, in memory that the device can read if there is a device.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/numa.h"
#include "base/options.h"
#include "base/status.h"
#include "base/thread.h"
#include "loader.h"
#include "loader_fields.h"
#include "loader_segments.h"

#define STACK        ((size_t)256 << 10)
#define MIN_SLOTS    4u
#define USUAL_SLOTS  8u
#define ROWS_AHEAD   128u                /* reads that keep a disk busy if batches are small */
#define SMALL_RING   ((uint64_t)4 << 20) /* largest ring that gets more slots for that */
#define MEMORY_SHARE 8u                  /* the ring takes at most 1 / MEMORY_SHARE of free memory */
#define ALIGNMENT    64u                 /* the loader's, so that its parts begin at cache lines */

/* Bits of outputs: all, and those that need to know where documents begin. */
#define BIT(field, name, kind, documents)   | LEAT_OUTPUT_##name
#define KNOWN_OUTPUTS                       (0u ROWS_OUTPUTS(BIT, BIT) | LEAT_OUTPUT_PLACES)
#define NEEDS(field, name, kind, documents) | (documents ? LEAT_OUTPUT_##name : 0)
#define NEEDS_DOCUMENTS                     (0u ROWS_OUTPUTS(NEEDS, NEEDS))

/* ---- Options ---- */

static enum leat_status check_slice(const struct leat_loader_options *o, struct leat_error *err)
{
    const struct leat_loader_slice *slice = &o->slice;

    if (slice->count > LOADER_MAX_SLICES)
        return status_argument(err, "slice", "rows are cut into at most %u slices, not %" PRIu64, LOADER_MAX_SLICES,
                               slice->count);
    if (slice->rank >= slice->count + (slice->count == 0))
        return status_argument(err, "slice", "no slice %" PRIu64 ": there are %" PRIu64 ", numbered from 0",
                               slice->rank, slice->count);
    if (o->outputs.ahead > LOADER_MAX_AHEAD)
        return status_argument(err, "ahead", "a place has at most %u labels ahead, not %u", LOADER_MAX_AHEAD,
                               o->outputs.ahead);
    if (o->outputs.unshifted && slice->count > 1)
        return status_argument(err, "unshifted",
                               "a slice cannot have `unshifted` labels: a model that shifts labels itself looks for "
                               "them at the next place, which another rank may have");
    if (o->outputs.unshifted && o->outputs.ahead > 0)
        return status_argument(err, "ahead",
                               "`unshifted` outputs have no labels ahead: a model that shifts labels itself finds "
                               "them at later places");
    if (o->outputs.wanted & LEAT_OUTPUT_AHEAD_LABELS && o->outputs.ahead == 0)
        return status_argument(err, "ahead", "ahead_labels need `ahead`: how many tokens each place predicts");
    return LEAT_OK;
}

static enum leat_status check_options(const struct leat_loader_options *o, struct leat_error *err)
{
    if (o->io.threads > LOADER_THREADS)
        return status_argument(err, "threads", "a loader has 0 to %u threads, not %u", LOADER_THREADS, o->io.threads);
    if (o->io.numa_node < LEAT_NUMA_ANY)
        return status_argument(err, "numa_node", "unknown NUMA node %d", o->io.numa_node);
    if (o->io.slots == 1 || o->io.slots > RING_MAX)
        return status_argument(err, "slots", "a ring has 2 to %u slots, not %u", RING_MAX, o->io.slots);
    if (o->outputs.number_bytes != 4 && o->outputs.number_bytes != 8)
        return status_argument(err, "number_bytes", "numbers of outputs have 4 or 8 bytes, not %u",
                               o->outputs.number_bytes);
    if (o->outputs.wanted & ~KNOWN_OUTPUTS)
        return status_argument(err, "wanted", "unknown bits 0x%x in `outputs.wanted`", o->outputs.wanted);
    if (o->outputs.borrow && o->outputs.wanted == 0)
        return status_argument(err, "wanted", "`outputs.borrow` needs `outputs.wanted`");
    if (o->outputs.borrow && o->outputs.wanted & LEAT_OUTPUT_CU_SEQLENS && o->outputs.cu_seqlens_room < 2)
        return status_argument(err, "cu_seqlens_room", "borrowed cu_seqlens need room for at least 2 numbers");
    if (o->outputs.borrow && o->outputs.wanted & LEAT_OUTPUT_CU_SEQLENS && o->outputs.cu_seqlens_room > INT32_MAX)
        return status_argument(err, "cu_seqlens_room",
                               "borrowed cu_seqlens have room for at most 2^31 - 1 numbers, not for %" PRIu64,
                               o->outputs.cu_seqlens_room);
    if (o->batch > LOADER_MAX_BATCH)
        return status_argument(err, "batch", "a batch of %" PRIu64 " rows is too large; the limit is 2^31", o->batch);
    return check_slice(o, err);
}

static enum leat_status find_begin(struct leat_loader *l, struct leat_error *err)
{
    const struct leat_loader_options *o = &l->shape.options;
    struct leat_plan_state state = LEAT_PLAN_STATE_INIT;
    enum leat_status s;

    l->stage.position = o->position;
    if (o->state) {
        uint64_t bytes = o->state_bytes > 0 ? o->state_bytes : strlen(o->state);

        s = leat_plan_state_load(l->shape.plan, o->state, bytes, &state, err);
        if (s != LEAT_OK)
            return s;
        l->stage.position = state.position;
        l->stage.damaged = state.damaged;
    }
    if (l->stage.position > LEAT_MAX_SAMPLES)
        return status_argument(err, "position", "no position %" PRIu64 ": positions are at most 2^60",
                               l->stage.position);
    return LEAT_OK;
}

static enum leat_status set_length(struct loader_shape *shape, uint64_t inputs, struct leat_error *err)
{
    uint64_t longest = loader_layout_longest(shape, inputs);

    if (shape->segmented)
        longest = loader_segments_length(shape, longest);
    if (longest > UINT32_MAX / 2)
        return status_argument(err, "plan", "rows of up to %" PRIu64 " inputs are too long; the limit is 2^31 - 1",
                               longest);
    shape->whole_length = (uint32_t)longest;
    shape->max_length = (uint32_t)(longest / shape->options.slice.count);
    return LEAT_OK;
}

enum leat_status loader_take_plan(struct loader_shape *shape, struct leat_error *err)
{
    const struct leat_loader_options *o = &shape->options;
    struct leat_plan_info plan = LEAT_PLAN_INFO_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    enum leat_status s = LEAT_OK;

    leat_plan_info(shape->plan, &plan);
    shape->positions = plan.positions;
    leat_dataset_info(shape->plan->sources[0].dataset, &info);
    shape->token_width = info.token_width;
    shape->pad = info.end_token == LEAT_NONE ? 0 : (uint32_t)info.end_token;
    shape->narrow = info.vocabulary <= (uint64_t)1 << 31;
    if (o->outputs.borrow && o->outputs.number_bytes == 4 && !shape->narrow)
        return status_argument(err, "number_bytes",
                               "ids of a vocabulary of %" PRIu64 " entries do not fit into 4 signed bytes",
                               info.vocabulary);
    shape->documents = o->outputs.wanted & NEEDS_DOCUMENTS || o->outputs.mask_first || shape->plan->order->own_labels;
    for (uint64_t i = 0; s == LEAT_OK && shape->documents && i < shape->plan->rules.source_count; i++)
        s = dataset_need_documents(shape->plan->sources[i].dataset, err);
    if (s != LEAT_OK)
        return s;
    shape->masks = shape->plan->masks;
    /* its first token, as an unshifted label, would be predicted by the end of another document, to which such a row
     * does not connect it */
    shape->masks_first = shape->plan->order->own_labels && o->outputs.unshifted;
    shape->segmented = o->slice.count > 1 || o->outputs.ahead > 0 || plan_row_changes(shape->plan);
    if (shape->segmented) /* the CPU copies what is needed of the rows */
        s = loader_segments_check(shape, err);
    return s == LEAT_OK ? set_length(shape, plan.max_seq_len, err) : s;
}

static enum leat_status take_options(struct leat_loader *l, const struct leat_loader_options *options,
                                     struct leat_error *err)
{
    static const struct options_reserved reserved[] = { OPTIONS_RESERVED(leat_loader_options, ranks.reserved_flags),
                                                        OPTIONS_RESERVED(leat_loader_options, ranks.reserved),
                                                        OPTIONS_RESERVED(leat_loader_options, io.reserved),
                                                        OPTIONS_RESERVED(leat_loader_options, device.reserved),
                                                        OPTIONS_RESERVED(leat_loader_options, outputs.reserved),
                                                        OPTIONS_RESERVED(leat_loader_options, slice.reserved_flags),
                                                        OPTIONS_RESERVED(leat_loader_options, slice.reserved),
                                                        { 0, 0 } };
    struct leat_loader_options *o = &l->shape.options;
    uint64_t rows;
    enum leat_status s;

    *o = (struct leat_loader_options)LEAT_LOADER_OPTIONS_INIT;
    s = options_read(o, sizeof *o, reserved, options, "leat_loader_options", err);
    if (s == LEAT_OK)
        s = options_check(FIELDS(loader_options), o, err);
    if (s == LEAT_OK)
        s = check_options(o, err);
    if (s == LEAT_OK)
        s = leat_plan_rank_rows(l->shape.plan->rules.by_tokens[PLAN_MAX_TOKENS] > 0 ? o->ranks.world : o->batch,
                                o->ranks.rank, o->ranks.world, &l->shape.first_row, &rows, err);
    if (s == LEAT_OK)
        s = loader_steps_open(&l->shape, &l->steps, &rows, err);
    if (s == LEAT_OK)
        s = find_begin(l, err);
    if (s != LEAT_OK)
        return s;
    l->shape.rows = (uint32_t)rows;
    o->slice.count += o->slice.count == 0;
    atomic_store(&l->consumer.cursor, l->stage.position);
    l->consumer.damaged = l->stage.damaged;
    if (!o->device.name)
        o->device.name = "host";
    if (o->device.driver && !*o->device.driver)
        o->device.driver = NULL;
    l->device.ops = backend_find(o->device.name);
    if (!l->device.ops)
        return status_field(err,
                            status_set(err, LEAT_E_UNSUPPORTED,
                                       "this build has no device %.100s; \"host\" always works", o->device.name),
                            "device");
    l->shape.device_apart = l->device.ops->apart;
    l->shape.device_marks = l->device.ops->marks;
    s = loader_take_plan(&l->shape, err);
    if (s == LEAT_OK)
        s = loader_loss_open(&l->shape, err);
    if (l->shape.segmented)
        o->io.apart = LEAT_APART_NEVER;
    if (s == LEAT_OK)
        s = loader_values_open(&l->shape, err);
    return s == LEAT_OK ? loader_sources_open(l, err) : s;
}

/* ---- Sizes ---- */

/* Chooses the number of slots: enough to keep a disk busy and to cover a late consumer, if memory allows it. */
static enum leat_status choose_slots(struct leat_loader *l, struct leat_error *err)
{
    uint64_t each = (uint64_t)l->shape.sizes.slot_bytes + l->shape.sizes.output_bytes, max = l->shape.options.io.memory,
             fit, slots;
    uint64_t free = max ? 0 : memory_left(), on_device = max ? 0 : l->device.ops->room(l->device.backend);

    if (free > on_device)
        free = on_device;
    if (max == 0 && free == 0) /* the size of memory is not known */
        max = MIN_SLOTS * each;
    else if (max == 0)
        max = free / MEMORY_SHARE > MIN_SLOTS * each ? free / MEMORY_SHARE : free / 2;
    fit = max / each;
    slots = l->shape.options.io.slots ? l->shape.options.io.slots : USUAL_SLOTS;
    if (!l->shape.options.io.slots && slots * l->shape.rows < ROWS_AHEAD) {
        slots = bytes_divide_up(ROWS_AHEAD, l->shape.rows);
        if (slots > RING_MAX)
            slots = RING_MAX;
        while (slots > USUAL_SLOTS && slots * each > SMALL_RING)
            slots--;
    }
    if (l->shape.options.io.memory > 0 || !l->shape.options.io.slots)
        slots = slots < fit ? slots : fit;
    if (slots < 2)
        return status_set_hint(err, LEAT_E_NO_MEMORY, LEAT_HINT_MEMORY, NULL,
                               "two slots of %" PRIu64 " bytes do not fit into the allowed %" PRIu64
                               "; use fewer rows per batch, or allow more memory",
                               each, max);
    l->device.memory.slots = (unsigned)slots;
    l->device.memory.slot_bytes = l->shape.sizes.slot_bytes;
    l->device.memory.output_bytes = l->shape.sizes.output_bytes;
    return LEAT_OK;
}

/* Finds the size of the ring. Rows that lie together need less room. */
static enum leat_status size_ring(struct leat_loader *l, struct leat_error *err)
{
    enum leat_status s = choose_slots(l, err);

    if (s == LEAT_OK || l->shape.sizes.row_room == 0)
        return s;
    l->shape.options.io.apart = LEAT_APART_NEVER;
    return loader_layout_size(&l->shape) ? choose_slots(l, err) : s;
}

/* ---- Slots ---- */

static enum leat_status make_slots(struct leat_loader *l, struct leat_error *err)
{
    enum leat_status s;

    l->slots = calloc(l->device.memory.slots, sizeof *l->slots);
    if (!l->slots)
        return status_no_memory(err, l->device.memory.slots * sizeof *l->slots);
    ring_init(&l->ring, l->device.memory.slots);
    l->steps.slots = l->device.memory.slots;
    for (unsigned i = 0; i < l->device.memory.slots; i++) {
        struct loader_slot *slot = &l->slots[i];

        slot->loader = l;
        slot->number = i;
        slot->memory.base = l->device.memory.host + i * l->device.memory.stride;
        slot->learned = calloc(l->shape.rows, sizeof *slot->learned);
        s = loader_places_open(&l->shape, &slot->places, &slot->reads, err);
        if (s == LEAT_OK && !slot->learned)
            s = status_no_memory(err, l->shape.rows * sizeof *slot->learned);
        if (s != LEAT_OK)
            return s;
        slot->batch.token_width = l->shape.token_width;
        slot->batch.lengths = (const uint32_t *)(const void *)(slot->memory.base + l->shape.sizes.lengths_at);
        slot->batch.flags = slot->memory.base + l->shape.sizes.flags_at;
        slot->batch.samples = slot->places.step.samples;
    }
    return LEAT_OK;
}

/* ---- The threads ---- */

/* The thread that starts last is the loader's, which the others help. */
enum leat_status loader_start_threads(struct leat_loader *l, struct leat_error *err)
{
    int r = 0;

    if (l->shape.options.io.threads > 1)
        r = gather_share(&l->gather, l->shape.options.io.threads - 1, l->device.node);
    if (r == 0)
        r = thread_start(&l->thread.id, STACK, loader_stage_run, l);
    if (r != 0)
        return status_set_os(err, r, NULL,
                             "cannot start the loader's thread (" THREAD_LIMITS "; threads = 0 needs none)");
    l->thread.runs = true;
    numa_place_thread("/sys", l->thread.id, l->device.node);
    return LEAT_OK;
}

enum leat_status loader_open_files(const struct leat_loader *l, struct gather *g, const struct leat_plan *plan,
                                   struct leat_error *err)
{
    struct leat_column_info all[LOADER_COLUMNS];
    struct gather_columns columns = { all, loader_values_columns(&l->shape, all) };
    uint64_t tokens = (uint64_t)l->shape.whole_length + 1 + l->shape.options.outputs.ahead,
             entry = l->shape.token_width;
    enum leat_status s;

    for (uint32_t i = 0; i < columns.count; i++)
        entry = all[i].entry_bytes > entry ? all[i].entry_bytes : entry;
    s = gather_open(g, plan, &columns, plan_stretches_known(plan), l->shape.options.io.engine,
                    l->shape.options.io.verify, l->shape.options.io.threads > 0, tokens * entry, err);
    if (l->shape.sizes.row_room > 0)
        g->memory = (struct gather_memory) { l->device.memory.host, l->device.memory.stride, l->device.memory.slots };
    return s;
}

static enum leat_status open_parts(struct leat_loader *l, const struct leat_loader_options *options,
                                   struct leat_error *err)
{
    enum leat_status s = take_options(l, options, err);

    if (s == LEAT_OK && !loader_layout_size(&l->shape))
        s = status_argument(err, "batch", "a batch of %u rows of %u tokens does not fit into memory", l->shape.rows,
                            l->shape.max_length + 1);
    if (s == LEAT_OK)
        s = l->device.ops->open(&l->device.backend, l->shape.options.device.name, l->shape.options.device.driver, err);
    if (s == LEAT_OK)
        s = size_ring(l, err);
    if (s == LEAT_OK) {
        l->device.node = l->shape.options.io.numa_node == LEAT_NUMA_DEVICE ? l->device.ops->node(l->device.backend)
                                                                           : l->shape.options.io.numa_node;
        s = l->device.ops->allocate_ring(l->device.backend, &l->device.memory, l->device.node, err);
    }
    if (s == LEAT_OK)
        s = loader_log_open(l, err);
    if (s == LEAT_OK)
        s = make_slots(l, err);
    if (s == LEAT_OK)
        s = loader_open_files(l, &l->gather, l->shape.plan, err);
    l->shape.first_file = l->gather.first_file;
    l->shape.files = l->gather.token_files;
    if (s == LEAT_OK)
        s = loader_ahead_open(l, err);
    if (s == LEAT_OK && l->shape.options.io.threads > 0)
        s = loader_start_threads(l, err);
    return s;
}

enum leat_status leat_loader_open(struct leat_loader **out, const struct leat_plan *plan,
                                  const struct leat_loader_options *options, struct leat_error *err)
{
    struct leat_loader *l = aligned_alloc(ALIGNMENT, bytes_divide_up(sizeof *l, ALIGNMENT) * ALIGNMENT);
    enum leat_status s;

    *out = NULL;
    if (!l)
        return status_no_memory(err, sizeof *l);
    memset(l, 0, sizeof *l);
    l->shape.plan = plan;
    l->opened_ns = clock_ns();
    atomic_init(&l->end.at, LEAT_NONE);
    atomic_init(&l->event_fd, -1);
    atomic_init(&l->stage.node, -1);
    l->log.fd = -1;
    loader_process_open(l);
    s = open_parts(l, options, err);
    options_forget(FIELDS(loader_options), &l->shape.options);
    if (s != LEAT_OK)
        leat_loader_close(l);
    else
        *out = l;
    return s;
}
