/*
 * arrow_column.c: finds a column in a schema, binds it to arrays, and reads rows.
 *
 * arrow_find() follows a path through the structs of a schema, and records the number of each child and the kind of
 * the values. arrow_bind() goes the same way through an array: it adds up the offsets, collects the validity bits of
 * the structs, and checks what holds for the whole array. arrow_get() then finds a row: the row is missing if it or
 * a struct around it is missing; with a dictionary, its index leads to its value. arrow_get() checks the offsets of
 * that row only, so binding an array takes no pass over its rows.
 */
#include "arrow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/integers.h"

#define INLINE_VIEW 12 /* a view of at most this many bytes holds them itself */
#define VIEW_BYTES  16

/* ---- Types ---- */

/* Returns the name of a type that users pass by mistake. */
static const char *type_name(const struct ArrowSchema *schema)
{
    static const struct {
        const char *format, *name;
    } names[] = {
        { "n", "null" },         { "b", "bool" },
        { "e", "float16" },      { "f", "float32" },
        { "g", "float64" },      { "u", "string" },
        { "U", "large_string" }, { "vu", "string_view" },
        { "z", "binary" },       { "Z", "large_binary" },
        { "vz", "binary_view" }, { "+s", "struct" },
        { "+m", "map" },         { "+r", "run-end encoded" },
        { "+vl", "list_view" },  { "+vL", "large_list_view" },
        { "+l", "list" },        { "+L", "large_list" },
        { "tdD", "date32" },
    };

    if (!schema->format)
        return "none";
    if (strlen(schema->format) == 1 && strchr("cCsSiIlL", schema->format[0]))
        return "integer";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(schema->format, names[i].format) == 0)
            return names[i].name;
    return schema->format;
}

/* Returns the letter of integers.h for a column's integers, or 0 if it has none. */
static char integer_of(const struct ArrowSchema *s)
{
    static const char formats[] = "cCsSiIlL", letters[] = "bBhHiIqQ";
    const char *found =
        s->format && s->format[0] && !s->format[1] && !s->dictionary ? strchr(formats, s->format[0]) : 0;

    return found ? letters[found - formats] : 0;
}

/* Returns the letter of numbers that only arrow_weight() reads: bool, float32, float64; or 0. */
static char weight_of(const struct ArrowSchema *s)
{
    if (!s->format || !s->format[0] || s->format[1] || s->dictionary)
        return 0;
    return s->format[0] == 'b' ? '?' : s->format[0] == 'f' ? 'f' : s->format[0] == 'g' ? 'd' : 0;
}

static enum arrow_kind kind_of_text(const char *format)
{
    if (strcmp(format, "n") == 0)
        return ARROW_NOTHING;
    if (strcmp(format, "u") == 0 || strcmp(format, "z") == 0)
        return ARROW_TEXT32;
    if (strcmp(format, "U") == 0 || strcmp(format, "Z") == 0)
        return ARROW_TEXT64;
    return strcmp(format, "vu") == 0 || strcmp(format, "vz") == 0 ? ARROW_VIEWS : 0;
}

/* Returns the kind of values that a dictionary may have, or 0 if it is unknown. */
static enum arrow_kind kind_of_single(const struct ArrowSchema *s, unsigned kinds, struct arrow_place *place)
{
    const char *format = s->format ? s->format : "";

    if (kinds & ARROW_ANY) /* Types without validity bits do not count. */
        return strncmp(format, "+u", 2) == 0 || strcmp(format, "+r") == 0 ? 0
               : strcmp(format, "n") == 0                                 ? ARROW_NOTHING
                                                                          : ARROW_ANY;
    place->number = integer_of(s);
    if (place->number)
        return ARROW_NUMBER;
    place->number = kinds & ARROW_FLOAT ? weight_of(s) : 0;
    return place->number == 'f' || place->number == 'd' ? ARROW_FLOAT : kind_of_text(format);
}

/* Returns the kind of a schema's values, or 0 if it is unknown. */
static enum arrow_kind kind_of(const struct ArrowSchema *s, unsigned kinds, struct arrow_place *place)
{
    const char *format = s->format ? s->format : "";
    bool weights = kinds & ARROW_WEIGHTS;

    place->indices = 0;
    place->number = 0;
    if (s->dictionary) {
        struct ArrowSchema plain = *s;

        plain.dictionary = NULL;
        place->indices = integer_of(&plain);
        return place->indices && !s->dictionary->dictionary && s->dictionary->format
                   ? kind_of_single(s->dictionary, kinds, place)
                   : 0;
    }
    if (!(kinds & ARROW_ANY) && (strcmp(format, "+l") == 0 || strcmp(format, "+L") == 0) && s->n_children == 1 &&
        s->children && s->children[0]) {
        place->number = integer_of(s->children[0]);
        if (!place->number && weights)
            place->number = weight_of(s->children[0]);
        if (place->number)
            return format[1] == 'l' ? ARROW_LIST32 : ARROW_LIST64;
    }
    return kind_of_single(s, kinds, place);
}

