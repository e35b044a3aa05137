/*
 * sink.h: a file that grows at its end, through a buffer. The writer has one for the tokens and one per section that
 * grows with the documents, so that these do not stay in memory.
 */
#ifndef LEAT_SINK_H
#define LEAT_SINK_H

#include <stdint.h>

#include "leat.h"

struct sink {
    char *path;
    int fd;
    uint64_t written; /* bytes in the file */
    uint8_t *buffer;  /* bytes after them */
    size_t used, room;
};

/* Creates the file, which must not exist. `path` is copied. On failure the struct is as after sink_close(). */
enum leat_status sink_create(struct sink *s, const char *path, size_t room, struct leat_error *err);

/* Opens the file that a killed run left, and cuts it to `size` bytes; LEAT_E_CHECKPOINT if it is shorter. */
enum leat_status sink_reopen(struct sink *s, const char *path, size_t room, uint64_t size, struct leat_error *err);

enum leat_status sink_append(struct sink *s, const void *bytes, size_t count, struct leat_error *err);
enum leat_status sink_append_u64(struct sink *s, uint64_t value, struct leat_error *err);

/* Writes the buffer out. */
enum leat_status sink_flush(struct sink *s, struct leat_error *err);

/* How much was appended in all. */
static inline uint64_t sink_bytes(const struct sink *s)
{
    return s->written + s->used;
}

/* Closes without writing the buffer out. A zeroed struct with fd -1 is fine. */
void sink_close(struct sink *s);

#endif
