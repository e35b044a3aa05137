#include "url.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "text.h"

#define HOST_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789-"

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static const struct scheme {
    const char *text;
    enum url_scheme is;
} schemes[] = {
    { "s3://", URL_S3 },       { "gs://", URL_GS },       { "az://", URL_AZURE },
    { "azure://", URL_AZURE }, { "abfs://", URL_AZURE },  { "abfss://", URL_AZURE },
    { "hf://", URL_HF },       { "https://", URL_HTTPS }, { "http://", URL_HTTP },
};

static const struct scheme *scheme_of(const char *text)
{
    for (unsigned i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (text_begins(text, schemes[i].text))
            return &schemes[i];
    return NULL;
}

bool url_is(const char *text)
{
    return scheme_of(text);
}

void url_free(struct url *u)
{
    text_forget(u->text);
    free(u->name);
    free(u->bucket);
    free(u->key);
    free(u->host);
    free(u->revision);
    memset(u, 0, sizeof *u);
}

/* Returns true if a character is below `least`, or DEL. */
static bool has_control(const char *text, size_t length, unsigned char least)
{
    for (size_t i = 0; i < length; i++)
        if ((unsigned char)text[i] < least || text[i] == 0x7f)
            return true;
    return false;
}

/* Takes the bucket and the key. In a bucket every character of a key counts, also ? and control characters, as in
 * the name of a file. */
static enum leat_status take_bucket(struct url *u, const struct scheme *scheme, const char *bucket, size_t length,
                                    struct leat_error *err)
{
    enum leat_status s;

    if (length == 0)
        return status_set(err, LEAT_E_ARGUMENT, "%s: no bucket; write %sBUCKET/NAME", u->text, scheme->text);
    if (strcspn(bucket, "@?#%:\\") < length || has_control(bucket, length, ' '))
        return status_set(err, LEAT_E_ARGUMENT, "%s...: not the name of a bucket and an object in it", scheme->text);
    s = text_copy(&u->name, u->text, strlen(u->text), err);
    if (s == LEAT_OK)
        s = text_copy(&u->bucket, bucket, length, err);
    return s;
}

static enum leat_status take_key(struct url *u, const char *rest, struct leat_error *err)
{
    return text_join(&u->key, err, rest + (*rest == '/'), NULL);
}

static enum leat_status parse_bucket(struct url *u, const struct scheme *scheme, const char *rest,
                                     struct leat_error *err)
{
    size_t bucket = strcspn(rest, "/");
    enum leat_status s = take_bucket(u, scheme, rest, bucket, err);

    return s == LEAT_OK ? take_key(u, rest + bucket, err) : s;
}

/* Takes a host like ACCOUNT.blob.core.windows.net. A Data Lake's host, with .dfs., has the same objects under that
 * name. */
static enum leat_status take_host(struct url *u, const char *host, size_t length, struct leat_error *err)
{
    char *text = NULL;
    enum leat_status s = text_copy(&text, host, length, err);

    if (s == LEAT_OK) {
        char *lake = strstr(text, ".dfs."), *service = lake ? lake : strstr(text, ".blob.");

        if (!service || service == text || strspn(text, HOST_LETTERS ".") < length)
            s = status_set(err, LEAT_E_ARGUMENT, "%s: the host of an account is like ACCOUNT.blob.core.windows.net",
                           u->text);
        else if (lake)
            *lake = '\0';
        if (s == LEAT_OK)
            s = text_join(&u->host, err, text, lake ? ".blob." : "", lake ? lake + strlen(".dfs.") : "", NULL);
    }
    free(text);
    return s;
}

/* Parses CONTAINER/KEY, CONTAINER@HOST/KEY or HOST/CONTAINER/KEY. No container has a dot in its name, and every host
 * has one. */
static enum leat_status parse_azure(struct url *u, const struct scheme *scheme, const char *rest,
                                    struct leat_error *err)
{
    size_t first = strcspn(rest, "/"), container = strcspn(rest, "@/");
    enum leat_status s = LEAT_OK;

    if (container < first) {
        s = take_host(u, rest + container + 1, first - container - 1, err);
    } else if (memchr(rest, '.', first)) {
        s = take_host(u, rest, first, err);
        rest += first + (rest[first] == '/');
        first = container = strcspn(rest, "/");
    }
    if (s == LEAT_OK)
        s = take_bucket(u, scheme, rest, container, err);
    return s == LEAT_OK ? take_key(u, rest + first, err) : s;
}

/* ---- hf:// */

/* Returns how much of text[0..) is a revision: up to a /, but the Hub's own revisions may have two. */
static size_t revision_length(const char *text)
{
    static const char convert[] = "refs/convert/", request[] = "refs/pr/";
    size_t own = text_begins(text, convert) ? strlen(convert) : text_begins(text, request) ? strlen(request) : 0;

    return own + strcspn(text + own, "/");
}

static int digit_of(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
                                  : -1;
}

/* Undoes %2F in place. Returns false if the text has a %00. */
static bool decode(char *text)
{
    char *to = text;
    bool whole = true;

    for (; *text; text++) {
        int high = *text == '%' ? digit_of(text[1]) : -1, low = high >= 0 ? digit_of(text[2]) : -1;

        *to++ = low >= 0 ? (char)(16 * high + low) : *text;
        text += low >= 0 ? 2 : 0;
        whole = whole && to[-1];
    }
    *to = '\0';
    return whole;
}

/* Returns the kind of repository that a text begins with, or the usual one, and sets *bytes to how much of the text
 * that takes. */
static const char *kind_of(const char *rest, size_t *bytes)
{
    static const char *const kinds[] = { "datasets/", "models/" };

    for (unsigned i = 0; i < 2; i++)
        if (text_begins(rest, kinds[i])) {
            *bytes = strlen(kinds[i]);
            return kinds[i];
        }
    *bytes = 0;
    return kinds[1];
}

/* Returns true if the Hub allows a name; it becomes a part of addresses as it is. */
static bool is_repository_name(const char *text, size_t length)
{
    static const char allowed[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_./";
    size_t slash = strcspn(text, "/");

    return length > 0 && strspn(text, allowed) >= length && slash != 0 && slash + 1 != length &&
           !text_begins(text, "spaces/") && !text_begins(text, "buckets/");
}

/* Takes the revision, if there is one, and the path. */
static enum leat_status parse_path(struct url *u, const char *rest, struct leat_error *err)
{
    size_t length = *rest == '@' ? revision_length(rest + 1) : 0;
    enum leat_status s = LEAT_OK;

    if (*rest == '@') {
        s = text_copy(&u->revision, rest + 1, length, err);
        if (s != LEAT_OK)
            return s;
        if (!decode(u->revision) || !*u->revision || has_control(rest + 1, length, ' ' + 1) ||
            has_control(u->revision, strlen(u->revision), ' '))
            return status_set(err, LEAT_E_ARGUMENT, "%s: no revision after the @", u->text);
        rest += 1 + length;
    }
    u->stem = (size_t)(rest - u->text);
    return text_join(&u->key, err, rest + (*rest == '/'), NULL);
}

static enum leat_status parse_hub(struct url *u, const char *rest, struct leat_error *err)
{
    const char *at, *slash;
    size_t kind_bytes, length;
    const char *kind = kind_of(rest, &kind_bytes);
    enum leat_status s = text_copy(&u->name, u->text, strlen(u->text), err);

    rest += kind_bytes;
    at = strchr(rest, '@');
    slash = strchr(rest, '/');
    length = slash ? (size_t)(slash - rest) + 1 + strcspn(slash + 1, "/") : strlen(rest);
    if (slash && slash[1] == '\0')
        length = (size_t)(slash - rest);
    if (at && at < rest + length)
        length = (size_t)(at - rest);
    if (s == LEAT_OK && !is_repository_name(rest, length))
        return status_set(err, LEAT_E_ARGUMENT,
                          "%.300s: not the name of a file on the Hub; write hf://datasets/ORG/NAME[@REVISION]/PATH",
                          u->text);
    if (s == LEAT_OK)
        s = text_copy(&u->bucket, rest, length, err);
    if (s == LEAT_OK) {
        char *name = u->bucket;

        s = text_join(&u->bucket, err, kind, name, NULL);
        free(name);
    }
    return s == LEAT_OK ? parse_path(u, rest + length, err) : s;
}

static enum leat_status parse_web(struct url *u, const struct scheme *scheme, const char *rest, struct leat_error *err)
{
    size_t host = strcspn(rest, "/?#");

    if (host == 0 || memchr(rest, '@', host) || has_control(rest, strlen(rest), ' ' + 1))
        return status_set(err, LEAT_E_ARGUMENT,
                          "%s...: not a URL that leat takes: it needs a host, and has no user, password or spaces",
                          scheme->text);
    return text_copy(&u->name, u->text, strcspn(u->text, "?#"), err);
}

enum leat_status url_parse(struct url *u, const char *text, struct leat_error *err)
{
    const struct scheme *scheme = scheme_of(text);
    const char *rest;
    enum leat_status s;

    memset(u, 0, sizeof *u);
    if (!scheme)
        return status_set(err, LEAT_E_ARGUMENT,
                          "%s is not a URL: it begins with s3://, gs://, az://, hf://, https:// or http://", text);
    u->scheme = scheme->is;
    rest = text + strlen(scheme->text);
    s = text_join(&u->text, err, text, NULL);
    if (s == LEAT_OK && u->scheme == URL_AZURE)
        s = parse_azure(u, scheme, rest, err);
    else if (s == LEAT_OK && u->scheme == URL_HF)
        s = parse_hub(u, u->text + strlen(scheme->text), err);
    else if (s == LEAT_OK)
        s = url_in_bucket(u) ? parse_bucket(u, scheme, rest, err) : parse_web(u, scheme, rest, err);
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
    const struct scheme *scheme = scheme_of(text);
    bool on_web = scheme && scheme->is >= URL_HTTPS;
    size_t all = strlen(text), end = on_web ? strcspn(text, "?#") : all, length = file_dataset_length(text, end);
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
 * Makes addresses. An endpoint that the user names is asked by paths, ENDPOINT/BUCKET/KEY, which all servers
 * understand. AWS itself is asked by names of hosts, BUCKET.s3.REGION.amazonaws.com, unless the bucket's name has a
 * dot or a capital, which no certificate or host name fits.
 */

#define GOOGLE "https://storage.googleapis.com"

static bool fits_host(const char *label)
{
    return strspn(label, HOST_LETTERS) == strlen(label);
}

bool address_is_region(const char *text)
{
    return *text && fits_host(text);
}

/* Measures an endpoint's scheme and host. Returns false if the text is no endpoint. */
static bool measure_endpoint(const char *endpoint, size_t *scheme, size_t *host)
{
    *scheme = text_begins(endpoint, "https://") ? 8 : text_begins(endpoint, "http://") ? 7 : 0;
    *host = strcspn(endpoint + *scheme, "/?#");
    return *scheme > 0 && *host > 0 && !memchr(endpoint + *scheme, '@', *host) && !strpbrk(endpoint, "?#");
}

bool address_is_endpoint(const char *text)
{
    size_t scheme, host;

    return measure_endpoint(text, &scheme, &host);
}

/* Splits "https://host:port/base" into what stands before the bucket. */
static enum leat_status take_endpoint(struct address *a, const char *endpoint, bool hub, char **base,
                                      struct leat_error *err)
{
    size_t scheme, host, end = strlen(endpoint);
    enum leat_status s;

    *base = NULL;
    if (!measure_endpoint(endpoint, &scheme, &host))
        return hub ? status_argument(err, "HF_ENDPOINT",
                                     "HF_ENDPOINT must be https://HOST or http://HOST, without a user, a password or "
                                     "a ?")
                   : status_argument(
                         err, "AWS_ENDPOINT_URL",
                         "AWS_ENDPOINT_URL (or endpoint_url in ~/.aws/config) must be https://HOST or http://HOST, "
                         "without a user, a password or a ?");
    while (end > scheme + host && endpoint[end - 1] == '/')
        end--;
    s = text_copy(&a->host, endpoint + scheme, host, err);
    return s == LEAT_OK ? text_copy(base, endpoint + scheme + host, end - scheme - host, err) : s;
}

/* Makes an address in a bucket. If `base` is NULL, the bucket is in the host's name. */
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
    enum leat_status s = take_endpoint(a, endpoint, false, &base, err);

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

/* Makes an address on the Hub: ENDPOINT/datasets/ORG/NAME/resolve/REVISION/PATH; for models, without "models". */
static enum leat_status make_in_hub(struct address *a, const struct url *u, const char *endpoint,
                                    struct leat_error *err)
{
    const char *repository = text_begins(u->bucket, "models/") ? u->bucket + strlen("models") : NULL;
    char *base = NULL, *revision = NULL, *key = NULL;
    enum leat_status s = take_endpoint(a, endpoint, true, &base, err);

    if (s == LEAT_OK)
        s = text_encode(&revision, u->revision ? u->revision : HUB_MAIN, false, err);
    if (s == LEAT_OK)
        s = text_encode(&key, u->key, true, err);
    if (s == LEAT_OK)
        s = text_join(&a->path, err, base, repository ? "" : "/", repository ? repository : u->bucket, "/resolve/",
                      revision, "/", key, NULL);
    if (s == LEAT_OK)
        s = text_join(&a->url, err, text_begins(endpoint, "https://") ? "https://" : "http://", a->host, a->path, NULL);
    free(base);
    free(revision);
    free(key);
    return s;
}

enum leat_status address_make(struct address *a, const struct url *u, const char *endpoint, const char *region,
                              struct leat_error *err)
{
    memset(a, 0, sizeof *a);
    if (url_in_hub(u))
        return make_in_hub(a, u, endpoint ? endpoint : HUB_ENDPOINT, err);
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
