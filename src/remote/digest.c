#include "digest.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

/* ---- MD5 --------------------------------------------------------------------------------------------------------- */

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

static void md5_block(uint32_t state[4], const uint8_t *block)
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
        md5_block(state, at);
    memcpy(last, at, left);
    last[left] = 0x80;
    padded = left + 1 + 8 <= BLOCK ? BLOCK : 2 * BLOCK;
    bytes_store64(last + padded - 8, (uint64_t)count * 8);
    for (size_t i = 0; i < padded; i += BLOCK)
        md5_block(state, last + i);
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

/* ---- SHA-256 ----------------------------------------------------------------------------------------------------- */

#define LENGTH_AT (SHA256_BLOCK - 8)

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2
};

static inline uint32_t rotate(uint32_t x, unsigned by)
{
    return x >> by | x << (32 - by);
}

static inline uint32_t load_big(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void store_big(uint8_t *p, uint32_t v)
{
    for (unsigned i = 0; i < 4; i++)
        p[i] = (uint8_t)(v >> (24 - 8 * i));
}

static void sha256_block(uint32_t state[8], const uint8_t *block)
{
    uint32_t w[64], v[8];

    for (unsigned i = 0; i < 16; i++)
        w[i] = load_big(block + 4 * i);
    for (unsigned i = 16; i < 64; i++)
        w[i] = w[i - 16] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
               (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
    memcpy(v, state, sizeof v);
    for (unsigned i = 0; i < 64; i++) {
        uint32_t choice = (v[4] & v[5]) ^ (~v[4] & v[6]), majority = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        uint32_t a =
            v[7] + (rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25)) + choice + round_constants[i] + w[i];
        uint32_t b = (rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22)) + majority;

        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += a;
        v[0] = a + b;
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] += v[i];
}

void sha256_begin(struct sha256 *h)
{
    static const uint32_t first[8] = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 };

    memset(h, 0, sizeof *h);
    memcpy(h->state, first, sizeof first);
}

void sha256_add(struct sha256 *h, const void *bytes, size_t count)
{
    const uint8_t *p = bytes;
    size_t held = h->bytes % SHA256_BLOCK;

    h->bytes += count;
    if (held > 0) {
        size_t more = SHA256_BLOCK - held < count ? SHA256_BLOCK - held : count;

        memcpy(h->block + held, p, more);
        p += more;
        count -= more;
        if (held + more < SHA256_BLOCK)
            return;
        sha256_block(h->state, h->block);
    }
    for (; count >= SHA256_BLOCK; count -= SHA256_BLOCK, p += SHA256_BLOCK)
        sha256_block(h->state, p);
    if (count > 0)
        memcpy(h->block, p, count);
}

void sha256_end(struct sha256 *h, uint8_t out[SHA256_BYTES])
{
    static const uint8_t one_bit = 0x80, zero = 0;
    uint64_t bits = h->bytes * 8;

    sha256_add(h, &one_bit, 1);
    while (h->bytes % SHA256_BLOCK != LENGTH_AT)
        sha256_add(h, &zero, 1);
    store_big(h->block + LENGTH_AT, (uint32_t)(bits >> 32));
    store_big(h->block + LENGTH_AT + 4, (uint32_t)bits);
    sha256_block(h->state, h->block);
    for (unsigned i = 0; i < 8; i++)
        store_big(out + 4 * i, h->state[i]);
    explicit_bzero(h, sizeof *h);
}

void sha256_of(const void *bytes, size_t count, uint8_t out[SHA256_BYTES])
{
    struct sha256 h;

    sha256_begin(&h);
    sha256_add(&h, bytes, count);
    sha256_end(&h, out);
}

void sha256_hmac(const void *key, size_t key_bytes, const void *bytes, size_t count, uint8_t out[SHA256_BYTES])
{
    uint8_t inner[SHA256_BLOCK] = { 0 }, outer[SHA256_BLOCK];
    struct sha256 h;

    if (key_bytes > SHA256_BLOCK)
        sha256_of(key, key_bytes, inner);
    else
        memcpy(inner, key, key_bytes);
    for (unsigned i = 0; i < SHA256_BLOCK; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    sha256_begin(&h);
    sha256_add(&h, inner, sizeof inner);
    sha256_add(&h, bytes, count);
    sha256_end(&h, out);
    sha256_begin(&h);
    sha256_add(&h, outer, sizeof outer);
    sha256_add(&h, out, SHA256_BYTES);
    sha256_end(&h, out);
    explicit_bzero(inner, sizeof inner);
    explicit_bzero(outer, sizeof outer);
}

void sha256_hex(const uint8_t hash[SHA256_BYTES], char out[SHA256_HEX])
{
    static const char digits[] = "0123456789abcdef";

    for (unsigned i = 0; i < SHA256_BYTES; i++) {
        out[2 * i] = digits[hash[i] >> 4];
        out[2 * i + 1] = digits[hash[i] & 15];
    }
    out[2 * SHA256_BYTES] = '\0';
}
