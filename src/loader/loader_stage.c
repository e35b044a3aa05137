/*
 * loader_stage.c: the loader's stage: which rows go from where into which slot; then to the device and into the ring.
 *
 * A batch is *begun* (samples, pieces and layout are found, and its reads handed to gather) and later *finished* (its
 * reads waited for, pages verified, documents marked, and the slot sent to the device). If engines work ahead, all free
 * slots are begun before the oldest is finished, so that reads of all of them are in flight and the disk has a queue.
 * If further threads gather (gather/gather_pool.h), some slots are begun early too, so that they find work meanwhile.
 * Batches are finished in order. A damaged row fails its batch, or is masked; the first failure ends the loader after
 * the batches before it.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/counter.h"
#include "base/numa.h"
#include "base/status.h"
#include "loader.h"
#include "loader_segments.h"

/* ---- The end ---- */

/* Ends the loader after `count` batches, fewer than before any end already known. Stores the reason before the count.
 * `err`: for any status except LEAT_E_END. */
static void end_at(struct leat_loader *l, uint64_t count, enum leat_status status, const struct leat_error *err)
{
    l->stage.ended = true;
    l->end.status = status;
    if (err)
        l->end.error = *err;
    atomic_store(&l->end.at, count);
    gate_open(&l->ring.consumer);
}

/* ---- Beginning a batch ---- */

/* Writes what the stages have found into the slot's batch. */
static void describe(const struct leat_loader *l, struct loader_slot *slot)
{
    const struct rows_layout *layout = &slot->memory.layout;
    struct leat_batch *b = &slot->batch;

    b->rows = layout->rows;
    b->length = slot->places.length;
    b->width = b->length + 1;
    b->whole_length = slot->places.whole_length;
    b->ahead = layout->ahead;
    b->tokens = layout->rows_at || layout->segments_at ? NULL : slot->memory.base + layout->tokens_at;
    b->position = l->stage.position;
}

/* Begins the next batch in a slot: its samples, their places, what is gathered, how it lies there. Returns false if
 * there is no further batch. */
static bool begin_batch(struct leat_loader *l, struct loader_slot *slot)
{
    struct loader_stage *st = &l->stage;
    const struct loader_shape *shape = &l->shape;
    uint64_t began = clock_ns(), next = 0, ordered;
    struct leat_error err;
    enum leat_status s;

    s = loader_step_find(shape, &l->steps, st->position, &slot->places.step, &next, &err);
    if (s == LEAT_OK && slot->places.step.rows == 0)
        s = LEAT_E_END;
    if (s == LEAT_OK)
        s = loader_places_find(shape, &slot->places, &slot->reads, slot->memory.base + shape->sizes.tokens_at, &err);
    if (s != LEAT_OK) {
        end_at(l, st->batch, s, s == LEAT_E_END ? NULL : &err);
        return false;
    }
    ordered = clock_ns();
    counter_bump(&st->order_ns, ordered - began);
    gather_look(&l->gather, began);
    loader_layout_begin(shape, &l->gather, &slot->places, &slot->reads, &slot->memory);
    describe(l, slot);
    slot->batch.number = st->batch++;
    st->position = next;
    slot->batch.cursor = next < shape->positions ? next : shape->positions;
    gather_begin(&l->gather, &slot->reads.job);
    loader_index_announce(shape, l->announced, &slot->places);
    st->begin_ns = clock_ns() - began;
    counter_bump(&st->gather_ns, st->begin_ns - (ordered - began));
    return true;
}

/* ---- Finishing one ---- */

static bool is_masked(const struct leat_loader *l, enum leat_status s)
{
    return l->shape.options.on_damage == LEAT_ON_DAMAGE_MASK && !l->gather.server_failed &&
           (s == LEAT_E_IO || s == LEAT_E_TRUNCATED || s == LEAT_E_CHECKSUM || s == LEAT_E_DOCUMENTS ||
            s == LEAT_E_TOKEN);
}

