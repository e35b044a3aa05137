/*
 * flow_choose.c: what a thread does next, see flow_internal.h. The first lane's units are written as soon as they are
 * encoded, the first unit that nobody has taken is encoded, a lane that has room is cut, and a thread that would have
 * nothing to do decompresses ahead. Memory is counted when a unit is cut and given back when it is written; the first
 * lane may always go on, since what waits after it cannot be written before.
 */
#include "flow_internal.h"

#include "base/status.h"

bool flow_all_written(const struct flow *f)
{
    bool all_placed = f->stopped || (!f->lanes && (f->puts || f->next_input == f->setup->inputs.count));

    return all_placed && !f->placing && f->putting == 0;
}

/* The head of the lanes can always go on: what waits after it cannot be written before. Others take at most half, and
 * of an input that is split one lane more than there are threads begins. */
bool flow_has_room(const struct flow *f, const struct lane *l)
{
    uint64_t after = f->in_flight + f->setup->unit_cost;

    if (l == f->lanes)
        return !l->first || after <= f->setup->flight_bytes;
    if (!l->begun && f->lane_count > f->thread_count + 1)
        return false;
    return after <= f->setup->flight_bytes / 2;
}

static bool find_ready(const struct flow *f, struct task *t)
{
    for (struct lane *l = f->lanes; l; l = l->following) {
        struct unit *u = l->waiting > 0 ? l->first : NULL;

        while (u && u->taken)
            u = u->next;
        if (u) {
            *t = (struct task) { TASK_ENCODE, l, u, NULL };
            return true;
        }
    }
    return false;
}

/* Opens the next lane, if there is one and memory allows. */
static struct lane *next_lane(struct flow *f)
{
    struct lane *l;

    if (f->no_more || f->puts || f->next_input == f->setup->inputs.count || f->lane_count > f->thread_count ||
        (f->lanes && f->in_flight + f->setup->unit_cost > f->setup->flight_bytes / 2))
        return NULL;
    l = lane_new(f->setup, f->next_input, &f->start);
    if (!l) {
        struct leat_error err;

        flow_fail(f, status_no_memory(&err, sizeof *l), &err);
        return NULL;
    }
    f->next_input = l->input_end;
    if (f->last_lane)
        f->last_lane->following = l;
    else
        f->lanes = l;
    f->last_lane = l;
    f->lane_count++;
    return l;
}

/* Whether a thread that cuts now would wait for one that decompresses. */
static bool would_wait(const struct flow *f, const struct lane *l)
{
    return l->spans && byte_stream_waits(l->stream, f->setup->unit_bytes);
}

static bool find_cut(struct flow *f, struct task *t)
{
    struct lane *l = f->no_more || f->puts ? NULL : f->lanes;

    while (l && (l->busy || l->whole || (l->alone && l != f->lanes) || !flow_has_room(f, l) || would_wait(f, l)))
        l = l->following;
    if (!l)
        l = next_lane(f);
    if (!l || (l->alone && l != f->lanes))
        return false;
    *t = (struct task) { TASK_CUT, l, NULL, NULL };
    return true;
}

void flow_count_spans(struct flow *f, struct lane *l)
{
    uint64_t held = l->spans ? spans_memory(l->spans) : 0;

    f->in_flight += held - l->spans_held;
    l->spans_held = held;
}

/* Decompressing ahead: for threads that would have nothing to do, with memory that units leave. */
static bool find_ahead(struct flow *f, struct task *t)
{
    uint64_t most = f->setup->flight_bytes / 2;

    for (struct lane *l = f->no_more ? NULL : f->lanes; l; l = l->following) {
        struct span *span = NULL;
        enum spans_work work = SPANS_NOTHING;

        if (l->spans)
            work = spans_claim(l->spans, most > f->in_flight ? most - f->in_flight : 0, &span);
        if (work == SPANS_NOTHING)
            continue;
        flow_count_spans(f, l);
        *t = (struct task) { work == SPANS_LOOK ? TASK_LOOK : TASK_DECOMPRESS, l, NULL, span };
        return true;
    }
    return false;
}

struct task flow_choose(struct flow *f)
{
    struct task ready = { 0 }, t = { 0 };

    if (!f->placing && f->lanes && f->lanes->first && f->lanes->first->done)
        return (struct task) { TASK_WRITE, f->lanes, f->lanes->first, NULL };
    /* waiting threads were woken for what is ready; this one keeps cutting for them */
    if (find_ready(f, &ready) && f->facts.waiting == 0)
        return ready;
    if (find_cut(f, &t))
        return t;
    if (ready.kind == TASK_NONE && !f->quit) /* what is claimed must be done: find_cut() may have failed */
        find_ahead(f, &ready);
    return ready;
}
