/* inflater_isal.c: see inflater.h; by igzip of isa-l, about three times as fast as zlib. */
#if defined(LEAT_HAVE_ISAL)
#include "inflater.h"

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

/* its numbers have 32 bits */
#define MOST ((size_t)1 << 30)

struct inflater {
    struct inflate_state state;
};

const char *inflater_name(void)
{
    return "isa-l";
}

struct inflater *inflater_open(void)
{
    struct inflater *inflater = malloc(sizeof *inflater);

    if (inflater)
        inflater_reset(inflater);
    return inflater;
}

void inflater_close(struct inflater *inflater)
{
    free(inflater);
}

void inflater_reset(struct inflater *inflater)
{
    isal_inflate_init(&inflater->state);
}

enum inflater_result inflater_run(struct inflater *inflater, const uint8_t **in, size_t *in_bytes, uint8_t **out,
                                  size_t *room, bool last)
{
    struct inflate_state *state = &inflater->state;
    uint32_t some_in = (uint32_t)(*in_bytes < MOST ? *in_bytes : MOST);
    uint32_t some_room = (uint32_t)(*room < MOST ? *room : MOST);
    size_t back = 0;
    int code;

    (void)last;
    /* it does not write there */
    state->next_in = (uint8_t *)(uintptr_t)*in;
    state->avail_in = some_in;
    state->next_out = *out;
    state->avail_out = some_room;
    code = isal_inflate(state);
    /* whole bytes among the bits that it holds were not part of the data */
    if (code == ISAL_DECOMP_OK && state->block_state == ISAL_BLOCK_FINISH)
        back = (size_t)(state->read_in_length > 0 ? state->read_in_length / 8 : 0);
    *in = state->next_in - back;
    *in_bytes -= some_in - state->avail_in;
    *in_bytes += back;
    *out = state->next_out;
    *room -= some_room - state->avail_out;
    if (code != ISAL_DECOMP_OK)
        return INFLATER_BROKEN;
    return state->block_state == ISAL_BLOCK_FINISH ? INFLATER_END : INFLATER_MORE;
}

uint32_t inflater_crc(uint32_t crc, const uint8_t *bytes, size_t count)
{
    return crc32_gzip_refl(crc, bytes, count);
}

#else
typedef int inflater_isal_is_not_built; /* a file has to hold something */
#endif
