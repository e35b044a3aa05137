/*
 * gzip_members.c: reads the text of gzip members (RFC 1952), one after another, by whichever inflater the build has.
 *
 * A member is a header, deflate data, and a trailer of eight bytes. Headers and trailers are read here, so that they
 * are treated alike with every inflater: a header is taken byte by byte, through the states below. An inflater may
 * read up to BACK bytes beyond the data; these stay in the input's buffer until it is known whether they belong to
 * the trailer.
 */
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "decompressor.h"
#include "inflater.h"

#define FIXED_BYTES   10u /* bytes that each header has */
#define TRAILER_BYTES 8u
#define METHOD        8u
#define BACK          8u /* bytes that an inflater may step back at the end of its data */

enum flag {
    FLAG_SUM = 0x02, /* the header has a checksum */
    FLAG_EXTRA = 0x04,
    FLAG_NAME = 0x08,
    FLAG_COMMENT = 0x10,
    FLAG_RESERVED = 0xe0
};

/* The parts of a member, in the order of the file. */
enum state {
    STATE_FIXED,
    STATE_EXTRA_LENGTH,
    STATE_EXTRA,
    STATE_NAME,
    STATE_COMMENT,
    STATE_SUM,
    STATE_DATA,
    STATE_TRAILER,
    STATE_BETWEEN, /* after a member */
    STATE_PADDING
};

struct gzip_members {
    struct inflater *inflater;
    enum state state;
    uint8_t held[FIXED_BYTES]; /* numbers of the header and the trailer, as they come */
    unsigned count;            /* count of the held bytes, or of the bytes of an extra field that are left */
    uint8_t flags;
    uint32_t header_sum;
    uint32_t sum, text_bytes; /* CRC-32 and length of the member's text */
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
    if (!inflater_library.name)
        return decompressor_missing(&decompressor_gzip, path, "neither isa-l (libisal-dev) nor zlib (zlib1g-dev)",
                                    "gzip -d", err);
    g = calloc(1, sizeof *g);
    if (!g)
        return status_no_memory(err, sizeof *g);
    g->inflater = inflater_library.open();
    if (!g->inflater) {
        free(g);
        return status_no_memory(err, (uint64_t)1 << 16);
    }
    g->state = behind ? STATE_BETWEEN : STATE_FIXED;
    *out = g;
    return LEAT_OK;
}

static void close_members(void *state)
{
    struct gzip_members *g = state;

    if (!g)
        return;
    inflater_library.close(g->inflater);
    free(g);
}

static enum leat_status broken(const struct raw_input *in, const char *why, struct leat_error *err)
{
    return decompressor_broken(&decompressor_gzip, in, why, err);
}

static enum leat_status cut_off(const struct raw_input *in, struct leat_error *err)
{
    return decompressor_cut_off(&decompressor_gzip, in, err);
}

/* ---- Headers ---------------------------------------------------------------------------------------------------- */

/* Goes to the next part that the header has, after `state`. */
static void next_state(struct gzip_members *g)
{
    static const uint8_t needs[] = { [STATE_EXTRA_LENGTH] = FLAG_EXTRA,
                                     [STATE_NAME] = FLAG_NAME,
                                     [STATE_COMMENT] = FLAG_COMMENT,
                                     [STATE_SUM] = FLAG_SUM };

    g->count = 0;
    do
        g->state++;
    while (g->state < STATE_DATA && !(g->flags & needs[g->state]));
    if (g->state < STATE_DATA)
        return;
    inflater_library.reset(g->inflater);
    g->sum = inflater_library.crc(0, NULL, 0);
    g->text_bytes = 0;
}

