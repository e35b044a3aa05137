/* codec.c: see codec.h: the table, and the codecs that libraries decompress. */
#include "codec.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/status.h"
#include "corpus/streams/decompressor.h"
#include "corpus/streams/inflater.h"
#if defined(LEAT_HAVE_BROTLI)
#include <brotli/decode.h>
#endif

const char codec_no_memory[] = "not enough memory";

#define LENGTH_WRONG "it has more or fewer bytes than its header says when it is decompressed"

/* ---- zstd ---- */

static void *open_zstd(void)
{
    return ZSTD_createDCtx();
}

static void close_zstd(void *state)
{
    ZSTD_freeDCtx(state);
}

static const char *unpack_zstd(void *state, uint8_t *in, size_t bytes, uint8_t *out, size_t room)
{
    size_t got = ZSTD_decompressDCtx(state, out, room, in, bytes);

    if (ZSTD_isError(got))
        return ZSTD_getErrorName(got);
    return got == room ? NULL : LENGTH_WRONG;
}

/* ---- gzip: an input of bytes that are all there ---- */

static const char *unpack_members(void *members, struct raw_input *in, uint8_t *out, size_t room)
{
    enum decompressor_step step = STEP_MORE;
    enum leat_status s = LEAT_OK;
    uint8_t beyond;
    size_t at = 0, got;

    while (s == LEAT_OK && step != STEP_END && at <= room) {
        /* with no room left, one byte more is asked for: it must not come */
        s = decompressor_gzip.step(members, in, at < room ? out + at : &beyond, at < room ? room - at : 1, &got, &step,
                                   NULL);
        at += got;
    }
    if (s == LEAT_E_NO_MEMORY)
        return codec_no_memory;
    return s != LEAT_OK ? "it is not valid gzip data" : at == room ? NULL : LENGTH_WRONG;
}

static const char *unpack_gzip(void *state, uint8_t *in, size_t bytes, uint8_t *out, size_t room)
{
    char name[] = "a page";
    struct raw_input all = { .name = name, .fd = -1, .buffer = in, .held = bytes, .room = bytes, .ended = true };
    const char *why;
    void *members;

    (void)state;
    if (decompressor_gzip.open(&members, "", false, NULL) != LEAT_OK)
        return codec_no_memory;
    page_sum_begin(&all.sum, 0, (struct hash128) { 0 });
    why = unpack_members(members, &all, out, room);
    decompressor_gzip.close(members);
    return why;
}

/* ---- Brotli ---- */

#if defined(LEAT_HAVE_BROTLI)
static const char *unpack_brotli(void *state, uint8_t *in, size_t bytes, uint8_t *out, size_t room)
{
    size_t got = room;

    (void)state;
    if (BrotliDecoderDecompress(bytes, in, &got, out) != BROTLI_DECODER_RESULT_SUCCESS)
        return "it is not valid Brotli data";
    return got == room ? NULL : LENGTH_WRONG;
}
#define BROTLI .unpack = unpack_brotli
#else
#define BROTLI                                                                                                         \
    .refused = "is compressed with Brotli, which this build cannot read: it has no libbrotlidec (libbrotli-dev)"
#endif

/* ---- The table ---- */

#if defined(LEAT_HAVE_ISAL) || defined(LEAT_HAVE_ZLIB)
#define GZIP .unpack = unpack_gzip
#else
#define GZIP                                                                                                           \
    .refused = "is compressed with gzip, which this build cannot read: it has neither isa-l (libisal-dev) nor zlib "   \
               "(zlib1g-dev)"
#endif

/* By their numbers in files. */
static const struct codec codecs[] = {
    { .name = "uncompressed" },
    { .name = "Snappy", .unpack = codec_snappy },
    { .name = "gzip", GZIP },
    { .name = "LZO", .refused = "is compressed with LZO, which leat does not read; write it with Snappy or zstd" },
    { .name = "Brotli", BROTLI },
    { .name = "LZ4",
      .refused = "is compressed with LZ4 in its old framing, which leat does not read; write it with "
                 "LZ4_RAW, Snappy or zstd" },
    { .name = "zstd", .open = open_zstd, .close = close_zstd, .unpack = unpack_zstd },
    { .name = "LZ4_RAW", .unpack = codec_lz4 }
};

const struct codec *codec_number(uint64_t number)
{
    return number < sizeof codecs / sizeof *codecs ? &codecs[number] : NULL;
}
