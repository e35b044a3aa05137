/*
 * loader.c: a loader's calls: next, release, close. loader_open.c opens it; loader_stage.c fills its slots.
 *
 * next() takes the oldest filled slot from the ring. If none is filled, it sleeps until the thread has filled one, or,
 * in a loader with threads = 0, does the stage's work itself. Every wait is measured: the statistics tell a person
 * whether training waits for the loader. release() gives the slot back, and the ring decides whether to wake the
 * thread.
 */
#include "loader.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "loader_values.h"

/* ---- Next ---- */

static enum leat_status no_more(const struct leat_loader *l, struct leat_error *err)
{
    if (l->end.status == LEAT_E_END)
        return status_set(err, LEAT_E_END, "the plan has ended after %" PRIu64 " batches", atomic_load(&l->end.at));
    if (err)
        *err = l->end.error;
    return l->end.status;
}

static enum leat_status all_held(const struct leat_loader *l, struct leat_error *err)
{
    return status_set(
        err, LEAT_E_STATE,
        "all %u slots are in use: release a batch before taking the next one, or open the loader with more slots",
        l->ring.slots);
}

/* Takes a filled slot; -1 if none is filled, with the reason in *s (LEAT_E_AGAIN: not yet). */
static int take(struct leat_loader *l, enum leat_status *s, struct leat_error *err)
{
    int slot = ring_take(&l->ring);

    if (slot >= 0)
        return slot;
    if (atomic_load(&l->ring.taken) >= atomic_load(&l->end.at))
        *s = no_more(l, err);
    else if (atomic_load(&l->held) >= l->ring.slots)
        *s = all_held(l, err);
    else
        *s = LEAT_E_AGAIN;
    return -1;
}

/* Waking takes some microseconds: polling for as long costs no more. */
#define LOOK_NS 3000u

/*
 * Waking a thread costs the waker about 5 us, and the sleeper 50 on a virtual machine. If that is much beside what a
 * batch takes, the consumer is woken only when several are ready, and looks by itself if these take longer than before.
 * The slots that are left take what is made until it is awake.
 *
 * On a busy Zen 3, 32 x 2048 tokens in 8 slots, a consumer that always waits: 23.1 us a batch and 4.1 us of the
 * consumer's CPU time when it was woken for each batch of more than 25 us, and else for half of the slots; 22.1 and 2.6
 * with these numbers; 23.6 and 3.5 if it sleeps by the clock alone and is never woken.
 */
#define QUICK_NS     100000u
#define MAX_SLEEP_NS 200000u

/* How long the consumer may sleep after it has waited `waited`. 0: for ever. */
static uint64_t max_sleep(bool is_quick, uint64_t max_ns, uint64_t waited)
{
    uint64_t quick = is_quick ? MAX_SLEEP_NS : 0;
    uint64_t left = max_ns > waited ? max_ns - waited : 1;

    return max_ns == 0 ? quick : quick > 0 && quick < left ? quick : left;
}

/* Sleeps until a slot is filled, for at most max_ns (0: for ever); *waited is how long it slept. */
static int take_waiting(struct leat_loader *l, uint64_t max_ns, uint64_t *waited, enum leat_status *s,
                        struct leat_error *err)
{
    for (;;) {
        unsigned ticket = gate_ticket(&l->ring.consumer);
        bool quick = counter_value(&l->stage.batch_ns) < QUICK_NS;
        uint64_t began;
        int slot;

        ring_wake_at(&l->ring, quick ? 3 * l->ring.slots / 4 : 1);
        slot = take(l, s, err);
        if (slot >= 0 || *s != LEAT_E_AGAIN || (max_ns > 0 && *waited >= max_ns))
            return slot;
        gate_open(&l->ring.producer); /* it may sleep, with fewer free slots than it is woken for */
        began = clock_ns();
        gate_look(&l->ring.filled, atomic_load(&l->ring.taken), began, LOOK_NS);
        if (ring_ready(&l->ring) == 0)
            gate_sleep(&l->ring.consumer, ticket, max_sleep(quick, max_ns, *waited));
        *waited += clock_ns() - began;
    }
}

/* Takes a filled slot in a loader with threads = 0: this thread does all the work. */
static int take_working(struct leat_loader *l, bool wait, uint64_t *waited, enum leat_status *s, struct leat_error *err)
{
    uint64_t began = clock_ns();
    int slot;

    while ((slot = take(l, s, err)) < 0 && *s == LEAT_E_AGAIN) {
        unsigned ticket = gate_ticket(&l->ring.producer);

        if (loader_stage_step(l))
            continue;
        slot = take(l, s, err); /* the step may have found the end, or an error */
        if (slot >= 0 || *s != LEAT_E_AGAIN || !wait)
            break;
        gate_sleep(&l->ring.producer, ticket, LOADER_POLL_NS); /* a device still uses all slots */
    }
    *waited += clock_ns() - began;
    return slot;
}

