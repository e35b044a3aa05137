/* text_list.c: see text_list.h. */
#include "text_list.h"

#include <stdlib.h>

#include "base/status.h"

void text_list_free(struct text_list *t)
{
    bound_give(t->bytes.bound, t->room * sizeof *t->ends);
    buffer_free(&t->bytes);
    free(t->ends);
}

enum leat_status text_list_end(struct text_list *t, struct leat_error *err)
{
    if (t->count == t->room) {
        size_t room = t->room ? 2 * t->room : 256;
        size_t *ends;

        if (!bound_take(t->bytes.bound, room * sizeof *ends))
            return bound_refuse(t->bytes.bound, t->bytes.size, err);
        ends = realloc(t->ends, room * sizeof *ends);
        if (!ends) {
            bound_give(t->bytes.bound, room * sizeof *ends);
            return status_no_memory(err, room * sizeof *ends);
        }
        bound_give(t->bytes.bound, t->room * sizeof *ends);
        t->ends = ends;
        t->room = room;
    }
    t->ends[t->count++] = t->bytes.size;
    return LEAT_OK;
}

enum leat_status text_list_add(struct text_list *t, const void *bytes, size_t count, struct leat_error *err)
{
    enum leat_status s = buffer_append(&t->bytes, bytes, count, err);

    return s == LEAT_OK ? text_list_end(t, err) : s;
}

struct text_view text_list_at(const struct text_list *t, size_t i)
{
    size_t begin = i > 0 ? t->ends[i - 1] : 0;

    return (struct text_view) { t->bytes.bytes ? t->bytes.bytes + begin : (const uint8_t *)"", t->ends[i] - begin };
}
