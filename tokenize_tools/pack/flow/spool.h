/*
 * spool.h: an unnamed temporary file in the folder of the output, for a record or ids that do not fit in memory. It
 * disappears when it is closed, however the process ends.
 */
#ifndef LEAT_PACK_SPOOL_H
#define LEAT_PACK_SPOOL_H

#include <stddef.h>
#include <stdint.h>

#include "leat.h"

struct spool {
    int fd; /* -1: none */
    uint64_t bytes;
};

#define SPOOL_NONE                                                                                                     \
    {                                                                                                                  \
        -1, 0                                                                                                          \
    }

/* Opens a file in the folder of the path `beside`. */
enum leat_status spool_open(struct spool *s, const char *beside, struct leat_error *err);
enum leat_status spool_append(struct spool *s, const void *bytes, size_t count, struct leat_error *err);
enum leat_status spool_read(const struct spool *s, uint64_t offset, void *out, size_t count, struct leat_error *err);
void spool_close(struct spool *s); /* does nothing for a spool that is not open */

/* Gets memory that such a file holds, of `size` bytes. munmap() releases it. */
enum leat_status spool_map(const char *beside, size_t size, void **memory, struct leat_error *err);

#endif
