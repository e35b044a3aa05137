/*
 * litdata_frames.c: see litdata_frames.h. A chunk of frames: "LDFZ01\0\0"; u16 version; u16 flags; u32 items; u32 items
 * per frame; u32 frames; u32 offsets[items + 1] in what all frames become; for each frame u32 first item, u32 items,
 * u64 offset in the file, u32 bytes, u32 bytes decompressed; then the frames.
 */
#include "litdata_frames.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/status.h"

#define HEAD_BYTES    24u
#define FRAME_BYTES   24u
#define MAX_ZSTD_HEAD 18u /* the header of a zstd frame */

static enum leat_status damaged(const struct import_bytes *b, uint64_t at, struct leat_error *err)
{
    return status_set_at(err, LEAT_E_DOCUMENTS, at,
                         "%s: its table of zstd frames is damaged; restore the file from its source", b->path);
}

static enum leat_status unpack_frame(struct import_bytes *b, uint64_t at, uint64_t bytes, uint8_t *to, uint64_t plain,
                                     struct leat_error *err)
{
    uint8_t *frame = malloc(bytes + 1);
    enum leat_status s = frame ? import_bytes_read(b, at, frame, bytes, err) : status_no_memory(err, bytes);

    if (s == LEAT_OK)
        s = import_unzstd(to, plain, frame, bytes, b->path, err);
    free(frame);
    return s;
}

/* The size of all frames together; they follow each other, and have all items. */
static enum leat_status add_up(struct import_bytes *b, const uint8_t *table, uint64_t frames, uint64_t items,
                               uint64_t *all, struct leat_error *err)
{
    uint64_t item = 0;

    *all = 0;
    for (uint64_t i = 0; i < frames; i++) {
        const uint8_t *f = table + FRAME_BYTES * i;

        if (bytes_load32(f) != item || bytes_load32(f + 4) == 0)
            return damaged(b, 0, err);
        item += bytes_load32(f + 4);
        *all += bytes_load32(f + 20);
        if (*all > IMPORT_MAX_PLAIN || !bytes_inside(bytes_load64(f + 8), bytes_load32(f + 16), b->size))
            return damaged(b, 0, err);
    }
    return item == items ? LEAT_OK : damaged(b, 0, err);
}

static enum leat_status unpack_all(struct import_bytes *b, const uint8_t *table, uint64_t frames, uint64_t all,
                                   struct leat_error *err)
{
    uint8_t *plain = malloc(all + 1);
    enum leat_status s = plain ? LEAT_OK : status_no_memory(err, all);
    uint64_t done = 0;

    for (uint64_t i = 0; s == LEAT_OK && i < frames; i++) {
        const uint8_t *f = table + FRAME_BYTES * i;

        s = unpack_frame(b, bytes_load64(f + 8), bytes_load32(f + 16), plain + done, bytes_load32(f + 20), err);
        done += bytes_load32(f + 20);
    }
    if (s == LEAT_OK)
        import_bytes_take(b, plain, all);
    else
        free(plain);
    return s;
}

enum leat_status litdata_unframe(struct import_shard *s, const struct import_file *file, bool *framed,
                                 struct leat_error *err)
{
    uint8_t head[HEAD_BYTES], *table = NULL;
    uint64_t items, frames, at, all = 0;
    enum leat_status status;

    *framed = false;
    if (s->bytes.size < HEAD_BYTES)
        return LEAT_OK;
    status = import_bytes_read(&s->bytes, 0, head, sizeof head, err);
    if (status != LEAT_OK || memcmp(head, "LDFZ01\0", 8) != 0)
        return status;
    *framed = true;
    items = bytes_load32(head + 12);
    frames = bytes_load32(head + 20);
    at = HEAD_BYTES + 4 * (items + 1);
    if (head[8] != 1 || head[9] != 0 || items != file->documents ||
        !bytes_inside(at, FRAME_BYTES * frames, s->bytes.size))
        return damaged(&s->bytes, 0, err);
    table = malloc(FRAME_BYTES * frames + 1);
    status = table ? import_bytes_read(&s->bytes, at, table, FRAME_BYTES * frames, err) : status_no_memory(err, at);
    if (status == LEAT_OK)
        status = add_up(&s->bytes, table, frames, items, &all, err);
    if (status == LEAT_OK)
        status = import_shard_offsets(s, items, HEAD_BYTES, 0, all, err);
    if (status == LEAT_OK)
        status = unpack_all(&s->bytes, table, frames, all, err);
    free(table);
    return status;
}

enum leat_status litdata_unpack_item(struct import_bytes *item, struct import_document *d, struct leat_error *err)
{
    uint8_t head[MAX_ZSTD_HEAD], *plain;
    size_t there = d->count < sizeof head ? (size_t)d->count : sizeof head;
    enum leat_status s = import_bytes_read(d->bytes, d->at, head, there, err);
    unsigned long long size = s == LEAT_OK ? ZSTD_getFrameContentSize(head, there) : 0;

    if (s != LEAT_OK)
        return s;
    if (size > IMPORT_MAX_PLAIN) /* the numbers for an unknown size and for an error are greater, too */
        return import_shard_wrong(d->bytes, d->at, "it is not a zstd frame that says its size", err);
    plain = malloc(size + 1);
    s = plain ? unpack_frame(d->bytes, d->at, d->count, plain, size, err) : status_no_memory(err, size);
    if (s != LEAT_OK) {
        free(plain);
        return s;
    }
    import_bytes_take(item, plain, size);
    d->bytes = item;
    d->at = 0;
    d->count = size;
    return LEAT_OK;
}

enum leat_status litdata_find_arrow(struct import_bytes *b, uint64_t *at, struct leat_error *err)
{
    uint8_t tail[12] = { 0 };
    enum leat_status s = b->size < 12 ? LEAT_OK : import_bytes_read(b, b->size - 12, tail, sizeof tail, err);

    if (s != LEAT_OK)
        return s;
    if (memcmp(tail + 4, "LDARW01\0", 8) != 0 || bytes_load32(tail) > b->size - 12)
        return status_set_at(err, LEAT_E_UNSUPPORTED, b->size,
                             "%s: its items are Python lists, which leat reads only if litdata has added an Arrow "
                             "file to the chunk; write the ids as tensors",
                             b->path);
    *at = b->size - 12 - bytes_load32(tail);
    return LEAT_OK;
}
