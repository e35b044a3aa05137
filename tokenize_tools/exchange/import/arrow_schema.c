/*
 * arrow_schema.c: see arrow_schema.h. A batch lists field nodes and buffers of all columns, children after their
 * parents: so all columns before the one of ids are counted, by what their types have.
 */
#include "arrow_schema.h"

#include <string.h>

#include "base/status.h"

/* Types of Arrow's Schema.fbs. */
enum {
    TYPE_NULL = 1,
    TYPE_INT = 2,
    TYPE_LIST = 12,
    TYPE_UNION = 14,
    TYPE_FIXED_LIST = 16,
    TYPE_LARGE_LIST = 21,
    TYPE_VIEW = 25,
    TYPE_LARGE_VIEW
};

#define TYPES       27u
#define UNKNOWN     0xffu /* how many buffers there are is said by each batch */
#define MAX_DEPTH   64u
#define FIELD_TYPE  2u /* fields of the table Field: the kind of type, and its table */
#define FIELD_TABLE 3u

/* How many buffers an array of each type has itself. */
static const uint8_t buffers[TYPES] = {
    [1] = 0,  [2] = 2,  [3] = 2,  [4] = 3,  [5] = 3,        [6] = 2,        [7] = 2,  [8] = 2,  [9] = 2,
    [10] = 2, [11] = 2, [12] = 2, [13] = 1, [14] = 1,       [15] = 2,       [16] = 1, [17] = 2, [18] = 2,
    [19] = 3, [20] = 3, [21] = 2, [22] = 0, [23] = UNKNOWN, [24] = UNKNOWN, [25] = 3, [26] = 3,
};

struct count {
    uint64_t nodes, buffers;
    uint64_t fields; /* that may still be visited: each takes some bytes of the schema */
    bool unknown, dictionaries;
};

/* Adds what a field and its children have in a batch. Recursion ends at MAX_DEPTH. */
static void add_field(struct flat *f, uint64_t field, unsigned depth, struct count *c)
{
    uint64_t type = flat_number(f, field, FIELD_TYPE, 1), children, count;

    if (c->fields-- == 0 || depth > MAX_DEPTH || type == 0)
        f->bad = true;
    if (f->bad)
        return;
    c->nodes++;
    if (flat_table(f, field, 4) > 0) { /* only numbers of a dictionary stand here */
        c->buffers += 2;
        c->dictionaries = true;
        return;
    }
    if (type >= TYPES || buffers[type] == UNKNOWN)
        c->unknown = true;
    else
        c->buffers += buffers[type];
    if (type == TYPE_UNION && flat_number(f, flat_table(f, field, FIELD_TABLE), 0, 2) == 1)
        c->buffers++; /* a dense one has offsets, too */
    children = flat_vector(f, field, 5, 4, &count);
    for (uint64_t i = 0; i < count && !f->bad; i++)
        add_field(f, flat_follow(f, children + 4 * i), depth + 1, c);
}

/* Whether a field is a list of integers; fills what is known of it then. */
static bool is_list_of_ids(struct flat *f, uint64_t field, struct arrow_column *column)
{
    uint64_t type = flat_number(f, field, FIELD_TYPE, 1), count, children = flat_vector(f, field, 5, 4, &count);
    uint64_t child, integer;

    if ((type != TYPE_LIST && type != TYPE_LARGE_LIST && type != TYPE_FIXED_LIST) || count != 1 ||
        flat_table(f, field, 4) > 0)
        return false;
    child = flat_follow(f, children);
    if (flat_number(f, child, FIELD_TYPE, 1) != TYPE_INT || flat_table(f, child, 4) > 0)
        return false;
    integer = flat_table(f, child, FIELD_TABLE);
    column->dtype = import_dtype_of(flat_number(f, integer, 0, 4) / 8, flat_number(f, integer, 1, 1) != 0);
    column->offset_bytes = type == TYPE_LIST ? 4 : type == TYPE_LARGE_LIST ? 8 : 0;
    column->list_size = type == TYPE_FIXED_LIST ? flat_number(f, flat_table(f, field, FIELD_TABLE), 0, 4) : 0;
    /* lists of no ids could be any number of documents, of which the file holds nothing */
    return column->dtype != NULL && (type != TYPE_FIXED_LIST || column->list_size > 0);
}

/* Whether a field holds lists of integers in a form that is not read: views, or dictionaries. */
static bool is_other_list(struct flat *f, uint64_t field)
{
    uint64_t type = flat_number(f, field, FIELD_TYPE, 1), count, children = flat_vector(f, field, 5, 4, &count);
    uint64_t child = count == 1 ? flat_follow(f, children) : 0;

    if (count != 1 || flat_number(f, child, FIELD_TYPE, 1) != TYPE_INT)
        return false;
    if (type == TYPE_LIST || type == TYPE_LARGE_LIST || type == TYPE_FIXED_LIST)
        return flat_table(f, field, 4) > 0 || flat_table(f, child, 4) > 0;
    return type == TYPE_VIEW || type == TYPE_LARGE_VIEW;
}

static enum leat_status damaged(const char *path, struct leat_error *err)
{
    return status_set(err, LEAT_E_HEADER,
                      "%s: the schema of the Arrow file is damaged; restore the file from its source", path);
}

enum leat_status arrow_schema_find(struct arrow_column *column, struct flat *f, uint64_t schema,
                                   struct import_source *s, const char *path, struct leat_error *err)
{
    struct import_columns c = IMPORT_COLUMNS_INIT;
    struct count all = { .fields = f->size / 4 };
    uint64_t count, fields = flat_vector(f, schema, 1, 4, &count);
    enum leat_status status;
    bool chosen_unknown = false;
    const char *wanted = s->options->column, *other = NULL;
    int other_length = 0;

    if (flat_number(f, schema, 0, 2) != 0)
        return status_set(err, LEAT_E_UNSUPPORTED, "%s was written on a big-endian machine, and leat does not swap it",
                          path);
    for (uint64_t i = 0; i < count && !f->bad; i++) {
        struct arrow_column found = { .node = all.nodes, .buffer = all.buffers };
        uint64_t field = flat_follow(f, fields + 4 * i), length, name = flat_vector(f, field, 0, 1, &length);
        bool holds = is_list_of_ids(f, field, &found);

        import_column(&c, s, i, f->bytes + name, (size_t)length, holds && !f->bad);
        if (!other && is_other_list(f, field) && !f->bad &&
            (!wanted || (strlen(wanted) == length && memcmp(wanted, f->bytes + name, length) == 0))) {
            other = (const char *)f->bytes + name;
            other_length = length < 200 ? (int)length : 200;
        }
        if (c.chosen == i) {
            *column = found;
            chosen_unknown = all.unknown;
        }
        add_field(f, field, 0, &all);
    }
    if (f->bad)
        return damaged(path, err);
    column->dictionaries = all.dictionaries;
    status = import_column_chosen(&c, s, err);
    if (status != LEAT_OK && other && (wanted || c.count == 0))
        return status_set(
            err, LEAT_E_UNSUPPORTED,
            "%s: the column \"%.*s\" holds list views or dictionaries, which leat does not read; write it "
            "as lists of integers",
            path, other_length, other);
    if (status == LEAT_OK && chosen_unknown)
        return status_set(err, LEAT_E_UNSUPPORTED,
                          "%s: a column of views stands before that of the ids, which leat does not read; write the "
                          "ids first, or as the only column",
                          path);
    return status;
}
