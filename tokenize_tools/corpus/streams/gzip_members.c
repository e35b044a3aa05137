/*
 * gzip_members.c: the text of gzip members (RFC 1952), one after another, by whichever inflater the build has. Headers
 * and trailers are read here, so that they are the same for every inflater: a member is a header, which is taken byte
 * by byte through the states below, deflate data, and a trailer of eight bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "decompressor.h"
#include "inflater.h"

#define FIXED_BYTES   10u /* of a header */
#define TRAILER_BYTES 8u
#define METHOD        8u
#define BACK          8u /* so far an inflater may step back at the end of its data */

enum flag {
    FLAG_SUM = 0x02, /* the header has a checksum */
    FLAG_EXTRA = 0x04,
    FLAG_NAME = 0x08,
    FLAG_COMMENT = 0x10,
    FLAG_RESERVED = 0xe0
};

/* In the order of the file. */
enum part {
    PART_FIXED,
    PART_EXTRA_LENGTH,
    PART_EXTRA,
    PART_NAME,
    PART_COMMENT,
    PART_SUM,
    PART_DATA,
    PART_TRAILER,
    PART_BETWEEN, /* after a member */
    PART_PADDING
};

struct gzip_members {
    struct inflater *inflater;
    enum part part;
    uint8_t held[FIXED_BYTES]; /* numbers of the header and the trailer, as they come */
    unsigned count;            /* of them, or of the bytes of an extra field still to come */
    uint8_t flags;
    uint32_t header_sum;
    uint32_t sum, text_bytes; /* of the member */
    size_t fed;               /* bytes from in->at on that the inflater has and may give back */
};

static bool begins(const uint8_t *head, size_t bytes)
{
    return (bytes < 1 || head[0] == 0x1f) && (bytes < 2 || head[1] == 0x8b);
}

static enum leat_status open_members(void **out, const char *path, bool behind, struct leat_error *err)
{
    struct gzip_members *g;

    *out = NULL;
    if (!inflater_name())
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "%s is compressed with gzip, which this build cannot read: it has neither isa-l "
                          "(libisal-dev) nor zlib (zlib1g-dev); decompress the file with gzip -d",
                          path);
    g = calloc(1, sizeof *g);
    if (!g)
        return status_no_memory(err, sizeof *g);
    g->inflater = inflater_open();
    if (!g->inflater) {
        free(g);
        return status_no_memory(err, (uint64_t)1 << 16);
    }
    g->part = behind ? PART_BETWEEN : PART_FIXED;
    *out = g;
    return LEAT_OK;
}

static void close_members(void *state)
{
    struct gzip_members *g = state;

    if (!g)
        return;
    inflater_close(g->inflater);
    free(g);
}

static enum leat_status broken(const struct raw_input *in, const char *why, struct leat_error *err)
{
    uint64_t place = raw_input_position(in);

    return status_set_at(err, LEAT_E_TEXT, place, "%s: the gzip data is broken at compressed byte %llu: %s", in->name,
                         (unsigned long long)place, why);
}

static enum leat_status cut_off(const struct raw_input *in, struct leat_error *err)
{
    uint64_t place = raw_input_position(in) + (in->held - in->at);

    return status_set_at(err, LEAT_E_TRUNCATED, place,
                         "%s ends in the middle of a gzip member, at compressed byte %llu", in->name,
                         (unsigned long long)place);
}

/* ---- Headers ---------------------------------------------------------------------------------------------------- */

/* The next part of the header that is there, after `part`. */
static void next_part(struct gzip_members *g)
{
    static const uint8_t needs[] = {
        [PART_EXTRA_LENGTH] = FLAG_EXTRA, [PART_NAME] = FLAG_NAME, [PART_COMMENT] = FLAG_COMMENT, [PART_SUM] = FLAG_SUM
    };

    g->count = 0;
    do
        g->part++;
    while (g->part < PART_DATA && !(g->flags & needs[g->part]));
    if (g->part < PART_DATA)
        return;
    inflater_reset(g->inflater);
    g->sum = inflater_crc(0, NULL, 0);
    g->text_bytes = 0;
}

/* One byte of the header is used; what is wrong with it, or NULL. */
static const char *pass_header(struct gzip_members *g, uint8_t byte)
{
    uint32_t sum = g->header_sum;

    g->header_sum = inflater_crc(g->header_sum, &byte, 1);
    switch (g->part) {
    case PART_FIXED:
        g->held[g->count++] = byte;
        if (!begins(g->held, g->count))
            return "no member begins there";
        if (g->count == 3 && byte != METHOD)
            return "its method of compression is not deflate";
        if (g->count == 4 && (byte & FLAG_RESERVED))
            return "a reserved flag is set";
        g->flags = g->held[3];
        if (g->count == FIXED_BYTES)
            next_part(g);
        break;
    case PART_EXTRA_LENGTH:
        g->held[g->count++] = byte;
        if (g->count < 2)
            break;
        g->part = PART_EXTRA;
        g->count = bytes_load16(g->held);
        if (g->count == 0)
            next_part(g);
        break;
    case PART_EXTRA:
        if (--g->count == 0)
            next_part(g);
        break;
    case PART_NAME:
    case PART_COMMENT:
        if (byte == 0)
            next_part(g);
        break;
    default: /* PART_SUM: of all bytes before it */
        if (g->count == 0)
            g->held[2] = (uint8_t)sum, g->held[3] = (uint8_t)(sum >> 8);
        if (byte != g->held[2 + g->count++])
            return "the checksum of the header does not match";
        if (g->count == 2)
            next_part(g);
    }
    return NULL;
}

