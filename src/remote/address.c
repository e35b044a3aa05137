/*
 * address.c: see address.h. An endpoint that the user names is asked by paths, ENDPOINT/BUCKET/KEY, which all servers
 * understand; AWS itself by names of hosts, BUCKET.s3.REGION.amazonaws.com, unless the bucket's name has a dot or a
 * capital, which no certificate or host name fits.
 */
#include "address.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "text.h"

#define GOOGLE "https://storage.googleapis.com"

static bool fits_host(const char *label)
{
    return strspn(label, "abcdefghijklmnopqrstuvwxyz0123456789-") == strlen(label);
}

bool address_is_region(const char *text)
{
    return *text && fits_host(text);
}

/* Splits "https://host:port/base" for what stands before the bucket. */
static enum leat_status take_endpoint(struct address *a, const char *endpoint, char **base, struct leat_error *err)
{
    size_t scheme = text_begins(endpoint, "https://") ? 8 : text_begins(endpoint, "http://") ? 7 : 0;
    size_t host = strcspn(endpoint + scheme, "/?#"), end = strlen(endpoint);
    enum leat_status s;

    *base = NULL;
    if (scheme == 0 || host == 0 || memchr(endpoint + scheme, '@', host) || strpbrk(endpoint, "?#"))
        return status_set(err, LEAT_E_ARGUMENT,
                          "AWS_ENDPOINT_URL (or endpoint_url in ~/.aws/config) has to be https://HOST or http://HOST, "
                          "without a user, a password or a ?");
    while (end > scheme + host && endpoint[end - 1] == '/')
        end--;
    s = text_copy(&a->host, endpoint + scheme, host, err);
    return s == LEAT_OK ? text_copy(base, endpoint + scheme + host, end - scheme - host, err) : s;
}

/* `base` NULL: the bucket is in the host's name. */
static enum leat_status make_in_bucket(struct address *a, const struct url *u, const char *scheme, const char *base,
                                       struct leat_error *err)
{
    char *key;
    enum leat_status s = text_encode(&key, u->key, true, err);

    if (s != LEAT_OK)
        return s;
    if (base)
        s = text_join(&a->path, err, base, "/", u->bucket, *key ? "/" : "", key, NULL);
    else
        s = text_join(&a->path, err, "/", key, NULL);
    free(key);
    return s == LEAT_OK ? text_join(&a->url, err, scheme, a->host, a->path, NULL) : s;
}

static enum leat_status make_by_endpoint(struct address *a, const struct url *u, const char *endpoint,
                                         struct leat_error *err)
{
    char *base;
    enum leat_status s = take_endpoint(a, endpoint, &base, err);

    if (s == LEAT_OK)
        s = make_in_bucket(a, u, text_begins(endpoint, "https://") ? "https://" : "http://", base, err);
    free(base);
    return s;
}

static enum leat_status make_by_region(struct address *a, const struct url *u, const char *region,
                                       struct leat_error *err)
{
    const char *domain = text_begins(region, "cn-") ? ".amazonaws.com.cn" : ".amazonaws.com";
    bool by_host = fits_host(u->bucket);
    enum leat_status s =
        text_join(&a->host, err, by_host ? u->bucket : "", by_host ? "." : "", "s3.", region, domain, NULL);

    return s == LEAT_OK ? make_in_bucket(a, u, "https://", by_host ? NULL : "", err) : s;
}

enum leat_status address_make(struct address *a, const struct url *u, const char *endpoint, const char *region,
                              struct leat_error *err)
{
    memset(a, 0, sizeof *a);
    if (!url_in_bucket(u))
        return text_copy(&a->url, u->text, strcspn(u->text, "#"), err);
    if (endpoint || u->scheme == URL_GS)
        return make_by_endpoint(a, u, endpoint ? endpoint : GOOGLE, err);
    return make_by_region(a, u, region, err);
}

void address_free(struct address *a)
{
    text_forget(a->url);
    free(a->host);
    free(a->path);
}
