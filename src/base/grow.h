/* grow.h: the only way to grow an array: checked, by doubling, so that adding items takes constant time on average. */
#ifndef LEAT_BASE_GROW_H
#define LEAT_BASE_GROW_H

#include <stddef.h>
#include <stdint.h>

#include "leat.h"

/*
 * Makes room for `count` items, those in use included, in an array of `room` items that malloc() gave, or NULL and 0:
 *
 *     s = GROW(list->items, list->count + 1, list->room, err);
 *     if (s != LEAT_OK)
 *         return s;
 *     list->items[list->count++] = item;
 *
 * `items` and `room` are variables, which change together: what is in use may move, and new items have no value yet.
 * LEAT_E_NO_MEMORY changes neither. `err` may be NULL.
 */
#define GROW(items, count, room, err) grow_array(&(items), sizeof *(items), (count), &(room), (err))

/* Grows the array for GROW() when the room is used up. `items` points to the pointer. */
enum leat_status grow_more(void *items, size_t item_bytes, uint64_t count, size_t *room, struct leat_error *err);

static inline enum leat_status grow_array(void *items, size_t item_bytes, uint64_t count, size_t *room,
                                          struct leat_error *err)
{
    return count <= *room ? LEAT_OK : grow_more(items, item_bytes, count, room, err);
}

#endif
