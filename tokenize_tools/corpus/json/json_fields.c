/* json_fields.c: see json_fields.h. */
#include "json_fields.h"

#include <string.h>

#include "base/status.h"
#include "json_scan.h"

static enum leat_status prepare_path(struct json_path *path, const char *all, struct leat_error *err)
{
    const char *name = all;

    path->all = all;
    path->names = 0;
    for (;;) {
        size_t bytes = strcspn(name, ".");

        if (path->names == JSON_PATH_NAMES)
            return status_set(err, LEAT_E_ARGUMENT, "the path \"%.200s\" has more than %d names", all, JSON_PATH_NAMES);
        if (bytes > JSON_NAME_BYTES)
            return status_set(err, LEAT_E_ARGUMENT, "a name in the path \"%.200s\" is longer than %u bytes", all,
                              JSON_NAME_BYTES);
        path->name[path->names] = name;
        path->name_bytes[path->names++] = (uint8_t)bytes;
        if (name[bytes] == '\0')
            return LEAT_OK;
        name += bytes + 1;
    }
}

enum leat_status json_fields_prepare(struct json_fields *fields, const char *text, const char *id,
                                     struct leat_error *err)
{
    enum leat_status s;

    memset(fields, 0, sizeof *fields);
    fields->kernels = json_kernels();
    s = prepare_path(&fields->path[JSON_TEXT], text, err);
    return s == LEAT_OK && id ? prepare_path(&fields->path[JSON_ID], id, err) : s;
}

/* Unescapes a string where it stands; returns its bytes. */
static size_t settle(const struct json_fields *fields, const struct json_place *place, char *line)
{
    char *at = line + place->begin;

    return place->escaped ? (size_t)(fields->kernels->unescape(at, at, at + place->bytes) - at) : (size_t)place->bytes;
}

enum leat_status json_fields_find(const struct json_fields *fields, char *line, size_t bytes, struct json_found *found,
                                  struct leat_error *err)
{
    struct json_scan scan; /* its large arrays need no zeros */
    const struct json_place *text = &scan.place[JSON_TEXT], *id = &scan.place[JSON_ID];

    found->text = NULL;
    found->id = NULL;
    found->text_bytes = found->id_bytes = 0;
    json_scan_begin(&scan, fields);
    json_scan_feed(&scan, line, bytes);
    found->problem = json_scan_end(&scan, &found->byte, err);
    found->has_nan = scan.has_nan;
    if (found->problem != JSON_FINE)
        return LEAT_E_TEXT;
    if (id->kind != JSON_KIND_STRING && id->kind != JSON_KIND_NUMBER)
        id = NULL;
    if (id && json_scan_id_is_long(&scan, line)) {
        found->problem = JSON_ID_TOO_LONG;
        return json_scan_long_id(&scan, err);
    }
    found->text = line + text->begin;
    found->text_bytes = settle(fields, text, line);
    if (id) {
        found->id = line + id->begin;
        /* one string may be both */
        found->id_bytes = id->begin == text->begin ? found->text_bytes : settle(fields, id, line);
    }
    return LEAT_OK;
}
