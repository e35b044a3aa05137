/* decompressing.c: see decompressing.h. */
#include "decompressing.h"

#include <stdlib.h>

static bool prepare(struct decompressing *d, const struct raw_input *of, struct span *span)
{
    if (span->room < span->needs) {
        free(span->text);
        span->text = malloc(span->needs);
        span->room = span->text ? span->needs : 0;
    }
    if (!span->text)
        return false;
    if (!d->in.name && raw_input_share(&d->in, of, NULL) != LEAT_OK)
        return false;
    if (!d->state && (raw_input_buffer(&d->in, NULL) != LEAT_OK ||
                      d->decompressor->open(&d->state, of->name, true, NULL) != LEAT_OK))
        return false;
    return raw_input_seek(&d->in, span->begin, (struct hash128) { 0, 0 }, NULL) == LEAT_OK;
}

static bool run(struct decompressing *d, struct span *span, const atomic_bool *closed)
{
    enum decompressor_step what = STEP_MORE;

    while (what != STEP_BORDER || raw_input_position(&d->in) < span->end) {
        size_t got;

        if (d->decompressor->step(d->state, &d->in, span->text + span->bytes, span->needs - span->bytes, &got, &what,
                                  NULL) != LEAT_OK)
            return false;
        span->bytes += got;
        if (what == STEP_END || span->bytes > span->needs - SPAN_SLACK || raw_input_position(&d->in) > span->end ||
            atomic_load_explicit(closed, memory_order_relaxed))
            return false;
    }
    span->sum = d->in.sum;
    return true;
}

bool decompressing_run(struct decompressing *d, const struct decompressor *decompressor, const struct raw_input *of,
                       struct span *span, const atomic_bool *closed)
{
    d->decompressor = decompressor;
    span->bytes = 0;
    if (prepare(d, of, span) && run(d, span, closed))
        return true;
    decompressor->close(d->state); /* it may be in the middle of a member */
    d->state = NULL;
    return false;
}

void decompressing_free(struct decompressing *d)
{
    if (d->state)
        d->decompressor->close(d->state);
    if (d->in.name)
        raw_input_close(&d->in);
    free(d);
}
