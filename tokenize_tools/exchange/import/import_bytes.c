/* import_bytes.c: the bytes of a file: read through a window, or decompressed in memory; see import.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/file.h"
#include "base/status.h"
#include "corpus/streams/byte_stream.h"
#include "import.h"

enum leat_status import_bytes_open(struct import_bytes *b, const char *path, struct leat_error *err)
{
    *b = (struct import_bytes) { .fd = -1, .path = strdup(path), .window = malloc(IMPORT_WINDOW) };
    if (!b->path || !b->window)
        return status_no_memory(err, IMPORT_WINDOW);
    return file_open_read(&b->fd, &b->size, path, err);
}

void import_bytes_close(struct import_bytes *b)
{
    file_close(&b->fd);
    free(b->path);
    free(b->memory);
    free(b->window);
    *b = (struct import_bytes) { .fd = -1 };
}

void import_bytes_take(struct import_bytes *b, uint8_t *memory, uint64_t size)
{
    free(b->memory);
    b->memory = memory;
    b->size = size;
    b->window_count = 0;
}

/* ---- Compressed ---- */

static enum leat_status wrong_size(const char *path, uint64_t size, struct leat_error *err)
{
    return status_set(err, LEAT_E_TRUNCATED,
                      "%s does not become %llu bytes when it is decompressed, as its index says; restore it from its "
                      "source",
                      path, (ull)size);
}

/* The memory grows with what comes: a size that lies costs no memory. */
static enum leat_status decompress(struct import_bytes *b, struct byte_stream *from, uint64_t size,
                                   struct leat_error *err)
{
    uint64_t room = 0, count = 0;
    enum leat_status s = LEAT_OK;
    size_t got = 1;

    for (; s == LEAT_OK && got > 0; count += got) {
        if (count == room) {
            uint64_t more = room == 0 ? IMPORT_WINDOW : 2 * room;
            uint8_t *memory = realloc(b->memory, more);

            if (!memory)
                return status_no_memory(err, more);
            b->memory = memory;
            room = more;
        }
        s = byte_stream_read(from, b->memory + count, room - count, &got, err);
        if (s == LEAT_OK && count + got > size)
            return wrong_size(b->path, size, err);
    }
    b->size = count;
    return s == LEAT_OK && count != size ? wrong_size(b->path, size, err) : s;
}

enum leat_status import_bytes_open_compressed(struct import_bytes *b, const char *path, uint64_t size,
                                              struct leat_error *err)
{
    struct byte_stream *from = NULL;
    enum leat_status s = import_bytes_open(b, path, err);

    if (s == LEAT_OK && size > IMPORT_MAX_PLAIN)
        s = wrong_size(path, size, err);
    if (s == LEAT_OK)
        s = byte_stream_open(&from, path, err);
    if (s == LEAT_OK && byte_stream_form(from) == BYTE_FORM_PLAIN)
        s = status_set(err, LEAT_E_UNSUPPORTED,
                       "%s is not compressed in a way that leat reads (zstd, gzip, bzip2, xz, lz4): decompress the "
                       "dataset with the tool that wrote it",
                       path);
    if (s == LEAT_OK)
        s = decompress(b, from, size, err);
    byte_stream_close(from);
    return s;
}

enum leat_status import_unzstd(uint8_t *to, uint64_t plain, const uint8_t *frame, uint64_t bytes, const char *path,
                               struct leat_error *err)
{
    size_t got = ZSTD_decompress(to, (size_t)plain, frame, (size_t)bytes);

    if (ZSTD_isError(got) || got != plain)
        return status_set(err, LEAT_E_CHECKSUM, "%s: a zstd frame is damaged (%s); restore the file from its source",
                          path, ZSTD_isError(got) ? ZSTD_getErrorName(got) : "it has another size");
    return LEAT_OK;
}

/* ---- Reading ---- */

static enum leat_status check_inside(const struct import_bytes *b, uint64_t at, uint64_t count, struct leat_error *err)
{
    if (bytes_inside(at, count, b->size))
        return LEAT_OK;
    return status_set_at(err, LEAT_E_TRUNCATED, at,
                         "%s is cut or damaged: it has %llu bytes, and bytes %llu to %llu are needed; restore it from "
                         "its source",
                         b->path, (ull)b->size, (ull)at, (ull)(at + count));
}

enum leat_status import_bytes_read(struct import_bytes *b, uint64_t at, void *out, uint64_t count,
                                   struct leat_error *err)
{
    enum leat_status s = check_inside(b, at, count, err);

    if (s != LEAT_OK || count == 0)
        return s;
    if (!b->memory)
        return file_read_at(b->fd, at, out, count, b->path, err);
    memcpy(out, b->memory + at, (size_t)count);
    return LEAT_OK;
}

enum leat_status import_bytes_view(struct import_bytes *b, uint64_t at, size_t count, const uint8_t **view,
                                   struct leat_error *err)
{
    enum leat_status s = check_inside(b, at, count, err);

    if (s != LEAT_OK)
        return s;
    if (b->memory) {
        *view = b->memory + at;
        return LEAT_OK;
    }
    if (at < b->window_at || at - b->window_at > b->window_count || count > b->window_count - (at - b->window_at)) {
        uint64_t left = b->size - at;

        b->window_count = 0;
        s = file_read_at(b->fd, at, b->window, left < IMPORT_WINDOW ? left : IMPORT_WINDOW, b->path, err);
        if (s != LEAT_OK)
            return s;
        b->window_at = at;
        b->window_count = (size_t)(left < IMPORT_WINDOW ? left : IMPORT_WINDOW);
    }
    *view = b->window + (at - b->window_at);
    return LEAT_OK;
}
