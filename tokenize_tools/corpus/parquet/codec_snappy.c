/*
 * codec_snappy.c: Snappy's raw format: the length of the text, then elements: bytes as they are, or a copy of bytes
 * that came before. The low two bits of an element's first byte say which.
 */
#include "base/bytes.h"
#include "codec.h"
#include "copy_back.h"

#define LENGTH_WRONG "its Snappy data has another length than its header says"
#define CUT_OFF      "its Snappy data ends too early"

/* The length at the start, of at most 32 bits. */
static bool take_length(const uint8_t **at, const uint8_t *end, uint64_t *length)
{
    *length = 0;
    for (unsigned shift = 0; shift < 35 && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;

        *length |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* The length of bytes as they are, less 1: in the tag, or in one to four bytes after it. */
static bool literal_length(const uint8_t **at, const uint8_t *end, uint8_t tag, size_t *length)
{
    size_t bytes = (tag >> 2) - 59u;

    *length = tag >> 2;
    if (*length < 60)
        return true;
    if ((size_t)(end - *at) < bytes)
        return false;
    *length = 0;
    for (size_t i = 0; i < bytes; i++)
        *length |= (size_t)(*at)[i] << 8 * i;
    *at += bytes;
    return true;
}

const char *codec_snappy(void *state, uint8_t *in, size_t bytes, uint8_t *out, size_t room)
{
    const uint8_t *at = in, *end = in + bytes;
    size_t done = 0, count, distance;
    uint64_t length;

    (void)state;
    if (!take_length(&at, end, &length))
        return CUT_OFF;
    if (length != room)
        return LENGTH_WRONG;
    while (at < end) {
        uint8_t tag = *at++;

        if ((tag & 3) == 0) {
            if (!literal_length(&at, end, tag, &count) || count >= (size_t)(end - at))
                return CUT_OFF;
            if (count >= room - done)
                return LENGTH_WRONG;
            count++;
            copy_literal(out + done, at, count, (size_t)(end - at), room - done);
            at += count;
            done += count;
            continue;
        }
        /* a copy: its distance has one byte, two or four */
        count = (size_t)(tag >> 2) + 1;
        if (end - at < ((tag & 3) == 3 ? 4 : (tag & 3)))
            return CUT_OFF;
        if ((tag & 3) == 1) {
            count = (size_t)(tag >> 2 & 7) + 4;
            distance = (size_t)(tag >> 5) << 8 | *at++;
        } else if ((tag & 3) == 2) {
            distance = bytes_load16(at);
            at += 2;
        } else {
            distance = bytes_load32(at);
            at += 4;
        }
        if (distance == 0 || distance > done)
            return "its Snappy data copies what was not there";
        if (count > room - done)
            return LENGTH_WRONG;
        copy_back(out + done, distance, count, room - done);
        done += count;
    }
    return done == room ? NULL : LENGTH_WRONG;
}
