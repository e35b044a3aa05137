#include "signature.h"

#include <stdio.h>
#include <string.h>

#include "digest.h"

#define DAY     8u /* length of the date in a moment's text */
#define SERVICE "s3"
#define METHOD  "AWS4-HMAC-SHA256"

void signature_time(time_t moment, char out[SIGNATURE_TIME])
{
    struct tm utc;

    out[0] = '\0';
    if (gmtime_r(&moment, &utc))
        (void)strftime(out, SIGNATURE_TIME, "%Y%m%dT%H%M%SZ", &utc);
}

static void add_text(struct sha256 *h, const char *text)
{
    sha256_add(h, text, strlen(text));
}

/* "host;range;x-amz-date" */
static bool list_names(const struct signature_request *r, char *names, size_t room)
{
    size_t used = 0;

    for (size_t i = 0; i < r->header_count; i++) {
        int count = snprintf(names + used, room - used, "%s%s", i ? ";" : "", r->headers[i].name);

        if (count < 0 || (size_t)count >= room - used)
            return false;
        used += (size_t)count;
    }
    return true;
}

/* Computes the hash of the request in the form that the service signs. */
static void hash_request(const struct signature_request *r, const char *names, char hex[SHA256_HEX])
{
    const char *const lines[] = { r->method, r->path, r->query };
    uint8_t hash[SHA256_BYTES];
    struct sha256 h;

    sha256_begin(&h);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        add_text(&h, lines[i]);
        add_text(&h, "\n");
    }
    for (size_t i = 0; i < r->header_count; i++) {
        add_text(&h, r->headers[i].name);
        add_text(&h, ":");
        add_text(&h, r->headers[i].value);
        add_text(&h, "\n");
    }
    add_text(&h, "\n");
    add_text(&h, names);
    add_text(&h, "\n");
    add_text(&h, r->payload);
    sha256_end(&h, hash);
    sha256_hex(hash, hex);
}

/* Makes the key of a day, region and service from the secret, step by step. */
static void make_key(const char *secret, const char *day, const char *region, uint8_t key[SHA256_BYTES])
{
    struct sha256 h;
    uint8_t first[SHA256_BLOCK] = "AWS4";
    size_t bytes = strlen(secret);

    if (bytes + 4 <= sizeof first) {
        memcpy(first + 4, secret, bytes);
        bytes += 4;
    } else { /* HMAC hashes a key that is longer than its block */
        sha256_begin(&h);
        sha256_add(&h, first, 4);
        sha256_add(&h, secret, bytes);
        sha256_end(&h, first);
        bytes = SHA256_BYTES;
    }
    sha256_hmac(first, bytes, day, DAY, key);
    sha256_hmac(key, SHA256_BYTES, region, strlen(region), key);
    sha256_hmac(key, SHA256_BYTES, SERVICE, strlen(SERVICE), key);
    sha256_hmac(key, SHA256_BYTES, "aws4_request", strlen("aws4_request"), key);
    explicit_bzero(first, sizeof first);
}

bool signature_make(const struct signature_request *r, const struct credentials *c, const char *region,
                    const char *moment, char out[SIGNATURE_AUTHORIZATION])
{
    char request[SHA256_HEX], signature[SHA256_HEX], text[256], names[160];
    uint8_t key[SHA256_BYTES];
    int count;

    if (!list_names(r, names, sizeof names))
        return false;
    hash_request(r, names, request);
    count = snprintf(text, sizeof text, METHOD "\n%s\n%.*s/%s/" SERVICE "/aws4_request\n%s", moment, (int)DAY, moment,
                     region, request);
    if (count < 0 || (size_t)count >= sizeof text)
        return false;
    make_key(c->secret, moment, region, key);
    sha256_hmac(key, sizeof key, text, (size_t)count, key);
    sha256_hex(key, signature);
    explicit_bzero(key, sizeof key);
    count = snprintf(out, SIGNATURE_AUTHORIZATION,
                     METHOD " Credential=%s/%.*s/%s/" SERVICE "/aws4_request,SignedHeaders=%s,Signature=%s", c->id,
                     (int)DAY, moment, region, names, signature);
    return count > 0 && (size_t)count < SIGNATURE_AUTHORIZATION;
}
