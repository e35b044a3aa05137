/*
 * codec_lz4.c: an LZ4 block: sequences of bytes as they are, then a copy of bytes that came before. A first byte holds
 * both lengths; 15 says that more bytes of the length follow. The last sequence has no copy.
 */
#include "base/bytes.h"
#include "codec.h"
#include "copy_back.h"

#define LENGTH_WRONG "its LZ4 data has another length than its header says"
#define CUT_OFF      "its LZ4 data ends too early"
#define MIN_COPY     4u

/* Adds what follows a length of 15; false: the data ends. */
static bool more_length(const uint8_t **at, const uint8_t *end, size_t *length)
{
    uint8_t byte;

    if (*length < 15)
        return true;
    do {
        if (*at == end)
            return false;
        byte = *(*at)++;
        *length += byte; /* cannot overflow: 255 for each byte of memory at most */
    } while (byte == 255);
    return true;
}

/* Gives bytes that follow `from`, which may be those given before: any number, so that the page rests in between. */
static void copy_long(const struct codec_page *p, size_t done, const uint8_t *from, size_t count)
{
    size_t rest = codec_rest(p, 0);

    for (size_t i = 0; i < count; i++) {
        p->out[done + i] = from[i];
        if (i == rest)
            rest = codec_rest(p, i);
    }
}

const char *codec_lz4(void *state, const struct codec_page *p)
{
    const uint8_t *at = p->in, *end = p->in + p->bytes;
    size_t room = p->room, done = 0, rest = codec_first_rest(p);
    uint8_t *out = p->out;

    (void)state;
    while (at < end) {
        uint8_t token = *at++;
        size_t count = token >> 4, distance;

        if (!more_length(&at, end, &count) || count > (size_t)(end - at))
            return CUT_OFF;
        if (count > room - done)
            return LENGTH_WRONG;
        if (done + count >= rest)
            copy_long(p, done, at, count);
        else
            copy_literal(out + done, at, count, (size_t)(end - at), room - done);
        at += count;
        done += count;
        if (at == end)
            return done == room ? NULL : LENGTH_WRONG;
        if (end - at < 2)
            return CUT_OFF;
        distance = bytes_load16(at);
        at += 2;
        count = token & 15;
        if (!more_length(&at, end, &count))
            return CUT_OFF;
        count += MIN_COPY;
        if (distance == 0 || distance > done)
            return "its LZ4 data copies what was not there";
        if (count > room - done)
            return LENGTH_WRONG;
        if (done + count >= rest)
            copy_long(p, done, out + done - distance, count);
        else
            copy_back(out + done, distance, count, room - done);
        done += count;
        if (done >= rest)
            rest = codec_rest(p, done);
        if (rest == 0)
            return CUT_OFF;
    }
    return room == 0 ? NULL : CUT_OFF;
}
