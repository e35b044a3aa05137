/*
 * keys.h: credentials for objects in buckets: the keys of the environment (environment.h), else temporary ones, which
 * are asked for before the first request, and again before they expire. Their places, in this order:
 *
 *   web identity   AWS_WEB_IDENTITY_TOKEN_FILE and AWS_ROLE_ARN, as Kubernetes on AWS sets them; STS gives keys
 *   container      AWS_CONTAINER_CREDENTIALS_FULL_URI or _RELATIVE_URI, as ECS and Kubernetes' pod identity set them
 *   instance       EC2's metadata (version 2, with its token)
 *   Google         the metadata of a machine of Google Cloud, which gives a token: for gs:// without HMAC keys
 *   Entra ID       for az:// without a key or a SAS token: AZURE_TENANT_ID and AZURE_CLIENT_ID, and
 *                  AZURE_CLIENT_SECRET or, as Kubernetes on Azure sets it, AZURE_FEDERATED_TOKEN_FILE; else the managed
 *                  identity of the service that runs the program (IDENTITY_ENDPOINT) or of the machine
 *
 * Web identity counts before the files of ~/.aws, container and instance after them. Who has none of these asks without
 * a signature, as public buckets allow. A place that is set and fails is an error. For the Hub there is a token, which
 * a variable or a file holds, or none.
 */
#ifndef LEAT_REMOTE_KEYS_H
#define LEAT_REMOTE_KEYS_H

#include <stdbool.h>
#include <stdint.h>

#include "remote.h"

/* Who asks: an access key's id and secret, and for temporary ones a token. */

/* Keys for requests. The strings belong to somebody else, who zeroes and frees them. */
struct credentials {
    const char *id, *secret;
    const char *token; /* NULL: none */
    const char *query; /* a SAS token of Azure, which every query has; NULL: none */
};

/* ---- Keys -------------------------------------------------------------------------------------------------------- */

struct remote;

enum keys_owner { KEYS_AWS, KEYS_GOOGLE, KEYS_AZURE, KEYS_HUB, KEYS_OWNERS };

struct keys {
    char *id, *secret; /* of AWS */
    char *token;       /* token of AWS's keys, or a token that stands alone */
    int64_t expires;   /* seconds since 1970 */
    uint64_t again;    /* clock_ns() before which keys are not asked for again */
    bool asked;        /* keys were asked for at least once, and there may be none */
};

/* Returns the endpoint that the user's variable names for `u`; NULL: it is Amazon's, Google's, Azure's or the Hub's. */
const char *keys_endpoint(const struct remote *r, const struct url *u);

/* Returns true if the keys for `u` may go with a request to this address, by the table in keys.c. */
bool keys_may_go(const struct remote *r, const struct url *u, const char *to);

/* Gets the keys for requests for `u`, if any can be had. Waits for the answers of a provider, until remote_give_up().
 */
enum leat_status keys_prepare(struct remote *r, const struct url *u, struct leat_error *err);

/* Returns the keys for a URL. All members are NULL if there are no keys; only a token is set for Google's, Entra
 * ID's, or the Hub's. */
struct credentials keys_of(const struct remote *r, const struct url *u);

/* Notes that the server says that the keys have expired. Returns true if keys_prepare() may get others. */
bool keys_expired(struct remote *r, const struct url *u);

void keys_free(struct keys *k); /* zeroes them */

/* ---- Asking ---- */

/* Looks for keys in one place. Sets *k, whose texts are new. Returns LEAT_E_NO_FILE if there are no keys here. */
typedef enum leat_status keys_place(struct remote *r, struct keys *k, struct leat_error *err);
extern keys_place *const keys_places[KEYS_OWNERS][4]; /* places in the order in which they are asked; NULL after the
                                                         last */

/* Returns true if what is secret may go to this address: https://, or http:// of this machine and its provider. */
bool keys_may_be_sent(const char *url);

struct keys_question {
    const char *what;   /* for messages */
    const char *remedy; /* advice about a failure for a caller who set no keys; NULL: the error names what was set */
    enum transfer_method method;
    const char *url;
    char *headers[2]; /* headers "name: value"; NULL: none */
    const char *body;
    uint32_t seconds; /* seconds of silence after which the attempt ends */
    long none;        /* a status of HTTP that means no keys here, in addition to 404 */
    bool near;        /* past any proxy */
    bool aws;         /* uses AWS's own file of certificates, if one is set */
};

#endif
