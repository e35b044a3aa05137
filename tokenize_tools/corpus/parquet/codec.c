/* codec.c: the table of codecs, and those codecs that libraries decompress. */
#include "codec.h"

#include <stdlib.h>
#include <zstd.h>

#include "base/status.h"
#include "corpus/streams/decompressor.h"
#include "corpus/streams/inflater.h"
#if defined(LEAT_HAVE_BROTLI)
#include <brotli/decode.h>
#endif
#if defined(LEAT_HAVE_LZ4)
#include <limits.h>
#include <lz4.h>
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

/* Makes libzstd write to the page's own memory, so that it needs no window: a page is one frame, whose window has
 * the page's size. */
static size_t begin_stretches(ZSTD_DCtx *zstd)
{
    size_t error = ZSTD_DCtx_reset(zstd, ZSTD_reset_session_and_parameters);

    if (!ZSTD_isError(error))
        error =
            ZSTD_DCtx_setParameter(zstd, ZSTD_d_windowLogMax, ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound);
    /* ZSTD_d_stableOutBuffer, since zstd 1.4.5 */
    return ZSTD_isError(error) ? error : ZSTD_DCtx_setParameter(zstd, ZSTD_d_experimentalParam2, 1);
}

/* Decompresses block by block: if it gets no more input than it asks for, zstd gives at most one block. */
static size_t unpack_stretches(ZSTD_DCtx *zstd, const struct codec_page *p)
{
    ZSTD_inBuffer in = { p->in, 0, 0 };
    ZSTD_outBuffer out = { p->out, p->room, 0 };
    size_t asks = begin_stretches(zstd), rest = codec_first_rest(p);

    if (asks == 0)
        asks = 1;
    while (!ZSTD_isError(asks) && in.pos < p->bytes && rest > 0) {
        if (asks == 0) /* a frame has ended, and another one follows */
            asks = 1;
        in.size = asks < p->bytes - in.pos ? in.pos + asks : p->bytes;
        asks = ZSTD_decompressStream(zstd, &out, &in);
        if (out.pos >= rest)
            rest = codec_rest(p, out.pos);
    }
    return ZSTD_isError(asks) ? asks : asks == 0 && rest > 0 ? out.pos : 0;
}

static const char *unpack_zstd(void *state, const struct codec_page *p)
{
    size_t got = p->packed ? unpack_stretches(state, p) : ZSTD_decompressDCtx(state, p->out, p->room, p->in, p->bytes);

    if (ZSTD_isError(got))
        return ZSTD_getErrorName(got);
    return got == p->room ? NULL : LENGTH_WRONG;
}

/* ---- gzip: an input of bytes that are all there ---- */

#if defined(LEAT_HAVE_ISAL) || defined(LEAT_HAVE_ZLIB)
static const char *unpack_members(void *members, struct raw_input *in, const struct codec_page *p)
{
    enum decompressor_step step = STEP_MORE;
    enum leat_status s = LEAT_OK;
    size_t at = 0, rest = codec_first_rest(p), got;
    uint8_t beyond;

    while (s == LEAT_OK && step != STEP_END && at <= p->room && rest > 0) {
        size_t end = rest < p->room ? rest : p->room;

        /* without room, one more byte is asked for, which must not come */
        s = decompressor_gzip.step(members, in, at < p->room ? p->out + at : &beyond, at < p->room ? end - at : 1, &got,
                                   &step, NULL);
        at += got;
        if (at >= rest)
            rest = codec_rest(p, at);
    }
    if (s == LEAT_E_NO_MEMORY)
        return codec_no_memory;
    return s != LEAT_OK ? "it is not valid gzip data" : at == p->room && rest > 0 ? NULL : LENGTH_WRONG;
}

static const char *unpack_gzip(void *state, const struct codec_page *p)
{
    char name[] = "a page";
    struct raw_input all = {
        .name = name, .fd = -1, .buffer = p->in, .held = p->bytes, .room = p->bytes, .ended = true
    };
    const char *why;
    void *members;

    (void)state;
    if (decompressor_gzip.open(&members, "", false, NULL) != LEAT_OK)
        return codec_no_memory;
    page_sum_begin(&all.sum, 0, (struct hash128) { 0 });
    why = unpack_members(members, &all, p);
    decompressor_gzip.close(members);
    return why;
}
#define GZIP .unpack = unpack_gzip
#else
#define GZIP                                                                                                           \
    .refused = "is compressed with gzip, which this build cannot read: it has neither isa-l (libisal-dev) nor zlib "   \
               "(zlib1g-dev)"
#endif

/* ---- Brotli ---- */

#if defined(LEAT_HAVE_BROTLI)
static const char *unpack_brotli(void *state, const struct codec_page *p)
{
    BrotliDecoderState *brotli = BrotliDecoderCreateInstance(NULL, NULL, NULL);
    BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
    size_t left = p->bytes, rest = codec_first_rest(p), got = 0;
    const uint8_t *in = p->in;
    uint8_t *out = p->out;

    (void)state;
    if (!brotli)
        return codec_no_memory;
    while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT && (got < p->room || got == 0) && rest > 0) {
        size_t room = (rest < p->room ? rest : p->room) - got;

        result = BrotliDecoderDecompressStream(brotli, &left, &in, &room, &out, &got);
        if (got >= rest)
            rest = codec_rest(p, got);
    }
    BrotliDecoderDestroyInstance(brotli);
    if (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT)
        return LENGTH_WRONG;
    if (result != BROTLI_DECODER_RESULT_SUCCESS || left > 0)
        return "it is not valid Brotli data";
    return got == p->room ? NULL : LENGTH_WRONG;
}
#define BROTLI .unpack = unpack_brotli
#else
#define BROTLI                                                                                                         \
    .refused = "is compressed with Brotli, which this build cannot read: it has no libbrotlidec (libbrotli-dev)"
#endif

/* ---- LZ4: a block, which liblz4 decompresses in one call: the page does not rest meanwhile ---- */

#if defined(LEAT_HAVE_LZ4)
static const char *unpack_lz4(void *state, const struct codec_page *p)
{
    int got = -1;

    (void)state;
    if (p->bytes <= INT_MAX && p->room <= INT_MAX)
        got = LZ4_decompress_safe((const char *)p->in, (char *)p->out, (int)p->bytes, (int)p->room);
    if (got < 0)
        return "it is not valid LZ4 data";
    return (size_t)got == p->room ? NULL : LENGTH_WRONG;
}
#define LZ4_RAW .unpack = unpack_lz4
#else
#define LZ4_RAW .refused = "is compressed with LZ4_RAW, which this build cannot read: it has no liblz4 (liblz4-dev)"
#endif

/* ---- The table ---- */

/* The codecs by their numbers in files. */
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
    { .name = "LZ4_RAW", LZ4_RAW }
};

const struct codec *codec_number(uint64_t number)
{
    return number < sizeof codecs / sizeof *codecs ? &codecs[number] : NULL;
}
