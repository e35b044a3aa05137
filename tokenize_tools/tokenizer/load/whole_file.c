/* whole_file.c: reads a file at once, and decompresses it frame by frame. */
#include "whole_file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <zstd.h>

#include "base/big.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"

enum leat_status whole_file_read(uint8_t **bytes, uint64_t *size, const char *path, struct leat_error *err)
{
    enum leat_status s;
    int fd;

    *bytes = NULL;
    s = file_open_read(&fd, size, path, err);
    if (s != LEAT_OK)
        return s;
    if (*size > WHOLE_FILE_MAX) {
        s = status_set_in(err, LEAT_E_VOCABULARY, path,
                          "%s is too large for a vocabulary: %" PRIu64 " bytes; the limit is 1 GiB", path, *size);
    } else if ((*bytes = big_alloc(*size)) == NULL) {
        s = status_no_memory(err, *size);
    } else {
        s = file_read_at(fd, 0, *bytes, *size, path, err);
        if (s != LEAT_OK) {
            free(*bytes);
            *bytes = NULL;
        }
    }
    file_close(&fd);
    return s;
}

bool whole_file_is_zstd(const uint8_t *bytes, uint64_t size)
{
    uint32_t magic = size >= 4 ? bytes_load32(bytes) : 0;

    return magic == ZSTD_MAGICNUMBER || (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

/* Returns the most bytes that a file of this size may decompress to. */
static uint64_t max_plain(uint64_t size)
{
    return size < WHOLE_FILE_MAX / WHOLE_FILE_TIMES ? WHOLE_FILE_BASE + WHOLE_FILE_TIMES * size : WHOLE_FILE_MAX;
}

/* Doubles the output, beginning with the size that the first frame says; never beyond the bound. */
static enum leat_status grow(ZSTD_outBuffer *out, const ZSTD_inBuffer *in, const char *path, struct leat_error *err)
{
    unsigned long long hint = ZSTD_getFrameContentSize(in->src, in->size);
    uint64_t room = out->size * 2, max = max_plain(in->size) < WHOLE_FILE_MAX ? max_plain(in->size) : WHOLE_FILE_MAX;
    void *grown;

    if (out->size == 0)
        room = hint < ZSTD_CONTENTSIZE_ERROR && hint < max ? hint + 1 : in->size * 4 + 4096;
    if (out->size > max)
        return status_set_in(err, LEAT_E_VOCABULARY, path,
                             "%s decompresses to more than %" PRIu64
                             " MiB, the limit for a compressed vocabulary of its size",
                             path, (max >> 20));
    if (room > max + 1)
        room = max + 1;
    grown = out->dst ? realloc(out->dst, room) : big_alloc(room);
    if (!grown)
        return status_no_memory(err, room);
    out->dst = grown;
    out->size = room;
    return LEAT_OK;
}

static enum leat_status decompress(ZSTD_DCtx *context, ZSTD_outBuffer *out, ZSTD_inBuffer *in, const char *path,
                                   struct leat_error *err)
{
    size_t left = 1; /* 0 if a frame has just ended */
    enum leat_status s;

    for (;;) {
        size_t read = in->pos, written = out->pos;

        if (out->pos == out->size) {
            s = grow(out, in, path, err);
            if (s != LEAT_OK)
                return s;
        }
        if (left == 0 && in->pos == in->size)
            return LEAT_OK;
        left = ZSTD_decompressStream(context, out, in);
        if (ZSTD_isError(left))
            return status_set_at(err, LEAT_E_VOCABULARY, path, in->pos, "%s is damaged: zstd says \"%s\" near byte %zu",
                                 path, ZSTD_getErrorName(left), in->pos);
        if (left != 0 && in->pos == in->size && in->pos == read && out->pos == written)
            return status_set_at(err, LEAT_E_VOCABULARY, path, in->size, "%s is cut off: its zstd data is incomplete",
                                 path);
    }
}

enum leat_status whole_file_unzstd(uint8_t **plain, uint64_t *plain_size, const uint8_t *bytes, uint64_t size,
                                   const char *path, struct leat_error *err)
{
    ZSTD_inBuffer in = { bytes, size, 0 };
    ZSTD_outBuffer out = { NULL, 0, 0 };
    ZSTD_DCtx *context = ZSTD_createDCtx();
    enum leat_status s;

    *plain = NULL;
    if (!context)
        return status_no_memory(err, 1 << 17);
    s = decompress(context, &out, &in, path, err);
    ZSTD_freeDCtx(context);
    if (s != LEAT_OK) {
        free(out.dst);
        return s;
    }
    *plain = out.dst;
    *plain_size = out.pos;
    return LEAT_OK;
}
