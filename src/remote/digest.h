/* digest.h: the digests of S3's protocol. */
#ifndef LEAT_DIGEST_H
#define LEAT_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* ---- MD5 --------------------------------------------------------------------------------------------------------- */

/*
 * MD5 (RFC 1321), which S3 gives as the etag of a part of an upload. It tells apart parts that were not made to
 * collide; what protects an upload is the SHA-256 in each request's signature.
 */

#define MD5_BYTES 16u
#define MD5_ETAG  48u /* room for "0123...-10000" with its quotes and NUL */

void md5_of(const void *bytes, size_t count, uint8_t out[MD5_BYTES]);

/* Writes a hash as an etag: in quotes; `parts` above 0 is appended ("...-3"). */
void md5_etag(const uint8_t hash[MD5_BYTES], uint64_t parts, char out[MD5_ETAG]);

/* Returns the MD5 that an etag of a single part holds; 0: it holds none. */
int md5_of_etag(const char *etag, uint8_t out[MD5_BYTES]);

/* ---- SHA-256 ----------------------------------------------------------------------------------------------------- */

/* SHA-256 (FIPS 180-4) and HMAC of it (RFC 2104), which signatures of requests are made of. */

#define SHA256_BYTES 32u
#define SHA256_BLOCK 64u
#define SHA256_HEX   65u /* length in hexadecimal, with the NUL */

struct sha256 {
    uint32_t state[8];
    uint64_t bytes; /* added so far */
    uint8_t block[SHA256_BLOCK];
};

void sha256_begin(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *bytes, size_t count);

/* Computes the hash of all that was added, and zeroes the state. */
void sha256_end(struct sha256 *h, uint8_t out[SHA256_BYTES]);

void sha256_of(const void *bytes, size_t count, uint8_t out[SHA256_BYTES]);

/* Computes the HMAC; `out` may be `key`. */
void sha256_hmac(const void *key, size_t key_bytes, const void *bytes, size_t count, uint8_t out[SHA256_BYTES]);

/* In lower case. */
void sha256_hex(const uint8_t hash[SHA256_BYTES], char out[SHA256_HEX]);

#endif
