/*
 * schema.c: see schema.h. The way down to the node that is read is kept: for each group how many children are to come,
 * and how much of each wished path it fulfils. So a column is found when its node comes, and any number of other
 * columns costs no memory.
 */
#include "schema.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "schema_types.h"

#define MAX_DEPTH  64u
#define NAME_BYTES 256u /* names that are longer match no wish, and are cut in messages */
#define LIST_BYTES 500u /* of columns in a sentence */
#define OFF_PATH   SIZE_MAX

struct group {
    uint64_t left; /* children to come */
    uint32_t definition;
    bool repeated;
    size_t matched[PARQUET_MAX_COLUMNS]; /* so many bytes of a wished path, with the dot; or OFF_PATH */
    size_t path_bytes;                   /* of walk.path */
};

struct walk {
    struct thrift *t;
    const struct parquet_wish *wishes;
    struct parquet_column *columns;
    unsigned count;
    struct group groups[MAX_DEPTH];
    unsigned depth;
    uint64_t leaves;
    char path[2 * NAME_BYTES]; /* of the group, with a dot after it; cut if it is longer */
    char list[LIST_BYTES];     /* of columns, for a sentence */
    size_t listed;
    bool unlisted; /* there are columns that are not in the list */
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

/* How much of a path is fulfilled with this node, if it is `matched` without it. */
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

static void list_column(struct walk *w, const struct schema_node *n)
{
    size_t group = w->groups[w->depth - 1].path_bytes, bytes = name_shown(n), comma = w->listed > 0 ? 2 : 0;

    if (w->listed + comma + group + bytes > sizeof w->list) {
        w->unlisted = true;
        return;
    }
    memcpy(w->list + w->listed, ", ", comma);
    memcpy(w->list + w->listed + comma, w->path, group);
    memcpy(w->list + w->listed + comma + group, n->name, bytes);
    w->listed += comma + group + bytes;
}

/* ---- Nodes ---- */

static void take_leaf(struct walk *w, const struct schema_node *n)
{
    const struct group *g = &w->groups[w->depth - 1];
    struct thrift *t = w->t;
    bool repeated = g->repeated || n->repetition == SCHEMA_REPEATED;

    if (repeated)
        w->unlisted = true;
    else
        list_column(w, n);
    for (unsigned i = 0; i < w->count && t->status == LEAT_OK; i++) {
        struct parquet_column *c = &w->columns[i];
        size_t matched = match(c->path, g->matched[i], n);
        const char *refused;

        if (matched == OFF_PATH || c->path[matched] != 0 || (matched > 0 && c->path[matched - 1] == '.'))
            continue;
        refused = c->exists ? "appears twice" : repeated ? "is a list" : schema_take(c, n, w->wishes[i].use);
        if (refused && w->wishes[i].optional && !c->exists)
            continue;
        if (refused)
            t->status = status_set(t->err, LEAT_E_UNSUPPORTED, "%s: the column %s %s", t->window->source->name, c->path,
                                   refused);
        c->exists = true;
        c->number = w->leaves;
        c->max_definition = g->definition + (n->repetition == SCHEMA_OPTIONAL);
    }
    w->leaves++;
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
    if (!above) /* the root, whose name and repetition mean nothing */
        return;
    g->definition = above->definition + (n->repetition != SCHEMA_REQUIRED);
    g->repeated = above->repeated || n->repetition == SCHEMA_REPEATED;
    for (unsigned i = 0; i < w->count; i++) {
        size_t matched = match(w->columns[i].path, above->matched[i], n);
        bool on = matched != OFF_PATH && matched > 0 && w->columns[i].path[matched - 1] == '.';

        g->matched[i] = on ? matched : OFF_PATH;
        if (matched != OFF_PATH && !on && !w->wishes[i].optional && t->status == LEAT_OK)
            t->status = status_set(t->err, LEAT_E_UNSUPPORTED,
                                   "%s: the column %s is a list or a group of columns: name one, as %s.NAME",
                                   t->window->source->name, w->columns[i].path, w->columns[i].path);
    }
}

static void take_node(struct walk *w)
{
    struct schema_node n;

    read_node(w->t, &n);
    while (w->depth > 0 && w->groups[w->depth - 1].left == 0)
        w->depth--;
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

static void check_found(struct walk *w)
{
    struct thrift *t = w->t;

    for (unsigned i = 0; i < w->count && t->status == LEAT_OK; i++)
        if (!w->columns[i].exists && !w->wishes[i].optional)
            t->status = status_set(t->err, LEAT_E_NOT_FOUND, "%s has no column %s; its columns are %.*s%s",
                                   t->window->source->name, w->columns[i].path, (int)w->listed, w->list,
                                   !w->unlisted     ? ""
                                   : w->listed == 0 ? "lists"
                                                    : ", and others");
}

enum leat_status schema_read(struct thrift *t, struct thrift_field f, const struct parquet_wish *wishes,
                             struct parquet_column *columns, unsigned count, uint64_t *leaves)
{
    struct walk *w = calloc(1, sizeof *w);
    uint64_t nodes;

    if (!w) {
        t->status = t->status == LEAT_OK ? status_no_memory(t->err, sizeof *w) : t->status;
        return t->status;
    }
    w->t = t;
    w->wishes = wishes;
    w->columns = columns;
    w->count = count;
    nodes = thrift_list(t, f, THRIFT_STRUCT);
    for (; nodes > 0 && t->status == LEAT_OK; nodes--)
        take_node(w);
    while (w->depth > 0 && w->groups[w->depth - 1].left == 0)
        w->depth--;
    if (w->depth > 0)
        thrift_broken(t, "columns are missing");
    check_found(w);
    *leaves = w->leaves;
    free(w);
    return t->status;
}
