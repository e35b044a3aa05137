/* md5.h: MD5 (RFC 1321), which S3 gives as the etag of a part of an upload. It tells parts apart that nobody made to
 * collide; what protects an upload is the SHA-256 in each request's signature. */
#ifndef LEAT_REMOTE_MD5_H
#define LEAT_REMOTE_MD5_H

#include <stddef.h>
#include <stdint.h>

#define MD5_BYTES 16u
#define MD5_ETAG  48u /* room for "0123...-10000" with its quotes and NUL */

void md5_of(const void *bytes, size_t count, uint8_t out[MD5_BYTES]);

/* As an etag: in quotes; `parts` above 0 is appended ("...-3"). */
void md5_etag(const uint8_t hash[MD5_BYTES], uint64_t parts, char out[MD5_ETAG]);

/* The MD5 that an etag of a single part is; 0: it is none. */
int md5_of_etag(const char *etag, uint8_t out[MD5_BYTES]);

#endif
