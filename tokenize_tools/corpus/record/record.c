/* record.c: wants fields, and takes their values from one record. */
#include "record.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/json_string.h"
#include "base/status.h"

const enum leat_hint record_hints[RECORD_USES] = {
    [RECORD_TEXT] = LEAT_HINT_TEXT,   [RECORD_MESSAGES] = LEAT_HINT_MESSAGES, [RECORD_COMPLETION] = LEAT_HINT_PAIR,
    [RECORD_PROMPT] = LEAT_HINT_PAIR, [RECORD_SPANS] = LEAT_HINT_MASK_FIELD,  [RECORD_BY] = LEAT_HINT_BY,
    [RECORD_ID] = LEAT_HINT_ID,
};

/* ---- Wanted fields ----------------------------------------------------------------------------------------------- */

enum leat_status record_want(struct record_fields *fields, const struct record_want *want, uint32_t *number,
                             struct leat_error *err)
{
    enum leat_status s;

    if (fields->count == 0)
        fields->text = fields->id = fields->tools = fields->prompt = fields->context = RECORD_NONE;
    for (uint32_t i = 0; i < fields->count; i++) {
        struct record_want *w = &fields->wants[i];

        if (w->use != want->use || strcmp(w->path, want->path) != 0)
            continue;
        w->most = w->most > want->most ? w->most : want->most;
        *number = i;
        return LEAT_OK;
    }
    s = GROW(fields->wants, fields->count + 1, fields->room, err);
    if (s != LEAT_OK)
        return s;
    fields->wants[fields->count] = *want;
    s = json_paths_add(&fields->paths, want->path, &fields->wants[fields->count].place, err);
    if (s == LEAT_OK)
        *number = (uint32_t)fields->count++;
    return s;
}

enum leat_status record_want_id(struct record_fields *fields, const char *id, struct leat_error *err)
{
    struct record_want want = {
        .path = id, .use = RECORD_ID, .needed = strcmp(id, "id") != 0, .most = RECORD_RAW_BYTES * RECORD_ID_BYTES + 1
    };

    return status_field(err, record_want(fields, &want, &fields->id, err), "id");
}

enum leat_status record_want_texts(struct record_fields *fields, const char *text, const char *id,
                                   struct leat_error *err)
{
    struct record_want want = { .path = text, .use = RECORD_TEXT, .needed = true };
    enum leat_status s = status_field(err, record_want(fields, &want, &fields->text, err), "text");

    return s == LEAT_OK && id ? record_want_id(fields, id, err) : s;
}

void record_fields_free(struct record_fields *fields)
{
    free(fields->wants);
    json_paths_free(&fields->paths);
    *fields = (struct record_fields) { 0 };
}

/* ---- A record ---------------------------------------------------------------------------------------------------- */

enum leat_status record_make(struct record *r, const struct record_fields *fields, struct leat_error *err)
{
    *r = (struct record) { .fields = fields };
    r->values = calloc(fields->count + 1, sizeof *r->values); /* the last value is the one of RECORD_NONE */
    r->places = calloc(fields->paths.places + 1, sizeof *r->places);
    return r->values && r->places ? LEAT_OK : status_no_memory(err, fields->count * sizeof *r->values);
}

void record_free(struct record *r)
{
    free(r->values);
    free(r->places);
    *r = (struct record) { 0 };
}

void record_begin(struct record *r)
{
    r->joined = false;
    json_scan_begin(&r->scan, &r->fields->paths, r->places);
}

bool record_feed(struct record *r, const char *bytes, size_t count)
{
    return json_scan_feed(&r->scan, bytes, count);
}

/* Gives each want its place; with a record in memory, its bytes. */
static enum leat_status end_record(struct record *r, const char *json, struct leat_error *err)
{
    r->problem = (enum record_problem)json_scan_end(&r->scan, &r->byte, err);
    r->has_nan = r->scan.has_nan;
    if (r->problem != RECORD_FINE)
        return LEAT_E_TEXT;
    for (size_t i = 0; i < r->fields->count; i++) {
        const struct json_place *p = &r->places[r->fields->wants[i].place];

        r->values[i] =
            (struct record_value) { .kind = p->kind, .escaped = p->escaped, .begin = p->begin, .bytes = p->bytes };
        if (json && p->kind != JSON_KIND_NONE)
            record_hold(r, (uint32_t)i, json + p->begin, (size_t)p->bytes);
    }
    return LEAT_OK;
}

enum leat_status record_end(struct record *r, struct leat_error *err)
{
    return end_record(r, NULL, err);
}

enum leat_status record_read(struct record *r, const char *json, size_t bytes, struct leat_error *err)
{
    record_begin(r);
    record_feed(r, json, bytes);
    return end_record(r, json, err);
}

size_t record_needs(const struct record *r, uint32_t want)
{
    size_t most = r->fields->wants[want].most;
    uint64_t bytes = r->values[want].bytes;

    return bytes < most ? (size_t)bytes : most;
}

void record_hold(struct record *r, uint32_t want, const char *at, size_t held)
{
    r->values[want].at = at;
    r->values[want].held = held;
}

