/* nested.c: reads the entries of a row into memory, then writes them as JSON. */
#include "nested.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/json.h"
#include "value_text.h"

/* ---- Entries of a row -------------------------------------------------------------------------------------------- */

/* Makes room for `more` bytes in a block, if the limit of memory allows it. */
static enum leat_status make_room(struct column *c, struct block *b, size_t more, struct leat_error *err)
{
    struct column_memory *m = c->memory;
    uint64_t before = block_memory(b), grown = 2 * (uint64_t)b->size + more;
    enum leat_status s;
    bool maps;

    if (more <= b->room - b->size)
        return LEAT_OK;
    m->needs = column_memory_all(m) - before + grown;
    maps = m->needs > m->limit && m->may_map;
    m->outgrew = m->needs > m->limit && !maps;
    if (m->outgrew)
        return status_set_in(err, LEAT_E_NO_MEMORY, c->file->source.name,
                             "%s: a row in %s is too large for the memory that is left", c->file->source.name, c->name);
    s = maps || b->mapped ? block_map(b, (size_t)grown, c->window->source, err) : block_grow(b, (size_t)grown, err);
    m->held += block_memory(b) - before;
    return s;
}

/* Appends bytes. They lie in the block `from`, or in no block if that is NULL. */
static void append(struct block *b, const void *bytes, size_t size, const struct block *from)
{
    block_copy(b, b->size, bytes, size, from);
    b->size += size;
}

static enum leat_status put_entry(struct nested_leaf *leaf, const struct column_entry *from, struct leat_error *err)
{
    struct nested_entry entry = { .size = (uint32_t)from->value.size,
                                  .repetition = (uint8_t)from->repetition,
                                  .definition = (uint8_t)from->definition };
    enum leat_status s = make_room(leaf->column, &leaf->entries, sizeof entry, err);

    if (s == LEAT_OK)
        s = make_room(leaf->column, &leaf->bytes, entry.size, err);
    if (s != LEAT_OK)
        return s;
    append(&leaf->entries, &entry, sizeof entry, NULL);
    append(&leaf->bytes, from->value.bytes, entry.size, &leaf->column->bytes);
    return LEAT_OK;
}

/* Finds out early that the row is too large, with the entry that waits: each entry takes at least two characters of
 * JSON, and texts take their bytes. */
static void judge(struct nested_row *row, const struct nested_leaf *leaf)
{
    bool is_text = leaf->column->what->form == PARQUET_AS_IT_IS;
    size_t least = leaf->entries.size / sizeof(struct nested_entry) * 2 +
                   (is_text ? leaf->bytes.size + leaf->entry.value.size : 0);

    if (row->what->max_bytes > 0 && least / 2 > row->what->max_bytes / 2 + 2)
        row->large = true;
}

/* Reads the entries of a row in one leaf. The first entry of a row has repetition level 0, and no other entry has. */
static enum leat_status gather_leaf(struct nested_row *row, struct nested_leaf *leaf, bool last, struct leat_error *err)
{
    struct column *c = leaf->column;
    enum leat_status s = LEAT_OK;

    while (!leaf->complete) {
        if (!leaf->waits && column_ended(c)) {
            if (!leaf->begun)
                return column_broken(c, "its row group has more rows", err);
            break;
        }
        if (!leaf->waits) {
            s = column_load(c, err);
            if (s != LEAT_OK)
                return s;
            leaf->complete = leaf->begun && c->repetition == 0;
            if (leaf->complete)
                return last ? column_broken(c, "its row group has fewer rows", err) : LEAT_OK;
            if (!leaf->begun && c->repetition != 0)
                return column_broken(c, "a row begins in the middle of a list", err);
            s = column_next(c, &leaf->entry, err);
            if (s != LEAT_OK)
                return s;
            leaf->begun = leaf->waits = true;
        }
        judge(row, leaf);
        s = row->large ? LEAT_OK : put_entry(leaf, &leaf->entry, err);
        if (s != LEAT_OK)
            return s;
        leaf->waits = false;
    }
    leaf->complete = true;
    return LEAT_OK;
}

