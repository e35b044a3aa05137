/*
 * lz4_frames.c: reads the text of lz4 frames and skippable frames, one after another. If a call fails, liblz4 does
 * not say what it had decoded before; so a call never gets more input than one block or header, and earlier calls
 * have given all text before a defect.
 */
#include "base/status.h"
#include "decompressor.h"

static bool is_frame(const uint8_t *head, size_t bytes)
{
    return decompressor_magic(head, bytes, (const uint8_t[RAW_HEAD]) { 0x04, 0x22, 0x4d, 0x18 });
}

static bool begins(const uint8_t *head, size_t bytes)
{
    const uint8_t skippable[RAW_HEAD] = { bytes > 0 && (head[0] & 0xf0) == 0x50 ? head[0] : 0x50, 0x2a, 0x4d, 0x18 };

    return is_frame(head, bytes) || decompressor_magic(head, bytes, skippable);
}

#ifdef LEAT_HAVE_LZ4
#include <lz4frame.h>
#include <stdlib.h>
#include <string.h>

#define HEADER    7u /* least bytes of a frame's header */
#define AROUND    8u /* bytes that may surround a block: its checksum, and the size of the next one */
#define SMALL     ((size_t)4 << 10)
#define LINKED    ((size_t)128 << 10) /* bytes that liblz4 keeps for blocks that refer to earlier ones */
#define FLAG_DICT 0x01u

struct lz4_frames {
    LZ4F_dctx *context;
    bool open;     /* a frame has begun and not ended */
    size_t wanted; /* bytes that liblz4 can use next, if open */
    bool full;     /* true if there was no room for more text, so that some may be left inside */
    size_t block;  /* largest block size of the frames so far, which liblz4 allocates twice */
    uint64_t text; /* text so far: liblz4 has used twice as many bytes of its memory at most */
};

static enum leat_status open_frames(void **out, const char *path, bool behind, struct leat_error *err)
{
    struct lz4_frames *f = calloc(1, sizeof *f);

    (void)path;
    (void)behind;
    *out = NULL;
    if (!f)
        return status_no_memory(err, sizeof *f);
    if (LZ4F_isError(LZ4F_createDecompressionContext(&f->context, LZ4F_VERSION))) {
        free(f);
        return status_no_memory(err, SMALL);
    }
    *out = f;
    return LEAT_OK;
}

static void close_frames(void *state)
{
    struct lz4_frames *f = state;

    LZ4F_freeDecompressionContext(f->context);
    free(f);
}

static size_t memory(const void *state, bool max)
{
    const struct lz4_frames *f = state;
    size_t whole = f->block > 0 ? 2 * f->block + LINKED : 0;

    return SMALL + (max || 2 * f->text > whole ? whole : (size_t)(2 * f->text));
}

static enum leat_status begin_frame(struct lz4_frames *f, struct raw_input *in, enum decompressor_step *step,
                                    struct leat_error *err)
{
    enum leat_status s = decompressor_begin(&decompressor_lz4, in, &f->open, step, err);
    const uint8_t *head;
    unsigned size;

    f->full = false;
    f->wanted = HEADER;
    if (s != LEAT_OK || !f->open)
        return s;
    while (s == LEAT_OK && in->held - in->at < HEADER && !in->ended)
        s = raw_input_fill(in, err);
    head = in->buffer + in->at;
    if (s != LEAT_OK || in->held - in->at < HEADER || !is_frame(head, RAW_HEAD))
        return s;
    if (head[4] & FLAG_DICT)
        return decompressor_broken(&decompressor_lz4, in, "the frame needs a dictionary", err);
    size = head[5] >> 4 & 7u; /* 4 to 7; liblz4 refuses others */
    if (size >= 4 && f->block < (size_t)1 << (8 + 2 * size))
        f->block = (size_t)1 << (8 + 2 * size);
    return LEAT_OK;
}

static enum leat_status failed(const struct raw_input *in, size_t code, struct leat_error *err)
{
    const char *name = LZ4F_getErrorName(code);

    if (strcmp(name, "ERROR_allocation_failed") == 0)
        return status_no_memory(err, (uint64_t)4 << 20);
    return decompressor_broken(&decompressor_lz4, in, name, err);
}

static enum leat_status step_lz4(void *state, struct raw_input *in, void *buf, size_t room, size_t *got,
                                 enum decompressor_step *what, struct leat_error *err)
{
    struct lz4_frames *f = state;
    size_t used, code;
    enum leat_status s = LEAT_OK;
    bool was_full;

    *got = 0;
    *what = STEP_MORE;
    if (!f->open)
        return begin_frame(f, in, what, err);
    if (in->at == in->held && !in->ended)
        s = raw_input_fill(in, err);
    if (s != LEAT_OK)
        return s;
    was_full = f->full;
    /* a block at once; the bytes around it one by one, because a checksum may be wrong, and then the next size */
    used = was_full ? 0 : f->wanted > AROUND ? f->wanted - AROUND : 1;
    if (used > in->held - in->at)
        used = in->held - in->at;
    *got = room;
    code = LZ4F_decompress(f->context, buf, got, in->buffer + in->at, &used, NULL);
    if (LZ4F_isError(code)) {
        *got = 0;
        return failed(in, code, err);
    }
    raw_input_use(in, used);
    f->text += *got;
    f->wanted = code;
    f->full = *got == room;
    if (code == 0) {
        f->open = false;
        *what = STEP_BORDER;
    } else if (*got == 0 && used == 0 && !was_full && in->at == in->held) { /* so the input has ended */
        return decompressor_cut_off(&decompressor_lz4, in, err);
    }
    return LEAT_OK;
}
#else
static enum leat_status open_frames(void **out, const char *path, bool behind, struct leat_error *err)
{
    (void)behind;
    *out = NULL;
    return decompressor_missing(&decompressor_lz4, path, "no liblz4 (liblz4-dev)", "lz4 -d", err);
}
#endif

const struct decompressor decompressor_lz4 = { .name = "lz4",
                                               .suffix = ".lz4",
                                               .member = "an lz4 frame",
                                               .head = RAW_HEAD,
                                               .begins = begins,
                                               .open = open_frames,
#ifdef LEAT_HAVE_LZ4
                                               .close = close_frames,
                                               .memory = memory,
                                               .step = step_lz4
#endif
};
