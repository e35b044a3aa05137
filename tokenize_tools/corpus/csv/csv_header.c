/* csv_header.c: finds the columns of wanted fields in a header, and their values in records. */
#include "csv_header.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/nearest.h"
#include "base/status.h"

#define MAX_LISTED 600 /* most bytes of names in a sentence */

struct csv_header {
    char delimiter;
    uint64_t at, columns;
    uint64_t column[]; /* column of each want; UINT64_MAX if the header lacks it */
};

/* ---- Fields ------------------------------------------------------------------------------------------------------ */

/* The fields of a record that is read. */
struct fields {
    char *record, *at, *end;
    char delimiter;
    bool done;
};

struct field {
    char *at;
    size_t bytes;
};

static struct fields begin_fields(char *record, size_t bytes, char delimiter)
{
    if (bytes > 0 && (record[bytes - 1] == '\n' || record[bytes - 1] == '\r'))
        bytes--;
    return (struct fields) { record, record, record + bytes, delimiter, false };
}

/* Returns the place after the quote that ends a field, or NULL if none does. *doubled: the field has doubled quotes
 * before it. */
static char *find_quote(char *at, char *end, bool *doubled)
{
    *doubled = false;
    while ((at = memchr(at, '"', (size_t)(end - at))) != NULL) {
        if (++at == end || *at != '"')
            return at;
        *doubled = true;
        at++;
    }
    return NULL;
}

/* Makes doubled quotes single ones. Returns the new end. */
static char *merge_quotes(char *at, char *end)
{
    char *to = at;

    while (at < end) {
        char *quote = memchr(at, '"', (size_t)(end - at)), *stop = quote ? quote + 1 : end;

        memmove(to, at, (size_t)(stop - at));
        to += stop - at;
        at = stop + (quote != NULL);
    }
    return to;
}

static enum leat_status broken(struct record *r, uint64_t byte, const char *why, struct leat_error *err)
{
    if (r) {
        r->problem = RECORD_MALFORMED;
        r->byte = byte;
    }
    return status_set(err, LEAT_E_TEXT, "the record is broken at byte %llu: %s", (unsigned long long)byte, why);
}

/* Takes the next field. `r` (or NULL) gets the problem. */
static enum leat_status next_field(struct fields *f, struct field *field, struct record *r, struct leat_error *err)
{
    char *end, *at = f->at;
    bool doubled;

    if (at == f->end || *at != '"') {
        end = at < f->end ? memchr(at, f->delimiter, (size_t)(f->end - at)) : NULL;
        end = end ? end : f->end;
        *field = (struct field) { at, (size_t)(end - at) };
    } else {
        end = find_quote(at + 1, f->end, &doubled);
        if (!end)
            return broken(r, (uint64_t)(at - f->record) + 1, "the quote there does not end (within " CSV_MAX_NAME ")",
                          err);
        if (end < f->end && *end != f->delimiter)
            return broken(r, (uint64_t)(end - f->record),
                          "a quote there is neither doubled nor followed by the end of its field", err);
        *field = (struct field) { at + 1, (size_t)(end - at) - 2 };
        if (doubled)
            field->bytes = (size_t)(merge_quotes(field->at, field->at + field->bytes) - field->at);
    }
    f->done = end == f->end;
    f->at = end + !f->done;
    return LEAT_OK;
}

/* ---- The header -------------------------------------------------------------------------------------------------- */

static bool may_lack(const struct record_want *want)
{
    return (want->use == RECORD_ID || want->use == RECORD_TOOLS || want->use == RECORD_CONTEXT) && !want->needed;
}

/* Gives a column to the wants that name it. */
static enum leat_status take_column(struct csv_header *h, const struct record_fields *fields, const char *name,
                                    const struct field *f, struct leat_error *err)
{
    for (size_t i = 0; i < fields->count; i++) {
        if (f->bytes != strlen(fields->wants[i].path) || memcmp(f->at, fields->wants[i].path, f->bytes) != 0)
            continue;
        if (h->column[i] != UINT64_MAX)
            return status_field(err,
                                status_set_in(err, LEAT_E_UNSUPPORTED, name, "%.300s has two columns \"%.200s\"", name,
                                              fields->wants[i].path),
                                fields->wants[i].path);
        h->column[i] = h->columns;
    }
    return LEAT_OK;
}

/* A list of the columns for a sentence. Doubled quotes are single ones by now, since next_field() has changed the
 * text that is read again. */
struct names {
    char text[MAX_LISTED + 16];
    size_t used, listed, nearest;
    char best[200];
};

static void list_column(struct names *n, const struct field *f, const char *path)
{
    char name[200];
    size_t distance;

    snprintf(name, sizeof name, "%.*s", f->bytes < sizeof name ? (int)f->bytes : (int)sizeof name - 1, f->at);
    distance = nearest_distance(path, name);
    if (distance < n->nearest) {
        n->nearest = distance;
        memcpy(n->best, name, sizeof name);
    }
    if (n->used + strlen(name) + 4 < MAX_LISTED)
        n->used += (size_t)snprintf(n->text + n->used, sizeof n->text - n->used, "%s\"%s\"",
                                    n->listed++ > 0 ? ", " : "", name);
}

