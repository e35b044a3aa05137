/* text_step.c: see text_step.h. */
#include "text_step.h"

#include <string.h>

void text_step_add(struct text_step *t, struct raw_input *in, size_t used, size_t added, bool ended)
{
    raw_input_use(in, used);
    t->filled += added;
    t->ended = ended;
    t->ready = ended || t->filled == TEXT_STEP;
}

static enum leat_status fill(struct text_step *t, const struct decompressor *d, const struct text_step_calls *calls,
                             void *state, struct raw_input *in, struct leat_error *err)
{
    size_t filled = t->filled;
    enum leat_status s = LEAT_OK;
    bool last;

    if (in->at == in->held && !in->ended)
        s = raw_input_fill(in, err);
    last = in->at == in->held;
    if (s == LEAT_OK)
        s = calls->decode(state, in, err);
    if (s != LEAT_OK || !last || t->ready || t->filled > filled)
        return s;
    t->ready = t->filled > 0;
    return t->ready ? LEAT_OK : decompressor_cut_off(d, in, err);
}

static size_t give(struct text_step *t, void *buf, size_t room)
{
    size_t left = t->filled - t->given, some = left < room ? left : room;

    memcpy(buf, t->text + t->given, some);
    t->given += some;
    t->ready = t->given < t->filled;
    if (!t->ready)
        t->filled = t->given = 0;
    return some;
}

enum leat_status text_step_run(struct text_step *t, const struct decompressor *d, const struct text_step_calls *calls,
                               void *state, struct raw_input *in, void *buf, size_t room, size_t *got,
                               enum decompressor_step *what, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    *got = 0;
    *what = STEP_MORE;
    if (!t->open)
        return calls->begin(state, in, &t->open, what, err);
    if (!t->ready)
        s = fill(t, d, calls, state, in, err);
    if (s != LEAT_OK || !t->ready)
        return s;
    *got = give(t, buf, room);
    if (t->ended && !t->ready) {
        t->open = t->ended = false;
        *what = STEP_BORDER;
    }
    return LEAT_OK;
}
