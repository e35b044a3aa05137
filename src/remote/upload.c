#include "upload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "base/grow.h"
#include "base/status.h"
#include "text.h"
#include "xml.h"

#define MAX_ID    ((size_t)1024)
#define MAX_PAGES 10000u /* most answers of a list of uploads, each of up to 1,000 */

/* ---- Finding and beginning -------------------------------------------------------------------------------------- */

static enum leat_status keep_id(struct upload *u, const struct xml_text *id, struct leat_error *err)
{
    if (id->bytes == 0 || id->bytes > MAX_ID || memchr(id->at, '\0', id->bytes))
        return upload_strange(u->url, err);
    free(u->id);
    return text_copy(&u->id, id->at, id->bytes, err);
}

/* Reads a list of uploads, which are in the order of their beginnings: the last one of exactly this key counts. Not
 * every server lists the upload of the key itself first. */
static enum leat_status read_uploads(struct upload *u, struct transfer *t, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    bool ours = false;
    struct xml_text text, id = { .at = NULL };
    struct xml x;

    xml_begin(&x, t->text.bytes, t->text.size);
    while (s == LEAT_OK && xml_next(&x, &text)) {
        if (xml_is(&x, "ListMultipartUploadsResult/Upload/Key"))
            ours = text.bytes == strlen(u->url->key) && memcmp(text.at, u->url->key, text.bytes) == 0;
        else if (xml_is(&x, "ListMultipartUploadsResult/Upload/UploadId"))
            id = text;
        else if (xml_is(&x, "ListMultipartUploadsResult/Upload")) {
            if (ours)
                s = keep_id(u, &id, err);
            id = (struct xml_text) { .at = NULL };
            ours = false;
        }
    }
    return s == LEAT_OK && x.broken ? upload_strange(u->url, err) : s;
}

/* Returns true if the server does not list uploads, or refuses to list them for these keys. */
static bool lists_none(const struct transfer *t)
{
    return (t->code >= 400 && t->code < 500) || t->code == 501;
}

/* Finds an upload; begins a new one if none is listed. */
static enum leat_status find_upload(struct upload *u, struct leat_error *err)
{
    struct url bucket = *u->url;
    struct transfer t = { .url = &bucket };
    char nothing[] = "", *prefix = NULL, *query = NULL;
    enum leat_status s = text_encode(&prefix, u->url->key, false, err);

    if (s == LEAT_OK)
        s = text_join(&query, err, "prefix=", prefix, "&uploads=", NULL);
    free(prefix);
    if (s != LEAT_OK)
        return s;
    bucket.key = nothing;
    t.query = query;
    s = remote_run(u->remote, &t, err);
    if (s == LEAT_OK)
        s = read_uploads(u, &t, err);
    else if (lists_none(&t))
        s = LEAT_OK;
    transfer_free(&t);
    free(query);
    return s;
}

static enum leat_status create(struct upload *u, struct leat_error *err)
{
    struct transfer t = { .method = TRANSFER_POST, .url = u->url, .query = "uploads=" };
    enum leat_status s = remote_run(u->remote, &t, err);
    struct xml_text text;
    struct xml x;

    xml_begin(&x, t.text.bytes, t.text.size);
    while (s == LEAT_OK && xml_next(&x, &text))
        if (xml_is(&x, "InitiateMultipartUploadResult/UploadId"))
            s = keep_id(u, &text, err);
    transfer_free(&t);
    return s == LEAT_OK && !u->id ? upload_strange(u->url, err) : s;
}

/* ---- Parts that are there --------------------------------------------------------------------------------------- */

struct listed {
    uint64_t number, marker;
    bool more;
};

