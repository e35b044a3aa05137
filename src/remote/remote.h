/*
 * remote.h: the room of objects on servers: from a URL to bytes, and back. An *object* is what a URL names: an object
 * of a bucket, on a server that speaks S3's protocol or Azure's, a file on the Hugging Face Hub, or one behind HTTPS. A
 * *transfer* is one request with all its tries; a client has many under way at once, on connections that stay open.
 *
 * What may enter: a protocol, a way to sign requests, a source of keys. What the bytes mean, files and caches on this
 * machine belong elsewhere. libcurl carries the bytes (carrier.c); signatures, tries, waiting and what is believed of
 * an answer are decided here:
 *
 *   - An answer that is lost, cut short, slow (less than 1 KiB per second for `stall_seconds`), or that says "later"
 *     (408, 429, 500, 502 to 504) is asked for again, up to `max_tries` times, after a random time that doubles, and
 *     what the server says. A range goes on where it stopped. So is a server that cannot be reached, once any has
 *     answered this client; before that, four tries have to do: a wrong name is said soon.
 *   - An object has an etag, and a range is asked for with it: what has changed in between is LEAT_E_MISMATCH.
 *   - No key, token or signature is in a message. They are zeroed when the client is closed.
 *   - The Hub redirects to where a file is kept, on another host, with an address that counts for some time. The token
 *     goes to the Hub alone. The address is kept for the next ranges, and asked for again once it is refused: the Hub
 *     limits how often it is asked.
 */
#ifndef LEAT_REMOTE_REMOTE_H
#define LEAT_REMOTE_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "digest.h"
#include "url.h"

/* ---- A transfer -------------------------------------------------------------------------------------------------- */

/*
 * One request to a server and its answer, with all tries that it takes. The caller fills in the first part and gives it
 * to remote_begin(); remote_wait() hands it back when it is done or has failed for good.
 */

#define TRANSFER_ETAG       256u /* room for an etag; longer etags count as missing */
#define TRANSFER_ERROR_BODY 2048u
#define TRANSFER_NEXT       1024u

enum transfer_method { TRANSFER_GET, TRANSFER_PUT, TRANSFER_POST, TRANSFER_DELETE };

/* The contents of an answer's headers. */
struct answer {
    uint64_t size;            /* size of the whole object; UINT64_MAX: not said */
    char etag[TRANSFER_ETAG]; /* etag with its quotes; "" if there is none */
    char made_of[MD5_ETAG];   /* etag that S3 would give an object that leat has put into Azure; "": not said */
    char region[32];          /* x-amz-bucket-region */
    char error[32];           /* the Hub's word for what is wrong: X-Error-Code */
    char next[TRANSFER_NEXT]; /* the query of the next page of a list: Link */
    uint64_t first;           /* first byte of the range that the answer holds */
    int64_t date;             /* date of the server, in seconds since 1970; 0: not said */
    uint32_t retry_after;     /* seconds */
    uint32_t exhausted;       /* seconds until requests are left again, if none are left now; 0: not said */
    bool bytes_of_range;      /* there is a Content-Range */
    bool linked;              /* the etag is that of the object that a redirect leads to */
    bool more;                /* a list goes on; `next` is empty if it is too long */
    bool bad_token;           /* the Hub does not know the token */
    bool compressed;          /* its Content-Encoding is a compression; there are others that change nothing, such as
                               * chunks */
};

