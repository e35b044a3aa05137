/*
 * id_list.h: ids that grow at their end.
 */
#ifndef LEAT_TOKENIZER_ID_LIST_H
#define LEAT_TOKENIZER_ID_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "leat.h"

/* A list of ids, zeroed at first, except `bound`, which counts its memory unless it is NULL. */
struct id_list {
    uint32_t *ids;
    size_t count, room; /* number of ids, and number that fit without growing */
    uint64_t allocated; /* bytes allocated; near the bound more than `room` needs */
    struct bound *bound;
};

/* Makes room for `more` ids after the existing ones. */
enum leat_status id_list_reserve(struct id_list *list, size_t more, struct leat_error *err);
enum leat_status id_list_append(struct id_list *list, uint32_t id, struct leat_error *err);
void id_list_free(struct id_list *list);

#endif
