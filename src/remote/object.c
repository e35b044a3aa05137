/*
 * object.c: one object on a server: how long it is, its bytes, and what is listed below a prefix.
 *
 * What an object is comes from a GET of its first bytes, not from a HEAD: URLs that carry their own signature are
 * signed for one method, and an answer to HEAD has no body that says why not.
 */
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "base/status.h"
#include "base/tiny.h"
#include "remote.h"
#include "text.h"
#include "xml.h"

#define MAX_KEY     1024u
#define MAX_EMPTY   TINY_OR(3u, 10000u) /* limit of empty answers in a row: many objects may just have been deleted */
#define READ_PARTS  8u                  /* ranges that one remote_read() reads at once */
#define UNSATISFIED 416

/* Reads the answer to a look. */
static enum leat_status take_look(struct remote_look *look, struct leat_error *err)
{
    const struct transfer *t = &look->transfer;
    enum leat_status s = t->status;

    look->object = (struct remote_object) { .size = t->answer.size };
    memcpy(look->object.etag, t->answer.etag, sizeof look->object.etag);
    memcpy(look->object.made_of, t->answer.made_of, sizeof look->object.made_of);
    look->count = t->received;
    if (s != LEAT_OK && t->code == UNSATISFIED) { /* the object has no first byte, so it is empty */
        look->object.size = 0;
        return LEAT_OK;
    }
    if (s == LEAT_OK && look->object.size == UINT64_MAX)
        return status_set_in(err, LEAT_E_UNSUPPORTED, look->url->name, "%s: the server does not say how long it is",
                             look->url->name);
    if (s != LEAT_OK && err)
        *err = t->error;
    return s;
}

enum leat_status remote_look(struct remote *r, struct remote_look *looks, size_t count, struct leat_error *err)
{
    struct transfer *done;
    enum leat_status s = LEAT_OK;
    size_t begun = 0;

    for (; begun < count && s == LEAT_OK; begun++) {
        struct remote_look *look = &looks[begun];

        look->transfer =
            (struct transfer) { .url = look->url, .count = look->count, .up_to = true, .out = look->first };
        s = remote_begin(r, &look->transfer, err);
    }
    do
        s = s == LEAT_OK ? remote_wait(r, &done, err) : s;
    while (s == LEAT_OK && done);
    if (s != LEAT_OK)
        remote_abandon(r);
    for (size_t i = 0; i < count && s == LEAT_OK; i++)
        s = take_look(&looks[i], err);
    for (size_t i = 0; i < begun; i++)
        transfer_free(&looks[i].transfer);
    return s;
}

enum leat_status remote_stat(struct remote *r, const struct url *url, struct remote_object *object,
                             struct leat_error *err)
{
    uint8_t first;
    struct remote_look look = { .url = url, .first = &first, .count = 1 };
    enum leat_status s = remote_look(r, &look, 1, err);

