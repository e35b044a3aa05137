/* many_ids.c: takes memory for ids from malloc(), or from mmap() if there are MANY or more. */
#include "many_ids.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "core/module.h"

#define MANY  ((size_t)1 << 18) /* from this number of ids on, a list has pages of its own */
#define FIRST ((size_t)1 << 10)
#define PAGES ((size_t)2 << 20) /* bytes of a huge page; sizes are multiples of it */

static size_t pages_of(size_t ids)
{
    return (ids * sizeof(uint32_t) + PAGES - 1) & ~(PAGES - 1);
}

/* Returns pages of this size that have the present ids, or MAP_FAILED if there is no memory. */
static void *map(struct many_ids *ids, size_t bytes)
{
    void *at = ids->mapped > 0 ? mremap(ids->at, ids->mapped, bytes, MREMAP_MAYMOVE)
                               : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return at;
    madvise(at, bytes, MADV_HUGEPAGE); /* advises huge pages for the whole mapping: mremap() cannot move a mapping
                                          whose parts differ */
    if (ids->mapped == 0 && ids->count > 0)
        memcpy(at, ids->at, ids->count * sizeof *ids->at);
    if (ids->mapped == 0)
        free(ids->at);
    return at;
}

/* Makes room for at least `room` ids. */
static bool grow(struct many_ids *ids, size_t room)
{
    void *at;

    if (room < MANY) {
        at = realloc(ids->at, room * sizeof *ids->at);
        if (!at)
            return false;
        ids->at = at;
        ids->room = room;
        return true;
    }
    at = map(ids, pages_of(room));
    if (at == MAP_FAILED)
        return false;
    ids->at = at;
    ids->mapped = pages_of(room);
    ids->room = ids->mapped / sizeof *ids->at;
    return true;
}

enum leat_status many_ids_append(struct many_ids *ids, const uint32_t *more, uint64_t count, struct leat_error *err)
{
    bool fits = ids->count <= ids->room && count <= ids->room - ids->count;

    if (!fits && ids->given) {
        ids->count += (size_t)count;
        return LEAT_OK;
    }
    if (!fits && count < SIZE_MAX / 16 - ids->room) {
        size_t twice = ids->room > 0 ? 2 * ids->room : FIRST, wanted = ids->count + (size_t)count;

        fits = (wanted < twice && grow(ids, twice)) || grow(ids, wanted);
    }
    if (!fits)
        return errors_set(err, LEAT_E_NO_MEMORY, "no memory for %" PRIu64 " ids", count);
    if (count > 0)
        memcpy(ids->at + ids->count, more, (size_t)count * sizeof *more);
    ids->count += (size_t)count;
    return LEAT_OK;
}

void many_ids_trim(struct many_ids *ids)
{
    size_t bytes = pages_of(ids->count);

    if (ids->mapped > bytes && bytes > 0 && mremap(ids->at, ids->mapped, bytes, 0) != MAP_FAILED) {
        ids->mapped = bytes;
        ids->room = bytes / sizeof *ids->at;
    }
}

void many_ids_free(struct many_ids *ids)
{
    if (ids->mapped > 0)
        munmap(ids->at, ids->mapped);
    else if (!ids->given)
        free(ids->at);
    *ids = (struct many_ids) { 0 };
}