/* Keeps a row that failed in its place, without loss, if the options say so; else its failure is the batch's. */
static enum leat_status mask_damage(struct leat_loader *l, struct loader_slot *slot, uint32_t row, enum leat_status s)
{
    if (!is_masked(l, s))
        return s;
    loader_layout_clear(&l->shape, &slot->places, &slot->memory, row);
    slot->memory.base[slot->memory.layout.flags_at + row] |= LEAT_ROW_DAMAGED;
    slot->batch.damaged_rows++;
    l->stage.damaged++;
    counter_bump(&l->stage.rows_damaged, 1);
    return LEAT_OK;
}

/* Finishes the pieces [first, end) of a row. While a slow one is waited for, slots may come back: begins further
 * batches in them. A damaged one that is masked does not end this, because the others still write to the row. */
static enum leat_status gather_row(struct leat_loader *l, struct loader_slot *slot, uint32_t first, uint32_t end,
                                   struct leat_error *err)
{
    enum leat_status damage = LEAT_OK, s;

    for (uint32_t k = first; k < end; k++) {
        if (slot->reads.job.pieces[k].bytes == 0)
            continue;
        while ((s = gather_finish(&l->gather, &slot->reads.job, k, err)) == LEAT_E_AGAIN) {
            if (atomic_load(&l->thread.stop))
                return status_set(err, LEAT_E_STOPPED, "the loader was closed");
            loader_stage_begin(l);
        }
        if (s != LEAT_OK && !is_masked(l, s))
            return s;
        if (s != LEAT_OK)
            damage = s;
    }
    return damage;
}

/* Finishes what stands beside a row's tokens, which have come with this status. */
static enum leat_status gather_values(struct leat_loader *l, struct loader_slot *slot, uint32_t row,
                                      enum leat_status tokens, struct leat_error *err)
{
    const uint32_t *first = slot->places.found->first_read;
    enum leat_status s = gather_row(l, slot, first[row], first[row + 1], err);

    if (s == LEAT_OK)
        loader_values_finish(&l->shape, &slot->places, &slot->memory, row);
    return s == LEAT_OK ? tokens : s;
}

static enum leat_status gather_rows(struct leat_loader *l, struct loader_slot *slot, struct leat_error *err)
{
    const uint32_t *first = slot->reads.first;
    enum leat_status s = LEAT_OK;

    for (uint32_t row = 0; s == LEAT_OK && row < slot->places.step.filled; row++) {
        s = gather_row(l, slot, first[row], first[row + 1], err);
        if (slot->places.found && (s == LEAT_OK || is_masked(l, s)))
            s = gather_values(l, slot, row, s, err);
        if (s != LEAT_OK)
            s = mask_damage(l, slot, row, s);
    }
    gather_end(&l->gather, &slot->reads.job);
    return s;
}

/* Finds the documents and masks of the rows, which have come. Segments of a damaged row are those of its documents. */
static enum leat_status look_at_rows(struct leat_loader *l, struct loader_slot *slot, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint32_t row = 0; s == LEAT_OK && row < slot->batch.rows; row++) {
        bool damaged = loader_slot_damaged(&slot->memory, row);

        if (row < slot->places.step.filled)
            s = slot->places.segments ? loader_segments_find(&l->shape, &slot->places, &slot->memory, row, err)
                                      : loader_marks_find(&l->shape, &slot->places, &slot->memory, row, err);
        s = damaged && is_masked(l, s) ? LEAT_OK : mask_damage(l, slot, row, s);
        if (s == LEAT_OK && slot->places.segments)
            loader_segments_put(&slot->places, &slot->memory, row);
    }
    if (s == LEAT_OK && slot->places.segments)
        loader_segments_end(&slot->places, &slot->memory);
    return s;
}

static enum leat_status make_outputs(struct leat_loader *l, struct loader_slot *slot, struct leat_error *err)
{
    struct leat_outputs outputs = LEAT_OUTPUTS_INIT;
    struct rows_job job;
    uint64_t longest;