void record_begin_row(struct record *r)
{
    r->problem = RECORD_FINE;
    r->has_nan = r->joined = false;
    memset(r->values, 0, r->fields->count * sizeof *r->values);
}

void record_put(struct record *r, uint32_t want, enum json_kind kind, const void *bytes, size_t count)
{
    r->values[want] = (struct record_value) { .kind = bytes ? kind : JSON_KIND_NULL, .bytes = bytes ? count : 0 };
    record_hold(r, want, bytes ? bytes : "", bytes ? count : 0);
}

void record_put_json(struct record *r, uint32_t want, const void *bytes, size_t count)
{
    enum json_kind kind = bytes ? json_kind_of(bytes, count) : JSON_KIND_NULL;

    record_put(r, want, kind != JSON_KIND_NONE ? kind : JSON_KIND_STRING, bytes, count);
}

const struct record_value *record_value(const struct record *r, uint32_t want)
{
    return &r->values[want == RECORD_NONE ? r->fields->count : want];
}

/* ---- Its text and its id ----------------------------------------------------------------------------------------- */

/* Returns the bytes of a string once it is unescaped. */
static size_t unescaped_bytes(const struct record_value *v)
{
    const char *at = v->at, *stop = at + v->held;
    size_t bytes = 0;

    while (at < stop) {
        char unused[4];

        bytes += json_take_bytes(&at, stop, unused);
    }
    return bytes;
}

static bool is_id(const struct record_value *v)
{
    return v->kind == JSON_KIND_STRING || v->kind == JSON_KIND_NUMBER;
}

static bool is_long_id(const struct record_value *v)
{
    if (!is_id(v) || v->bytes <= RECORD_ID_BYTES)
        return false;
    return !v->escaped || v->bytes > RECORD_RAW_BYTES * RECORD_ID_BYTES || unescaped_bytes(v) > RECORD_ID_BYTES;
}

/* Refuses a record whose value of a want is not as wanted, and names it. */
static enum leat_status refuse_value(struct record *r, uint32_t number, struct leat_error *err)
{
    const struct record_want *want = &r->fields->wants[number];
    enum json_kind kind = r->values[number].kind;

    r->problem = kind == JSON_KIND_NONE ? RECORD_NO_FIELD : RECORD_NO_STRING;
    if (kind == JSON_KIND_NONE)
        status_set(err, LEAT_E_TEXT, "the record has no \"%.200s\"", want->path);
    else
        status_set(err, LEAT_E_TEXT, "\"%.200s\" is %s, not %s", want->path, json_scan_kind(kind),
                   want->list ? "an array of messages" : "a string");
    return status_field(err, LEAT_E_TEXT, want->path);
}

enum leat_status record_check(struct record *r, struct leat_error *err)
{
    const struct record_fields *f = r->fields;
    enum json_kind wanted = f->wants[f->text].list ? JSON_KIND_ARRAY : JSON_KIND_STRING;
    enum json_kind context = record_value(r, f->context)->kind;

    if (f->prompt != RECORD_NONE && !r->joined && r->values[f->prompt].kind != wanted)
        return refuse_value(r, f->prompt, err);
    if (r->values[f->text].kind != wanted)
        return refuse_value(r, f->text, err);
    if (context != JSON_KIND_NONE && context != JSON_KIND_NULL && context != JSON_KIND_STRING)
        return refuse_value(r, f->context, err);
    if (f->prompt != RECORD_NONE && r->values[f->text].bytes == 0)
        return status_field(err,
                            status_set(err, LEAT_E_TEXT, "\"%.200s\" is empty: nothing of the record is learned",
                                       f->wants[f->text].path),
                            f->wants[f->text].path);
    if (!is_long_id(record_value(r, f->id)))
        return LEAT_OK;
    r->problem = RECORD_ID_TOO_LONG;
    status_set(err, LEAT_E_TEXT, "the id \"%.200s\" is longer than %zu KiB", f->wants[f->id].path,
               RECORD_ID_BYTES >> 10);
    return status_field(err, LEAT_E_TEXT, f->wants[f->id].path);
}

/* Unescapes a string in place. */
static char *settle(struct record *r, struct record_value *v)
{
    char *at = (char *)(uintptr_t)v->at;

    if (v->escaped)
        v->bytes = v->held = (size_t)(r->fields->paths.kernels->unescape(at, at, at + v->held) - at);
    v->escaped = false;
    return at;
}

char *record_take_text(struct record *r, size_t *bytes)
{
    struct record_value *text = &r->values[r->fields->text];
    char *at = settle(r, text);

    *bytes = text->held;
    return at;
}

const char *record_take_id(struct record *r, size_t *bytes)
{
    const struct record_fields *f = r->fields;
    const struct record_value *text = record_value(r, f->text);
    struct record_value *id;

    *bytes = 0;
    if (!is_id(record_value(r, f->id)))
        return NULL;
    id = &r->values[f->id];
    /* one string may be both text and id */
    if (f->wants[f->id].place == f->wants[f->text].place && text->held > 0 && !text->escaped)
        *id = *text;
    else
        settle(r, id);
    *bytes = id->held;
    return id->at;
}
