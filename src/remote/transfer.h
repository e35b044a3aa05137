/*
 * transfer.h: one request to a server and its answer, with all tries that it takes. The caller fills in the first part
 * and gives it to remote_begin(); remote_wait() hands it back when it is done or has failed for good.
 */
#ifndef LEAT_REMOTE_TRANSFER_H
#define LEAT_REMOTE_TRANSFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "url.h"

#define TRANSFER_ETAG       256u /* longer ones count as missing */
#define TRANSFER_ERROR_BODY 2048u

enum transfer_method { TRANSFER_GET, TRANSFER_PUT, TRANSFER_POST, TRANSFER_DELETE };

/* What an answer's headers say. */
struct answer {
    uint64_t size;            /* of the whole thing; UINT64_MAX: not said */
    char etag[TRANSFER_ETAG]; /* with its quotes; "" if there is none */
    char region[32];          /* x-amz-bucket-region */
    uint64_t first;           /* of the range that the answer holds */
    int64_t date;             /* of the server, in seconds since 1970; 0: not said */
    uint32_t retry_after;     /* seconds */
    bool bytes_of_range;      /* there is a Content-Range */
    bool compressed;          /* by its Content-Encoding; there are others that change nothing, as of chunks */
};

struct transfer {
    /* The caller's, and not changed, but for `up_to`: */
    enum transfer_method method;
    const struct url *url;
    const char *query;     /* of S3's calls: encoded, sorted, each member with its =; NULL: none */
    uint64_t first, count; /* of a GET: bytes [first, first + count); count 0: all, which go to `text` */
    bool up_to;            /* of a GET: fewer if the thing ends before; `count` is then what there was */
    uint8_t *out;          /* room for `count` bytes */
    const char *if_match;  /* an etag: else the transfer fails with LEAT_E_MISMATCH; NULL or "": any */
    bool only_new;         /* of what makes a thing: LEAT_E_EXISTS if there is one */
    const void *body;      /* of PUT and POST */
    size_t body_bytes;
    void *context;

    /* What came of it: */
    enum leat_status status;
    struct leat_error error;
    long code; /* of HTTP */
    struct answer answer;
    struct buffer text; /* the answer, if `count` is 0; transfer_free() */
    uint64_t received;  /* bytes in `out` */

    /* The room's, all zero at first: */
    struct transfer *next;
    struct attempt *attempt;
    uint64_t began, not_before; /* of clock_ns() */
    uint32_t tries, redirects;
    uint32_t asked; /* seconds that the server asked to wait, in all */
    bool skew_tried, region_tried, keys_tried;
    bool checked, refused;                /* the answer's head: it is not the range that was asked for */
    bool no_memory;                       /* for what the answer says */
    bool too_long;                        /* the answer's head, and what follows its body */
    size_t head_bytes;                    /* of these */
    char *redirected;                     /* an https:// URL to go to instead */
    uint8_t problem[TRANSFER_ERROR_BODY]; /* the start of the answer to a request that failed */
    size_t problem_bytes, unkept_bytes;   /* of it, and after it */
};

void transfer_free(struct transfer *t);

#endif
