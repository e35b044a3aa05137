/* sink.c: see sink.h. */
#include "sink.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"

static enum leat_status prepare(struct sink *s, const char *path, size_t room, struct leat_error *err)
{
    memset(s, 0, sizeof *s);
    s->fd = -1;
    s->path = strdup(path);
    s->buffer = malloc(room);
    s->room = room;
    if (s->path && s->buffer)
        return LEAT_OK;
    sink_close(s);
    return status_no_memory(err, room);
}

enum leat_status sink_create(struct sink *s, const char *path, size_t room, struct leat_error *err)
{
    enum leat_status status = prepare(s, path, room, err);

    if (status == LEAT_OK)
        status = file_create(&s->fd, path, err);
    if (status != LEAT_OK)
        sink_close(s);
    return status;
}

enum leat_status sink_reopen(struct sink *s, const char *path, size_t room, uint64_t size, struct leat_error *err)
{
    enum leat_status status = prepare(s, path, room, err);
    uint64_t there = 0;

    if (status != LEAT_OK)
        return status;
    status = file_open_write(&s->fd, path, err);
    if (status == LEAT_E_NO_FILE)
        status =
            status_set(err, LEAT_E_CHECKPOINT,
                       "%s existed at the checkpoint and is now missing: the run cannot be resumed; start over", path);
    if (status == LEAT_OK)
        status = file_size(s->fd, &there, path, err);
    if (status == LEAT_OK && there < size)
        status = status_set_at(err, LEAT_E_CHECKPOINT, there,
                               "%s has %llu bytes, but had %llu at the checkpoint: the run cannot be resumed; "
                               "start over",
                               path, (unsigned long long)there, (unsigned long long)size);
    if (status == LEAT_OK)
        status = file_truncate(s->fd, size, path, err);
    s->written = size;
    if (status != LEAT_OK)
        sink_close(s);
    return status;
}

enum leat_status sink_flush(struct sink *s, struct leat_error *err)
{
    enum leat_status status = file_write_at(s->fd, s->written, s->buffer, s->used, s->path, err);

    if (status == LEAT_OK) {
        s->written += s->used;
        s->used = 0;
    }
    return status;
}

enum leat_status sink_append(struct sink *s, const void *bytes, size_t count, struct leat_error *err)
{
    const uint8_t *from = bytes;

    while (count > 0) {
        size_t left = s->room - s->used, here = count < left ? count : left;

        memcpy(s->buffer + s->used, from, here);
        s->used += here;
        from += here;
        count -= here;
        if (s->used == s->room) {
            enum leat_status status = sink_flush(s, err);

            if (status != LEAT_OK)
                return status;
        }
    }
    return LEAT_OK;
}

enum leat_status sink_append_u64(struct sink *s, uint64_t value, struct leat_error *err)
{
    value = bytes_le64(value);
    return sink_append(s, &value, sizeof value, err);
}

void sink_close(struct sink *s)
{
    file_close(&s->fd);
    free(s->path);
    free(s->buffer);
    s->path = NULL;
    s->buffer = NULL;
}
