/* arrow_buffers.c: the buffers of a batch; compressed ones are an i64, how many bytes they become (-1: they are not
 * compressed after all), and a frame of LZ4 or zstd. */
#include <stdlib.h>
#include <string.h>

#if LEAT_HAVE_LZ4
#include <lz4frame.h>
#endif

#include "arrow_reader.h"
#include "base/status.h"

#define BATCH_BUFFERS     2u /* fields of the table RecordBatch */
#define BATCH_COMPRESSION 3u

enum leat_status arrow_damaged(const struct import_bytes *b, uint64_t at, const char *what, struct leat_error *err)
{
    return status_set_at(err, LEAT_E_RECORD, at,
                         "%s: the Arrow message at byte %llu is damaged: %s; restore the file from its source", b->path,
                         (ull)at, what);
}

#if LEAT_HAVE_LZ4
static enum leat_status unlz4(uint8_t *to, uint64_t plain, const uint8_t *frame, uint64_t bytes,
                              const struct import_bytes *b, uint64_t at, struct leat_error *err)
{
    LZ4F_dctx *lz4;
    size_t read = (size_t)bytes, written = (size_t)plain, left;

    if (LZ4F_isError(LZ4F_createDecompressionContext(&lz4, LZ4F_VERSION)))
        return status_no_memory(err, 1);
    left = LZ4F_decompress(lz4, to, &written, frame, &read, NULL);
    LZ4F_freeDecompressionContext(lz4);
    if (left != 0 || written != plain)
        return arrow_damaged(b, at, "a buffer's LZ4 frame is broken", err);
    return LEAT_OK;
}
#else
static enum leat_status unlz4(uint8_t *to, uint64_t plain, const uint8_t *frame, uint64_t bytes,
                              const struct import_bytes *b, uint64_t at, struct leat_error *err)
{
    (void)to;
    (void)plain;
    (void)frame;
    (void)bytes;
    return status_set_at(err, LEAT_E_UNSUPPORTED, at,
                         "%s is compressed with LZ4, and leat was built without liblz4: write it uncompressed or with "
                         "zstd",
                         b->path);
}
#endif

static enum leat_status decompress(struct arrow_buffer *to, uint64_t codec, struct import_bytes *plain,
                                   struct leat_error *err)
{
    struct import_bytes *from = to->bytes;
    uint64_t at = to->at, count = to->count - 8, size;
    uint8_t number[8], *frame = NULL, *memory = NULL;
    enum leat_status s;

    if (to->count < 8)
        return arrow_damaged(from, at, "a compressed buffer has no size", err);
    s = import_bytes_read(from, at, number, sizeof number, err);
    size = bytes_load64(number);
    to->at += 8;
    to->count -= 8;
    if (s != LEAT_OK || size == UINT64_MAX)
        return s;
    if (size > IMPORT_MAX_PLAIN)
        return arrow_damaged(from, at, "a compressed buffer would become more than 4 GiB", err);
    frame = malloc(count + 1);
    memory = malloc(size + 1);
    s = frame && memory ? import_bytes_read(from, at + 8, frame, count, err) : status_no_memory(err, size);
    if (s == LEAT_OK && codec == 0)
        s = unlz4(memory, size, frame, count, from, at, err);
    else if (s == LEAT_OK)
        s = import_unzstd(memory, size, frame, count, from->path, err);
    free(frame);
    if (s != LEAT_OK) {
        free(memory);
        return s;
    }
    import_bytes_take(plain, memory, size);
    *to = (struct arrow_buffer) { plain, 0, size };
    return LEAT_OK;
}

enum leat_status arrow_buffer_take(struct arrow_buffer *to, struct flat *f, uint64_t batch, uint64_t number,
                                   uint64_t body, uint64_t size, struct import_bytes *from, struct import_bytes *plain,
                                   struct leat_error *err)
{
    uint64_t count, buffers = flat_vector(f, batch, BATCH_BUFFERS, 16, &count), offset, length, codec;
    uint64_t compression = flat_table(f, batch, BATCH_COMPRESSION);

    if (number >= count)
        return arrow_damaged(from, body, "it has too few buffers", err);
    offset = bytes_load64(f->bytes + buffers + 16 * number);
    length = bytes_load64(f->bytes + buffers + 16 * number + 8);
    if (!bytes_inside(offset, length, size))
        return arrow_damaged(from, body, "a buffer is outside of it", err);
    *to = (struct arrow_buffer) { from, body + offset, length };
    if (compression == 0 || length == 0)
        return LEAT_OK;
    codec = flat_number(f, compression, 0, 1);
    if (codec > 1 || flat_number(f, compression, 1, 1) != 0)
        return status_set_at(err, LEAT_E_UNSUPPORTED, body, "%s is compressed in a way that leat does not know",
                             from->path);
    return decompress(to, codec, plain, err);
}
