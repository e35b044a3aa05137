/* inflater_zlib.c: inflates by zlib, which most systems have. */
#if defined(LEAT_HAVE_ZLIB) && !defined(LEAT_HAVE_ISAL)
#include "inflater.h"

#include <stdlib.h>
#include <zlib.h>

/* Most bytes at once: zlib's numbers have 32 bits. */
#define MOST ((size_t)1 << 30)

struct inflater {
    z_stream stream;
};

static struct inflater *open_inflater(void)
{
    struct inflater *inflater = calloc(1, sizeof *inflater);

    if (inflater && inflateInit2(&inflater->stream, -MAX_WBITS) != Z_OK) {
        free(inflater);
        return NULL;
    }
    return inflater;
}

static void close_inflater(struct inflater *inflater)
{
    inflateEnd(&inflater->stream);
    free(inflater);
}

static void reset(struct inflater *inflater)
{
    inflateReset(&inflater->stream);
}

static enum inflater_result inflate_some(struct inflater *inflater, const uint8_t **in, size_t *in_bytes, uint8_t **out,
                                         size_t *room, bool last)
{
    z_stream *stream = &inflater->stream;
    uInt some_in = (uInt)(*in_bytes < MOST ? *in_bytes : MOST);
    uInt some_room = (uInt)(*room < MOST ? *room : MOST);
    int code;

    (void)last;
    /* zlib does not write there */
    stream->next_in = (Bytef *)(uintptr_t)*in;
    stream->avail_in = some_in;
    stream->next_out = *out;
    stream->avail_out = some_room;
    code = inflate(stream, Z_NO_FLUSH);
    *in = stream->next_in;
    *in_bytes -= some_in - stream->avail_in;
    *out = stream->next_out;
    *room -= some_room - stream->avail_out;
    switch (code) {
    case Z_STREAM_END:
        return INFLATER_END;
    case Z_OK:
    case Z_BUF_ERROR: /* there was nothing to do: not an error of the data */
        return INFLATER_MORE;
    case Z_MEM_ERROR:
        return INFLATER_NO_MEMORY;
    default: /* zlib has read whole bytes after the defect, which it holds as bits: they are given back */
        *in -= (stream->data_type & 63) / 8;
        *in_bytes += (size_t)(stream->data_type & 63) / 8;
        return INFLATER_BROKEN;
    }
}

static uint32_t crc_of(uint32_t crc, const uint8_t *bytes, size_t count)
{
    return (uint32_t)crc32(crc, bytes, (uInt)count);
}

const struct inflater_library inflater_library = {
    .name = "zlib", .open = open_inflater, .close = close_inflater, .reset = reset, .run = inflate_some, .crc = crc_of
};

#else
typedef int inflater_zlib_is_not_built; /* a file has to hold something */
#endif
