/* bzip2_streams.c: reads the text of bzip2 streams, one after another, as bzip2 and pbzip2 write them. Each block of
 * some 100,000 bytes and more has a checksum. */
#include <string.h>

#include "base/status.h"
#include "decompressor.h"

static bool begins(const uint8_t *head, size_t bytes)
{
    return memcmp(head, "BZh", bytes < 3 ? bytes : 3) == 0 && (bytes < 4 || (head[3] >= '1' && head[3] <= '9'));
}

#ifdef LEAT_HAVE_BZ2
#include <bzlib.h>
#include <stdlib.h>

#define BLOCK ((size_t)100000)   /* bytes of text in a block, by level */
#define SMALL ((size_t)64 << 10) /* most memory of a stream without its block */

struct bzip2_streams {
    bz_stream bz;
    unsigned level; /* level of the stream for which libbz2 holds memory; 0 if none */
    struct text_step step;
};

static enum leat_status open_streams(void **out, const char *path, bool behind, struct leat_error *err)
{
    struct bzip2_streams *b = calloc(1, sizeof *b);

    (void)path;
    (void)behind;
    *out = b;
    return b ? LEAT_OK : status_no_memory(err, sizeof *b);
}

static void end_stream(struct bzip2_streams *b)
{
    if (b->level > 0)
        BZ2_bzDecompressEnd(&b->bz);
    b->level = 0;
}

static void close_streams(void *state)
{
    end_stream(state);
    free(state);
}

/* Returns the memory of a stream: libbz2 needs four bytes for each byte of a block. */
static size_t memory(const void *state, bool max)
{
    const struct bzip2_streams *b = state;

    (void)max;
    return SMALL + b->level * 4 * BLOCK;
}

static enum leat_status begin_stream(void *state, struct raw_input *in, bool *begun, enum decompressor_step *what,
                                     struct leat_error *err)
{
    struct bzip2_streams *b = state;
    enum leat_status s = decompressor_begin(&decompressor_bzip2, in, begun, what, err);

    if (s != LEAT_OK || !*begun)
        return s;
    end_stream(b);
    memset(&b->bz, 0, sizeof b->bz);
    if (BZ2_bzDecompressInit(&b->bz, 0, 0) != BZ_OK)
        return status_no_memory(err, SMALL);
    b->level = in->buffer[in->at + 3] - (unsigned)'0';
    return LEAT_OK;
}

static enum leat_status decode(void *state, struct raw_input *in, struct leat_error *err)
{
    struct bzip2_streams *b = state;
    unsigned given = (unsigned)(in->held - in->at), room = (unsigned)(TEXT_STEP - b->step.filled);
    int code;

    b->bz.next_in = (char *)in->buffer + in->at;
    b->bz.avail_in = given;
    b->bz.next_out = (char *)b->step.text + b->step.filled;
    b->bz.avail_out = room;
    code = BZ2_bzDecompress(&b->bz);
    text_step_add(&b->step, in, given - b->bz.avail_in, room - b->bz.avail_out, code == BZ_STREAM_END);
    if (code == BZ_MEM_ERROR)
        return status_no_memory(err, memory(b, true));
    if (code != BZ_OK && code != BZ_STREAM_END)
        return decompressor_broken(&decompressor_bzip2, in, "it is not valid, or a checksum does not match", err);
    return LEAT_OK;
}

static enum leat_status step_bzip2(void *state, struct raw_input *in, void *buf, size_t room, size_t *got,
                                   enum decompressor_step *what, struct leat_error *err)
{
    static const struct text_step_calls calls = { &decompressor_bzip2, begin_stream, decode };
    struct text_step_room out = { buf, room, 0 };
    struct bzip2_streams *b = state;
    enum leat_status s;

    s = text_step_run(&b->step, &calls, b, in, &out, what, err);
    *got = out.got;
    return s;
}
#else
static enum leat_status open_streams(void **out, const char *path, bool behind, struct leat_error *err)
{
    (void)behind;
    *out = NULL;
    return decompressor_missing(&decompressor_bzip2, path, "no libbz2 (libbz2-dev)", "bzip2 -d", err);
}
#endif

const struct decompressor decompressor_bzip2 = { .name = "bzip2",
                                                 .suffix = ".bz2",
                                                 .member = "a bzip2 stream",
                                                 .head = RAW_HEAD,
                                                 .begins = begins,
                                                 .open = open_streams,
#ifdef LEAT_HAVE_BZ2
                                                 .close = close_streams,
                                                 .memory = memory,
                                                 .step = step_bzip2
#endif
};
