/*
 * carrier.h: what carries requests to servers, as a table: libcurl, or nothing in a build without it. It
 * knows of HTTP and TLS, and nothing of signatures or tries.
 */
#ifndef LEAT_REMOTE_CARRIER_H
#define LEAT_REMOTE_CARRIER_H

#include "remote.h"

#define CARRIER_HEADERS 10u

struct request {
    const char *method, *url;
    char *headers[CARRIER_HEADERS]; /* "name: value" */
    size_t header_count;
    uint32_t stall_seconds;   /* less than 1 KiB per second for so long ends it; a connection takes no longer */
    bool near;                /* a service of this machine's provider: goes past any proxy */
    const char *certificates; /* a file of those of authorities; NULL: the system's */
};

/* Adds a header to a request. */
enum leat_status request_add(struct request *q, const char *name, const char *value, struct leat_error *err);

/* Adds a token in place of a signature. */
enum leat_status request_add_token(struct request *q, const char *token, struct leat_error *err);

/* The ends of an attempt. */
enum carried {
    CARRIED,             /* an answer, with its code */
    CARRIED_PARTLY,      /* the connection broke, stalled, or was refused after it had worked */
    CARRIED_UNREACHABLE, /* no connection */
    CARRIED_HOPELESS     /* it would fail again: a certificate, the transfer refused the answer */
};

struct carrying;

struct carrier {
    enum leat_status (*open)(struct carrying **out, struct leat_error *err);
    void (*close)(struct carrying *c); /* no attempt is under way; NULL is fine */

    /* Sends a request for `t`, which gets what the answer brings by the calls below. `request` is not kept. */
    enum leat_status (*begin)(struct carrying *c, struct transfer *t, const struct request *request,
                              struct leat_error *err);
    void (*cancel)(struct carrying *c, struct transfer *t);

    /* Moves all attempts on, and waits at most `milliseconds` for something to happen. */
    void (*run)(struct carrying *c, int milliseconds);

    /* Ends that wait, or the next one, at once. From any thread. */
    void (*wake)(struct carrying *c);

    /* An attempt that ended, or NULL; `why` says what went wrong, "" if nothing did. */
    struct transfer *(*ended)(struct carrying *c, enum carried *how, const char **why);
};

extern const struct carrier carrier_library;

/* ---- answer.c: what the carrier reports ---- */

/* A line of the head, or after the body, its end of line included; false: there are too many. */
bool answer_line(struct transfer *t, const char *line, size_t bytes);

/* Returns where the answer sends the client instead, or NULL. */
void answer_redirect(struct transfer *t, const char *url);

/* Bytes of the body; false: the rest is not wanted. */
bool answer_bytes(struct transfer *t, const void *bytes, size_t count);

#endif