enum leat_status nested_gather(struct nested_row *row, bool last, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; s == LEAT_OK && i < row->what->leaves; i++)
        s = gather_leaf(row, &row->leaves[i], last, err);
    return s;
}

void nested_pass(struct nested_row *row)
{
    for (unsigned i = 0; i < row->what->leaves; i++) {
        struct nested_leaf *leaf = &row->leaves[i];

        leaf->entries.size = leaf->bytes.size = 0;
        leaf->begun = leaf->complete = false;
    }
    row->large = false;
}

void nested_close(struct nested_row *row)
{
    for (unsigned i = 0; i < NESTED_MAX_LEAVES; i++) {
        block_free(&row->leaves[i].entries);
        block_free(&row->leaves[i].bytes);
    }
    block_free(&row->json);
}

/* ---- A row as JSON ----------------------------------------------------------------------------------------------- */

/*
 * Writes a row as JSON, node by node. Each leaf has a next entry. Its definition level says whether a node is null,
 * a list empty or an element there; after an element, its repetition level says whether the list goes on. All leaves
 * below a node must agree.
 */

#define APART "its columns do not go together"

struct writer {
    struct nested_row *row;
    struct json json; /* writer that appends to the row's JSON; its status is the first failure */
    const char *why;  /* what is wrong with the entries; the first problem stays */
};

static void write_value(struct writer *w, unsigned index, const char *key);

/* Appends to the JSON, within the reader's memory. */
static void put_bytes(struct json *j, const void *bytes, size_t size)
{
    struct nested_row *row = j->to;

    if (row->what->max_bytes > 0 && size > row->what->max_bytes - row->json.size)
        row->large = true;
    if (j->status != LEAT_OK || row->large)
        return;
    j->status = make_room(row->leaves[0].column, &row->json, size, j->err);
    if (j->status == LEAT_OK)
        append(&row->json, bytes, size, NULL);
}

/* ---- Entries ---- */

static const struct nested_node *node_at(const struct writer *w, unsigned index)
{
    return &w->row->what->nodes[index];
}

/* Returns the next entry of a leaf; NULL after the last one. */
static const struct nested_entry *next_entry(const struct writer *w, unsigned leaf)
{
    const struct nested_leaf *l = &w->row->leaves[leaf];

    if (l->next * sizeof(struct nested_entry) == l->entries.size)
        return NULL;
    return (const struct nested_entry *)(const void *)l->entries.bytes + l->next;
}

static bool failed(const struct writer *w)
{
    return w->why || w->json.status != LEAT_OK;
}

/* Returns true if the next entries end above a level on the way to the node. */
static bool ends_above(struct writer *w, const struct nested_node *n, uint32_t level)
{
    unsigned lacking = 0, reaching = 0;

    for (unsigned i = n->leaf; i < n->leaf + n->leaves; i++) {
        const struct nested_entry *e = next_entry(w, i);

        lacking += e && e->definition < level;
        reaching += e && e->definition >= level;
    }
    if (lacking < n->leaves && reaching < n->leaves)
        w->why = APART;
    return lacking > 0;
}

/* Returns true if the node is missing in the next entries. */
static bool lacks(struct writer *w, const struct nested_node *n)
{
    return ends_above(w, n, n->definition);
}

/* Returns true if the list of the repeated node goes on. */
static bool goes_on(struct writer *w, const struct nested_node *n)
{
    unsigned more = 0;

    for (unsigned i = n->leaf; i < n->leaf + n->leaves; i++) {
        const struct nested_entry *e = next_entry(w, i);

        more += e && e->repetition == n->repetition;
    }
    if (more > 0 && more < n->leaves)
        w->why = APART;
    return more > 0 && !failed(w);
}

static void skip(struct writer *w, const struct nested_node *n)
{
    for (unsigned i = n->leaf; i < n->leaf + n->leaves; i++)
        w->row->leaves[i].next += next_entry(w, i) != NULL;
}

/* ---- Values ---- */

