/*
 * many_ids.h: very many ids in one allocation, without touching memory more often than it takes. Where there are many,
 * it grows by moving pages, asks for those of 2 MiB, and uses again what the ids before had. With malloc(), clearing
 * and mapping small pages took an eighth of encoding; clearing large ones, a twentieth.
 */
#ifndef LEAT_PYTHON_MANY_IDS_H
#define LEAT_PYTHON_MANY_IDS_H

#include <leat.h>
#include <stddef.h>
#include <stdint.h>

/* {0} is empty. */
struct many_ids {
    uint32_t *at;
    size_t count, room;
    size_t mapped; /* bytes of pages; 0: it is of malloc() */
};

/* Empty, but perhaps with the pages of ids that were freed, if so many are likely to come. Under the GIL. */
void many_ids_begin(struct many_ids *ids, uint64_t likely);

/* Needs no GIL. LEAT_E_NO_MEMORY. */
enum leat_status many_ids_append(struct many_ids *ids, const uint32_t *more, uint64_t count, struct leat_error *err);

/* Gives back pages that have no ids. */
void many_ids_trim(struct many_ids *ids);

/* Keeps up to 64 MiB for the next ids, as memory that the kernel may take. Under the GIL. */
void many_ids_free(struct many_ids *ids);

#endif
