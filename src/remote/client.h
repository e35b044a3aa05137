/* client.h: what a client consists of, for the files that send its requests and judge the answers. */
#ifndef LEAT_REMOTE_CLIENT_H
#define LEAT_REMOTE_CLIENT_H

#include <stdatomic.h>

#include "carrier.h"
#include "environment.h"
#include "keys.h"
#include "remote.h"

struct remote {
    struct remote_options options;
    struct environment environment;
    struct keys keys[KEYS_OWNERS];
    struct carrying *carrying;
    struct transfer *under_way; /* has an attempt */
    struct transfer *waiting;   /* transfers to be tried at their not_before */
    int64_t skew;               /* lead of the server's clock, in seconds, once it has refused this machine's */
    uint64_t max_listed;        /* objects of one list */
    char region[32];
    struct remote_counts counts;
    uint64_t told;      /* options.waits was told that nothing is tried before */
    bool azure_settled; /* its variables, which only its URLs need */
    bool answered;      /* a server has: one that cannot be reached then is away for a while */
    atomic_bool woken, given_up;
};

/* Adds a header to a request. */
enum leat_status client_add(struct request *q, const char *name, const char *value, struct leat_error *err);

/* Adds a token in place of a signature. */
enum leat_status client_add_token(struct request *q, const char *token, struct leat_error *err);

/* Returns the endpoint that the user's variable names for `u`; NULL: it is Amazon's, Google's, Azure's or the Hub's. */
const char *client_endpoint(const struct remote *r, const struct url *u);

/* The file of certificates of authorities; NULL: the system's. libcurl, unlike its command, reads no variable. */
const char *client_certificates(const struct remote *r, bool aws);

#endif