/* ---- Finding ---- */

static bool is_struct(const struct ArrowSchema *s)
{
    return s->format && strcmp(s->format, "+s") == 0 && !s->dictionary;
}

static int64_t child_called(const struct ArrowSchema *s, const char *name, size_t length)
{
    for (int64_t i = 0; s->children && i < s->n_children; i++) {
        const char *have = s->children[i] ? s->children[i]->name : NULL;

        if (have && strlen(have) == length && memcmp(have, name, length) == 0)
            return i;
    }
    return -1;
}

/* Follows a path through the structs of a schema. Tries the longest name first, since names may have dots
 * themselves. Returns NULL if the path leads nowhere. */
static const struct ArrowSchema *follow(const struct ArrowSchema *s, const char *path, struct arrow_place *place)
{
    for (size_t length = strlen(path);;) {
        int64_t child = is_struct(s) && place->depth < ARROW_DEPTH ? child_called(s, path, length) : -1;

        if (child >= 0) {
            const struct ArrowSchema *found;

            place->children[place->depth++] = child;
            found = path[length] == '\0' ? s->children[child] : follow(s->children[child], path + length + 1, place);
            if (found)
                return found;
            place->depth--;
        }
        do {
            if (length == 0)
                return NULL;
            length--;
        } while (path[length] != '.');
    }
}

static void list_columns(const struct ArrowSchema *s, char *text, size_t room)
{
    size_t used = 0;

    text[0] = '\0';
    for (int64_t i = 0; s->children && i < s->n_children && used + 1 < room; i++)
        if (s->children[i]) {
            int n = snprintf(text + used, room - used, "%s%.60s (%.20s)", i > 0 ? ", " : "",
                             s->children[i]->name ? s->children[i]->name : "", type_name(s->children[i]));

            used = n > 0 && (size_t)n < room - used ? used + (size_t)n : room;
        }
}

enum leat_status arrow_find(const struct ArrowSchema *schema, const char *path, unsigned kinds, const char *what,
                            struct arrow_place *place, struct leat_error *err)
{
    const struct ArrowSchema *found = schema;
    char columns[512];

    *place = (struct arrow_place) { 0 };
    snprintf(place->name, sizeof place->name, "%s", path);
    if (is_struct(schema)) {
        found = follow(schema, path, place);
        if (!found) {
            list_columns(schema, columns, sizeof columns);
            return errors_field(
                err, errors_set(err, LEAT_E_NOT_FOUND, "no column %s; the columns are %s", place->name, columns),
                place->name);
        }
    }
    place->kind = kind_of(found, kinds, place);
    if (place->kind == 0 || !(place->kind & kinds))
        return errors_field(err,
                            errors_set(err, LEAT_E_ARGUMENT, "column %s has type %s%.40s, not %s", place->name,
                                       found->dictionary ? "dictionary of " : "",
                                       type_name(found->dictionary ? found->dictionary : found), what),
                            place->name);
    return LEAT_OK;
}

/* ---- Binding ---- */

static enum leat_status nonsense(struct leat_error *err, const struct arrow_place *place, const char *what)
{
    return errors_field(
        err,
        errors_set(err, LEAT_E_ARGUMENT, "column %s: an Arrow array contradicts its schema: %s", place->name, what),
        place->name);
}

/* Checks what every array must have. Returns what is wrong, or NULL. */
static const char *wrong_with(const struct ArrowArray *a, int64_t buffers, bool more, int64_t children)
{
    if (a->length < 0 || a->offset < 0 || a->length > INT64_MAX - a->offset || a->length + a->offset > INT64_MAX / 16)
        return "its length or offset is invalid";
    if (a->n_buffers < buffers || (!more && a->n_buffers != buffers) || (buffers > 0 && !a->buffers))
        return "it lacks buffers of its type";
    if (a->n_children != children || (children > 0 && !a->children))
        return "it lacks children of its type";
    return NULL;
}

