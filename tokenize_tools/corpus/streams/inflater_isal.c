/*
 * inflater_isal.c: inflates by igzip of isa-l, about three times as fast as zlib.
 *
 * It decodes up to three symbols at once, and if the data is cut off, it gives nothing of a group whose last symbol is
 * incomplete. The text of a file that is cut off must not depend on the machine, so find_tail() finds the complete
 * literals of that group in another way. In broken data igzip may give text that is wrong just before a defect,
 * depending on how much it was fed at once; so a call that meets a defect is repeated byte by byte.
 */
#if defined(LEAT_HAVE_ISAL)
#include "inflater.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

/* Most bytes at once: isa-l's numbers have 32 bits. */
#define MOST  ((size_t)1 << 30)

#define GROUP 3u /* most literals before a symbol that is cut off */

struct inflater {
    struct inflate_state state;
    struct inflate_state *before; /* state before the present call; NULL before the first call that needs it */
    bool fresh;                   /* true for the first call, for which `before` would equal a reset state */
    bool broken;                  /* true if isa-l has met a defect, but holds text from before it */
    bool cut_off;                 /* the input has ended, and `tail` is known */
    uint8_t tail[GROUP];
    size_t given, count; /* bytes of `tail` that were given, and bytes of all of it */
};

static void reset_state(struct inflate_state *state)
{
    isal_inflate_init(state);
    /* for codes that a broken table does not define, isa-l uses what was there before */
    memset(&state->lit_huff_code, 0, sizeof state->lit_huff_code);
    memset(&state->dist_huff_code, 0, sizeof state->dist_huff_code);
}

static void reset(struct inflater *inflater)
{
    reset_state(&inflater->state);
    inflater->fresh = true;
    inflater->broken = inflater->cut_off = false;
    inflater->given = inflater->count = 0;
}

static struct inflater *open_inflater(void)
{
    struct inflater *inflater = calloc(1, sizeof *inflater);

    if (inflater)
        reset(inflater);
    return inflater;
}

static void close_inflater(struct inflater *inflater)
{
    free(inflater->before);
    free(inflater);
}

/*
 * Keeps the state before a call, to repeat it. If a match is a defect, because it begins before the text or has an
 * impossible distance, isa-l has often counted its length as text already, whatever was in the buffer: when it reads
 * on in one go, but not when it is fed byte by byte. So a call that meets a defect is repeated byte by byte. The
 * first call for new data begins with a reset state; for later ones the state before is kept, 87 KB for most of a MB
 * of text.
 */
static bool keep_before(struct inflater *inflater)
{
    if (inflater->fresh)
        return true;
    if (!inflater->before && !(inflater->before = malloc(sizeof *inflater->before)))
        return false;
    memcpy(inflater->before, &inflater->state, sizeof inflater->state);
    return true;
}

static int inflate_again_by_bytes(struct inflater *inflater, uint8_t *in, uint32_t in_bytes, uint8_t *out,
                                  uint32_t room)
{
    struct inflate_state *state = &inflater->state;
    int code = ISAL_DECOMP_OK;
    uint32_t used = 0;

    if (inflater->fresh)
        reset_state(state);
    else
        memcpy(state, inflater->before, sizeof *state);
    state->next_out = out;
    state->avail_out = room;
    while (used < in_bytes && code == ISAL_DECOMP_OK) {
        state->next_in = in + used;
        state->avail_in = 1;
        code = isal_inflate(state);
        if (state->avail_in > 0)
            break; /* there was no room for the text before the defect, so the next call meets it */
        used++;
    }
    state->avail_in = in_bytes - used;
    return code;
}

/*
 * Finds the literals with which the next group begins if the input goes on with bytes `padding`. If isa-l is told that
 * its own buffer is full, and the caller gives no room, it puts them after what that buffer holds, and copies nothing.
 */
static size_t next_literals(struct inflate_state *copy, uint8_t padding, uint8_t literals[GROUP])
{
    uint8_t bytes[32], nothing[1];
    size_t count;

    memset(bytes, padding, sizeof bytes);
    copy->next_in = bytes;
    copy->avail_in = sizeof bytes;
    copy->next_out = nothing;
    copy->avail_out = 0;
    copy->tmp_out_valid = copy->tmp_out_processed = 2 * ISAL_DEF_HIST_SIZE;
    isal_inflate(copy);
    count = (size_t)(copy->tmp_out_valid - copy->tmp_out_processed);
    if (count > GROUP)
        count = GROUP;
    memcpy(literals, copy->tmp_out_buffer + copy->tmp_out_processed, count);
    return count;
}

