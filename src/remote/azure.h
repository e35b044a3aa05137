/*
 * azure.h: what Azure's Blob service has of its own: the account that its variables name, and its headers with their
 * signature. Its XML is read where S3's is (object.c), and its blocks are uploads (blocks.c).
 *
 * The variables name one account, its key or SAS token, and perhaps another endpoint. They count for URLs that name
 * that account or none. Without them, and for other accounts, a token of Entra ID counts if there is one (keys.h); else
 * requests are not signed.
 */
#ifndef LEAT_REMOTE_AZURE_H
#define LEAT_REMOTE_AZURE_H

#include <time.h>

#include "carrier.h"
#include "environment.h"
#include "keys.h"
#include "remote.h"

/* The header with the MD5s of an object's parts, which S3's etags contain; it has MD5_ETAG characters. */
#define AZURE_MADE_OF "x-ms-meta-leat_md5"

/* Replaces the other variables by those of a connection string. Returns LEAT_E_ARGUMENT for a wrong connection
 * string, key or endpoint. May be called again. */
enum leat_status azure_settle(struct environment *e, struct leat_error *err);

/* Returns the account as id and its key as secret, or a SAS token, without its ?, as query; all NULL: neither is
 * set. */
struct credentials azure_keys(const struct environment *e, const struct url *u);

/* Returns the endpoint that a variable names for the account of a URL; NULL: none. */
const char *azure_named(const struct environment *e, const struct url *u);

/* Sets *endpoint to where the account's containers are; the caller frees it. LEAT_E_ARGUMENT: no account is named. */
enum leat_status azure_endpoint(char **endpoint, const struct environment *e, const struct url *u,
                                struct leat_error *err);

/* Adds the headers of a request, and its signature or a token, if there are any. `moment` is the server's time. */
enum leat_status azure_headers(struct request *q, const struct transfer *t, const struct address *a,
                               const struct credentials *c, time_t moment, struct leat_error *err);

#endif
