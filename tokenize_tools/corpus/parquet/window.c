/* window.c: see window.h. */
#include "window.h"

#include <string.h>

enum leat_status window_move(struct window *w, uint64_t offset, struct leat_error *err)
{
    uint64_t left = (offset < w->likely_end && w->likely_end < w->end ? w->likely_end : w->end) - offset;
    size_t count = left < WINDOW_BYTES ? (size_t)left : WINDOW_BYTES;
    enum leat_status s = w->source->read(w->source->context, offset, w->bytes, count, err);

    w->at = offset;
    w->held = s == LEAT_OK ? count : 0;
    return s;
}

enum leat_status window_copy(struct window *w, uint64_t offset, void *out, size_t count, struct leat_error *err)
{
    uint64_t from = offset - w->at;
    size_t here = 0;
    enum leat_status s = LEAT_OK;

    if (offset >= w->at && from < w->held) {
        here = count < w->held - (size_t)from ? count : w->held - (size_t)from;
        memcpy(out, w->bytes + from, here);
    }
    if (here < count)
        s = w->source->read(w->source->context, offset + here, (uint8_t *)out + here, count - here, err);
    return s;
}