struct transfer {
    /* The caller fills in these members, which stay unchanged except `up_to`: */
    enum transfer_method method;
    const struct url *url;
    const char *query;     /* S3's calls: encoded, sorted, each member with its =; NULL: none */
    const char *call;      /* the Hub's calls: the path below its endpoint, encoded; NULL: the file that `url` names */
    char **moved;          /* place where the Hub keeps the file, for other transfers of it; NULL: it is not kept. The
                            * caller frees it by text_forget() */
    uint64_t first, count; /* GET: bytes [first, first + count); count 0: all, which go to `text` */
    bool up_to;            /* GET: takes fewer bytes if the object ends before; `count` is then how many there were */
    uint8_t *out;          /* room for `count` bytes */
    const char *if_match;  /* etag that the object must have, else the transfer fails with LEAT_E_MISMATCH; NULL or
                              "": any */
    bool only_new;         /* for calls that make an object: LEAT_E_EXISTS if there is one */
    const char *made_of;   /* for calls that make an object of parts in Azure: its answer.made_of from then on */
    const void *body;      /* bytes of a PUT or POST */
    size_t body_bytes;
    void *context;

    /* Results: */
    enum leat_status status;
    struct leat_error error;
    long code; /* code of HTTP */
    struct answer answer;
    struct buffer text; /* the answer, if `count` is 0; transfer_free() frees it */
    uint64_t received;  /* bytes in `out` */

    /* These members belong to the room, and are all zero at first: */
    struct transfer *next;
    struct attempt *attempt;
    uint64_t began, not_before; /* times of clock_ns() */
    uint32_t tries, redirects;
    uint32_t asked; /* seconds that the server asked to wait, in all */
    bool skew_tried, region_tried, keys_tried, moved_tried;
    bool secure;                          /* the transfer began with https:// */
    bool withheld;                        /* no key or token was sent: it went to a host that gets none */
    char version[TRANSFER_ETAG];          /* etag that the redirecting server gave, which is the one that counts */
    bool checked, refused;                /* the answer's head: it is not the range that was asked for */
    bool no_memory;                       /* memory was missing for the answer */
    bool too_long;                        /* the answer's head, or the lines after its body, are too long */
    size_t head_bytes;                    /* bytes of the headers */
    char *redirected;                     /* https:// URL to go to instead */
    uint8_t problem[TRANSFER_ERROR_BODY]; /* the start of the answer to a request that failed */
    size_t problem_bytes, unkept_bytes;   /* bytes in `problem`, and number of bytes after them that were not kept */
};

void transfer_free(struct transfer *t);

/* ---- The client -------------------------------------------------------------------------------------------------- */

struct remote;

struct remote_options {
    uint32_t max_tries;     /* tries of a transfer; 0: AWS_MAX_ATTEMPTS, else 10 */
    uint32_t stall_seconds; /* 0: 20 */
    /* Asked some ten times per second; if it returns true, waiting ends with LEAT_E_STOPPED. NULL: nothing ends it. */
    bool (*stop)(void *context);
    void *context;
    /* Called by the thread that waits when nothing is under way for at least two seconds, since the server failed or
     * asked for that. NULL: not called. */
    void (*waits)(void *context, const char *why);
};
#define REMOTE_WAITS 1200u /* room for `why` */

/* Opens a client, which one thread at a time may use. `options` NULL: the defaults. LEAT_E_UNSUPPORTED without libcurl.
 */
enum leat_status remote_open(struct remote **out, const struct remote_options *options, struct leat_error *err);

/* Closes the client, with no transfer under way. NULL is fine. */
void remote_close(struct remote *r);

/* ---- One object ---- */

struct remote_object {
    uint64_t size;
    char etag[TRANSFER_ETAG]; /* etag; "": the server gives none */
    char made_of[MD5_ETAG];   /* see struct answer */
};

/* Asks for an object. Returns LEAT_E_NO_FILE if it does not exist. Returns LEAT_E_UNSUPPORTED if the server does not
 * say how long it is, or does not give parts of it. */
enum leat_status remote_stat(struct remote *r, const struct url *url, struct remote_object *object,
                             struct leat_error *err);

/* One of several objects to look at, at once, and its first bytes. */
struct remote_look {
    const struct url *url;
    uint8_t *first;
    uint64_t count; /* room in bytes, at least 1; becomes the number of bytes that came, which is less if the object
                       is shorter */
    struct remote_object object;
    struct transfer transfer; /* zero */
};
enum leat_status remote_look(struct remote *r, struct remote_look *looks, size_t count, struct leat_error *err);