    *object = look.object;
    return s;
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

static enum leat_status begin_part(struct remote *r, struct transfer *t, uint64_t *at, uint64_t end, uint8_t **out,
                                   struct leat_error *err)
{
    t->first = *at;
    t->count = end - *at < REMOTE_PART ? end - *at : REMOTE_PART;
    t->out = *out;
    *at += t->count;
    *out += t->count;
    return remote_begin(r, t, err);
}

enum leat_status remote_read(struct remote *r, const struct url *url, const struct remote_object *object,
                             uint64_t first, void *out, uint64_t count, struct leat_error *err)
{
    struct transfer parts[READ_PARTS] = { { 0 } }, *done;
    uint64_t end = first + count;
    enum leat_status s = LEAT_OK;
    uint8_t *to = out;

    if (first > object->size || count > object->size - first)
        return status_set_in(err, LEAT_E_TRUNCATED, url->name, "%s has %" PRIu64 " bytes, fewer than it should have",
                             url->name, object->size);
    for (unsigned i = 0; i < READ_PARTS && first < end && s == LEAT_OK; i++) {
        parts[i] = (struct transfer) { .url = url, .if_match = object->etag };
        s = begin_part(r, &parts[i], &first, end, &to, err);
    }
    while (s == LEAT_OK) {
        s = remote_wait(r, &done, err);
        if (s != LEAT_OK || !done)
            break;
        s = done->status;
        if (s != LEAT_OK && err)
            *err = done->error;
        if (s == LEAT_OK && first < end)
            s = begin_part(r, done, &first, end, &to, err);
    }
    if (s != LEAT_OK)
        remote_abandon(r);
    for (unsigned i = 0; i < READ_PARTS; i++)
        transfer_free(&parts[i]);
    return s;
}

/* ---- Listing ---------------------------------------------------------------------------------------------------- */

/* A list being read. S3's and Azure's lists differ in names, and Azure's etags have quotes only in headers. */
struct listing {
    char key[MAX_KEY + 1], etag[TRANSFER_ETAG];
    uint64_t size;
    bool has_key, has_size;
    bool folder; /* the element is a folder, which a Data Lake lists, too */
    char *next;  /* text that the next request begins with; NULL: this was the last request */
    bool truncated;
};

static bool copy_text(char *out, size_t room, const struct xml_text *text)
{
    if (text->bytes >= room || memchr(text->at, '\0', text->bytes))
        return false;
    memcpy(out, text->at, text->bytes);
    out[text->bytes] = '\0';
    return true;
}

static enum leat_status broken_list(const struct url *url, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_IO, url->name, "%s: the server's list is not valid for %s", url->name,
                         url->scheme == URL_AZURE ? "Azure" : "S3");
}

static void take_etag(struct listing *l, const struct xml_text *text, bool bare)
{
    bool fits = copy_text(l->etag + bare, sizeof l->etag - 2 * bare, text);

    if (bare && fits) {
        l->etag[0] = '"';
        memcpy(l->etag + 1 + text->bytes, "\"", 2);
    }
    if (!fits)
        l->etag[0] = '\0';
}

static enum leat_status take_object(struct listing *l, const struct url *url, remote_take *take, void *context,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (!l->has_key || !l->has_size || !text_begins(l->key, url->key))
        return broken_list(url, err);
    if (!l->folder)
        s = take(context, l->key, l->size, l->etag, err);
    l->has_key = l->has_size = l->folder = false;
    l->etag[0] = '\0';
    return s;
}

/* Takes the end of an element of the list. */
static enum leat_status take_element(struct listing *l, const struct xml *x, const struct xml_text *text,
                                     const struct url *url, remote_take *take, void *context, struct leat_error *err)
{
#define BLOB "EnumerationResults/Blobs/Blob"
    enum leat_status s = LEAT_OK;

    if (xml_is(x, "ListBucketResult/Contents/Key") || xml_is(x, BLOB "/Name")) {
        l->has_key = copy_text(l->key, sizeof l->key, text);
    } else if (xml_is(x, "ListBucketResult/Contents/ETag") || xml_is(x, BLOB "/Properties/Etag")) {
        take_etag(l, text, url->scheme == URL_AZURE && text->bytes > 0 && text->at[0] != '"');
    } else if (xml_is(x, "ListBucketResult/Contents/Size") || xml_is(x, BLOB "/Properties/Content-Length")) {
        l->has_size = answer_number(text->at, text->bytes, &l->size);
    } else if (xml_is(x, BLOB "/Properties/ResourceType")) {
        l->folder = text->bytes == 9 && memcmp(text->at, "directory", 9) == 0;
    } else if (xml_is(x, "ListBucketResult/Contents") || xml_is(x, BLOB)) {
        s = take_object(l, url, take, context, err);
    } else if (xml_is(x, "ListBucketResult/IsTruncated")) {
        l->truncated = text->bytes == 4 && memcmp(text->at, "true", 4) == 0;
    } else if (xml_is(x, "ListBucketResult/NextContinuationToken") || xml_is(x, "EnumerationResults/NextMarker")) {
        free(l->next);
        s = text_copy(&l->next, text->at, text->bytes, err);
        l->truncated |= url->scheme == URL_AZURE && text->bytes > 0;
    }
    return s;
#undef BLOB
}