static const char *bind_texts(struct arrow_values *v, const struct ArrowArray *a)
{
    bool views = v->kind == ARROW_VIEWS;
    const char *wrong = wrong_with(a, v->kind == ARROW_NOTHING ? 0 : 3, views || v->kind == ARROW_NOTHING, 0);

    if (wrong || v->kind == ARROW_NOTHING)
        return wrong;
    v->valid = a->buffers[0];
    v->offsets = a->buffers[1];
    v->data = views ? NULL : a->buffers[2];
    if (views) {
        v->more = (const void *const *)a->buffers + 2;
        v->more_count = a->n_buffers - 3;
        v->more_bytes = a->buffers[a->n_buffers - 1];
        if (v->more_count > 0 && !v->more_bytes)
            return "the lengths of its buffers are missing";
    }
    return a->length > 0 && !v->offsets ? "its offsets are missing" : NULL;
}

static const char *bind_numbers(struct arrow_values *v, const struct ArrowArray *a)
{
    const char *wrong = wrong_with(a, 2, false, 0);

    if (wrong)
        return wrong;
    v->valid = a->buffers[0];
    v->offsets = a->buffers[1];
    return a->length > 0 && !v->offsets ? "its values are missing" : NULL;
}

static const char *bind_any(struct arrow_values *v, const struct ArrowArray *a)
{
    const char *wrong = wrong_with(a, 1, true, a->n_children);

    v->valid = wrong ? NULL : a->buffers[0];
    return wrong;
}

static const char *bind_lists(struct arrow_values *v, const struct ArrowArray *a)
{
    const char *wrong = wrong_with(a, 2, false, 1);
    const struct ArrowArray *child = wrong ? NULL : a->children[0];

    if (wrong || !child)
        return wrong ? wrong : "it lacks children of its type";
    wrong = wrong_with(child, 2, false, 0);
    if (wrong)
        return wrong;
    v->valid = a->buffers[0];
    v->offsets = a->buffers[1];
    v->data = child->buffers[1];
    v->child_valid = child->null_count == 0 ? NULL : child->buffers[0];
    v->child_length = child->length;
    v->child_offset = child->offset;
    if (child->length > 0 && !v->data)
        return "the numbers of its lists are missing";
    return a->length > 0 && !v->offsets ? "its offsets are missing" : NULL;
}

static const char *bind_values(struct arrow_values *v, enum arrow_kind kind, char number, const struct ArrowArray *a)
{
    const char *wrong;

    *v = (struct arrow_values) { .kind = kind, .number = number, .length = a->length, .offset = a->offset };
    if (kind == ARROW_ANY)
        wrong = bind_any(v, a);
    else if (kind == ARROW_NUMBER || kind == ARROW_FLOAT)
        wrong = bind_numbers(v, a);
    else
        wrong = kind & ARROW_LISTS ? bind_lists(v, a) : bind_texts(v, a);
    if (!wrong && a->null_count == 0)
        v->valid = NULL;
    return wrong;
}

enum leat_status arrow_bind(struct arrow_column *c, const struct arrow_place *place, const struct ArrowArray *array,
                            struct leat_error *err)
{
    const struct ArrowArray *a = array;
    const char *wrong = NULL;

    *c = (struct arrow_column) { .place = place, .rows = array->length };
    for (unsigned i = 0; i < place->depth; i++) {
        const struct ArrowArray *child;

        wrong = wrong_with(a, 1, false, a->n_children);
        if (wrong)
            return nonsense(err, place, wrong);
        child = place->children[i] < a->n_children && a->children ? a->children[place->children[i]] : NULL;
        if (!child || child->length < 0 || child->length < a->offset + a->length)
            return nonsense(err, place, "a struct's child is missing or too short");
        c->first += a->offset;
        c->structs[c->depth++] = (struct arrow_bits) { a->null_count == 0 ? NULL : a->buffers[0], c->first };
        a = child;
    }
    if (place->indices) {
        wrong = bind_values(&c->indices, ARROW_NUMBER, place->indices, a);
        if (!wrong)
            wrong = a->dictionary ? bind_values(&c->values, place->kind, place->number, a->dictionary)
                                  : "its dictionary is missing";
    } else {
        wrong = bind_values(&c->values, place->kind, place->number, a);
    }
    return wrong ? nonsense(err, place, wrong) : LEAT_OK;
}

/* ---- Rows ---- */

static bool is_there(const uint8_t *valid, int64_t i)
{
    return !valid || (valid[i / 8] >> (i % 8) & 1);
}

static int64_t load_number(const void *numbers, char type, int64_t i)
{
    return (int64_t)integers_load(type, numbers, (uint64_t)i);
}

static double load_real(const void *numbers, char type, int64_t i)
{
    double wide;
    float narrow;

    if (type == 'd') {
        memcpy(&wide, (const char *)numbers + i * (int64_t)sizeof wide, sizeof wide);
        return wide;
    }
    memcpy(&narrow, (const char *)numbers + i * (int64_t)sizeof narrow, sizeof narrow);
    return (double)narrow;
}

