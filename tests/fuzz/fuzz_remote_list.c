/*
 * fuzz_remote_list.c: any bytes as a server's list of a bucket: it is read to the same entries as a copy of it, keys
 * begin with the prefix and have no NUL, and a list that is read to its end ends with what it says.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "remote/remote.h"

static enum leat_status take(void *context, const char *key, uint64_t size, const char *etag, struct leat_error *err)
{
    uint64_t *sum = context;

    (void)err;
    FUZZ_CHECK(strncmp(key, "p/", 2) == 0 && strlen(key) <= 1024 && strlen(etag) < TRANSFER_ETAG);
    for (; *key; key++)
        *sum = *sum * 31 + (uint8_t)*key;
    *sum = *sum * 31 + size;
    return LEAT_OK;
}

static enum leat_status read_copy(enum url_scheme scheme, const uint8_t *data, size_t size, uint64_t *sum, char **next)
{
    struct url url = { .scheme = scheme, .name = (char[]) { "s3://b/p/" }, .key = (char[]) { "p/" } };
    uint8_t *copy = malloc(size ? size : 1); /* exactly as long, so that a byte too many is seen */
    struct leat_error err;
    enum leat_status s;

    FUZZ_CHECK(copy);
    if (size)
        memcpy(copy, data, size);
    *sum = 0;
    s = remote_list_read(copy, size, &url, take, sum, next, &err);
    free(copy);
    return s;
}

static void read_twice(enum url_scheme scheme, const uint8_t *data, size_t size)
{
    uint64_t sum, other;
    char *next, *other_next;
    enum leat_status s = read_copy(scheme, data, size, &sum, &next);
    enum leat_status t = read_copy(scheme, data, size, &other, &other_next);

    FUZZ_CHECK(s == t && sum == other && !next == !other_next);
    FUZZ_CHECK(s == LEAT_OK || !next);
    free(next);
    free(other_next);
}

FUZZ_TARGET(remote_list)
{
    read_twice(URL_S3, data, size);
    read_twice(URL_AZURE, data, size);
    return 0;
}
