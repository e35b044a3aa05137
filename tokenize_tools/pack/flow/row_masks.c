/* row_masks.c: see steps.h. */

#include <stdlib.h>

#include "base/status.h"
#include "corpus/json/json_spans.h"
#include "corpus/parquet/parquet.h"
#include "steps.h"

/* Names of columns have no characters that JSON escapes, or the record is found to lack the field. */
enum leat_status row_masks_record(struct buffer *to, const struct json_fields *field, const struct parquet_value *json,
                                  struct leat_error *err)
{
    const struct json_path *path = &field->path[JSON_TEXT];
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; s == LEAT_OK && i < path->names; i++) {
        s = buffer_append(to, "{\"", 2, err);
        if (s == LEAT_OK)
            s = buffer_append(to, path->name[i], path->name_bytes[i], err);
        if (s == LEAT_OK)
            s = buffer_append(to, "\":", 2, err);
    }
    if (s == LEAT_OK)
        s = buffer_append(to, json->bytes, json->size, err);
    for (unsigned i = 0; s == LEAT_OK && i < path->names; i++)
        s = buffer_append(to, "}", 1, err);
    return s;
}

/* A column of strings may hold anything. */
static enum leat_status check(const struct json_fields *field, const struct buffer *record, struct leat_error *err)
{
    struct json_scan scan; /* its large arrays need no zeros */

    json_scan_begin(&scan, field);
    json_scan_feed(&scan, (const char *)record->bytes, record->size);
    return json_scan_is_object(&scan) ? LEAT_OK
                                      : status_set(err, LEAT_E_TEXT, "\"%.200s\" is not JSON: it says what is learned",
                                                   field->path[JSON_TEXT].all);
}

enum leat_status row_masks_keep(const struct pack_setup *setup, struct unit *u, const struct parquet_value *json,
                                struct unit_document *d, struct leat_error *err)
{
    struct buffer record = { 0 };
    enum leat_status s;

    if (!json->bytes)
        return status_set(err, LEAT_E_TEXT, "\"%.200s\" is null: it says what is learned",
                          setup->mask_field->path[JSON_TEXT].all);
    s = row_masks_record(&record, setup->mask_field, json, err);
    d->masked = true;
    d->spans.begin = u->spans.size;
    if (s == LEAT_OK)
        s = check(setup->mask_field, &record, err);
    if (s == LEAT_OK)
        s = json_spans_find(&u->spans, setup->mask_field, (const char *)record.bytes, record.size, err);
    if (s == LEAT_E_TEXT)
        u->spans.size = d->spans.begin;
    d->spans.bytes = u->spans.size - d->spans.begin;
    buffer_free(&record);
    return s;
}

/* Conversations become the unit's documents, or rejects. */
static enum leat_status encode_chats(struct pack_worker *w, struct unit *u, char *text, struct leat_error *err)
{
    struct unit_document *rows = u->documents;
    size_t count = u->document_count;
    enum leat_status s = LEAT_OK;

    u->documents = NULL;
    u->document_count = u->document_room = 0;
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = step_chat_record(w, u, &rows[i], text + rows[i].text.begin, rows[i].text.bytes, err);
    if (s == LEAT_OK)
        s = step_chat_end(w, u, err);
    free(rows);
    return s;
}

/* Spans count characters until the text is known to be UTF-8. */
static enum leat_status settle(struct pack_worker *w, struct unit *u, const char *text, struct leat_error *err)
{
    size_t kept = 0;
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < u->document_count; i++) {
        struct unit_document *d = &u->documents[i];
        const char *at = text + d->text.begin;
        bool rejected;

        s = step_check_text(w, u, d, at, d->text.bytes, at, d->text.bytes, &rejected, err);
        if (s == LEAT_OK && !rejected)
            s = step_settle_spans(u, d, at, d->text.bytes, at, d->text.bytes, &rejected, err);
        if (s == LEAT_OK && !rejected)
            u->documents[kept++] = *d;
    }
    u->document_count = kept;
    return s;
}

enum leat_status row_masks_encode(struct pack_worker *w, struct unit *u, char *text, struct leat_error *err)
{
    size_t rejects = u->reject_count;
    enum leat_status s = w->setup->chat ? encode_chats(w, u, text, err) : settle(w, u, text, err);

    if (s == LEAT_OK)
        s = step_encode(w, u, text, err);
    if (u->reject_count > rejects)
        unit_sort_rejects(u);
    return s;
}
