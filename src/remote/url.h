/*
 * url.h: names of objects on servers, s3://BUCKET/KEY, gs://BUCKET/KEY, az://CONTAINER/KEY, hf://REPOSITORY/PATH,
 * https://HOST/PATH and http://HOST/PATH; and where the requests for them go. Azure's containers have more names:
 * azure://, abfs:// and abfss:// for az://, and CONTAINER@ACCOUNT.blob.core.windows.net (or .dfs.), or that host before
 * the container. What Azure calls a container and a blob is a bucket and an object here.
 */
#ifndef LEAT_REMOTE_URL_H
#define LEAT_REMOTE_URL_H

#include <stdbool.h>

#include "leat.h"

enum url_scheme { URL_S3, URL_GS, URL_AZURE, URL_HF, URL_HTTPS, URL_HTTP };

struct url {
    enum url_scheme scheme;
    char *text;     /* text as it was given; no message shows it, since an https:// URL may hold a signature */
    char *name;     /* name for messages: the text without what follows a ? */
    char *bucket;   /* bucket of s3://, gs:// and az://; repository of hf://, datasets/ORG/NAME or models/ORG/NAME;
                     * else NULL */
    char *key;      /* key in the bucket or repository; may be empty or end in /, for a prefix */
    char *host;     /* host of an az:// URL that names its account: ACCOUNT.blob.core.windows.net; else NULL */
    char *revision; /* revision of an hf:// URL, which follows the @: decoded; NULL: none is given, which is HUB_MAIN */
    size_t stem;    /* length of the start of an hf:// URL's `text` before the key and its / */
};

#define HUB_MAIN "main"

/* Returns true if a name is meant for this room: it begins with one of the schemes. */
bool url_is(const char *text);

/* Parses a URL. Returns LEAT_E_ARGUMENT if it has no bucket or host, has a user or password, or has control
 * characters (but a key may have them). */
enum leat_status url_parse(struct url *u, const char *text, struct leat_error *err);

/* Makes the URLs of a dataset's two files from the URL of the dataset or of one of the files. A query (from a ? on)
 * stays at the end of both. In a bucket, a ? is part of the key. */
enum leat_status url_dataset(const char *text, struct url *index, struct url *tokens, struct leat_error *err);

/* Makes the URL of NAME + SUFFIX. The suffix stands before a ?. */
enum leat_status url_beside(struct url *u, const struct url *base, const char *suffix, struct leat_error *err);

void url_free(struct url *u);

/* Returns true if the URL names an object in a bucket, whose requests are signed. */
static inline bool url_in_bucket(const struct url *u)
{
    return u->scheme <= URL_AZURE;
}

/*
 * Returns true if the URL names a file on the Hugging Face Hub, hf://[datasets/|models/][ORG/]NAME[@REVISION]/PATH.
 * As for the Hub's own client, the first two names are ORG and NAME unless an @ says otherwise, and a revision
 * refs/convert/NAME or refs/pr/NUMBER may have its slashes; in other revisions they are %2F.
 */
static inline bool url_in_hub(const struct url *u)
{
    return u->scheme == URL_HF;
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

/* The address of requests for a URL: host and path, by the endpoint and the region. */

struct address {
    char *url;  /* URL, without a query if it is in a bucket or on the Hub */
    char *host; /* value of the header Host, with its port */
    char *path; /* path, encoded; only for an object in a bucket */
};

#define HUB_ENDPOINT "https://huggingface.co"

/* Makes the address of requests. `endpoint` NULL means AWS's, Google's or the Hub's own; Azure always has one.
 * Returns LEAT_E_ARGUMENT for an endpoint that is no URL. Call address_free() after a failure, too. */
enum leat_status address_make(struct address *a, const struct url *u, const char *endpoint, const char *region,
                              struct leat_error *err);

/* Returns true if a text may be an endpoint: https://HOST or http://HOST, and a path perhaps. */
bool address_is_endpoint(const char *text);

/* Returns true if a text may stand for a region in a host's name. */
bool address_is_region(const char *text);

void address_free(struct address *a);

#endif
