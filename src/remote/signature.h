/* signature.h: AWS Signature Version 4, in headers, which S3 and servers with its protocol demand of requests. It is
 * our own, because libcurl's has had errors with sorted queries and encoded paths in versions that are still in use. */
#ifndef LEAT_REMOTE_SIGNATURE_H
#define LEAT_REMOTE_SIGNATURE_H

#include <stddef.h>
#include <time.h>

#include "keys.h"

#define SIGNATURE_TIME          17u  /* "20130524T000000Z" with its NUL */
#define SIGNATURE_AUTHORIZATION 512u /* room for the header's value */
/* SHA-256 of no bytes, in hexadecimal */
#define SIGNATURE_EMPTY "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

struct signed_header {
    const char *name, *value; /* the name in lower case */
};

struct signature_request {
    const char *method;
    const char *path;                    /* encoded, beginning with / */
    const char *query;                   /* encoded, sorted, each member with its =; "" for none */
    const struct signed_header *headers; /* those to be signed, sorted by name */
    size_t header_count;
    const char *payload; /* SHA-256 of the body, in hexadecimal */
};

/* Writes a moment in the form of the header x-amz-date. */
void signature_time(time_t moment, char out[SIGNATURE_TIME]);

/* Writes the value of the header Authorization. `moment` is that of x-amz-date. Returns false if it does not fit. */
bool signature_make(const struct signature_request *r, const struct credentials *c, const char *region,
                    const char *moment, char out[SIGNATURE_AUTHORIZATION]);

#endif