enum leat_status remote_list_read(void *xml, size_t bytes, const struct url *url, remote_take *take, void *context,
                                  char **next, struct leat_error *err)
{
    struct listing l = { .has_key = false };
    enum leat_status s = LEAT_OK;
    struct xml_text text;
    struct xml x;

    xml_begin(&x, xml, bytes);
    while (s == LEAT_OK && xml_next(&x, &text))
        s = take_element(&l, &x, &text, url, take, context, err);
    if (s == LEAT_OK && (x.broken || !x.whole || (l.truncated && !l.next)))
        s = broken_list(url, err);
    *next = NULL;
    if (s == LEAT_OK && l.truncated) {
        *next = l.next;
        l.next = NULL;
    }
    free(l.next);
    return s;
}

static enum leat_status make_query(char **query, const struct url *url, const char *next, struct leat_error *err)
{
    char *p = NULL, *n = NULL;
    enum leat_status s = text_encode(&p, url->key, false, err);

    if (s == LEAT_OK && next)
        s = text_encode(&n, next, false, err);
    if (s == LEAT_OK && url->scheme == URL_AZURE)
        s = text_join(query, err, "comp=list", n ? "&marker=" : "", n ? n : "", "&maxresults=1000&prefix=", p,
                      "&restype=container", NULL);
    else if (s == LEAT_OK)
        s = text_join(query, err, n ? "continuation-token=" : "", n ? n : "", n ? "&" : "", "list-type=2&prefix=", p,
                      NULL);
    free(p);
    free(n);
    return s;
}

/* Keeps another key after 1, 2, 4, ... objects. If keys go in a circle, one of the circle is kept at last, and comes
 * again. */
enum leat_status remote_take_once(void *context, const char *key, uint64_t size, const char *etag,
                                  struct leat_error *err)
{
    struct remote_listing *l = context;
    enum leat_status s = remote_check_listed(l->remote, l->objects + 1, l->url, err);

    if (s == LEAT_OK && l->objects > 0 && strcmp(l->kept, key) == 0)
        s = status_set_in(err, LEAT_E_IO, l->url->name, "%s: the server's list has no end: it names an object twice",
                          l->url->name);
    if (s != LEAT_OK)
        return s;
    if ((l->objects & (l->objects - 1)) == 0)
        memcpy(l->kept, key, strlen(key) + 1);
    l->objects++;
    return l->take(l->context, key, size, etag, err);
}

/* Makes one request, which lists up to 1,000 objects. */
static enum leat_status list_some(struct remote *r, const struct url *bucket, struct remote_listing *l, char **next,
                                  struct leat_error *err)
{
    struct transfer t = { .url = bucket };
    char *query = NULL;
    enum leat_status s = make_query(&query, l->url, *next, err);

    free(*next);
    *next = NULL;
    t.query = query;
    if (s == LEAT_OK)
        s = remote_run(r, &t, err);
    if (s == LEAT_OK)
        s = remote_list_read(t.text.bytes, t.text.size, l->url, remote_take_once, l, next, err);
    transfer_free(&t);
    free(query);
    return s;
}

enum leat_status remote_list(struct remote *r, const struct url *url, remote_take *take, void *context,
                             struct leat_error *err)
{
    struct remote_listing l = { .remote = r, .url = url, .take = take, .context = context };
    char nothing[] = "";
    struct url bucket = *url; /* the URL without a key */
    unsigned empty = 0;
    char *next = NULL;
    enum leat_status s;

    if (!url_in_bucket(url))
        return status_set_in(err, LEAT_E_UNSUPPORTED, url->name, "%s: only buckets can be listed; name the files",
                             url->name);
    bucket.key = nothing;
    do {
        uint64_t before = l.objects;

        s = list_some(r, &bucket, &l, &next, err);
        empty = l.objects == before ? empty + 1 : 0;
        if (s == LEAT_OK && next && empty == MAX_EMPTY)
            s = broken_list(url, err);
    } while (s == LEAT_OK && next);
    free(next);
    return s;
}
