/* id_list.c: grows a list, and keeps its memory within the bound. */
#include "id_list.h"

#include <stdlib.h>

#include "base/status.h"

/* Reallocates the list's ids to `allocated` bytes, unless they have as many already. */
static enum leat_status move(struct id_list *list, uint64_t allocated, struct leat_error *err)
{
    uint32_t *ids = allocated > list->allocated ? realloc(list->ids, allocated) : list->ids;

    if (!ids)
        return status_no_memory(err, allocated);
    list->ids = ids;
    list->allocated = allocated;
    return LEAT_OK;
}

/* Least growth: half as much more would be nothing for a list of one, which a list may be near the bound. */
#define LEAST ((size_t)1024)

enum leat_status id_list_reserve(struct id_list *list, size_t more, struct leat_error *err)
{
    size_t need = list->count + more, room = list->room > LEAST ? list->room : LEAST;
    uint64_t allocated = list->allocated, bytes;
    enum leat_status s;

    if (more <= list->room - list->count)
        return LEAT_OK;
    if (more > SIZE_MAX / 8 - list->count)
        return status_no_memory(err, more);
    while (room < need)
        room += room / 2;
    bytes = bound_take_growth(list->bound, room * sizeof *list->ids, need * sizeof *list->ids, &allocated);
    if (bytes == 0)
        return bound_refuse(list->bound, need, err);
    s = move(list, allocated, err);
    bound_give(list->bound, s == LEAT_OK ? list->room * sizeof *list->ids : bytes);
    if (s == LEAT_OK)
        list->room = bytes / sizeof *list->ids;
    return s;
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