static void read_part(struct upload *u, struct listed *l, const struct xml *x, const struct xml_text *text)
{
    uint64_t number;

    if (xml_is(x, "ListPartsResult/Part/PartNumber")) {
        l->number = answer_number(text->at, text->bytes, &number) ? number : 0;
    } else if (xml_is(x, "ListPartsResult/Part/ETag")) {
        char etag[MD5_ETAG];

        if (l->number == 0 || l->number > u->part_count || text->bytes >= sizeof etag)
            return;
        memcpy(etag, text->at, text->bytes);
        etag[text->bytes] = '\0';
        (void)upload_note(u, l->number - 1, etag, NULL); /* an etag that is no MD5 is not noted, and the part is sent
                                                            again */
    } else if (xml_is(x, "ListPartsResult/IsTruncated")) {
        l->more = text->bytes == 4 && memcmp(text->at, "true", 4) == 0;
    } else if (xml_is(x, "ListPartsResult/NextPartNumberMarker")) {
        l->marker = answer_number(text->at, text->bytes, &number) ? number : 0;
    }
}

static enum leat_status list_parts(struct upload *u, struct leat_error *err)
{
    struct listed l = { .more = true };
    enum leat_status s = LEAT_OK;

    while (l.more && s == LEAT_OK) {
        struct transfer t = { .url = u->url };
        uint64_t before = l.marker;
        char marker[24], *query;
        struct xml_text text;
        struct xml x;

        (void)snprintf(marker, sizeof marker, "%" PRIu64, l.marker);
        s = text_join(&query, err, "part-number-marker=", marker, "&uploadId=", u->encoded_id, NULL);
        if (s != LEAT_OK)
            return s;
        t.query = query;
        l.more = false;
        s = remote_run(u->remote, &t, err);
        xml_begin(&x, t.text.bytes, t.text.size);
        while (s == LEAT_OK && xml_next(&x, &text))
            read_part(u, &l, &x, &text);
        if (s == LEAT_OK && (x.broken || (l.more && l.marker <= before)))
            s = upload_strange(u->url, err);
        transfer_free(&t);
        free(query);
    }
    return s;
}

enum leat_status upload_begin(struct upload *u, struct remote *remote, const struct url *url, uint64_t parts,
                              struct leat_error *err)
{
    enum leat_status s;
    bool found;

    *u = (struct upload) { .remote = remote, .url = url, .part_count = parts };
    u->parts = calloc((size_t)parts, sizeof *u->parts);
    if (!u->parts)
        return status_no_memory(err, parts * sizeof *u->parts);
    if (url->scheme == URL_AZURE)
        return blocks_find(u, err);
    s = find_upload(u, err);
    found = u->id != NULL;
    if (s == LEAT_OK && !found)
        s = create(u, err);
    if (s == LEAT_OK)
        s = text_encode(&u->encoded_id, u->id, false, err);
    return s == LEAT_OK && found ? list_parts(u, err) : s;
}

void upload_free(struct upload *u)
{
    free(u->id);
    free(u->encoded_id);
    free(u->parts);
}

/* ---- Sending and completing ------------------------------------------------------------------------------------- */

enum leat_status upload_query(struct upload *u, uint64_t part, const uint8_t md5[MD5_BYTES], char **query,
                              struct leat_error *err)
{
    char number[24];

    u->parts[part].there = false;
    memcpy(u->parts[part].md5, md5, MD5_BYTES);
    if (u->url->scheme == URL_AZURE)
        return blocks_query(u, part, query, err);
    (void)snprintf(number, sizeof number, "%" PRIu64, part + 1);
    return text_join(query, err, "partNumber=", number, "&uploadId=", u->encoded_id, NULL);
}

enum leat_status upload_note(struct upload *u, uint64_t part, const char *etag, struct leat_error *err)
{
    struct upload_part *p = &u->parts[part];

    p->there = u->url->scheme == URL_AZURE;
    if (p->there)
        return LEAT_OK;
    if (strlen(etag) < 2 || strlen(etag) >= sizeof p->etag || strpbrk(etag, "<>&"))
        return upload_strange(u->url, err);
    memcpy(p->etag, etag, strlen(etag) + 1);
    p->there = md5_of_etag(etag, p->md5);
    return LEAT_OK;
}

static enum leat_status make_list(const struct upload *u, struct buffer *b, struct leat_error *err)
{
    enum leat_status s = buffer_append(b, "<CompleteMultipartUpload>", 25, err);

