/* nested.c: see nested.h: reading the entries of a row, and the memory that they take. */
#include "nested.h"

#include <stdio.h>

#include "base/bytes.h"

/* Whether so many bytes more may be put into a buffer, and room for them if so. */
static enum leat_status make_room(struct column *c, struct block *b, size_t more, struct leat_error *err)
{
    struct column_memory *m = c->memory;
    uint64_t before = block_memory(b), grown = 2 * (uint64_t)b->size + more;
    enum leat_status s;
    bool maps;

    if (more <= b->room - b->size)
        return LEAT_OK;
    m->needs = m->held - before + grown;
    maps = m->needs > m->limit && m->may_map;
    m->outgrew = m->needs > m->limit && !maps;
    if (m->outgrew)
        return status_set(err, LEAT_E_NO_MEMORY, "%s: a row in %s is too large for the memory that is left",
                          c->file->source.name, c->name);
    s = maps || b->mapped ? block_map(b, (size_t)grown, c->window->source, err) : block_grow(b, (size_t)grown, err);
    m->held += block_memory(b) - before;
    return s;
}

/* `bytes` lie in `from`, or in no block if that is NULL. */
static void put(struct block *b, const void *bytes, size_t size, const struct block *from)
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
    put(&leaf->entries, &entry, sizeof entry, NULL);
    put(&leaf->bytes, from->value.bytes, entry.size, &leaf->column->bytes);
    return LEAT_OK;
}

/* Sees early that the row is too large with the entry that waits: each entry takes at least two characters of JSON, and
 * texts their bytes. */
static void judge(struct nested_row *row, const struct nested_leaf *leaf)
{
    bool is_text = leaf->column->what->form == PARQUET_AS_IT_IS;
    size_t least = leaf->entries.size / sizeof(struct nested_entry) * 2 +
                   (is_text ? leaf->bytes.size + leaf->entry.value.size : 0);

    if (row->what->max_bytes > 0 && least / 2 > row->what->max_bytes / 2 + 2)
        row->large = true;
}

/* An entry that a row begins with has repetition level 0, and no other one has. */
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

enum leat_status nested_put(struct nested_row *row, const void *bytes, size_t size, struct leat_error *err)
{
    enum leat_status s = make_room(row->leaves[0].column, &row->json, size, err);

    if (s == LEAT_OK)
        put(&row->json, bytes, size, NULL);
    return s;
}