    loader_borrowed(slot, l->device.ops->outputs(l->device.backend, slot->number), &outputs);
    job = loader_job(slot, &outputs);
    if (job.cu_seqlens && rows_sequences(&job, &longest) + 1 > job.cu_seqlens_room)
        return status_set(err, LEAT_E_RANGE,
                          "a batch has %" PRIu64 " sequences, too many for the room for %" PRIu64
                          " numbers of cu_seqlens: allow one more than the maximum of sequences per batch",
                          rows_sequences(&job, &longest), job.cu_seqlens_room);
    return l->device.ops->prepare(l->device.backend, slot->number, &job, err);
}

static void count_sequences(struct leat_loader *l, struct loader_slot *slot)
{
    struct leat_outputs none = LEAT_OUTPUTS_INIT;
    struct rows_job job = loader_job(slot, &none);
    uint64_t longest = 0;

    slot->batch.sequences = l->shape.documents ? (uint32_t)rows_sequences(&job, &longest) : 0;
    slot->batch.max_seqlen = (uint32_t)longest;
}

/* Notes what a batch took, in a moving average in which the new one counts an eighth. */
static void note_batch(struct loader_stage *st, uint64_t ns)
{
    uint64_t lately = counter_value(&st->batch_ns);

    atomic_store_explicit(&st->batch_ns, lately ? lately - lately / 8 + ns / 8 : ns, memory_order_relaxed);
}

/* Finishes a batch, except for the ring. The error of a masked row is dropped. */
static enum leat_status complete(struct leat_loader *l, struct loader_slot *slot, struct leat_error *err)
{
    struct loader_stage *st = &l->stage;
    uint64_t t0 = clock_ns(), storage = counter_value(&l->gather.counters.storage_ns), t1, t2, t3;
    enum leat_status s;

    slot->batch.damaged_rows = 0;
    s = gather_rows(l, slot, err);
    t1 = clock_ns();
    storage = counter_value(&l->gather.counters.storage_ns) - storage;
    counter_bump(&st->gather_ns, t1 - t0 > storage ? t1 - t0 - storage : 0);
    if (s == LEAT_OK)
        s = look_at_rows(l, slot, err);
    if (s == LEAT_OK && l->shape.documents) { /* the rows that damage has not emptied have documents */
        count_sequences(l, slot);
        if (l->shape.device_marks && !slot->places.segments)
            rows_mark(slot->memory.base, &slot->memory.layout);
    }
    if (s == LEAT_OK)
        loader_sources_learn(l, slot);
    slot->batch.damaged = st->damaged;
    t2 = clock_ns();
    counter_bump(&st->documents_ns, t2 - t1);
    if (s == LEAT_OK)
        s = l->device.ops->send(l->device.backend, slot->number, slot->memory.bytes, err);
    counter_bump(&st->sent_bytes, slot->memory.bytes);
    t3 = clock_ns();
    counter_bump(&st->copy_ns, t3 - t2);
    note_batch(st, st->begin_ns + (t3 - t0));
    if (s == LEAT_OK && l->shape.options.outputs.borrow) {
        s = make_outputs(l, slot, err);
        counter_bump(&st->outputs_ns, clock_ns() - t3);
    }
    return s;
}

static void announce(const struct leat_loader *l)
{
    int fd = atomic_load(&l->event_fd);
    const uint64_t one = 1;

    /* fails only after 2^64 writes without a read */
    if (fd >= 0 && write(fd, &one, sizeof one) < 0)
        return;
}

static bool failed(const struct leat_loader *l)
{
    uint64_t end = atomic_load_explicit(&l->end.at, memory_order_relaxed);

    return end != LEAT_NONE && l->end.status != LEAT_E_END &&
           atomic_load_explicit(&l->ring.filled, memory_order_relaxed) >= end;
}

static void finish_batch(struct leat_loader *l)
{
    struct loader_stage *st = &l->stage;
    struct loader_slot *slot = &l->slots[st->begun[st->begun_first % RING_MAX]];
    struct leat_error err;
    enum leat_status s;

    st->finishing = true;
    s = complete(l, slot, &err);
    st->finishing = false;
    if (s != LEAT_OK) {
        end_at(l, slot->batch.number, s, &err);
        announce(l);
        return;
    }
    if (slot->batch.number % 64 == 0) /* a call of the system */
        atomic_store_explicit(&st->node, numa_of_thread(), memory_order_relaxed);
    st->begun_first++;
    st->begun_count--;
    ring_publish(&l->ring, slot->number);
    announce(l);
}

