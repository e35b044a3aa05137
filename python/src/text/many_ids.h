/*
 * many_ids.h: very many ids in one allocation, which touches no memory without need. If there are many, it grows by
 * moving pages, and asks for pages of 2 MiB. With malloc(), clearing and mapping small pages took an eighth of the
 * time of encoding.
 */
#ifndef LEAT_PYTHON_MANY_IDS_H
#define LEAT_PYTHON_MANY_IDS_H

#include <leat.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ids in one allocation; {0} has none. */
struct many_ids {
    uint32_t *at;
    size_t count, room;
    size_t mapped; /* bytes of the pages; 0: the memory is malloc()'s */
    bool given;    /* true if `at` is memory of the caller's, for `room` ids: what does not fit is only counted */
};

/* Appends ids. Fails with LEAT_E_NO_MEMORY only. The GIL is not needed. */
enum leat_status many_ids_append(struct many_ids *ids, const uint32_t *more, uint64_t count, struct leat_error *err);

/* Gives pages without ids back to the system. */
void many_ids_trim(struct many_ids *ids);
void many_ids_free(struct many_ids *ids);

#endif