static enum leat_status say_missing(const struct record_want *want, const char *name, const struct names *n,
                                    uint64_t columns, struct leat_error *err)
{
    bool near = nearest_is_near(want->path, n->best, n->nearest);

    return status_field(err,
                        status_set_hint(err, LEAT_E_NOT_FOUND, record_hints[want->use], name,
                                        "%.300s: no column \"%.200s\" in the header; it has %s%s%s%s%s", name,
                                        want->path, n->text, n->listed < columns ? " and others" : "",
                                        near ? "; did you mean \"" : "", near ? n->best : "", near ? "\"?" : ""),
                        want->path);
}

/* Reads all columns, and lists them in `names` unless that is NULL. */
static enum leat_status read_columns(struct csv_header *h, const struct record_fields *fields, const char *name,
                                     struct fields all, struct names *names, const char *path, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    struct field f = { NULL, 0 };

    for (h->columns = 0; s == LEAT_OK && !all.done; h->columns++) {
        s = next_field(&all, &f, NULL, err);
        if (s != LEAT_OK)
            return status_set_in(err, LEAT_E_UNSUPPORTED, name,
                                 "%.300s: its header is broken: a quote does not end, or "
                                 "is not doubled; mend its first line",
                                 name);
        if (names)
            list_column(names, &f, path);
        else
            s = take_column(h, fields, name, &f, err);
    }
    return s;
}

/* Finds the columns of the wants. */
static enum leat_status find_columns(struct csv_header *h, const struct record_fields *fields, const char *name,
                                     const char *record, size_t bytes, struct leat_error *err)
{
    struct names names = { .nearest = SIZE_MAX };
    char *copy = malloc(bytes);
    enum leat_status s;

    if (!copy)
        return status_no_memory(err, bytes);
    memcpy(copy, record, bytes);
    s = read_columns(h, fields, name, begin_fields(copy, bytes, h->delimiter), NULL, NULL, err);
    for (size_t i = 0; s == LEAT_OK && i < fields->count; i++) {
        const struct record_want *want = &fields->wants[i];

        if (h->column[i] != UINT64_MAX || may_lack(want))
            continue;
        memcpy(copy, record, bytes);
        s = read_columns(h, fields, name, begin_fields(copy, bytes, h->delimiter), &names, want->path, err);
        s = s == LEAT_OK ? say_missing(want, name, &names, h->columns, err) : s;
    }
    free(copy);
    return s;
}

enum leat_status csv_header_read(struct csv_header **out, const struct record_fields *fields, const char *name,
                                 char delimiter, const char *head, size_t bytes, bool ended, struct leat_error *err)
{
    size_t mark = bytes >= 3 && memcmp(head, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    struct csv_header *h;
    struct csv_records r;
    enum csv_found found;
    enum leat_status s;

    *out = NULL;
    csv_records_begin(&r, delimiter, mark);
    found = csv_records_next(&r, head + mark, bytes - mark);
    if (found == CSV_MORE && !(ended && csv_records_in_record(&r)))
        return LEAT_OK;
    h = malloc(sizeof *h + fields->count * sizeof *h->column);
    if (!h)
        return status_no_memory(err, sizeof *h);
    h->delimiter = delimiter;
    h->at = r.record;
    memset(h->column, 0xff, fields->count * sizeof *h->column);
    s = find_columns(h, fields, name, head + r.record, (size_t)(r.position - r.record), err);
    if (s == LEAT_OK)
        *out = h;
    else
        free(h);
    return s;
}

uint64_t csv_header_at(const struct csv_header *header)
{
    return header->at;
}

void csv_header_free(struct csv_header *header)
{
    free(header);
}

/* ---- Records ----------------------------------------------------------------------------------------------------- */

static void put_value(struct record *r, uint32_t want, const struct field *f)
{
    switch (r->fields->wants[want].list ? RECORD_SPANS : r->fields->wants[want].use) {
    case RECORD_SPANS:
    case RECORD_NUMBERS:
        record_put_json(r, want, f->at, f->bytes);
        return;
    case RECORD_EXISTS:
        record_put(r, want, JSON_KIND_STRING, f->bytes > 0 ? f->at : NULL, f->bytes);
        return;
    default:
        record_put(r, want, JSON_KIND_STRING, f->at, f->bytes);
        r->values[want].untyped = true;
    }
}

enum leat_status csv_read(struct record *r, const char *record, size_t bytes, struct leat_error *err)
{
    const struct csv_header *h = r->header;
    struct fields all = begin_fields((char *)(uintptr_t)record, bytes, h->delimiter);
    uint64_t count = 0;
    struct field f = { NULL, 0 };

    record_begin_row(r);
    for (; !all.done; count++) {
        enum leat_status s = next_field(&all, &f, r, err);

        if (s != LEAT_OK)
            return s;
        for (uint32_t i = 0; i < r->fields->count; i++)
            if (h->column[i] == count)
                put_value(r, i, &f);
    }
    if (count == h->columns)
        return LEAT_OK;
    r->problem = RECORD_MALFORMED;
    return status_set(err, LEAT_E_TEXT, "the record has %llu field%s, where the header has %llu",
                      (unsigned long long)count, count == 1 ? "" : "s", (unsigned long long)h->columns);
}
