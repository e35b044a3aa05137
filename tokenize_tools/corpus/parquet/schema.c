/*
 * schema.c: reads a schema. It keeps the way down to the node that is read: for each group how many children are
 * still to come, and how much of each wanted path it matches. So a column is found when its node comes, and any
 * number of other columns costs no memory.
 */
#include "schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* ---- Types of a node --------------------------------------------------------------------------------------------- */

/* The numbers of annotations are those of parquet.thrift. */

enum converted {
    CONVERTED_UTF8 = 0,
    CONVERTED_MAP = 1,
    CONVERTED_MAP_KEY_VALUE = 2,
    CONVERTED_LIST = 3,
    CONVERTED_ENUM = 4,
    CONVERTED_UINT_8 = 11,
    CONVERTED_UINT_64 = 14,
    CONVERTED_INT_64 = 18,
    CONVERTED_JSON = 19
};

enum logical {
    LOGICAL_STRING = 1,
    LOGICAL_MAP = 2,
    LOGICAL_LIST = 3,
    LOGICAL_ENUM = 4,
    LOGICAL_INTEGER = 10,
    LOGICAL_NOTHING = 11,
    LOGICAL_JSON = 12,
    LOGICAL_UUID = 14
};

#define MAX_FIXED (1u << 20) /* most bytes of a value of fixed length */

/* Takes a LogicalType, the value of field `f`. */
static void schema_read_logical(struct thrift *t, struct thrift_field f, struct schema_node *n)
{
    struct thrift_field kind = { 0 }, part = { 0 };

    if (!thrift_struct(t, f))
        return;
    while (thrift_next(t, &kind)) {
        n->logical = kind.id;
        if (kind.id != LOGICAL_INTEGER || !thrift_struct(t, kind)) {
            thrift_skip(t, kind);
            continue;
        }
        while (thrift_next(t, &part))
            if (part.id == 2)
                n->logical_signed = thrift_bool(t, part);
            else
                thrift_skip(t, part);
    }
}

static bool is_bytes(const struct schema_node *n)
{
    return (n->logical == 0 || n->logical == LOGICAL_STRING || n->logical == LOGICAL_ENUM ||
            n->logical == LOGICAL_JSON) &&
           (n->converted == -1 || n->converted == CONVERTED_UTF8 || n->converted == CONVERTED_ENUM ||
            n->converted == CONVERTED_JSON);
}

static bool is_integer(const struct schema_node *n)
{
    return (n->logical == 0 || n->logical == LOGICAL_INTEGER) &&
           (n->converted == -1 || (n->converted >= CONVERTED_UINT_8 && n->converted <= CONVERTED_INT_64));
}

static bool is_unsigned(const struct schema_node *n)
{
    return n->logical == LOGICAL_INTEGER ? !n->logical_signed
                                         : n->converted >= CONVERTED_UINT_8 && n->converted <= CONVERTED_UINT_64;
}

/* Returns true if a group is annotated as a list, or as a map. */
static bool schema_is_list(const struct schema_node *n)
{
    return n->logical == LOGICAL_LIST || n->converted == CONVERTED_LIST;
}

static bool schema_is_map(const struct schema_node *n)
{
    return !n->has_type &&
           (n->logical == LOGICAL_MAP || n->converted == CONVERTED_MAP || n->converted == CONVERTED_MAP_KEY_VALUE);
}

