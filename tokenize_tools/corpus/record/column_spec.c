/* column_spec.c: reads the columns of a run. A field may have colons in its name: the type stands after the last one.
 */
#include "column_spec.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "private.h"

static enum leat_status refuse(const char *text, struct leat_error *err)
{
    return status_argument(err, "column",
                           "%.200s is not NAME=FIELD:TYPE, with :document after it for a value per document, as in "
                           "score=meta.score:f32:document",
                           text);
}

/* Cuts the place off the end. */
static uint32_t take_place(char *text)
{
    char *last = strrchr(text, ':');
    bool per_document = last && strcmp(last, ":document") == 0;

    if (per_document || (last && strcmp(last, ":token") == 0))
        *last = '\0';
    return per_document ? LEAT_COLUMN_DOCUMENT : LEAT_COLUMN_TOKEN;
}

static enum leat_status read_spec(struct column_spec *spec, const char *given, struct leat_error *err)
{
    struct leat_column_options o = LEAT_COLUMN_OPTIONS_INIT;
    char *sign, *type;
    enum leat_status s;

    spec->name = strdup(given);
    if (!spec->name)
        return status_no_memory(err, strlen(given));
    spec->at = take_place(spec->name);
    type = strrchr(spec->name, ':');
    sign = strchr(spec->name, '=');
    if (!type || (sign && (sign > type || sign + 1 == type)))
        return refuse(given, err);
    *type++ = '\0';
    spec->field = sign ? sign + 1 : spec->name;
    if (sign)
        *sign = '\0';
    s = leat_column_type_read(type, &spec->type, &spec->width, err);
    if (s == LEAT_OK && spec->type == LEAT_COLUMN_CATEGORY && spec->width > 1)
        s = status_argument(err, "column", "column %s: a category has one text per document, not %u", spec->name,
                            spec->width);
    if (s != LEAT_OK)
        return s;
    o.name = spec->name;
    o.type = spec->type;
    o.width = spec->width;
    o.at = spec->at;
    return leat_column_check(&o, &spec->bytes, err);
}

static bool is_named(const struct column_specs *specs, const char *name)
{
    bool named = false;

    for (size_t i = 0; i < specs->count; i++)
        named = named || strcmp(specs->items[i].name, name) == 0;
    return named;
}

enum leat_status column_specs_make(struct column_specs *specs, const struct leat_pack_options *o,
                                   struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    size_t bytes = 0;

    *specs = (struct column_specs) { .count = 0 };
    if (o->column_count == 0)
        return LEAT_OK;
    for (uint64_t i = 0; i < o->column_count && i <= COLUMN_SPEC_MAX; i++)
        bytes += strlen(o->column[i]) + 1;
    if (o->column_count > COLUMN_SPEC_MAX || bytes > COLUMN_SPEC_BYTES)
        return status_argument(err, "column", "packing makes at most %u columns, of %zu bytes of options",
                               COLUMN_SPEC_MAX, COLUMN_SPEC_BYTES);
    specs->items = calloc((size_t)o->column_count, sizeof *specs->items);
    if (!specs->items)
        return status_no_memory(err, o->column_count * sizeof *specs->items);
    for (uint64_t i = 0; s == LEAT_OK && i < o->column_count; i++) {
        struct column_spec *spec = &specs->items[i];

        s = read_spec(spec, o->column[i], err);
        if (s == LEAT_OK && is_named(specs, spec->name))
            s = status_argument(err, "column", "two columns have the name %s", spec->name);
        specs->count++;
    }
    return status_field(err, s, "column");
}

void column_specs_free(struct column_specs *specs)
{
    for (size_t i = 0; i < specs->count; i++)
        free(specs->items[i].name);
    free(specs->items);
    *specs = (struct column_specs) { .count = 0 };
}