    for (uint64_t i = 0; i < u->part_count && s == LEAT_OK; i++) {
        char line[160];
        int count = snprintf(line, sizeof line, "<Part><PartNumber>%" PRIu64 "</PartNumber><ETag>%s</ETag></Part>",
                             i + 1, u->parts[i].etag);

        s = buffer_append(b, line, (size_t)count, err);
    }
    return s == LEAT_OK ? buffer_append(b, "</CompleteMultipartUpload>", 26, err) : s;
}

/* Reads the answer to the completion. The server sends the code 200 before it knows whether the completion succeeds, so
 * the answer may still hold an error. */
static enum leat_status read_completed(struct upload *u, struct transfer *t, struct leat_error *err)
{
    bool completed = false;
    struct xml_text text;
    struct xml x;

    xml_begin(&x, t->text.bytes, t->text.size);
    while (xml_next(&x, &text))
        completed |= xml_is(&x, "CompleteMultipartUploadResult");
    return completed && !x.broken ? LEAT_OK
                                  : status_set_in(err, LEAT_E_IO, u->url->name,
                                                  "%s: the server could not put the parts together; run "
                                                  "the same command again",
                                                  u->url->name);
}

enum leat_status upload_complete(struct upload *u, bool only_new, struct leat_error *err)
{
    struct transfer t = { .method = TRANSFER_POST, .url = u->url, .only_new = only_new };
    struct buffer list = { 0 };
    char *query = NULL;
    enum leat_status s;

    if (u->url->scheme == URL_AZURE)
        return blocks_complete(u, only_new, err);
    s = make_list(u, &list, err);
    if (s == LEAT_OK)
        s = text_join(&query, err, "uploadId=", u->encoded_id, NULL);
    if (s == LEAT_OK) {
        t.query = query;
        t.body = list.bytes;
        t.body_bytes = list.size;
        s = remote_run(u->remote, &t, err);
    }
    if (s == LEAT_OK)
        s = read_completed(u, &t, err);
    transfer_free(&t);
    buffer_free(&list);
    free(query);
    return s;
}

enum leat_status upload_discard(struct upload *u, struct leat_error *err)
{
    struct transfer t = { .method = TRANSFER_DELETE, .url = u->url };
    char *query;
    enum leat_status s;

    if (u->url->scheme == URL_AZURE)
        return LEAT_OK;
    s = text_join(&query, err, "uploadId=", u->encoded_id, NULL);
    if (s != LEAT_OK)
        return s;
    t.query = query;
    s = remote_run(u->remote, &t, err);
    transfer_free(&t);
    free(query);
    return s;
}

/* ---- Sweeping ---------------------------------------------------------------------------------------------------- */

struct swept {
    char *key, *id;
};

struct sweep {
    const struct url *below;
    bool (*dead)(void *context, const char *key);
    void *context;
    struct swept *items;
    size_t count, room;
    char *key, *id;           /* key and id of the upload that is read */
    char *next_key, *next_id; /* key and id after which the next page begins */
    bool more;
};

static enum leat_status replace(char **text, const struct xml_text *with, const struct url *url, struct leat_error *err)
{
    free(*text);
    *text = NULL;
    if (with->bytes > MAX_ID || memchr(with->at, '\0', with->bytes))
        return upload_strange(url, err);
    return text_copy(text, with->at, with->bytes, err);
}

static enum leat_status take_upload(struct sweep *w, struct leat_error *err)
{
    enum leat_status s = w->key && w->id && *w->id ? LEAT_OK : upload_strange(w->below, err);

    if (s == LEAT_OK && text_begins(w->key, w->below->key) && w->dead(w->context, w->key)) {
        s = GROW(w->items, w->count + 1, w->room, err);
        if (s != LEAT_OK)
            return s;
        w->items[w->count++] = (struct swept) { w->key, w->id };
    } else {
        free(w->key);
        free(w->id);
    }
    w->key = w->id = NULL;
    return s;
}

