/* id_list.c: see id_list.h. */
#include "id_list.h"

#include <stdlib.h>

#include "base/status.h"

enum leat_status id_list_reserve(struct id_list *list, size_t more, struct leat_error *err)
{
    size_t need = list->count + more, room = list->room ? list->room : 1024;
    uint32_t *ids;

    if (more <= list->room - list->count)
        return LEAT_OK;
    if (more > SIZE_MAX / 8 - list->count)
        return status_no_memory(err, more);
    while (room < need)
        room += room / 2;
    if (!bound_take(list->bound, room * sizeof *ids)) {
        room = need; /* near the bound, without any reserve */
        if (!bound_take(list->bound, room * sizeof *ids))
            return bound_refuse(list->bound, need, err);
    }
    ids = realloc(list->ids, room * sizeof *ids);
    if (!ids) {
        bound_give(list->bound, room * sizeof *ids);
        return status_no_memory(err, room * sizeof *ids);
    }
    bound_give(list->bound, list->room * sizeof *ids);
    list->ids = ids;
    list->room = room;
    return LEAT_OK;
}

enum leat_status id_list_append(struct id_list *list, uint32_t id, struct leat_error *err)
{
    enum leat_status s = id_list_reserve(list, 1, err);

    if (s == LEAT_OK)
        list->ids[list->count++] = id;
    return s;
}

void id_list_free(struct id_list *list)
{
    bound_give(list->bound, list->room * sizeof *list->ids);
    free(list->ids);
    *list = (struct id_list) { .bound = list->bound };
}
