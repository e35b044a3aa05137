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

/* How many rows this rank has in the slot's batch, `got` of them with samples; 0: the plan has ended. */
static uint32_t rows_at_end(const struct leat_loader *l, uint64_t got)
{
    uint64_t positions = l->shape.positions, begin = l->stage.position;

    if (got == l->shape.rows && (l->options.last != LEAT_LAST_DROPPED || positions == LEAT_NONE))
        return l->shape.rows;
    if (begin >= positions)
        return 0;
    if (l->options.last == LEAT_LAST_PADDED)
        return l->shape.rows;
    if (l->options.last == LEAT_LAST_DROPPED)
        return positions - begin >= l->options.batch ? (uint32_t)got : 0;
    return (uint32_t)got;
}

/* Longest first; equal ones keep their order. */
static int compare_rows(const void *a, const void *b)
{
    const struct leat_sample *x = a, *y = b;

    if (x->length != y->length)
        return x->length < y->length ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

/* How many rows this rank has of a step with so many batches by tokens for all ranks. A rank without one has a row of
 * padding. */
static uint32_t rows_by_tokens(const struct leat_loader *l, uint64_t got, uint64_t batches)
{
    if (batches == 0 || (l->options.last == LEAT_LAST_DROPPED && batches < l->options.ranks.world))
        return 0;
    return got == 0 && l->options.last == LEAT_LAST_PADDED ? 1 : (uint32_t)got;
}

/*
 * Where samples begin may have to be read from an index on a file server. So that of the batches that further slots can
 * have is announced before it is needed; of batches by tokens, which are found by pools, two pools.
 */
static void announce_samples(struct leat_loader *l)
{
    struct loader_stage *st = &l->stage;
    uint64_t step = l->options.batch, ahead = (uint64_t)l->ring.slots * step;

    if (!l->plan->order->announce)
        return;
    if (l->tokens.samples)
        ahead = step = l->plan->rules.by_tokens[PLAN_POOL];
    if (st->announced < st->position)
        st->announced = st->position;
    for (; st->announced <= st->position + ahead; st->announced += step)
        if (l->tokens.samples)
            plan_announce(l->plan, st->announced, 1);
        else if (l->deal.samples)
            plan_announce(l->plan, st->announced, step);
        else
            plan_announce(l->plan, st->announced + l->shape.first_row, l->shape.rows);
}

/* Finds the slot's rows, their pieces and the batch's length; *rows is 0 if the plan has ended. */
static enum leat_status order_rows(struct leat_loader *l, struct loader_slot *slot, uint32_t *rows,
                                   struct leat_error *err)
{
    uint64_t got = 0, batches;
    enum leat_status s;

    l->stage.next = l->stage.position + l->options.batch;
    announce_samples(l);
    if (l->tokens.samples)
        s = loader_tokens_rows(l, l->stage.position, slot->samples, &got, &batches, &l->stage.next, err);
    else
        s = loader_deal_rows(l, l->stage.position, slot->samples, &got, err);
    if (s != LEAT_OK)
        return s;
    if (l->plan->order->longest_first && got > 1)
        qsort(slot->samples, (size_t)got, sizeof *slot->samples, compare_rows);
    *rows = l->tokens.samples ? rows_by_tokens(l, got, batches) : rows_at_end(l, got);
    if (*rows > 0)
        loader_deal_count(l);
    slot->places = (uint32_t)got < *rows ? (uint32_t)got : *rows;
    memset(slot->samples + slot->places, 0, (*rows - slot->places) * sizeof *slot->samples);
    s = loader_pieces_find(l, slot, err);
    return s == LEAT_OK && *rows > 0 ? loader_pieces_length(l, slot, err) : s;
}

/* Begins the next batch in a slot; false: no further batch. */
static bool begin_batch(struct leat_loader *l, struct loader_slot *slot)
{
    struct loader_stage *st = &l->stage;
    uint64_t began = clock_ns(), ordered;
    struct leat_error err;
    uint32_t rows = 0;
    enum leat_status s;

    s = order_rows(l, slot, &rows, &err);
    if (s == LEAT_OK && rows > 0 && l->shape.segmented)
        s = loader_segments_begin(l, slot, rows, &err);
    if (s != LEAT_OK) {
        end_at(l, st->batch, s, &err);
        return false;
    }
    if (rows == 0) {
        end_at(l, st->batch, LEAT_E_END, NULL);
        return false;
    }
    ordered = clock_ns();
    counter_bump(&st->order_ns, ordered - began);
    gather_look(&l->gather, began);
    if (!l->shape.segmented)
        loader_layout_begin(l, slot, rows);
    slot->batch.number = st->batch++;
    slot->batch.position = st->position;
    st->position = st->next;
    slot->batch.cursor = st->position < l->shape.positions ? st->position : l->shape.positions;
    gather_begin(&l->gather, &slot->job);
    loader_index_announce(l, slot);
    st->begin_ns = clock_ns() - began;
    counter_bump(&st->gather_ns, st->begin_ns - (ordered - began));
    return true;
}

/* ---- Finishing one ---- */

static bool is_masked(const struct leat_loader *l, enum leat_status s)
{
    return l->options.on_damage == LEAT_ON_DAMAGE_MASK && !l->gather.server_failed &&
           (s == LEAT_E_IO || s == LEAT_E_TRUNCATED || s == LEAT_E_CHECKSUM || s == LEAT_E_DOCUMENTS ||
            s == LEAT_E_TOKEN);
}

/* A row that failed keeps its place, without loss, if the options say so; else its failure is the batch's. */
static enum leat_status mask_damage(struct leat_loader *l, struct loader_slot *slot, uint32_t row, enum leat_status s)
{
    if (!is_masked(l, s))
        return s;
    loader_layout_clear(l, slot, row);
    slot->memory[slot->layout.flags_at + row] |= LEAT_ROW_DAMAGED;
    if (l->shape.documents && !l->shape.segmented)
        loader_documents_clear(slot, row);
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
        if (slot->reads[k].bytes == 0)
            continue;
        while ((s = gather_finish(&l->gather, &slot->job, k, err)) == LEAT_E_AGAIN) {
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

static enum leat_status gather_rows(struct leat_loader *l, struct loader_slot *slot, struct leat_error *err)
{
    const uint32_t *first = slot->first_read, places = slot->places;
    enum leat_status s = LEAT_OK;

    for (uint32_t row = 0; s == LEAT_OK && row < places; row++) {
        s = gather_row(l, slot, first[row], first[row + 1], err);
        if (s != LEAT_OK)
            s = mask_damage(l, slot, row, s);
    }
    gather_end(&l->gather, &slot->job);
    return s;
}

static enum leat_status find_documents(struct leat_loader *l, struct loader_slot *slot, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint32_t row = 0; s == LEAT_OK && row < slot->batch.rows; row++) {
        if (row >= slot->places)
            loader_documents_clear(slot, row);
        else if (!(slot->memory[slot->layout.flags_at + row] & LEAT_ROW_DAMAGED))
            s = mask_damage(l, slot, row, loader_documents_find(l, slot, row, err));
    }
    return s;
}

/* Reads the masks of the rows, as their tokens lie in the slot. */
static enum leat_status find_masks(struct leat_loader *l, struct loader_slot *slot, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint32_t row = 0; s == LEAT_OK && row < slot->places; row++) {
        if (!(slot->memory[slot->layout.flags_at + row] & LEAT_ROW_DAMAGED))
            s = mask_damage(l, slot, row, loader_mask_row(l, slot, row, err));
    }
    return s;
}

/* Finds what rows in segments need to be known of them. The documents of a damaged row are the same. */
static enum leat_status find_segments(struct leat_loader *l, struct loader_slot *slot, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint32_t row = 0; s == LEAT_OK && row < slot->batch.rows; row++) {
        bool damaged = slot->memory[slot->layout.flags_at + row] & LEAT_ROW_DAMAGED;

        if (row < slot->places)
            s = loader_segments_find(l, slot, row, err);
        s = damaged && is_masked(l, s) ? LEAT_OK : mask_damage(l, slot, row, s);
        if (s == LEAT_OK)
            loader_segments_put(l, slot, row);
    }
    if (s == LEAT_OK)
        loader_segments_end(l, slot);
    return s;
}

