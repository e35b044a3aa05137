/* sha256.h: SHA-256 (FIPS 180-4) and HMAC of it (RFC 2104), which signatures of requests are made of. */
#ifndef LEAT_REMOTE_SHA256_H
#define LEAT_REMOTE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32u
#define SHA256_BLOCK 64u
#define SHA256_HEX   65u /* in hexadecimal, with the NUL */

struct sha256 {
    uint32_t state[8];
    uint64_t bytes; /* added so far */
    uint8_t block[SHA256_BLOCK];
};

void sha256_begin(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *bytes, size_t count);

/* Gives the hash of all that was added, and zeroes the state. */
void sha256_end(struct sha256 *h, uint8_t out[SHA256_BYTES]);

void sha256_of(const void *bytes, size_t count, uint8_t out[SHA256_BYTES]);

/* `out` may be `key`. */
void sha256_hmac(const void *key, size_t key_bytes, const void *bytes, size_t count, uint8_t out[SHA256_BYTES]);

/* In lower case. */
void sha256_hex(const uint8_t hash[SHA256_BYTES], char out[SHA256_HEX]);

#endif
