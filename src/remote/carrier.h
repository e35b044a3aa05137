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
    uint32_t stall_seconds;   /* an attempt ends that gets less than 1 KiB per second for this long, and a connection
                                 that takes longer */
    bool near;                /* the server is a service of this machine's provider, and no proxy is used */
    const char *certificates; /* file with the certificates of authorities; NULL: the system's */
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
    void (*close)(struct carrying *c); /* Closes the carrier, with no attempt under way. NULL is fine. */

    /* Sends a request for `t`, which gets the answer by the calls below. `request` is not kept. */
    enum leat_status (*begin)(struct carrying *c, struct transfer *t, const struct request *request,
                              struct leat_error *err);
    void (*cancel)(struct carrying *c, struct transfer *t);

    /* Moves all attempts on, and waits at most `milliseconds` for something to happen. */
    void (*run)(struct carrying *c, int milliseconds);

    /* Ends the wait of run(), or its next one, at once. Any thread may call it. */
    void (*wake)(struct carrying *c);

    /* Returns an attempt that has ended, or NULL. `why` says what went wrong, or is "". */
    struct transfer *(*ended)(struct carrying *c, enum carried *how, const char **why);
};

extern const struct carrier carrier_library;

/* ---- answer.c: what the carrier reports ---- */

/* Takes a line of the head, or one after the body, with its end of line. Returns false if there are too many lines. */
bool answer_line(struct transfer *t, const char *line, size_t bytes);

/* Returns where the answer sends the client instead, or NULL. */
void answer_redirect(struct transfer *t, const char *url);

/* Takes bytes of the body. Returns false if the rest is not wanted. */
bool answer_bytes(struct transfer *t, const void *bytes, size_t count);

#endif
