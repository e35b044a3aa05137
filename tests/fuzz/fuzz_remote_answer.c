/*
 * fuzz_remote_answer.c: any bytes as the answer to a request of a bucket or of the Hub: its head line by line, then its
 * body in pieces. What is kept of it fits: no byte beyond the range that was asked for, an etag, a region and a query
 * without control characters, a first byte before the end; and every answer has a sentence.
 */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "remote/answer.h"
#include "remote/carrier.h"
#include "remote/url.h"

#define ROOM 64u

/* Exactly as long, so that a byte too many is seen. */
static uint8_t *copy_of(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size ? size : 1);

    FUZZ_CHECK(copy);
    if (size)
        memcpy(copy, data, size);
    return copy;
}

static const uint8_t *feed_head(struct transfer *t, const uint8_t *at, const uint8_t *end)
{
    while (at < end) {
        const uint8_t *newline = memchr(at, '\n', (size_t)(end - at)), *next = newline ? newline + 1 : end;
        uint8_t *line = copy_of(at, (size_t)(next - at));
        bool last = next - at <= 2;

        answer_line(t, (const char *)line, (size_t)(next - at));
        free(line);
        at = next;
        if (last)
            break;
    }
    return at;
}

static void feed_body(struct transfer *t, const uint8_t *at, const uint8_t *end, size_t piece)
{
    bool more = true;

    for (size_t bytes; at < end && more; at += bytes) {
        uint8_t *copy;

        bytes = (size_t)(end - at) < piece ? (size_t)(end - at) : piece;
        copy = copy_of(at, bytes);
        more = answer_bytes(t, copy, bytes);
        free(copy);
    }
}

static void check_kept(const struct transfer *t, uint64_t asked)
{
    const struct answer *a = &t->answer;

    FUZZ_CHECK(t->count <= asked && t->received <= t->count && t->problem_bytes <= sizeof t->problem);
    FUZZ_CHECK(strlen(a->etag) < sizeof a->etag && (!*a->region || address_is_region(a->region)));
    for (const char *c = a->etag; *c; c++)
        FUZZ_CHECK((uint8_t)*c >= ' ' && *c != 0x7f);
    for (const char *c = a->next; *c; c++)
        FUZZ_CHECK((uint8_t)*c > ' ' && (uint8_t)*c < 0x7f);
    FUZZ_CHECK((a->more || !*a->next) && strspn(a->error, "\r\n \033") == 0);
    FUZZ_CHECK(!a->bytes_of_range || a->first < a->size);
    FUZZ_CHECK(t->received == 0 || (answer_same_version(t) && !t->refused && (t->code == 200 || t->code == 206)));
}

FUZZ_TARGET(remote_answer)
{
    uint8_t how = size ? data[0] : 0, *out = malloc(ROOM);
    struct url url = { .scheme = how & 32 ? URL_HF : URL_S3,
                       .name = (char[]) { "s3://b/k" },
                       .bucket = (char[]) { "datasets/b" },
                       .key = (char[]) { "k" } };
    uint64_t asked = how & 1 ? 0 : how >> 4 ? ROOM : 1;
    struct transfer t = { .url = &url,
                          .count = asked,
                          .out = out,
                          .up_to = how & 2,
                          .if_match = how & 4 ? "\"e\"" : NULL,
                          .first = how & 8 ? 7 : 0,
                          .answer = { .size = UINT64_MAX } };
    const uint8_t *end = data + size, *body = size ? feed_head(&t, data + 1, end) : end;
    struct leat_error err;

    FUZZ_CHECK(out);
    feed_body(&t, body, end, 1 + how % 32);
    check_kept(&t, asked);
    err.message[0] = '\0';
    FUZZ_CHECK(answer_failed(&t, how & 1, NULL, &err) != LEAT_OK && err.message[0]);
    transfer_free(&t);
    free(out);
    return 0;
}
