/*
 * text_input.c: see text_input.h. Bytes come from the file into `raw`, and from there, copied or decompressed, to the
 * end of `text`; what has been given out leaves it at the front.
 */
#include "text_input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/status.h"

#define RAW_BYTES   ((size_t)128 << 10)
#define TEXT_BYTES  ((size_t)256 << 10) /* at first */
#define MAGIC_BYTES 4u

struct text_input {
    char *name;      /* for messages */
    int fd;          /* -1: standard input, which is not ours to close */
    ZSTD_DCtx *zstd; /* NULL: plain */
    bool frame_open; /* a frame has begun and not ended */
    uint8_t *raw;
    size_t raw_at, raw_held; /* raw[raw_at..raw_held) is not used yet */
    bool raw_end;
    char *text;
    size_t begin, end, room; /* text[begin..end) is not given out yet */
    bool text_end;
    uint64_t line;
};

/* ---- Opening ---------------------------------------------------------------------------------------------------- */

/* More bytes to the end of `raw`, which has room. */
static enum leat_status read_raw(struct text_input *in, struct leat_error *err)
{
    ssize_t got;

    do
        got = read(in->fd < 0 ? STDIN_FILENO : in->fd, in->raw + in->raw_held, RAW_BYTES - in->raw_held);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return status_set_os(err, errno, "cannot read %s", in->name);
    in->raw_held += (size_t)got;
    in->raw_end = got == 0;
    return LEAT_OK;
}

/* A frame of zstd, or one to be skipped. */
static bool is_zstd(const uint8_t *bytes)
{
    uint32_t magic = bytes_load32(bytes);

    return magic == ZSTD_MAGICNUMBER || (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

static enum leat_status detect(struct text_input *in, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && in->raw_held < MAGIC_BYTES && !in->raw_end)
        s = read_raw(in, err);
    if (s != LEAT_OK || in->raw_held < MAGIC_BYTES)
        return s;
    /* no text begins so: its second byte cannot stand there in UTF-8 */
    if (in->raw[0] == 0x1f && in->raw[1] == 0x8b)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "%s is compressed with gzip, which this command does not read; gzip -dc turns it into text",
                          in->name);
    if (!is_zstd(in->raw))
        return LEAT_OK;
    in->zstd = ZSTD_createDCtx();
    if (!in->zstd)
        return status_no_memory(err, RAW_BYTES);
    /* files made with --long too; what a window takes is memory only where it is used */
    ZSTD_DCtx_setParameter(in->zstd, ZSTD_d_windowLogMax, ZSTD_dParam_getBounds(ZSTD_d_windowLogMax).upperBound);
    return LEAT_OK;
}

enum leat_status text_input_open(struct text_input **out, const char *path, struct leat_error *err)
{
    bool standard = strcmp(path, "-") == 0;
    struct text_input *in = calloc(1, sizeof *in);
    enum leat_status s = LEAT_OK;

    *out = NULL;
    if (!in)
        return status_no_memory(err, sizeof *in);
    in->fd = -1;
    in->name = strdup(standard ? "standard input" : path);
    in->raw = malloc(RAW_BYTES);
    in->text = malloc(TEXT_BYTES);
    in->room = TEXT_BYTES;
    if (!in->name || !in->raw || !in->text)
        s = status_no_memory(err, RAW_BYTES + TEXT_BYTES);
    else if (!standard && (in->fd = open(path, O_RDONLY | O_CLOEXEC)) < 0)
        s = status_set_os(err, errno, "cannot open %s", path);
    if (s == LEAT_OK)
        s = detect(in, err);
    if (s != LEAT_OK) {
        text_input_close(in);
        return s;
    }
    *out = in;
    return LEAT_OK;
}

