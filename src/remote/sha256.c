/* sha256.c: see sha256.h. */
#include "sha256.h"

#include <string.h>

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

static void add_block(uint32_t state[8], const uint8_t *block)
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
        add_block(h->state, h->block);
    }
    for (; count >= SHA256_BLOCK; count -= SHA256_BLOCK, p += SHA256_BLOCK)
        add_block(h->state, p);
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
    add_block(h->state, h->block);
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
