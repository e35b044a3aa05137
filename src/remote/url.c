/* url.c: see url.h. */
#include "url.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "text.h"

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
        return status_set(err, LEAT_E_ARGUMENT, "%s...: not the name of a bucket and a thing in it",
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