static void write_leaf(struct writer *w, const struct nested_node *n, const char *key)
{
    struct nested_leaf *leaf = &w->row->leaves[n->leaf];
    const struct parquet_column *c = leaf->column->what;
    const struct nested_entry *e = next_entry(w, n->leaf);
    struct parquet_value value;
    char text[VALUE_TEXT];

    if (!e || e->definition != c->max_definition) {
        w->why = APART;
        return;
    }
    value = (struct parquet_value) { (const uint8_t *)"", e->size };
    if (e->size > 0)
        value.bytes = leaf->bytes.bytes + leaf->at;
    leaf->at += e->size;
    leaf->next++;
    value_text(c, &value, text);
    if (c->form == PARQUET_AS_IT_IS || c->form == PARQUET_UUID)
        json_bytes(&w->json, key, value.bytes, value.size);
    else
        json_value(&w->json, key, value.bytes, value.size);
}

/* Writes a node that is there, once. */
static void write_present(struct writer *w, unsigned index, const char *key);

static void write_elements(struct writer *w, unsigned repeated, unsigned element, const char *key)
{
    const struct nested_node *n = node_at(w, repeated);
    bool empty = lacks(w, n);

    json_open_array(&w->json, key);
    if (empty)
        skip(w, n);
    while (!empty && !failed(w)) {
        if (element == repeated)
            write_present(w, repeated, NULL);
        else
            write_value(w, element, NULL);
        empty = !goes_on(w, n);
    }
    json_close_array(&w->json);
}

/* Writes a list. Its elements lie in a group of their own; older writers made the element itself that group. */
static void write_list(struct writer *w, unsigned index, const char *key)
{
    const struct nested_node *n = node_at(w, index), *repeated = node_at(w, index + 1);
    size_t bytes = strlen(n->name);
    bool older = repeated->children != 1 || strcmp(repeated->name, "array") == 0 ||
                 (strncmp(repeated->name, n->name, bytes) == 0 && strcmp(repeated->name + bytes, "_tuple") == 0);

    write_elements(w, index + 1, older ? index + 1 : index + 2, key);
}

static void write_group(struct writer *w, unsigned index, const char *key)
{
    json_open_object(&w->json, key);
    for (unsigned i = index + 1; i < node_at(w, index)->after && !failed(w); i = node_at(w, i)->after) {
        const struct nested_node *n = node_at(w, i);

        if (n->repeated)
            write_elements(w, i, i, n->name);
        else
            write_value(w, i, n->name);
    }
    json_close_object(&w->json);
}

static void write_present(struct writer *w, unsigned index, const char *key)
{
    const struct nested_node *n = node_at(w, index);

    if (n->after == index + 1)
        write_leaf(w, n, key);
    else if (n->list)
        write_list(w, index, key);
    else
        write_group(w, index, key);
}

static void write_value(struct writer *w, unsigned index, const char *key)
{
    const struct nested_node *n = node_at(w, index);

    if (n->optional && lacks(w, n)) {
        json_null(&w->json, key);
        skip(w, n);
    } else {
        write_present(w, index, key);
    }
}

enum leat_status nested_write(struct nested_row *row, struct parquet_value *value, struct leat_error *err)
{
    const struct nested_node *n = row->what->nodes;
    struct writer w = { .row = row, .json = { .put = put_bytes, .to = row, .err = err, .verbatim = true } };
    bool null;

    if (row->large) {
        *value = (struct parquet_value) { (const uint8_t *)"", SIZE_MAX };
        return LEAT_OK;
    }
    for (unsigned i = 0; i < row->what->leaves; i++)
        row->leaves[i].next = row->leaves[i].at = 0;
    row->json.size = 0;
    null = ends_above(&w, n, n->definition - n->repeated); /* null, too, if a group above it is null */
    if (null)
        skip(&w, n);
    else if (n->repeated)
        write_elements(&w, 0, 0, NULL);
    else
        write_present(&w, 0, NULL);
    for (unsigned i = 0; i < row->what->leaves && w.json.status == LEAT_OK && !w.why; i++)
        w.why = next_entry(&w, i) ? APART : NULL;
    if (w.json.status == LEAT_OK && w.why)
        return column_broken(row->leaves[0].column, w.why, err);
    *value = row->large ? (struct parquet_value) { (const uint8_t *)"", SIZE_MAX }
             : null     ? (struct parquet_value) { NULL, 0 }
                        : (struct parquet_value) { row->json.bytes, row->json.size };
    return w.json.status;
}
