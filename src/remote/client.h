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
    struct transfer *waiting;   /* transfers to be tried again at their not_before */
    int64_t skew;               /* lead of the server's clock, in seconds, once it has refused this machine's */
    uint64_t max_listed;        /* the most objects that one list may have */
    char region[32];
    struct remote_counts counts;
    uint64_t told;      /* time until which options.waits was told that nothing is tried */
    bool azure_settled; /* the variables of Azure were read, which only its URLs need */
    bool answered;      /* a server has answered: one that cannot be reached later is only away for a while */
    atomic_bool woken, given_up;
};

#endif
