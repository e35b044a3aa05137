/*
 * zstd_frames.c: reads the text of zstd frames, one after another, with any window that libzstd can read. If a call
 * fails, libzstd does not say what it had decoded before; so a call never gets more input than one block or header,
 * and earlier calls have given all text before a defect.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

#include "base/bytes.h"
#include "base/status.h"
#include "decompressor.h"

#define BLOCK_HEADER 3u  /* bytes */
#define FRAME_HEADER 18u /* at most */

struct zstd_frames {
    ZSTD_DCtx *context;
    bool open;                    /* a frame has begun and not ended */
    bool gave;                    /* true if this frame or one before it has given text */
    size_t wanted;                /* bytes that libzstd can use next, if open */
    bool full;                    /* true if there was no room for more text, so that some may be left inside */
    size_t small;                 /* bytes of the context without a window */
    size_t size;                  /* bytes that the context has allocated */
    uint64_t text;                /* bytes of text of the frame so far */
    uint8_t header[FRAME_HEADER]; /* header of the frame, or its first bytes so far */
    size_t header_bytes;
    uint64_t used; /* most text of a frame since the window was allocated: this much of the window is in memory */
};

/* Returns how many of the bytes agree with the magic of a frame or of a skippable frame, up to RAW_HEAD. */
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
    *out = z;
    if (!z)
        return status_no_memory(err, sizeof *z);
    z->gave = behind;
    z->context = ZSTD_createDCtx();
    if (!z->context) {
        close_frames(z);
        *out = NULL;
        return status_no_memory(err, (uint64_t)1 << 17);
    }
    z->small = z->size = ZSTD_sizeof_DCtx(z->context);
    /* allows files made with --long=31; the reader limits the memory for that */
    ZSTD_DCtx_setParameter(z->context, ZSTD_d_windowLogMax, ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound);
    return LEAT_OK;
}

/* Counts the window. It takes memory only where it is used, and another frame may use it again. */
static void count_window(struct zstd_frames *z, size_t text)
{
    size_t size = ZSTD_sizeof_DCtx(z->context);

    if (size != z->size)
        z->used = 0;
    z->size = size;
    z->text += text;
    z->gave = z->gave || text > 0;
    if (z->used < z->text)
        z->used = z->text;
}

static size_t memory(const void *state, bool max)
{
    const struct zstd_frames *z = state;
    size_t window = z->size > z->small ? z->size - z->small : 0;

    return max || z->used > window ? z->size : z->small + (size_t)z->used;
}

/* Keeps the header of the frame, of which these are the next bytes. */
static void keep_header(struct zstd_frames *z, const void *bytes, size_t count)
{
    size_t room = FRAME_HEADER - z->header_bytes, kept = count < room ? count : room;

    memcpy(z->header + z->header_bytes, bytes, kept);
    z->header_bytes += kept;
}

/*
 * Returns libzstd's name of damage. Text beyond the declared size of a frame is damage, too; but depending on the room
 * that it was given, libzstd then says that the room is too small.
 */
static const char *damage_name(size_t code)
{
    if (ZSTD_getErrorCode(code) == ZSTD_error_dstSize_tooSmall)
        return ZSTD_getErrorString(ZSTD_error_corruption_detected);
    return ZSTD_getErrorName(code);
}

/* Fails for damage. A frame that asks for a dictionary after text without one counts as damaged. */
static enum leat_status failed(const struct zstd_frames *z, const struct raw_input *in, size_t code,
                               struct leat_error *err)
{
    uint64_t place = raw_input_position(in);

    if (ZSTD_getErrorCode(code) == ZSTD_error_memory_allocation)
        return status_set_at(err, LEAT_E_NO_MEMORY, in->name, place,
                             "%s: not enough memory for the window of the zstd frame at compressed byte %llu", in->name,
                             (unsigned long long)place);
    if (ZSTD_getErrorCode(code) == ZSTD_error_dictionary_wrong && !z->gave)
        return status_set_at(err, LEAT_E_UNSUPPORTED, in->name, place,
                             "%s is compressed by zstd with the dictionary %u, which leat cannot be given: decompress "
                             "it first (zstd -d -D DICTIONARY)",
                             in->name, ZSTD_getDictID_fromFrame(z->header, z->header_bytes));
    return decompressor_broken(&decompressor_zstd, in, damage_name(code), err);
}

static enum leat_status begin_frame(struct zstd_frames *z, struct raw_input *in, enum decompressor_step *step,
                                    struct leat_error *err)
{
    enum leat_status s = decompressor_begin(&decompressor_zstd, in, &z->open, step, err);

    z->full = false;
    z->text = 0;
    z->header_bytes = 0;
    z->wanted = RAW_HEAD;
    return s;
}

/*
 * Feeds as much as cannot lose text. Feeds nothing while libzstd still holds text; otherwise a block without the
 * header of the next one, which libzstd would want with it, and which may be broken when the block is not. The end
 * of anything is fed byte by byte, because libzstd gives the bytes of an uncompressed block as soon as it gets them,
 * except if it finds the block wrong at its last byte.
 */
static void feed(const struct zstd_frames *z, const struct raw_input *in, ZSTD_inBuffer *from)
{
    size_t held = in->held - in->at, size = z->wanted > BLOCK_HEADER ? z->wanted - BLOCK_HEADER : 1;

    *from = (ZSTD_inBuffer) { in->buffer + in->at, z->full ? 0 : size < held ? size : held, 0 };
}

static enum leat_status step_zstd(void *state, struct raw_input *in, void *buf, size_t room, size_t *got,
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
    keep_header(z, from.src, ZSTD_isError(code) ? from.size : from.pos);
    if (ZSTD_isError(code))
        return failed(z, in, code, err);
    raw_input_use(in, from.pos);
    *got = to.pos;
    count_window(z, to.pos);
    z->wanted = code;
    z->full = to.pos == room;
    if (code == 0) {
        z->open = false;
        *what = STEP_BORDER;
    } else if (to.pos == 0 && from.pos == 0 && !was_full && in->at == in->held && in->ended) {
        return decompressor_cut_off(&decompressor_zstd, in, err);
    }
    return LEAT_OK;
}

const struct decompressor decompressor_zstd = { .name = "zstd",
                                                .suffix = ".zst",
                                                .member = "a zstd frame",
                                                .head = RAW_HEAD,
                                                .begins = begins,
                                                .open = open_frames,
                                                .close = close_frames,
                                                .memory = memory,
                                                .step = step_zstd,
                                                .find = zstd_member_find };