/* Sets what the column is. Returns why it cannot be used in this way, or NULL. */
static const char *schema_take(struct parquet_column *c, const struct schema_node *n, enum parquet_use use)
{
    c->type = (enum parquet_type)n->type;
    c->form = PARQUET_AS_IT_IS;
    c->type_bytes = c->type == PARQUET_INT32 || c->type == PARQUET_FLOAT    ? 4
                    : c->type == PARQUET_INT64 || c->type == PARQUET_DOUBLE ? 8
                                                                            : 0;
    if (use == PARQUET_EXISTS) {
        c->form = PARQUET_UNREAD;
        return NULL;
    }
    if (c->type == PARQUET_FIXED) {
        if (n->type_bytes > MAX_FIXED)
            return "has values of more than 1 MiB, all of the same length, which leat does not read";
        c->type_bytes = (uint32_t)n->type_bytes;
    }
    if ((c->type == PARQUET_BYTE_ARRAY || c->type == PARQUET_FIXED) && is_bytes(n) && use != PARQUET_NUMBER)
        return NULL;
    if (use == PARQUET_TEXT)
        return "does not hold texts: its type is not BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY, or means something else";
    if (c->type == PARQUET_FIXED && n->logical == LOGICAL_UUID && c->type_bytes == 16 && use != PARQUET_NUMBER) {
        c->form = PARQUET_UUID;
        return NULL;
    }
    if ((c->type == PARQUET_FLOAT || c->type == PARQUET_DOUBLE) && use != PARQUET_ID) {
        c->form = use == PARQUET_VALUE ? PARQUET_DECIMAL : PARQUET_EXACT;
        return NULL;
    }
    if ((c->type == PARQUET_INT32 || c->type == PARQUET_INT64) && is_integer(n)) {
        c->form = is_unsigned(n) ? PARQUET_UNSIGNED : PARQUET_SIGNED;
        return NULL;
    }
    if (c->type == PARQUET_BOOLEAN && use == PARQUET_JSON) {
        c->form = PARQUET_TRUTH;
        return NULL;
    }
    if (use == PARQUET_NUMBER)
        return "holds no numbers of at most 64 bits";
    if (use == PARQUET_JSON)
        return "holds values that are no JSON: dates, times, decimals or numbers of 96 bits";
    if (use == PARQUET_VALUE)
        return "holds neither strings nor numbers, so that its values cannot be compared; only \"exists\" can be asked";
    return "does not hold ids: its type is neither text nor an integer of 32 or 64 bits";
}

/* ---- The way through the tree ------------------------------------------------------------------------------------ */

#define MAX_DEPTH  64u  /* levels fit in a byte */
#define NAME_BYTES 256u /* longer names match no want, and are cut in messages */
#define LIST_BYTES 500u /* most bytes of a list of columns in a sentence */
#define OFF_PATH   SIZE_MAX

struct group {
    uint64_t left; /* children to come */
    uint32_t definition, repetition;
    unsigned node;                       /* number of the node in the nested column, if it is captured */
    size_t matched[PARQUET_MAX_COLUMNS]; /* how many bytes of a wanted path match, with the dot; or OFF_PATH */
    size_t path_bytes;                   /* length of walk.path */
    bool list;                           /* it is a list or a map, or lies in one, whose name is listed */
};

struct walk {
    struct thrift *t;
    const struct parquet_want *wants;
    struct parquet_column *columns;
    unsigned count;        /* number of wants */
    unsigned *taken;       /* columns */
    struct nested *nested; /* the one that is read, or room for the next one */
    struct group groups[MAX_DEPTH];
    unsigned depth;
    struct nested *all_nested;
    unsigned *nested_count;
    unsigned capturing; /* depth of the nested column, while nodes below it are read; else 0 */
    uint64_t leaves;
    char path[2 * NAME_BYTES]; /* path of the group, with a dot after it; cut if it is too long */
    char list[LIST_BYTES];     /* columns, for a sentence */
    size_t listed;
    bool unlisted, has_lists; /* `list` lacks columns; there is a list or a map */
};

static void read_node(struct thrift *t, struct schema_node *n)
{
    struct thrift_field f = { 0 };

    memset(n, 0, sizeof *n);
    n->converted = -1;
    while (thrift_next(t, &f))
        switch (f.id) {
        case 1:
            n->type = thrift_count(t, f);
            n->has_type = true;
            break;
        case 2:
            n->type_bytes = thrift_count(t, f);
            break;
        case 3:
            n->repetition = thrift_count(t, f);
            break;
        case 4:
            n->name_bytes = thrift_bytes(t, f, n->name, sizeof n->name);
            break;
        case 5:
            n->children = thrift_count(t, f);
            break;
        case 6:
            n->converted = thrift_integer(t, f);
            break;
        case 10:
            schema_read_logical(t, f, n);
            break;
        default:
            thrift_skip(t, f);
        }
    thrift_need(t, f, 1u << 4);
    if (n->repetition > SCHEMA_REPEATED || (n->has_type && n->type >= PARQUET_TYPES))
        thrift_broken(t, "a column has an unknown type");
}

/* ---- Names ---- */

static size_t name_shown(const struct schema_node *n)
{
    return n->name_bytes < sizeof n->name ? (size_t)n->name_bytes : sizeof n->name;
}

/* Returns how much of a path matches with this node, if `matched` bytes do without it. */
static size_t match(const char *path, size_t matched, const struct schema_node *n)
{
    size_t end = matched + (size_t)n->name_bytes;

    if (matched == OFF_PATH || n->name_bytes > sizeof n->name || n->name_bytes > strlen(path + matched) ||
        memcmp(path + matched, n->name, n->name_bytes) != 0)
        return OFF_PATH;
    return path[end] == '.' ? end + 1 : path[end] == 0 ? end : OFF_PATH;
}