/* ---- The thread, and a step of it ---- */

/* Frees the slots that were given back and that the device no longer uses. Returns true if it still uses some. */
static bool take_back(struct leat_loader *l)
{
    uint64_t given = atomic_load(&l->ring.given_back);
    struct leat_error err;
    bool busy = false;

    for (; given; given &= given - 1) {
        unsigned slot = (unsigned)__builtin_ctzll(given);
        enum leat_status s = l->device.ops->idle(l->device.backend, slot, &err);

        if (s == LEAT_OK) {
            ring_make_free(&l->ring, slot);
        } else if (s == LEAT_E_AGAIN) {
            busy = true;
        } else {
            /* only the filled batches are left, and the one being filled if it succeeds */
            if (!l->stage.ended)
                end_at(l, atomic_load(&l->ring.filled) + l->stage.finishing, s, &err);
            return false;
        }
    }
    return busy;
}

bool loader_stage_begin(struct leat_loader *l)
{
    struct loader_stage *st = &l->stage;
    bool busy = take_back(l);

    gather_set_urgent(&l->gather, 4 * ring_ready(&l->ring) < l->ring.slots);
    while (!st->ended && (st->begun_count == 0 || gather_works_ahead(&l->gather))) {
        int slot = ring_claim(&l->ring);

        if (slot < 0)
            break;
        if (!begin_batch(l, &l->slots[slot])) {
            ring_make_free(&l->ring, (unsigned)slot);
            break;
        }
        st->begun[(st->begun_first + st->begun_count++) % RING_MAX] = (uint8_t)slot;
        loader_ahead(l); /* while the first batches are begun one after another, the server already works */
    }
    loader_ahead(l);
    return busy;
}

bool loader_stage_step(struct leat_loader *l)
{
    loader_stage_begin(l);
    if (l->stage.begun_count == 0 || failed(l))
        return false;
    finish_batch(l);
    return true;
}

/* Returns true if polling for slots pays. If it does not, the consumer wakes this thread long before it has to wait
 * itself: when it has given back half of the slots, or takes the last one. */
static bool hungry(const struct leat_loader *l)
{
    return 2 * ring_ready(&l->ring) < l->ring.slots;
}

/* Waits for a free slot. If the consumer last gave a slot back sooner than this thread could have been woken, it
 * polls for a while. `busy`: a device has slots, and does not announce when it is done. */
#define SHORT_NS 100000u
#define LOOK_NS  30000u

static void wait_for_slots(struct leat_loader *l, unsigned ticket, bool busy)
{
    uint64_t began = clock_ns(), waited;

    if (ring_ready(&l->ring) > 0)
        gate_open(&l->ring.consumer); /* it may wait for more slots than can be filled now */
    if (!busy && l->stage.waited_ns < SHORT_NS)
        gate_look(&l->ring.given_back, 0, began, LOOK_NS);
    if ((busy || atomic_load(&l->ring.given_back) == 0) && !atomic_load(&l->thread.stop))
        gate_sleep(&l->ring.producer, ticket, busy && hungry(l) ? LOADER_POLL_NS : 0);
    waited = clock_ns() - began;
    l->stage.waited_ns = waited;
    counter_bump(&l->stage.slot_ns, waited);
}

void *loader_stage_run(void *loader)
{
    struct leat_loader *l = loader;

    l->device.ops->attach(l->device.backend);
    gather_start(&l->gather, &l->thread.stop, &l->ring.producer);
    while (!atomic_load(&l->thread.stop)) {
        unsigned ticket = gate_ticket(&l->ring.producer);
        bool busy = loader_stage_begin(l);

        if (failed(l) || (l->stage.ended && l->stage.begun_count == 0))
            break;
        if (l->stage.begun_count > 0) {
            finish_batch(l);
            continue;
        }
        wait_for_slots(l, ticket, busy);
    }
    gather_stop(&l->gather);
    gate_open(&l->ring.consumer); /* it may wait for more slots than will ever come */
    announce(l);
    return NULL;
}
