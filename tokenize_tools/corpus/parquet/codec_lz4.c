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

const char *codec_lz4(void *state, uint8_t *in, size_t bytes, uint8_t *out, size_t room)
{
    const uint8_t *at = in, *end = in + bytes;
    size_t done = 0;

    (void)state;
    while (at < end) {
        uint8_t token = *at++;
        size_t count = token >> 4, distance;

        if (!more_length(&at, end, &count) || count > (size_t)(end - at))
            return CUT_OFF;
        if (count > room - done)
            return LENGTH_WRONG;
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
        copy_back(out + done, distance, count, room - done);
        done += count;
    }
    return room == 0 ? NULL : CUT_OFF;
}