/* Sets *server to where requests for a URL of Azure's go by the present variables; the caller frees it. */
enum leat_status remote_azure_server(char **server, const struct url *url, struct leat_error *err);

/* Reads exactly these bytes of an object that remote_stat() has described, by several transfers at once. */
enum leat_status remote_read(struct remote *r, const struct url *url, const struct remote_object *object,
                             uint64_t first, void *out, uint64_t count, struct leat_error *err);

/*
 * Calls `take` for each object below a URL s3://BUCKET/PREFIX, in the server's order, mostly that of their keys; its
 * failure ends the list. Returns LEAT_E_IO for a list that repeats an object, or has no end, LEAT_E_UNSUPPORTED for
 * one of more objects than LEAT_MAX_LISTED.
 */
typedef enum leat_status remote_take(void *context, const char *key, uint64_t size, const char *etag,
                                     struct leat_error *err);
enum leat_status remote_list(struct remote *r, const struct url *url, remote_take *take, void *context,
                             struct leat_error *err);

/* A list under way. remote_take_once() is `take` for each of its objects, and fails if they are too many, or go in a
 * circle: not every server lists keys in their order, but none lists one twice. Its context is the listing. */
#define REMOTE_KEY 4096u
struct remote_listing {
    const struct remote *remote;
    const struct url *url;
    remote_take *take;
    void *context;
    char kept[REMOTE_KEY + 1]; /* a key from before, to find circles; "": none */
    uint64_t objects;          /* so far */
};
remote_take remote_take_once;

/* Returns LEAT_E_UNSUPPORTED if so many objects, or uploads, are more than LEAT_MAX_LISTED allows in a list. */
enum leat_status remote_check_listed(const struct remote *r, uint64_t objects, const struct url *url,
                                     struct leat_error *err);

/* Reads one answer of a list. *next becomes the text that the next request begins with, which the caller frees, or
 * NULL. Every byte may be hostile; texts are decoded in place. */
enum leat_status remote_list_read(void *xml, size_t bytes, const struct url *url, remote_take *take, void *context,
                                  char **next, struct leat_error *err);

/* ---- Many at once ---- */

#define REMOTE_PART          ((uint64_t)8 << 20) /* size of a range in bulk transfers */
#define REMOTE_DAMAGED_TRIES 3u                  /* tries for bytes that arrive, but are not what they should be */

/* Begins a transfer, which must stay where it is until remote_wait() gives it. */
enum leat_status remote_begin(struct remote *r, struct transfer *t, struct leat_error *err);

/* Sets *done to the next transfer that is done, or has failed (done->status); NULL if none is under way. */
enum leat_status remote_wait(struct remote *r, struct transfer **done, struct leat_error *err);

/* Makes remote_wait(), or its next call, return LEAT_E_AGAIN soon, without an error, unless a transfer is done: the
 * caller has something else to do. Any thread may call it. */
void remote_wake(struct remote *r);

/* Gives up what is under way: calls that wait for new keys, now or later, soon return LEAT_E_STOPPED. These include
 * remote_begin(), which waits for nothing else. Any thread may call this. */
void remote_give_up(struct remote *r);

/* remote_abandon() ends all transfers under way, so that they can be freed: after remote_wait() has failed, or to
 * give up. (After LEAT_E_STOPPED, waiting may go on instead.) remote_cancel() ends one transfer, if it is under way. */
void remote_abandon(struct remote *r);
void remote_cancel(struct remote *r, struct transfer *t);

/* Begins a transfer, waits for it, and returns its status. No other transfer may be under way. */
enum leat_status remote_run(struct remote *r, struct transfer *t, struct leat_error *err);

/* Figures since the client was opened. */
struct remote_counts {
    uint64_t requests, retries, bytes;
};
void remote_count(const struct remote *r, struct remote_counts *counts);

#endif