static void enter_path(struct walk *w, const struct schema_node *n, struct group *g)
{
    size_t from = w->depth > 1 ? w->groups[w->depth - 2].path_bytes : 0, bytes = name_shown(n);

    g->path_bytes = from;
    if (w->depth <= 1 || from + bytes + 1 > sizeof w->path)
        return;
    memcpy(w->path + from, n->name, bytes);
    w->path[from + bytes] = '.';
    g->path_bytes = from + bytes + 1;
}

/* Lists a column of the group. What lies in a list or a map has the name of that. */
static void list_column(struct walk *w, const struct group *group, const struct schema_node *n, const char *what)
{
    size_t room = sizeof w->list - w->listed;
    int bytes = group->list ? 0
                            : snprintf(w->list + w->listed, room, "%s%.*s%.*s%s", w->listed > 0 ? ", " : "",
                                       (int)group->path_bytes, w->path, (int)name_shown(n), n->name, what);

    w->has_lists = w->has_lists || *what;
    if ((size_t)bytes < room)
        w->listed += (size_t)bytes;
    else
        w->unlisted = true;
}

/* ---- A nested column ---- */

static void refuse_nested(struct walk *w, const char *why)
{
    const char *path = w->columns[w->nested->want].path;

    if (w->t->status == LEAT_OK)
        w->t->status = status_field(w->t->err,
                                    status_set_in(w->t->err, LEAT_E_UNSUPPORTED, w->t->window->source->name,
                                                  "%s: the column %s %s", w->t->window->source->name, path, why),
                                    path);
}

/* Adds a node; its levels are `definition` and `repetition`. */
static void capture(struct walk *w, const struct schema_node *n, uint32_t definition, uint32_t repetition)
{
    struct nested *nested = w->nested;
    struct nested_node *node = &nested->nodes[nested->count];

    if (nested->count == NESTED_MAX_NODES || n->name_bytes > sizeof n->name) {
        refuse_nested(w, "has too many columns below it, or too long names");
        return;
    }
    if (schema_is_map(n)) {
        refuse_nested(w, "has a map below it, which leat does not read");
        return;
    }
    *node = (struct nested_node) { .definition = definition,
                                   .repetition = repetition,
                                   .optional = n->repetition == SCHEMA_OPTIONAL,
                                   .repeated = n->repetition == SCHEMA_REPEATED,
                                   .list = schema_is_list(n),
                                   .leaf = nested->leaves,
                                   .leaves = n->has_type,
                                   .children = (unsigned)n->children,
                                   .after = nested->count + 1 };
    node->name = strndup(n->name, (size_t)n->name_bytes);
    if (!node->name)
        w->t->status = status_no_memory(w->t->err, n->name_bytes);
    nested->count++;
}

/* Returns the names that lead to a leaf, joined by dots; the caller frees it. Returns NULL without memory. */
static char *path_of(const struct walk *w, const struct schema_node *n)
{
    size_t group = w->groups[w->depth - 1].path_bytes, bytes = name_shown(n);
    char *path = malloc(group + bytes + 1);

    if (!path)
        return NULL;
    memcpy(path, w->path, group);
    memcpy(path + group, n->name, bytes);
    path[group + bytes] = 0;
    return path;
}

static void capture_leaf(struct walk *w, const struct schema_node *n, uint32_t definition, uint32_t repetition)
{
    struct parquet_column *c = &w->columns[*w->taken];
    const char *refused;

    if (w->nested->leaves == NESTED_MAX_LEAVES || *w->taken == SCHEMA_MAX_COLUMNS) {
        refuse_nested(w, "has too many columns below it");
        return;
    }
    capture(w, n, definition, repetition);
    if (w->t->status != LEAT_OK)
        return;
    *c = (struct parquet_column) {
        .exists = true, .number = w->leaves, .max_definition = definition, .max_repetition = repetition
    };
    refused = schema_take(c, n, PARQUET_JSON);
    c->path = path_of(w, n);
    if (refused)
        refuse_nested(w, refused);
    else if (!c->path)
        w->t->status = status_no_memory(w->t->err, sizeof w->path);
    w->nested->leaves++;
    ++*w->taken;
}

/* Leaves groups that have no further child. */
static void leave_groups(struct walk *w)
{
    for (; w->t->status == LEAT_OK && w->depth > 0 && w->groups[w->depth - 1].left == 0; w->depth--) {
        struct nested_node *node = &w->nested->nodes[w->groups[w->depth - 1].node];

        if (w->capturing == 0 || w->depth < w->capturing)
            continue;
        node->after = w->nested->count;
        node->leaves = w->nested->leaves - node->leaf;
        if (node->leaves == 0)
            refuse_nested(w, "has a group without columns below it");
        if (node->list && (node->children != 1 || !node[1].repeated))
            refuse_nested(w, "is a list of an unknown layout, or has one below it");
        if (w->depth == w->capturing)
            w->capturing = 0;
    }
}