/* Gives the next batch. `max_ns` limits the wait; 0: it waits for ever. */
static enum leat_status get(struct leat_loader *l, bool wait, uint64_t max_ns, const struct leat_batch **batch,
                            struct leat_error *err)
{
    enum leat_status s = loader_check_process(l, err);
    struct loader_consumer *c = &l->consumer;
    uint64_t began, waited = 0;
    int slot;

    *batch = NULL;
    if (s != LEAT_OK)
        return s;
    began = clock_ns();
    slot = !l->thread.runs ? take_working(l, wait, &waited, &s, err)
           : wait          ? take_waiting(l, max_ns, &waited, &s, err)
                           : take(l, &s, err);
    if (slot < 0) {
        if (s != LEAT_E_AGAIN)
            return s;
        gate_open(&l->ring.producer);
        if (wait && c->unfinished_ns == 0)
            c->unfinished_began = began;
        if (wait)
            c->unfinished_ns += waited;
        return status_set(err, LEAT_E_AGAIN, "no batch is ready yet");
    }
    if (wait && c->unfinished_ns > 0) { /* the wait took several calls */
        began = c->unfinished_began;
        waited += c->unfinished_ns;
    }
    c->unfinished_ns = 0;
    atomic_fetch_add(&l->held, 1);
    /* the last one is taken: wake the stage now, even if too few slots were free before */
    if (l->thread.runs && ring_ready(&l->ring) == 0 && ring_free_count(&l->ring) > 0)
        gate_open(&l->ring.producer);
    *batch = &l->slots[slot].batch;
    c->damaged = (*batch)->damaged;
    loader_stats_count(l, &l->slots[slot], began, waited);
    return LEAT_OK;
}

enum leat_status leat_loader_next(struct leat_loader *loader, const struct leat_batch **batch, struct leat_error *err)
{
    return get(loader, true, 0, batch, err);
}

enum leat_status leat_loader_next_within(struct leat_loader *loader, uint64_t max_ns, const struct leat_batch **batch,
                                         struct leat_error *err)
{
    return get(loader, max_ns > 0, max_ns, batch, err);
}

void leat_batch_release(const struct leat_batch *batch, void *stream)
{
    const struct loader_slot *slot = (const struct loader_slot *)(const void *)batch;
    struct leat_loader *l = slot->loader;

    if (loader_forked(l))
        return;
    l->device.ops->release(l->device.backend, slot->number, stream);
    atomic_fetch_sub(&l->held, 1);
    ring_give_back(&l->ring, slot->number);
}

enum leat_status leat_loader_event_fd(struct leat_loader *loader, int *fd, struct leat_error *err)
{
    enum leat_status s = loader_check_process(loader, err);
    int made, none = -1;

    if (s != LEAT_OK)
        return s;
    if (!loader->thread.runs)
        return status_set(
            err, LEAT_E_UNSUPPORTED,
            "a loader with threads = 0 has no event descriptor: it works only while the next batch is taken");
    *fd = atomic_load(&loader->event_fd);
    if (*fd >= 0)
        return LEAT_OK;
    made = eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK); /* batches may be ready already */
    if (made < 0)
        return status_set_os(err, errno, NULL, "cannot create an event descriptor");
    if (!atomic_compare_exchange_strong(&loader->event_fd, &none, made))
        close(made);
    *fd = atomic_load(&loader->event_fd);
    return LEAT_OK;
}

/* ---- Close ---- */

uint64_t leat_loader_max_length(const struct leat_loader *loader)
{
    return loader->shape.max_length;
}

void loader_end_thread(struct leat_loader *l)
{
    if (!l->thread.runs)
        return;
    atomic_store(&l->thread.stop, true);
    gate_open(&l->ring.producer);
    gather_wake(&l->gather);
    pthread_join(l->thread.id, NULL);
    l->thread.runs = false;
}

void leat_loader_close(struct leat_loader *loader)
{
    struct leat_loader *l = loader;
    int fd;

    if (!l)
        return;
    if (!loader_forked(l))
        loader_end_thread(l);
    else /* rings and threads exist only in the parent, and so do their resources */
        gather_forget(&l->gather);
    loader_log_close(l);
    loader_ahead_close(l);
    loader_steps_close(&l->steps);
    /* what they hold of a cache would stay held as long as its dataset is open */
    for (unsigned i = 0; i < l->stage.begun_count; i++)
        gather_end(&l->gather, &l->slots[l->stage.begun[(l->stage.begun_first + i) % RING_MAX]].reads.job);
    gather_close(&l->gather);
    if (l->gather.memory_is_written)
        l->device.memory.host = NULL;
    for (unsigned i = 0; l->slots && i < l->ring.slots; i++) {
        loader_places_close(&l->slots[i].places, &l->slots[i].reads);
        free(l->slots[i].learned);
    }
    free(l->slots);
    if (l->device.backend && loader_forked(l)) {
        l->device.ops->forget(l->device.backend, &l->device.memory);
    } else if (l->device.backend) {
        l->device.ops->free_ring(l->device.backend, &l->device.memory);
        l->device.ops->close(l->device.backend);
    }
    fd = atomic_load(&l->event_fd);
    file_close(&fd);
    loader_sources_close(l);
    loader_values_close(&l->shape);
    loader_process_close(l);
    free(l);
}
