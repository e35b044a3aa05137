/* held.c: joins chunks in a buffer, and decides when another look is worthwhile. */
#include "held.h"

#include <string.h>

void held_clear(struct held *h)
{
    h->text.size = h->begin = h->enough = 0;
    buffer_trim(&h->text);
}

void held_free(struct held *h)
{
    buffer_free(&h->text);
    h->begin = h->enough = 0;
}

void held_trim(struct held *h)
{
    if (h->begin == h->text.size)
        h->begin = h->text.size = 0;
    buffer_trim(&h->text);
}

enum leat_status held_join(struct held *h, const uint8_t **text, size_t *bytes, bool last, bool *ready,
                           struct leat_error *err)
{
    enum leat_status s;

    h->text.size -= h->begin;
    if (h->begin > 0 && h->text.size > 0)
        memmove(h->text.bytes, h->text.bytes + h->begin, h->text.size);
    h->begin = 0;
    *ready = true;
    if (h->text.size == 0)
        return LEAT_OK;
    s = buffer_append(&h->text, *text, *bytes, err);
    *text = h->text.bytes;
    *bytes = h->text.size;
    *ready = last || *bytes >= h->enough;
    return s;
}

enum leat_status held_keep(struct held *h, const uint8_t *text, size_t bytes, size_t used, struct leat_error *err)
{
    size_t rest = bytes - used;

    h->enough = rest + rest / 2;
    if (h->text.size > 0) {
        h->begin = used;
        return LEAT_OK;
    }
    return buffer_append(&h->text, text + used, rest, err);
}
