/* pack_by.c: see pack_by.h. */
#include "pack_by.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/status.h"
#include "pack.h"

enum leat_status pack_by_take(struct pack_run *r, struct leat_error *err)
{
    const struct input_list *inputs = &r->setup.inputs;

    if (!*r->options.by)
        return status_set(err, LEAT_E_ARGUMENT, "the field to choose datasets by has no name");
    for (size_t i = 0; i < inputs->count; i++)
        if (inputs->items[i].format->whole)
            return status_set(err, LEAT_E_ARGUMENT, "%s has no field \"%.200s\" to choose a dataset by: it is a text",
                              inputs->items[i].path, r->options.by);
    r->setup.by = &r->by;
    return json_fields_prepare(&r->by, r->options.by, NULL, err);
}

/* ---- Values, while documents are packed ---- */

/* Before hours go into a run that could not give its datasets their names. */
static enum leat_status check_free(const struct pack_output *o, const char *value, struct leat_error *err)
{
    struct file_identity there;
    struct by_name name;
    enum leat_status s;
    char *path;

    by_name_make(&name, value, false);
    path = pack_split_name(o->by_output, name.text, ".leat");
    s = path ? file_identify(path, &there, err) : status_no_memory(err, strlen(value));
    if (s == LEAT_OK && there.exists)
        s = status_set_hint(err, LEAT_E_EXISTS, LEAT_HINT_REPLACE,
                            "%s already exists; choose another name or replace it", path);
    free(path);
    return s;
}

enum leat_status pack_by_count(struct pack_output *o, const struct unit *u, struct leat_error *err)
{
    uint64_t before = leat_writer_documents(o->writer);
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < u->document_count; i++) {
        const char *value = unit_string(u, u->documents[i].id);
        bool is_new;
        size_t at;

        s = by_values_add(&o->values, value, o->field, before + i + 1, &at, &is_new, err);
        if (s == LEAT_OK && is_new && o->by_output)
            s = check_free(o, value, err);
    }
    return s;
}

bool pack_by_load(struct pack_output *o, const uint8_t *at, const uint8_t *end)
{
    bool is_new;
    size_t place;

    while (at < end) {
        const uint8_t *zero = memchr(at, 0, (size_t)(end - at));

        if (!zero || by_values_add(&o->values, (const char *)at, o->field, 0, &place, &is_new, NULL) != LEAT_OK)
            return false;
        at = zero + 1;
    }
    return true;
}
