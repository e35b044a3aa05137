/* md5.c: see md5.h. */
#include "md5.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

#define BLOCK 64u

/* floor(2^32 * |sin(i + 1)|) */
static const uint32_t sines[64] = { 0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613,
                                    0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193,
                                    0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d,
                                    0x02441453, 0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed,
                                    0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942, 0x8771f681, 0x6d9d6122,
                                    0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa,
                                    0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244,
                                    0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
                                    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb,
                                    0xeb86d391 };

static void add_block(uint32_t state[4], const uint8_t *block)
{
    static const uint8_t turns[4][4] = { { 7, 12, 17, 22 }, { 5, 9, 14, 20 }, { 4, 11, 16, 23 }, { 6, 10, 15, 21 } };
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];

    for (unsigned i = 0; i < 64; i++) {
        uint32_t mix[4] = { (b & c) | (~b & d), (d & b) | (~d & c), b ^ c ^ d, c ^ (b | ~d) };
        unsigned word[4] = { i, 5 * i + 1, 3 * i + 5, 7 * i };
        uint32_t sum = a + mix[i / 16] + sines[i] + bytes_load32(block + 4 * (word[i / 16] % 16));
        unsigned by = turns[i / 16][i % 4];

        a = d;
        d = c;
        c = b;
        b += sum << by | sum >> (32 - by);
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
}

void md5_of(const void *bytes, size_t count, uint8_t out[MD5_BYTES])
{
    uint32_t state[4] = { 0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476 };
    uint8_t last[2 * BLOCK] = { 0 };
    const uint8_t *at = bytes;
    size_t left = count, padded;

    for (; left >= BLOCK; left -= BLOCK, at += BLOCK)
        add_block(state, at);
    memcpy(last, at, left);
    last[left] = 0x80;
    padded = left + 1 + 8 <= BLOCK ? BLOCK : 2 * BLOCK;
    bytes_store64(last + padded - 8, (uint64_t)count * 8);
    for (size_t i = 0; i < padded; i += BLOCK)
        add_block(state, last + i);
    for (unsigned i = 0; i < 4; i++)
        bytes_store32(out + 4 * i, state[i]);
}

void md5_etag(const uint8_t hash[MD5_BYTES], uint64_t parts, char out[MD5_ETAG])
{
    char hex[2 * MD5_BYTES + 1];

    for (unsigned i = 0; i < MD5_BYTES; i++)
        (void)snprintf(hex + 2 * i, 3, "%02x", hash[i]);
    if (parts > 0)
        (void)snprintf(out, MD5_ETAG, "\"%s-%u\"", hex, (unsigned)parts);
    else
        (void)snprintf(out, MD5_ETAG, "\"%s\"", hex);
}

int md5_of_etag(const char *etag, uint8_t out[MD5_BYTES])
{
    size_t quoted = etag[0] == '"', length = strlen(etag);

    if (length != 2 * MD5_BYTES + 2 * quoted)
        return 0;
    for (unsigned i = 0; i < MD5_BYTES; i++) {
        int high = bytes_hex_digit((uint8_t)etag[quoted + 2 * i]);
        int low = bytes_hex_digit((uint8_t)etag[quoted + 2 * i + 1]);

        if (high < 0 || low < 0)
            return 0;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return 1;
}