/* ---- Nodes ---- */

static void take_leaf(struct walk *w, const struct schema_node *n)
{
    const struct group *g = &w->groups[w->depth - 1];
    struct thrift *t = w->t;
    uint32_t definition = g->definition + (n->repetition != SCHEMA_REQUIRED);
    uint32_t repetition = g->repetition + (n->repetition == SCHEMA_REPEATED);

    list_column(w, g, n, repetition > 0 ? " (list)" : "");
    if (w->capturing > 0)
        capture_leaf(w, n, definition, repetition);
    for (unsigned i = 0; i < w->count && t->status == LEAT_OK; i++) {
        struct parquet_column *c = &w->columns[i];
        size_t matched = match(c->path, g->matched[i], n);
        const char *refused;

        if (matched == OFF_PATH || c->path[matched] != 0 || (matched > 0 && c->path[matched - 1] == '.'))
            continue;
        refused = c->exists ? "appears twice"
                  : repetition > 0
                      ? "is in a list; name a column of single values"
                      : schema_take(c, n, w->wants[i].use == PARQUET_JSON ? PARQUET_TEXT : w->wants[i].use);
        if (refused && !c->exists && (w->wants[i].optional || (w->wants[i].may_lack && n->logical == LOGICAL_NOTHING)))
            continue;
        if (refused)
            t->status = status_field(t->err,
                                     status_set_in(t->err, LEAT_E_UNSUPPORTED, t->window->source->name,
                                                   "%s: the column %s %s%s%s", t->window->source->name, c->path,
                                                   refused, w->wants[i].advice ? "; " : "",
                                                   w->wants[i].advice ? w->wants[i].advice : ""),
                                     c->path);
        c->exists = true;
        c->number = w->leaves;
        c->max_definition = definition;
    }
    w->leaves++;
}

/* Returns true if a want has a nested column. */
static bool is_nested(const struct walk *w, unsigned want)
{
    unsigned n = 0;

    while (n < *w->nested_count && w->all_nested[n].want != want)
        n++;
    return n < *w->nested_count;
}

/* Notes that the group which was entered is the nested column of a want. */
static void begin_nested(struct walk *w, unsigned want)
{
    bool twice = w->capturing > 0 || is_nested(w, want) || w->columns[want].exists;

    if (!twice && *w->nested_count < PARQUET_MAX_NESTED)
        w->nested = &w->all_nested[(*w->nested_count)++];
    w->nested->want = want;
    if (twice || w->nested->count > 0)
        refuse_nested(w, twice ? "appears twice" : "is one list too many");
    w->nested->first = *w->taken;
    w->nested->max_bytes = w->wants[want].max_bytes;
    w->capturing = w->depth;
}

/* Returns the hint that names the option of a column: a list in place of a text may be a conversation. */
static enum leat_hint hint_of(const struct walk *w, unsigned want)
{
    return w->wants[want].hint == LEAT_HINT_TEXT ? LEAT_HINT_CHAT : w->wants[want].hint;
}

/* Refuses a wanted column that has no values of its own. */
static enum leat_status refuse_group(struct walk *w, unsigned want, const struct schema_node *n)
{
    const char *name = w->t->window->source->name, *path = w->columns[want].path;

    if (w->wants[want].advice)
        return status_field(w->t->err,
                            status_set_in(w->t->err, LEAT_E_UNSUPPORTED, name, "%s: the column %s is a %s; %s", name,
                                          path, schema_is_list(n) ? "list" : "group of columns", w->wants[want].advice),
                            path);
    return schema_is_list(n)
               ? status_field(w->t->err,
                              status_set_hint(w->t->err, LEAT_E_UNSUPPORTED, hint_of(w, want), name,
                                              "%s: the column %s is a list; name a column of single values", name,
                                              path),
                              path)
               : status_field(w->t->err,
                              status_set_in(w->t->err, LEAT_E_UNSUPPORTED, name,
                                            "%s: the column %s is a group of columns: name one, as %s.NAME", name, path,
                                            path),
                              path);
}

