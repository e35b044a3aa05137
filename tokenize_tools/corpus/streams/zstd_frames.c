/*
 * zstd_frames.c: the text of zstd frames, one after another, with any window that libzstd can read. When a call fails,
 * libzstd does not say what it had decoded; so a call never gets more input than one block or header, and whatever
 * comes before a defect has been given by earlier calls.
 */
#include <stdlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/bytes.h"
#include "base/status.h"
#include "decompressor.h"

#define BLOCK_HEADER 3u /* bytes */

struct zstd_frames {
    ZSTD_DCtx *context;
    bool open;     /* a frame has begun and not ended */
    size_t wanted; /* bytes that libzstd can use next, if open */
    bool full;     /* there was no room for more text: some may be left inside */
};

/* How many of the bytes agree with the magic of a frame or of a skippable frame, up to RAW_HEAD. */
static size_t magic_bytes(const uint8_t *head, size_t bytes)
{
    static const uint8_t frame[RAW_HEAD] = { 0x28, 0xb5, 0x2f, 0xfd }, skippable[RAW_HEAD] = { 0x50, 0x2a, 0x4d, 0x18 };
    size_t a = 0, b = 0;

    while (a < bytes && a < RAW_HEAD && head[a] == frame[a])
        a++;
    while (b < bytes && b < RAW_HEAD && (b == 0 ? head[b] & 0xf0 : head[b]) == skippable[b])
        b++;
    return a > b ? a : b;
}

static bool begins(const uint8_t *head, size_t bytes)
{
    return magic_bytes(head, bytes) == (bytes < RAW_HEAD ? bytes : RAW_HEAD);
}

static void close_frames(void *state)
{
    struct zstd_frames *z = state;

    if (!z)
        return;
    ZSTD_freeDCtx(z->context);
    free(z);
}

static enum leat_status open_frames(void **out, const char *path, bool behind, struct leat_error *err)
{
    struct zstd_frames *z = calloc(1, sizeof *z);

    (void)path;
    (void)behind;
    *out = z;
    if (!z)
        return status_no_memory(err, sizeof *z);
    z->context = ZSTD_createDCtx();
    if (!z->context) {
        close_frames(z);
        *out = NULL;
        return status_no_memory(err, (uint64_t)1 << 17);
    }
    /* files made with --long=31 too; what a window takes is memory only where it is used */
    ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax, ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound);
    return LEAT_OK;
}

static size_t memory(const void *state)
{
    const struct zstd_frames *z = state;

    return ZSTD_sizeof_DCtx(z->context);
}

static enum leat_status broken(const struct raw_input *in, const char *why, struct leat_error *err)
{
    uint64_t place = raw_input_position(in);

    return status_set_at(err, LEAT_E_TEXT, place, "%s: the zstd data is broken at compressed byte %llu: %s", in->name,
                         (unsigned long long)place, why);
}

static enum leat_status failed(const struct raw_input *in, size_t code, struct leat_error *err)
{
    uint64_t place = raw_input_position(in);

    if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
        return status_set_at(err, LEAT_E_NO_MEMORY, place,
                             "%s: not enough memory for the window of the zstd frame at compressed byte %llu", in->name,
                             (unsigned long long)place);
    return broken(in, ZSTD_getErrorName(code), err);
}

static enum leat_status cut_off(const struct raw_input *in, struct leat_error *err)
{
    uint64_t place = raw_input_position(in) + (in->held - in->at);

    return status_set_at(err, LEAT_E_TRUNCATED, place, "%s ends in the middle of a zstd frame, at compressed byte %llu",
                         in->name, (unsigned long long)place);
}

/* Between frames: the end, or the first bytes of a frame; libzstd itself would take three wrong bytes for a start. */
static enum leat_status begin_frame(struct zstd_frames *z, struct raw_input *in, enum decompressor_step *step,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    size_t held;

    while (s == LEAT_OK && in->held - in->at < RAW_HEAD && !in->ended)
        s = raw_input_fill(in, err);
    if (s != LEAT_OK)
        return s;
    held = in->held - in->at;
    if (held == 0 && raw_input_position(in) > 0) {
        *step = STEP_END;
        return LEAT_OK;
    }
    if (!begins(in->buffer + in->at, held))
        return broken(in, "no frame begins there", err);
    if (held < RAW_HEAD)
        return cut_off(in, err);
    z->open = true;
    z->full = false;
    z->wanted = RAW_HEAD;
    return LEAT_OK;
}

/*
 * As much as cannot lose text: nothing while text is left inside; else a block without the header of the next one,
 * which libzstd wants at once and which may be broken when the block is not; and the end of anything byte by byte,
 * since of a block that is stored as it is libzstd gives at once what it gets, unless it finds the block wrong with
 * the last byte.
 */
static void feed(const struct zstd_frames *z, const struct raw_input *in, ZSTD_inBuffer *from)
{
    size_t held = in->held - in->at, size = z->wanted > BLOCK_HEADER ? z->wanted - BLOCK_HEADER : 1;

    *from = (ZSTD_inBuffer) { in->buffer + in->at, z->full ? 0 : size < held ? size : held, 0 };
}

static enum leat_status step(void *state, struct raw_input *in, void *buf, size_t room, size_t *got,
                             enum decompressor_step *what, struct leat_error *err)
{
    struct zstd_frames *z = state;
    ZSTD_inBuffer from;
    ZSTD_outBuffer to = { buf, room, 0 };
    enum leat_status s = LEAT_OK;
    bool was_full;
    size_t code;

    *got = 0;
    *what = STEP_MORE;
    if (!z->open)
        return begin_frame(z, in, what, err);
    if (in->at == in->held)
        s = raw_input_fill(in, err);
    if (s != LEAT_OK)
        return s;
    feed(z, in, &from);
    was_full = z->full;
    code = ZSTD_decompressStream(z->context, &to, &from);
    if (ZSTD_isError(code))
        return failed(in, code, err);
    raw_input_use(in, from.pos);
    *got = to.pos;
    z->wanted = code;
    z->full = to.pos == room;
    if (code == 0) {
        z->open = false;
        *what = STEP_BORDER;
    } else if (to.pos == 0 && from.pos == 0 && !was_full && in->at == in->held && in->ended) {
        return cut_off(in, err);
    }
    return LEAT_OK;
}

const struct decompressor decompressor_zstd = { .name = "zstd",
                                                .suffix = ".zst",
                                                .head = RAW_HEAD,
                                                .begins = begins,
                                                .open = open_frames,
                                                .close = close_frames,
                                                .memory = memory,
                                                .step = step };
