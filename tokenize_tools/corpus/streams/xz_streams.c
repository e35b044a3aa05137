/* xz_streams.c: reads the text of xz streams, one after another, each perhaps followed by padding: zeros, a multiple
 * of four. */
#include "base/status.h"
#include "decompressor.h"

static bool begins(const uint8_t *head, size_t bytes)
{
    return decompressor_magic(head, bytes, (const uint8_t[RAW_HEAD]) { 0xfd, '7', 'z', 'X' });
}

#ifdef LEAT_HAVE_LZMA
#include <lzma.h>
#include <stdlib.h>

#define SMALL ((uint64_t)128 << 10) /* most memory of a decoder without its dictionary */

struct xz_streams {
    lzma_stream lzma;
    uint64_t text; /* bytes of text of the stream so far */
    uint64_t used; /* most text of a stream so far: this much of the dictionary is in memory, and is used again by
                      later streams */
    struct text_step step;
};

static enum leat_status open_streams(void **out, const char *path, bool behind, struct leat_error *err)
{
    struct xz_streams *x = calloc(1, sizeof *x);

    (void)path;
    (void)behind;
    *out = x;
    return x ? LEAT_OK : status_no_memory(err, sizeof *x);
}

static void close_streams(void *state)
{
    struct xz_streams *x = state;

    lzma_end(&x->lzma);
    free(x);
}

static size_t memory(const void *state, bool max)
{
    const struct xz_streams *x = state;
    uint64_t whole = lzma_memusage(&x->lzma), now = SMALL + x->used;

    return (size_t)(max || now > whole ? whole : now);
}

/* Takes padding, then the start of the next stream. */
static enum leat_status begin_stream(void *state, struct raw_input *in, bool *begun, enum decompressor_step *what,
                                     struct leat_error *err)
{
    struct xz_streams *x = state;
    enum leat_status s;

    while (in->at < in->held && in->buffer[in->at] == 0 && raw_input_position(in) > 0)
        raw_input_use(in, 1);
    if (in->at == in->held && !in->ended)
        return raw_input_fill(in, err);
    if (raw_input_position(in) % 4 != 0)
        return decompressor_broken(&decompressor_xz, in, "the padding before it is not a multiple of four bytes", err);
    s = decompressor_begin(&decompressor_xz, in, begun, what, err);
    if (s != LEAT_OK || !*begun)
        return s;
    x->text = 0;
    if (lzma_stream_decoder(&x->lzma, UINT64_MAX, LZMA_TELL_UNSUPPORTED_CHECK) != LZMA_OK)
        return status_no_memory(err, SMALL);
    return LEAT_OK;
}

/* Returns a sentence about what is wrong with a stream, or NULL. */
static const char *wrong(lzma_ret code)
{
    switch (code) {
    case LZMA_OK:
    case LZMA_STREAM_END:
    case LZMA_BUF_ERROR: /* there was nothing to do: not an error of the data */
        return NULL;
    case LZMA_FORMAT_ERROR:
        return "no stream begins there";
    case LZMA_OPTIONS_ERROR:
        return "it has options that liblzma does not know";
    case LZMA_UNSUPPORTED_CHECK:
        return "it has an integrity check that liblzma does not know";
    default:
        return "it is not valid, or does not match its integrity check";
    }
}

static enum leat_status decode(void *state, struct raw_input *in, struct leat_error *err)
{
    struct xz_streams *x = state;
    size_t given = in->held - in->at, room = TEXT_STEP - x->step.filled, added;
    lzma_ret code;

    x->lzma.next_in = in->buffer + in->at;
    x->lzma.avail_in = given;
    x->lzma.next_out = x->step.text + x->step.filled;
    x->lzma.avail_out = room;
    code = lzma_code(&x->lzma, LZMA_RUN);
    added = room - x->lzma.avail_out;
    x->text += added;
    if (x->used < x->text)
        x->used = x->text;
    text_step_add(&x->step, in, given - x->lzma.avail_in, added, code == LZMA_STREAM_END);
    if (code == LZMA_MEM_ERROR)
        return status_no_memory(err, lzma_memusage(&x->lzma));
    return wrong(code) ? decompressor_broken(&decompressor_xz, in, wrong(code), err) : LEAT_OK;
}

static enum leat_status step_xz(void *state, struct raw_input *in, void *buf, size_t room, size_t *got,
                                enum decompressor_step *what, struct leat_error *err)
{
    static const struct text_step_calls calls = { &decompressor_xz, begin_stream, decode };
    struct text_step_room out = { buf, room, 0 };
    struct xz_streams *x = state;
    enum leat_status s;

    s = text_step_run(&x->step, &calls, x, in, &out, what, err);
    *got = out.got;
    return s;
}
#else
static enum leat_status open_streams(void **out, const char *path, bool behind, struct leat_error *err)
{
    (void)behind;
    *out = NULL;
    return decompressor_missing(&decompressor_xz, path, "no liblzma (liblzma-dev)", "xz -d", err);
}
#endif

const struct decompressor decompressor_xz = { .name = "xz",
                                              .suffix = ".xz",
                                              .member = "an xz stream",
                                              .head = RAW_HEAD,
                                              .begins = begins,
                                              .open = open_streams,
#ifdef LEAT_HAVE_LZMA
                                              .close = close_streams,
                                              .memory = memory,
                                              .step = step_xz
#endif
};