/* Takes one byte of the header. Returns what is wrong with it, or NULL. */
static const char *pass_header(struct gzip_members *g, uint8_t byte)
{
    uint32_t sum = g->header_sum;

    g->header_sum = inflater_library.crc(g->header_sum, &byte, 1);
    switch (g->state) {
    case STATE_FIXED:
        g->held[g->count++] = byte;
        if (!begins(g->held, g->count))
            return "no member begins there";
        if (g->count == 3 && byte != METHOD)
            return "its method of compression is not deflate";
        if (g->count == 4 && (byte & FLAG_RESERVED))
            return "a reserved flag is set";
        g->flags = g->held[3];
        if (g->count == FIXED_BYTES)
            next_state(g);
        break;
    case STATE_EXTRA_LENGTH:
        g->held[g->count++] = byte;
        if (g->count < 2)
            break;
        g->state = STATE_EXTRA;
        g->count = bytes_load16(g->held);
        if (g->count == 0)
            next_state(g);
        break;
    case STATE_EXTRA:
        if (--g->count == 0)
            next_state(g);
        break;
    case STATE_NAME:
    case STATE_COMMENT:
        if (byte == 0)
            next_state(g);
        break;
    default: /* STATE_SUM: the checksum of all bytes before it */
        if (g->count == 0)
            g->held[2] = (uint8_t)sum, g->held[3] = (uint8_t)(sum >> 8);
        if (byte != g->held[2 + g->count++])
            return "the checksum of the header does not match";
        if (g->count == 2)
            next_state(g);
    }
    return NULL;
}

static enum leat_status pass_headers(struct gzip_members *g, struct raw_input *in, struct leat_error *err)
{
    while (in->at < in->held && g->state < STATE_DATA) {
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
    enum inflater_result result = inflater_library.run(g->inflater, &from, &left, &to, &room, in->ended);

    *got = (size_t)(to - buf);
    g->sum = inflater_library.crc(g->sum, buf, *got);
    g->text_bytes += (uint32_t)*got;
    g->fed = (size_t)(from - (in->buffer + in->at));
    if (result == INFLATER_NO_MEMORY)
        return status_no_memory(err, (uint64_t)1 << 15);
    if (result == INFLATER_BROKEN) { /* the input stands at the defect, however much the inflater was given at once */
        raw_input_use(in, g->fed);
        g->fed = 0;
        return broken(in, "it is not valid deflate data", err);
    }
    if (result == INFLATER_END) {
        raw_input_use(in, g->fed);
        g->fed = 0;
        g->state = STATE_TRAILER;
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
    g->state = STATE_BETWEEN;
    *step = STEP_BORDER;
    return LEAT_OK;
}

/* Takes the bytes after a member, at least one: another member, or zeros up to the end, as on tapes. */
static enum leat_status pass_between(struct gzip_members *g, struct raw_input *in, struct leat_error *err)
{
    if (g->state == STATE_BETWEEN && in->buffer[in->at] != 0) {
        g->state = STATE_FIXED;
        g->count = 0;
        g->header_sum = inflater_library.crc(0, NULL, 0);
        return LEAT_OK;
    }
    g->state = STATE_PADDING;
    if (!bytes_all_zero(in->buffer + in->at, in->held - in->at)) {
        while (in->buffer[in->at] == 0)
            raw_input_use(in, 1);
        return broken(in, "unexpected bytes after the zeros that follow the last member", err);
    }
    raw_input_use(in, in->held - in->at);
    return LEAT_OK;
}

static enum leat_status step_gzip(void *state, struct raw_input *in, void *buf, size_t room, size_t *got,
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
    if (g->state == STATE_DATA) /* without new input, too, since the inflater may still hold text */
        return pass_data(g, in, buf, room, got, err);
    if (in->held == in->at) { /* so the input has ended */
        if (g->state < STATE_BETWEEN)
            return cut_off(in, err);
        *what = STEP_END;
        return LEAT_OK;
    }
    if (g->state < STATE_DATA)
        return pass_headers(g, in, err);
    if (g->state == STATE_TRAILER)
        return pass_trailer(g, in, what, err);
    return pass_between(g, in, err);
}

const struct decompressor decompressor_gzip = { .name = "gzip",
                                                .suffix = ".gz",
                                                .member = "a gzip member",
                                                .head = 2,
                                                .begins = begins,
                                                .open = open_members,
                                                .close = close_members,
                                                .step = step_gzip,
                                                .find = gzip_member_find };