/* Finds the complete symbols at the end: they do not depend on the bits that follow, while an incomplete one differs
 * between all zeros and all ones. */
static bool find_tail(struct inflater *inflater)
{
    struct inflate_state *copy = malloc(sizeof *copy);
    uint8_t other[GROUP];
    size_t count;

    if (!copy)
        return false;
    memcpy(copy, &inflater->state, sizeof *copy);
    inflater->count = next_literals(copy, 0x00, inflater->tail);
    memcpy(copy, &inflater->state, sizeof *copy);
    count = next_literals(copy, 0xff, other);
    for (size_t i = 0; i < inflater->count; i++)
        if (i == count || other[i] != inflater->tail[i])
            inflater->count = i;
    inflater->cut_off = true;
    free(copy);
    return true;
}

/* Gives text that isa-l had decoded before a defect and had no room for. */
static enum inflater_result give_rest(struct inflater *inflater, uint8_t **out, size_t *room)
{
    struct inflate_state *state = &inflater->state;
    size_t left = (size_t)(state->tmp_out_valid - state->tmp_out_processed), part = left < *room ? left : *room;

    if (left == 0)
        return INFLATER_BROKEN;
    memcpy(*out, state->tmp_out_buffer + state->tmp_out_processed, part);
    state->tmp_out_processed += (int32_t)part;
    *out += part;
    *room -= part;
    return INFLATER_MORE;
}

static void give_tail(struct inflater *inflater, uint8_t **out, size_t *room)
{
    for (; *room > 0 && inflater->given < inflater->count; (*room)--)
        *(*out)++ = inflater->tail[inflater->given++];
}

static enum inflater_result inflate_some(struct inflater *inflater, const uint8_t **in, size_t *in_bytes, uint8_t **out,
                                         size_t *room, bool last)
{
    struct inflate_state *state = &inflater->state;
    uint32_t some_in = (uint32_t)(*in_bytes < MOST ? *in_bytes : MOST);
    uint32_t some_room = (uint32_t)(*room < MOST ? *room : MOST);
    size_t back = 0;
    int code;

    if (inflater->broken)
        return give_rest(inflater, out, room);
    if (inflater->cut_off) {
        give_tail(inflater, out, room);
        return INFLATER_MORE;
    }
    if (!keep_before(inflater))
        return INFLATER_NO_MEMORY;
    /* isa-l does not write there */
    state->next_in = (uint8_t *)(uintptr_t)*in;
    state->avail_in = some_in;
    state->next_out = *out;
    state->avail_out = some_room;
    code = isal_inflate(state);
    if (code != ISAL_DECOMP_OK)
        code = inflate_again_by_bytes(inflater, (uint8_t *)(uintptr_t)*in, some_in, *out, some_room);
    inflater->fresh = false;
    /* whole bytes among the bits that isa-l holds were not part of the data, or follow the defect */
    if (code != ISAL_DECOMP_OK || state->block_state == ISAL_BLOCK_FINISH)
        back = (size_t)(state->read_in_length > 0 ? state->read_in_length / 8 : 0);
    *in = state->next_in - back;
    *in_bytes -= some_in - state->avail_in;
    *in_bytes += back;
    *out = state->next_out;
    *room -= some_room - state->avail_out;
    if (code != ISAL_DECOMP_OK) {
        inflater->broken = true;
        return give_rest(inflater, out, room);
    }
    if (state->block_state == ISAL_BLOCK_FINISH)
        return INFLATER_END;
    if (last && *in_bytes == 0 && *room > 0 && state->block_state == ISAL_BLOCK_CODED) {
        if (!find_tail(inflater))
            return INFLATER_NO_MEMORY;
        give_tail(inflater, out, room);
    }
    return INFLATER_MORE;
}

static uint32_t crc_of(uint32_t crc, const uint8_t *bytes, size_t count)
{
    return crc32_gzip_refl(crc, bytes, count);
}

const struct inflater_library inflater_library = {
    .name = "isa-l", .open = open_inflater, .close = close_inflater, .reset = reset, .run = inflate_some, .crc = crc_of
};

#else
typedef int inflater_isal_is_not_built; /* a file has to hold something */
#endif
