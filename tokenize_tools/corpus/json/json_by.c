/* json_by.c: see json_by.h. */
#include "json_by.h"

#include <string.h>

#include "base/status.h"

static enum leat_status too_long(const char *field, struct leat_error *err)
{
    return status_set(err, LEAT_E_TEXT, "\"%.200s\" is longer than %zu bytes: it is to choose a dataset", field,
                      JSON_BY_BYTES);
}

enum leat_status json_by_judge(const char *field, const void *value, size_t bytes, struct leat_error *err)
{
    if (bytes > JSON_BY_BYTES)
        return too_long(field, err);
    if (memchr(value, 0, bytes))
        return status_set(err, LEAT_E_TEXT, "\"%.200s\" has a zero byte: it is to choose a dataset", field);
    return LEAT_OK;
}

enum leat_status json_by_check(const struct json_fields *field, const struct json_place *place, struct leat_error *err)
{
    const char *name = field->path[JSON_TEXT].all;

    switch (place->kind) {
    case JSON_KIND_STRING:
    case JSON_KIND_NUMBER:
    case JSON_KIND_TRUE:
    case JSON_KIND_FALSE:
        return place->bytes > JSON_BY_RAW ? too_long(name, err) : LEAT_OK;
    case JSON_KIND_NONE:
        return status_set(err, LEAT_E_TEXT, "the record has no \"%.200s\" to choose its dataset by", name);
    default:
        return status_set(err, LEAT_E_TEXT, "\"%.200s\" is %s, not a string, a number, true or false", name,
                          json_scan_kind(place->kind));
    }
}

enum leat_status json_by_take(struct json_by *by, const struct json_fields *field, const struct json_place *place,
                              const char *bytes, struct leat_error *err)
{
    by->bytes = (size_t)place->bytes;
    if (place->escaped)
        by->bytes = (size_t)(field->kernels->unescape(by->value, bytes, bytes + by->bytes) - by->value);
    else
        memcpy(by->value, bytes, by->bytes);
    return json_by_judge(field->path[JSON_TEXT].all, by->value, by->bytes, err);
}

enum leat_status json_by_find(struct json_by *by, const struct json_fields *field, const char *record, size_t bytes,
                              struct leat_error *err)
{
    struct json_scan scan; /* its large arrays need no zeros */
    const struct json_place *place = &scan.place[JSON_TEXT];
    enum leat_status s;

    by->bytes = 0;
    json_scan_begin(&scan, field);
    json_scan_feed(&scan, record, bytes);
    if (!json_scan_is_object(&scan))
        return LEAT_OK;
    s = json_by_check(field, place, err);
    return s == LEAT_OK ? json_by_take(by, field, place, record + place->begin, err) : s;
}