static void take_group(struct walk *w, const struct schema_node *n)
{
    struct group *g = &w->groups[w->depth];
    const struct group *above = w->depth > 0 ? g - 1 : NULL;
    struct thrift *t = w->t;

    if (w->depth == MAX_DEPTH) {
        thrift_broken(t, "its columns are nested too deep");
        return;
    }
    w->depth++;
    memset(g, 0, sizeof *g);
    g->left = n->children;
    enter_path(w, n, g);
    if (!above) /* the root, whose name and repetition have no meaning */
        return;
    g->definition = above->definition + (n->repetition != SCHEMA_REQUIRED);
    g->repetition = above->repetition + (n->repetition == SCHEMA_REPEATED);
    g->list = above->list || schema_is_list(n) || schema_is_map(n) || g->repetition > 0;
    if (g->list)
        list_column(w, above, n, schema_is_map(n) ? " (map)" : " (list)");
    for (unsigned i = 0; i < w->count; i++) {
        size_t matched = match(w->columns[i].path, above->matched[i], n);
        bool on = matched != OFF_PATH && matched > 0 && w->columns[i].path[matched - 1] == '.';

        g->matched[i] = on ? matched : OFF_PATH;
        if (on && schema_is_list(n) && !w->wants[i].optional && t->status == LEAT_OK)
            t->status = status_field(
                t->err,
                status_set_in(t->err, LEAT_E_UNSUPPORTED, t->window->source->name,
                              "%s: the column %s is in a list, %.*s; name a column of single values",
                              t->window->source->name, w->columns[i].path, (int)(matched - 1), w->columns[i].path),
                w->columns[i].path);
        if (matched != OFF_PATH && !on && w->wants[i].use == PARQUET_JSON)
            begin_nested(w, i);
        else if (matched != OFF_PATH && !on && !w->wants[i].optional && t->status == LEAT_OK)
            t->status = refuse_group(w, i, n);
    }
    if (w->capturing > 0) {
        g->node = w->nested->count;
        capture(w, n, g->definition, g->repetition);
    }
}

static void take_node(struct walk *w)
{
    struct schema_node n;

    read_node(w->t, &n);
    leave_groups(w);
    if (w->t->status != LEAT_OK)
        return;
    if (w->depth == 0 ? w->leaves > 0 || n.has_type : n.has_type && n.children > 0) {
        thrift_broken(w->t, "its columns are no tree");
        return;
    }
    if (w->depth > 0)
        w->groups[w->depth - 1].left--;
    if (n.has_type)
        take_leaf(w, &n);
    else
        take_group(w, &n);
}

/* Returns true if a folder of the file is called COLUMN=..., as Hive, Spark and others put a column into names. */
static bool is_in_name(const char *name, const char *column)
{
    size_t bytes = strlen(column);

    for (const char *part = name; strchr(part, '/'); part = strchr(part, '/') + 1)
        if (strncmp(part, column, bytes) == 0 && part[bytes] == '=')
            return true;
    return false;
}

static void check_found(struct walk *w)
{
    struct thrift *t = w->t;

    for (unsigned i = 0; i < w->count && t->status == LEAT_OK; i++)
        if (!w->columns[i].exists && !w->wants[i].optional && !w->wants[i].may_lack && !is_nested(w, i))
            t->status = status_field(
                t->err,
                status_set_hint(t->err, LEAT_E_NOT_FOUND, w->has_lists ? hint_of(w, i) : w->wants[i].hint,
                                t->window->source->name, "%s has no column %s; its columns are %.*s%s%s",
                                t->window->source->name, w->columns[i].path, (int)w->listed, w->list,
                                w->unlisted ? ", and others" : "",
                                is_in_name(t->window->source->name, w->columns[i].path)
                                    ? "; it is only in the name of a folder, which leat does not read: write it into "
                                      "the files, or pack each folder by itself"
                                    : ""),
                w->columns[i].path);
}

enum leat_status schema_read(struct thrift *t, struct thrift_field f, const struct parquet_want *wants,
                             unsigned want_count, const struct schema_found *found)
{
    struct walk *w = calloc(1, sizeof *w);
    uint64_t nodes;

    if (!w) {
        t->status = t->status == LEAT_OK ? status_no_memory(t->err, sizeof *w) : t->status;
        return t->status;
    }
    w->t = t;
    w->wants = wants;
    w->columns = found->columns;
    w->count = want_count;
    w->taken = found->count;
    w->nested = w->all_nested = found->nested;
    w->nested_count = found->nested_count;
    nodes = thrift_list(t, f, THRIFT_STRUCT);
    for (; nodes > 0 && t->status == LEAT_OK; nodes--)
        take_node(w);
    leave_groups(w);
    if (w->depth > 0)
        thrift_broken(t, "columns are missing");
    check_found(w);
    *found->leaves = w->leaves;
    free(w);
    return t->status;
}