static enum leat_status read_page(struct sweep *w, struct transfer *t, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    struct xml_text text;
    struct xml x;

    xml_begin(&x, t->text.bytes, t->text.size);
    while (s == LEAT_OK && xml_next(&x, &text)) {
        if (xml_is(&x, "ListMultipartUploadsResult/Upload/Key"))
            s = replace(&w->key, &text, w->below, err);
        else if (xml_is(&x, "ListMultipartUploadsResult/Upload/UploadId"))
            s = replace(&w->id, &text, w->below, err);
        else if (xml_is(&x, "ListMultipartUploadsResult/Upload"))
            s = take_upload(w, err);
        else if (xml_is(&x, "ListMultipartUploadsResult/NextKeyMarker"))
            s = replace(&w->next_key, &text, w->below, err);
        else if (xml_is(&x, "ListMultipartUploadsResult/NextUploadIdMarker"))
            s = replace(&w->next_id, &text, w->below, err);
        else if (xml_is(&x, "ListMultipartUploadsResult/IsTruncated"))
            w->more = text.bytes == 4 && memcmp(text.at, "true", 4) == 0;
    }
    return s == LEAT_OK && x.broken ? upload_strange(w->below, err) : s;
}

static enum leat_status page_query(char **query, const struct sweep *w, struct leat_error *err)
{
    char *prefix = NULL, *key = NULL, *id = NULL;
    enum leat_status s = text_encode(&prefix, w->below->key, false, err);

    if (s == LEAT_OK)
        s = text_encode(&key, w->next_key ? w->next_key : "", false, err);
    if (s == LEAT_OK)
        s = text_encode(&id, w->next_id ? w->next_id : "", false, err);
    if (s == LEAT_OK)
        s = *key ? text_join(query, err, "key-marker=", key, "&prefix=", prefix, "&upload-id-marker=", id,
                             "&uploads=", NULL)
                 : text_join(query, err, "prefix=", prefix, "&uploads=", NULL);
    free(prefix);
    free(key);
    free(id);
    return s;
}

static enum leat_status list_page(struct sweep *w, struct remote *remote, struct leat_error *err)
{
    struct url bucket = *w->below;
    struct transfer t = { .url = &bucket };
    char nothing[] = "", *query = NULL, *next = NULL;
    enum leat_status s = page_query(&query, w, err);

    bucket.key = nothing;
    t.query = query;
    w->more = false;
    if (s == LEAT_OK) {
        s = remote_run(remote, &t, err);
        s = s == LEAT_OK ? read_page(w, &t, err) : lists_none(&t) ? LEAT_OK : s;
    }
    if (s == LEAT_OK && w->more)
        s = page_query(&next, w, err);
    if (s == LEAT_OK && w->more && strcmp(query, next) == 0) /* the server sends the same page for ever */
        s = upload_strange(w->below, err);
    transfer_free(&t);
    free(query);
    free(next);
    return s;
}

/* Removes an upload. It is no failure if the upload is gone, or if this key may not abort it: a rule of the bucket
 * must do that. */
static enum leat_status discard(struct remote *remote, const struct url *below, const struct swept *one,
                                struct leat_error *err)
{
    struct url object = *below;
    struct upload u = { .remote = remote, .url = &object };
    enum leat_status s = text_encode(&u.encoded_id, one->id, false, err);

    object.key = one->key;
    if (s == LEAT_OK)
        s = upload_discard(&u, err);
    free(u.encoded_id);
    return s == LEAT_E_NO_FILE || s == LEAT_E_PERMISSION ? LEAT_OK : s;
}

enum leat_status upload_sweep(struct remote *remote, const struct url *below,
                              bool (*dead)(void *context, const char *key), void *context, struct leat_error *err)
{
    struct sweep w = { .below = below, .dead = dead, .context = context };
    enum leat_status s = below->scheme == URL_AZURE ? LEAT_OK : list_page(&w, remote, err);

    for (unsigned pages = 1; s == LEAT_OK && w.more; pages++) {
        s = pages < MAX_PAGES ? list_page(&w, remote, err) : upload_strange(below, err);
        if (s == LEAT_OK)
            s = remote_check_listed(remote, w.count, below, err);
    }
    for (size_t i = 0; i < w.count; i++) {
        if (s == LEAT_OK)
            s = discard(remote, below, &w.items[i], err);
        free(w.items[i].key);
        free(w.items[i].id);
    }
    free(w.items);
    free(w.key);
    free(w.id);
    free(w.next_key);
    free(w.next_id);
    return s;
}