void text_input_close(struct text_input *in)
{
    if (!in)
        return;
    file_close(&in->fd);
    ZSTD_freeDCtx(in->zstd);
    free(in->name);
    free(in->raw);
    free(in->text);
    free(in);
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

/* Room behind the text: by moving it to the front if that frees half of it, else by growing. */
static enum leat_status make_room(struct text_input *in, struct leat_error *err)
{
    char *text;

    if (in->end < in->room)
        return LEAT_OK;
    if (in->begin >= in->room / 2) {
        memmove(in->text, in->text + in->begin, in->end - in->begin);
        in->end -= in->begin;
        in->begin = 0;
        return LEAT_OK;
    }
    text = in->room <= SIZE_MAX / 2 ? realloc(in->text, 2 * in->room) : NULL;
    if (!text)
        return status_set(err, LEAT_E_NO_MEMORY, "not enough memory for a text of more than %zu bytes of %s",
                          in->end - in->begin, in->name);
    in->text = text;
    in->room *= 2;
    return LEAT_OK;
}

static void copy_plain(struct text_input *in)
{
    size_t take = in->raw_held - in->raw_at;

    if (take > in->room - in->end)
        take = in->room - in->end;
    memcpy(in->text + in->end, in->raw + in->raw_at, take);
    in->raw_at += take;
    in->end += take;
}

static enum leat_status decompress(struct text_input *in, struct leat_error *err)
{
    ZSTD_inBuffer from = { in->raw, in->raw_held, in->raw_at };
    ZSTD_outBuffer to = { in->text, in->room, in->end };
    size_t left = ZSTD_decompressStream(in->zstd, &to, &from);

    if (ZSTD_isError(left))
        return status_set(err, LEAT_E_TEXT, "%s: the compressed data is broken: %s", in->name, ZSTD_getErrorName(left));
    in->frame_open = left != 0;
    if (from.pos == from.size && to.pos == in->end && in->raw_end && in->frame_open)
        return status_set(err, LEAT_E_TRUNCATED, "%s ends in the middle of the compressed data", in->name);
    in->raw_at = from.pos;
    in->end = to.pos;
    return LEAT_OK;
}

/* At least one more byte of text, or text_end. */
static enum leat_status fill(struct text_input *in, struct leat_error *err)
{
    enum leat_status s = make_room(in, err);
    size_t before = in->end;

    while (s == LEAT_OK && in->end == before && !in->text_end) {
        if (in->raw_at == in->raw_held && !in->raw_end) {
            in->raw_at = in->raw_held = 0;
            s = read_raw(in, err);
        } else if (in->raw_at == in->raw_held && !in->frame_open) {
            in->text_end = true;
        } else if (in->zstd) {
            s = decompress(in, err); /* also what it still holds after the last raw byte */
        } else {
            copy_plain(in);
        }
    }
    return s;
}

enum leat_status text_input_line(struct text_input *in, char **line, size_t *bytes, bool *found, struct leat_error *err)
{
    size_t searched = 0; /* this far from `begin` there is no newline */
    const char *newline;
    enum leat_status s;

    for (;;) {
        newline = memchr(in->text + in->begin + searched, '\n', in->end - in->begin - searched);
        if (newline || in->text_end)
            break;
        searched = in->end - in->begin;
        s = fill(in, err);
        if (s != LEAT_OK)
            return s;
    }
    *found = in->begin < in->end;
    *line = in->text + in->begin;
    *bytes = newline ? (size_t)(newline - *line) : in->end - in->begin;
    in->begin += *bytes + (newline != NULL);
    in->line += *found;
    return LEAT_OK;
}

enum leat_status text_input_rest(struct text_input *in, char **text, size_t *bytes, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && !in->text_end)
        s = fill(in, err);
    if (s != LEAT_OK)
        return s;
    *text = in->text + in->begin;
    *bytes = in->end - in->begin;
    in->begin = in->end;
    return LEAT_OK;
}

enum leat_status text_input_part(struct text_input *in, char **text, size_t *bytes, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (in->begin == in->end && !in->text_end) {
        in->begin = in->end = 0;
        s = fill(in, err);
    }
    *text = in->text + in->begin;
    *bytes = s == LEAT_OK ? in->end - in->begin : 0;
    in->begin = in->end;
    return s;
}

/* ---- Messages --------------------------------------------------------------------------------------------------- */

uint64_t text_input_line_number(const struct text_input *in)
{
    return in->line;
}

enum leat_status text_input_blame(const struct text_input *in, bool line, struct leat_error *err)
{
    char sentence[sizeof err->message];
    size_t place;

    memcpy(sentence, err->message, sizeof sentence);
    if (line)
        snprintf(err->message, sizeof err->message, "%.300s, line %llu: ", in->name, (unsigned long long)in->line);
    else
        snprintf(err->message, sizeof err->message, "%.300s: ", in->name);
    place = strlen(err->message);
    snprintf(err->message + place, sizeof err->message - place, "%.600s", sentence);
    return err->status;
}