static void load_span(const struct arrow_values *v, bool wide, int64_t i, int64_t span[2])
{
    span[0] = load_number(v->offsets, wide ? 'q' : 'i', i);
    span[1] = load_number(v->offsets, wide ? 'q' : 'i', i + 1);
}

static const char *get_view(const struct arrow_values *v, int64_t i, struct arrow_value *value)
{
    const char *view = (const char *)v->offsets + i * VIEW_BYTES;
    int32_t length, buffer, offset;

    memcpy(&length, view, 4);
    memcpy(&buffer, view + 8, 4);
    memcpy(&offset, view + 12, 4);
    if (length < 0)
        return "a view has a length below zero";
    value->bytes = (uint64_t)length;
    value->text = view + 4;
    if (length <= INLINE_VIEW)
        return NULL;
    if (buffer < 0 || buffer >= v->more_count || offset < 0 || (int64_t)offset + length > v->more_bytes[buffer] ||
        !v->more[buffer])
        return "a view points past its buffer";
    value->text = (const char *)v->more[buffer] + offset;
    return NULL;
}

/* Reads value i. Returns what is wrong, or NULL. */
static const char *get_value(const struct arrow_values *v, int64_t i, struct arrow_value *value)
{
    int64_t span[2];

    if (i < 0 || i >= v->length)
        return "a row lies outside of its values";
    if (v->kind == ARROW_NOTHING || !is_there(v->valid, v->offset + i)) {
        value->missing = true;
        return NULL;
    }
    i += v->offset;
    switch (v->kind) {
    case ARROW_NUMBER:
        value->number = load_number(v->offsets, v->number, i);
        return NULL;
    case ARROW_FLOAT:
        value->real = load_real(v->offsets, v->number, i);
        return NULL;
    case ARROW_ANY:
        return NULL;
    case ARROW_VIEWS:
        return get_view(v, i, value);
    default:
        break;
    }
    load_span(v, v->kind == ARROW_TEXT64 || v->kind == ARROW_LIST64, i, span);
    if (span[0] < 0 || span[1] < span[0])
        return "a value ends before it starts";
    if (v->kind & ARROW_LISTS) {
        value->first = span[0];
        value->count = span[1] - span[0];
        return span[1] > v->child_length ? "a list ends after its numbers" : NULL;
    }
    value->bytes = (uint64_t)(span[1] - span[0]);
    value->text = value->bytes > 0 && v->data ? (const char *)v->data + span[0] : "";
    return value->bytes > 0 && !v->data ? "its bytes are missing" : NULL;
}

enum leat_status arrow_get(const struct arrow_column *c, int64_t row, struct arrow_value *value, struct leat_error *err)
{
    const char *wrong;

    *value = (struct arrow_value) { 0 };
    for (unsigned i = 0; i < c->depth; i++)
        if (!is_there(c->structs[i].valid, c->structs[i].offset + row)) {
            value->missing = true;
            return LEAT_OK;
        }
    if (c->place->indices) {
        wrong = get_value(&c->indices, c->first + row, value);
        if (!wrong && !value->missing)
            wrong = get_value(&c->values, value->number, value);
    } else {
        wrong = get_value(&c->values, c->first + row, value);
    }
    return wrong ? errors_field(err,
                                errors_set(err, LEAT_E_ARGUMENT,
                                           "column %s: row %" PRId64 " of an Arrow array is invalid: %s",
                                           c->place->name, row, wrong),
                                c->place->name)
                 : LEAT_OK;
}

bool arrow_number(const struct arrow_column *c, int64_t i, int64_t *number)
{
    const struct arrow_values *v = &c->values;

    i += v->child_offset;
    *number = load_number(v->data, v->number, i);
    return is_there(v->child_valid, i);
}

bool arrow_weight(const struct arrow_column *c, int64_t i, double *weight)
{
    const struct arrow_values *v = &c->values;
    int64_t number;

    switch (v->number) {
    case '?':
        i += v->child_offset;
        *weight = ((const uint8_t *)v->data)[i / 8] >> (i % 8) & 1;
        return is_there(v->child_valid, i);
    case 'f':
    case 'd':
        i += v->child_offset;
        *weight = load_real(v->data, v->number, i);
        return is_there(v->child_valid, i);
    default:
        if (!arrow_number(c, i, &number))
            return false;
        *weight = number == 0 || number == 1 ? (double)number : -1;
        return true;
    }
}

bool arrow_negative(const struct arrow_column *c, int64_t number)
{
    return integers_negative(c->place->number, (uint64_t)number);
}
