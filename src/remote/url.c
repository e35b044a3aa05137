/* url.c: see url.h. */
#include "url.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "text.h"

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static const char *const schemes[] = {
    [URL_S3] = "s3://", [URL_GS] = "gs://", [URL_HTTPS] = "https://", [URL_HTTP] = "http://"
};
#define SCHEMES (sizeof schemes / sizeof *schemes)

static unsigned scheme_of(const char *text)
{
    unsigned i = 0;

    while (i < SCHEMES && !text_begins(text, schemes[i]))
        i++;
    return i;
}

bool url_is(const char *text)
{
    return scheme_of(text) < SCHEMES;
}

void url_free(struct url *u)
{
    text_forget(u->text);
    free(u->name);
    free(u->bucket);
    free(u->key);
    memset(u, 0, sizeof *u);
}

/* Also whether a character is below `least`. */
static bool has_control(const char *text, size_t length, unsigned char least)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < least || text[i] == 0x7f)
            return true;
    return false;
}

/* In a bucket every character of a key counts, ? too, and control characters, as in the name of a file. */
static enum leat_status parse_bucket(struct url *u, const char *rest, struct leat_error *err)
{
    size_t bucket = strcspn(rest, "/");
    enum leat_status s;

    if (bucket == 0)
        return status_set(err, LEAT_E_ARGUMENT, "%s: no bucket; write %sBUCKET/NAME", u->text, schemes[u->scheme]);
    if (strcspn(rest, "@?#%:\\") < bucket || has_control(rest, bucket, ' '))
        return status_set(err, LEAT_E_ARGUMENT, "%s...: not the name of a bucket and an object in it",
                          schemes[u->scheme]);
    s = text_copy(&u->name, u->text, strlen(u->text), err);
    if (s == LEAT_OK)
        s = text_copy(&u->bucket, rest, bucket, err);
    if (s == LEAT_OK)
        s = text_join(&u->key, err, rest + bucket + (rest[bucket] == '/'), NULL);
    return s;
}

static enum leat_status parse_web(struct url *u, const char *rest, struct leat_error *err)
{
    size_t host = strcspn(rest, "/?#");

    if (host == 0 || memchr(rest, '@', host) || has_control(rest, strlen(rest), ' ' + 1))
        return status_set(err, LEAT_E_ARGUMENT,
                          "%s...: not a URL that leat takes: it needs a host, and has no user, password or spaces",
                          schemes[u->scheme]);
    return text_copy(&u->name, u->text, strcspn(u->text, "?#"), err);
}

enum leat_status url_parse(struct url *u, const char *text, struct leat_error *err)
{
    unsigned scheme = scheme_of(text);
    enum leat_status s;

    memset(u, 0, sizeof *u);
    if (scheme == SCHEMES)
        return status_set(err, LEAT_E_ARGUMENT, "%s is not a URL: it begins with s3://, gs://, https:// or http://",
                          text);
    u->scheme = (enum url_scheme)scheme;
    s = text_join(&u->text, err, text, NULL);
    if (s == LEAT_OK && url_in_bucket(u))
        s = parse_bucket(u, text + strlen(schemes[scheme]), err);
    else if (s == LEAT_OK)
        s = parse_web(u, text + strlen(schemes[scheme]), err);
    if (s != LEAT_OK)
        url_free(u);
    return s;
}

enum leat_status url_beside(struct url *u, const struct url *base, const char *suffix, struct leat_error *err)
{
    size_t stem = strlen(base->name);
    char *first, *text;
    enum leat_status s = text_copy(&first, base->text, stem, err);

    memset(u, 0, sizeof *u);
    if (s != LEAT_OK)
        return s;
    s = text_join(&text, err, first, suffix, base->text + stem, NULL);
    free(first);
    if (s != LEAT_OK)
        return s;
    s = url_parse(u, text, err);
    text_forget(text);
    return s;
}

enum leat_status url_dataset(const char *text, struct url *index, struct url *tokens, struct leat_error *err)
{
    bool in_bucket = scheme_of(text) == URL_S3 || scheme_of(text) == URL_GS;
    size_t all = strlen(text), end = in_bucket ? all : strcspn(text, "?#"), length = file_dataset_length(text, end);
    char *stem = malloc(all + 1);
    struct url base;
    enum leat_status s;

    if (!stem)
        return status_no_memory(err, all + 1);
    memcpy(stem, text, length);
    memcpy(stem + length, text + end, all - end + 1);
    s = url_parse(&base, stem, err);
    text_forget(stem);
    if (s != LEAT_OK)
        return s;
    s = url_beside(index, &base, ".leat", err);
    if (s == LEAT_OK)
        s = url_beside(tokens, &base, ".tokens", err);
    url_free(&base);
    return s;
}

/* ---- Addresses --------------------------------------------------------------------------------------------------- */

/*
 * An endpoint that the user names is asked by paths, ENDPOINT/BUCKET/KEY, which all servers understand; AWS itself by
 * names of hosts, BUCKET.s3.REGION.amazonaws.com, unless the bucket's name has a dot or a capital, which no certificate
 * or host name fits.
 */

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
        return status_argument(
            err, "AWS_ENDPOINT_URL",
            "AWS_ENDPOINT_URL (or endpoint_url in ~/.aws/config) must be https://HOST or http://HOST, "
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
