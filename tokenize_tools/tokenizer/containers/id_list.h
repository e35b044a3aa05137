/*
 * id_list.h: ids that grow at their end.
 */
#ifndef LEAT_TOKENIZER_ID_LIST_H
#define LEAT_TOKENIZER_ID_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "leat.h"

/* All zero at first, except `bound`, which counts its memory if it is set. */
struct id_list {
    uint32_t *ids;
    size_t count, room; /* `room`: how many it may have without asking */
    uint64_t allocated; /* bytes: more than for `room` near the bound */
    struct bound *bound;
};

/* Makes room for `more` ids after the existing ones. */
enum leat_status id_list_reserve(struct id_list *list, size_t more, struct leat_error *err);
enum leat_status id_list_append(struct id_list *list, uint32_t id, struct leat_error *err);
void id_list_free(struct id_list *list);

#endif