/* Finds the documents and masks of the rows, which have come. */
static enum leat_status look_at_rows(struct leat_loader *l, struct loader_slot *slot, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (l->shape.segmented)
        return find_segments(l, slot, err);
    if (l->shape.documents)
        s = find_documents(l, slot, err);
    if (s == LEAT_OK && l->shape.masks)
        s = find_masks(l, slot, err);
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

/* What a batch took lately: a moving average in which the new one counts an eighth. */
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
    if (s == LEAT_OK && l->shape.documents) { /* of rows that no damage has emptied */
        count_sequences(l, slot);
        if (l->device.ops->marks && !l->shape.segmented)
            rows_mark(slot->memory, &slot->layout);
    }
    if (s == LEAT_OK)
        loader_sources_learn(l, slot);
    slot->batch.damaged = st->damaged;
    t2 = clock_ns();
    counter_bump(&st->documents_ns, t2 - t1);
    if (s == LEAT_OK)
        s = l->device.ops->send(l->device.backend, slot->number, slot->bytes, err);
    counter_bump(&st->sent_bytes, slot->bytes);
    t3 = clock_ns();
    counter_bump(&st->copy_ns, t3 - t2);
    note_batch(st, st->begin_ns + (t3 - t0));
    if (s == LEAT_OK && l->options.outputs.borrow) {
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

/* Frees the slots that were given back and that the device no longer uses. True: it still uses some. */
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

/* Whether polling for slots pays. If not, the consumer wakes this thread long before it has to wait itself: when it has
 * given back half of the slots, or takes the last one. */
static bool hungry(const struct leat_loader *l)
{
    return 2 * ring_ready(&l->ring) < l->ring.slots;
}

/*
 * No slot is free. If the consumer last gave a slot back sooner than this thread could have been woken, polls for a
 * while. `busy`: a device has slots, and does not announce when it is done.
 */
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