static enum leat_status pass_headers(struct gzip_members *g, struct raw_input *in, struct leat_error *err)
{
    while (in->at < in->held && g->part < PART_DATA) {
        const char *wrong = pass_header(g, in->buffer[in->at]);

        if (wrong)
            return broken(in, wrong, err);
        raw_input_use(in, 1);
    }
    return LEAT_OK;
}

/* ---- Data and trailers ------------------------------------------------------------------------------------------ */

static enum leat_status pass_data(struct gzip_members *g, struct raw_input *in, uint8_t *buf, size_t room, size_t *got,
                                  struct leat_error *err)
{
    const uint8_t *from = in->buffer + in->at + g->fed;
    size_t left = in->held - in->at - g->fed, given = left;
    uint8_t *to = buf;
    enum inflater_result result = inflater_run(g->inflater, &from, &left, &to, &room, in->ended);

    *got = (size_t)(to - buf);
    g->sum = inflater_crc(g->sum, buf, *got);
    g->text_bytes += (uint32_t)*got;
    g->fed = (size_t)(from - (in->buffer + in->at));
    if (result == INFLATER_NO_MEMORY)
        return status_no_memory(err, (uint64_t)1 << 15);
    if (result == INFLATER_BROKEN)
        return broken(in, "it is not valid deflate data", err);
    if (result == INFLATER_END) {
        raw_input_use(in, g->fed);
        g->fed = 0;
        g->part = PART_TRAILER;
        g->count = 0;
    } else if (g->fed > BACK) {
        raw_input_use(in, g->fed - BACK);
        g->fed = BACK;
    }
    if (result == INFLATER_MORE && *got == 0 && given == 0 && in->ended)
        return cut_off(in, err);
    return LEAT_OK;
}

static enum leat_status pass_trailer(struct gzip_members *g, struct raw_input *in, enum decompressor_step *step,
                                     struct leat_error *err)
{
    size_t part = TRAILER_BYTES - g->count;

    if (part > in->held - in->at)
        part = in->held - in->at;
    memcpy(g->held + g->count, in->buffer + in->at, part);
    g->count += (unsigned)part;
    if (g->count >= 4 && bytes_load32(g->held) != g->sum)
        return broken(in, "the checksum of the text does not match", err);
    if (g->count < TRAILER_BYTES) {
        raw_input_use(in, part);
        return LEAT_OK;
    }
    if (bytes_load32(g->held + 4) != g->text_bytes)
        return broken(in, "the length of the text does not match", err);
    raw_input_use(in, part);
    g->part = PART_BETWEEN;
    *step = STEP_BORDER;
    return LEAT_OK;
}

/* What follows a member, at least one byte: another member, or zeros up to the end, as on tapes. */
static enum leat_status pass_between(struct gzip_members *g, struct raw_input *in, struct leat_error *err)
{
    if (g->part == PART_BETWEEN && in->buffer[in->at] != 0) {
        g->part = PART_FIXED;
        g->count = 0;
        g->header_sum = inflater_crc(0, NULL, 0);
        return LEAT_OK;
    }
    g->part = PART_PADDING;
    if (!bytes_all_zero(in->buffer + in->at, in->held - in->at)) {
        while (in->buffer[in->at] == 0)
            raw_input_use(in, 1);
        return broken(in, "unexpected bytes after the zeros that follow the last member", err);
    }
    raw_input_use(in, in->held - in->at);
    return LEAT_OK;
}

static enum leat_status step(void *state, struct raw_input *in, void *buf, size_t room, size_t *got,
                             enum decompressor_step *what, struct leat_error *err)
{
    struct gzip_members *g = state;
    enum leat_status s = LEAT_OK;

    *got = 0;
    *what = STEP_MORE;
    if (in->held - in->at == g->fed && !in->ended)
        s = raw_input_fill(in, err);
    if (s != LEAT_OK)
        return s;
    if (g->part == PART_DATA) /* also without new input: text may be left inside */
        return pass_data(g, in, buf, room, got, err);
    if (in->held == in->at) { /* so the input has ended */
        if (g->part < PART_BETWEEN)
            return cut_off(in, err);
        *what = STEP_END;
        return LEAT_OK;
    }
    if (g->part < PART_DATA)
        return pass_headers(g, in, err);
    if (g->part == PART_TRAILER)
        return pass_trailer(g, in, what, err);
    return pass_between(g, in, err);
}

const struct decompressor decompressor_gzip = { .name = "gzip",
                                                .suffix = ".gz",
                                                .head = 2,
                                                .begins = begins,
                                                .open = open_members,
                                                .close = close_members,
                                                .step = step };
