#include "grow.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "bytes.h"
#include "status.h"
#include "tiny.h"

#define FIRST_ITEMS TINY_OR(2u, 16u)

enum leat_status grow_more(void *items, size_t item_bytes, uint64_t count, size_t *room, struct leat_error *err)
{
    uint64_t more, bytes;
    void *old, *grown;

    if (!bytes_multiply(*room, 2, &more) || more < count)
        more = count;
    if (more < FIRST_ITEMS)
        more = FIRST_ITEMS;
    if (!bytes_multiply(more, item_bytes, &bytes) || bytes > PTRDIFF_MAX) /* no object is larger */
        return status_no_memory(err, UINT64_MAX);
    memcpy(&old, items, sizeof old); /* a copy of the pointer's bytes, since pointers of all types look alike but
                                        must not be accessed as each other */
    grown = realloc(old, (size_t)bytes);
    if (!grown)
        return status_no_memory(err, bytes);
    memcpy(items, &grown, sizeof grown);
    *room = (size_t)more;
    return LEAT_OK;
}
