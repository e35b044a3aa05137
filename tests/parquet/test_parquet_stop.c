/*
 * test_parquet_stop.c: decompressing a large page that lies in a file ends soon after a stop is asked for, in zstd,
 * Snappy, gzip and Brotli (liblz4 decompresses a page in one call).
 */
#include <zstd.h>

#include "base/bytes.h"
#include "corpus/parquet/codec.h"
#include "corpus/parquet/page.h"
#include "t.h"

#define BYTES  ((size_t)6 * BLOCK_STRETCH)
#define STRIDE 60u /* a literal of it has one byte before it in Snappy */

static unsigned asked, stop_at;

static bool stop(void *context)
{
    (void)context;
    return ++asked >= stop_at && stop_at > 0;
}

/* Frames one after the other, the second without a text. */
static size_t zstd_frames(uint8_t *to, const uint8_t *text)
{
    size_t used = ZSTD_compress(to, 2 * BYTES, text, BYTES / 2, 1);

    used += ZSTD_compress(to + used, 2 * BYTES - used, text, 0, 1);
    return used + ZSTD_compress(to + used, 2 * BYTES - used, text + BYTES / 2, BYTES / 2, 1);
}

/* Literals, of both. */
static size_t snappy(uint8_t *to, const uint8_t *text)
{
    size_t used = 0;

    for (uint64_t left = BYTES; left > 0; left >>= 7)
        to[used++] = (uint8_t)(left | (left > 127 ? 0x80 : 0));
    for (size_t at = 0; at < BYTES; at += STRIDE) {
        size_t count = BYTES - at < STRIDE ? BYTES - at : STRIDE;

        to[used++] = (uint8_t)((count - 1) << 2);
        memcpy(to + used, text + at, count);
        used += count;
    }
    return used;
}

/* Blocks of bytes as they are. */
static size_t gzip(uint8_t *to, const uint8_t *text)
{
    static const uint8_t begin[10] = { 0x1f, 0x8b, 8 };
    size_t used = sizeof begin;

    memcpy(to, begin, sizeof begin);
    for (size_t at = 0; at < BYTES; at += UINT16_MAX) {
        size_t count = BYTES - at < UINT16_MAX ? BYTES - at : UINT16_MAX;

        to[used] = at + count == BYTES;
        bytes_store32(to + used + 1, (uint32_t)(count | (count ^ UINT16_MAX) << 16));
        memcpy(to + used + 5, text + at, count);
        used += 5 + count;
    }
    bytes_store32(to + used, crc32_of(0, text, BYTES));
    bytes_store32(to + used + 4, (uint32_t)BYTES);
    return used + 8;
}

/* The same: meta-blocks that are not compressed, and an empty one that is the last. The first follows a bit that says
 * how large the window is. */
static size_t brotli(uint8_t *to, const uint8_t *text)
{
    size_t used = 0;

    for (size_t at = 0; at < BYTES; at += 1 << 16) {
        uint32_t count = BYTES - at < 1 << 16 ? (uint32_t)(BYTES - at) : 1 << 16;
        uint32_t head = ((count - 1) << 3 | 1 << 19) << (at == 0);

        for (unsigned i = 0; i < 3; i++)
            to[used++] = (uint8_t)(head >> 8 * i);
        memcpy(to + used, text + at, count);
        used += count;
    }
    to[used++] = 3;
    return used;
}

static void check(const char *name, uint64_t number, uint8_t *in, size_t bytes, const uint8_t *text)
{
    const struct codec *codec = codec_number(number);
    const struct parquet_source source = { .stopped = stop };
    struct block nothing = { .bytes = NULL };
    struct codec_page p = { .in = in,
                            .bytes = bytes,
                            .out = malloc(BYTES),
                            .room = BYTES,
                            .packed = &nothing,
                            .all = &nothing,
                            .source = &source };
    void *state = codec->open ? codec->open() : NULL;

    for (stop_at = codec->refused ? 3 : 0; stop_at < 3; stop_at++) { /* refused: it lacks its library */
        const char *why;

        asked = 0;
        why = codec->unpack(state, &p);
        if (stop_at == 0)
            T_CHECK(!why && asked >= 4 && memcmp(p.out, text, BYTES) == 0);
        else if (!why || asked > stop_at + 2)
            T_FAIL("%s: asked %u times, and %s", name, asked, why ? why : "decompressed");
    }
    if (codec->close)
        codec->close(state);
    free(p.out);
}

int main(void)
{
    uint64_t random = t_seed();
    uint8_t *text = malloc(BYTES), *packed = malloc(2 * BYTES);

    for (size_t i = 0; i < BYTES; i++)
        text[i] = (uint8_t)('a' + t_below(&random, 8));
    check("zstd", 6, packed, ZSTD_compress(packed, 2 * BYTES, text, BYTES, 1), text);
    check("zstd, three frames", 6, packed, zstd_frames(packed, text), text);
    check("Snappy", 1, packed, snappy(packed, text), text);
    check("gzip", 2, packed, gzip(packed, text), text);
    check("Brotli", 4, packed, brotli(packed, text), text);
    free(text);
    free(packed);
    return t_end();
}
