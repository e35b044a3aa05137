/* column.c: see column.h: going from page to page. */
#include "column.h"

#include <stdio.h>
#include <string.h>

#include "base/bytes.h"

#define AROUND ((size_t)64 << 10)

enum leat_status column_open(struct column *c, const struct parquet_file *file, const struct parquet_source *source,
                             uint64_t group, unsigned number, uint64_t row, struct column_memory *memory,
                             struct leat_error *err)
{
    const struct parquet_chunk *chunk = parquet_chunk(file, group, number);

    c->file = file;
    c->what = &file->columns[number];
    c->memory = memory;
    if (!c->what->exists)
        return LEAT_OK;
    c->codec = chunk->codec;
    c->next = chunk->offset;
    c->left = chunk->values;
    c->pass = row;
    c->values.type = c->what->type;
    c->values.type_bytes = c->what->type_bytes;
    c->values.unread = c->what->form == PARQUET_UNREAD;
    c->values.page = &c->bytes;
    c->values.held = &c->held;
    snprintf(c->name, sizeof c->name, "the column %.150s of row group %llu", c->what->path, (unsigned long long)group);
    c->window = calloc(1, sizeof *c->window);
    if (!c->window)
        return status_no_memory(err, sizeof *c->window);
    c->window->source = source;
    c->window->end = file->data_end;
    if (bytes_inside(chunk->offset, chunk->bytes, file->data_end))
        c->window->likely_end = chunk->offset + chunk->bytes;
    if (c->codec->open && !(c->codec_state = c->codec->open()))
        return status_no_memory(err, (uint64_t)1 << 17);
    return LEAT_OK;
}

void column_close(struct column *c)
{
    if (c->codec_state)
        c->codec->close(c->codec_state);
    free(c->window);
    block_free(&c->bytes);
    block_free(&c->held);
    block_free(&c->dictionary_bytes);
    block_free(&c->places);
}

void column_rest(const struct column *c)
{
    block_rest(&c->bytes);
    block_rest(&c->held);
    block_rest(&c->dictionary_bytes);
    block_rest(&c->places);
}

/* Where a byte is used, the kernel brings some more around it. */
void column_used(struct column *c, size_t bytes)
{
    if (!c->bytes.mapped && !c->dictionary_bytes.mapped)
        return;
    c->used += bytes + (c->dictionary_bytes.mapped ? AROUND : 0);
    if (c->used < BLOCK_STRETCH)
        return;
    column_rest(c);
    c->used = 0;
}

/* Reads the header of the next page with values; dictionaries before it are loaded. */
static enum leat_status look_ahead(struct column *c, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && !c->ahead) {
        struct page *p = &c->page;

        s = page_read(p, c->window, c->next, c->name, err);
        if (s == LEAT_OK && (p->kind == PAGE_DATA || p->kind == PAGE_DATA_2) && p->values > c->left)
            s = column_broken(c, "it has more values than its row group", err);
        if (s == LEAT_OK && p->kind == PAGE_DICTIONARY && !c->values.unread)
            s = column_load_dictionary(c, err);
        if (s != LEAT_OK)
            return s;
        c->ahead = (p->kind == PAGE_DATA || p->kind == PAGE_DATA_2) && p->values > 0;
        if (!c->ahead)
            c->next = p->body + p->packed;
    }
    return s;
}

/* The page that is ahead is loaded, or passed over. */
static void go_on(struct column *c)
{
    c->ahead = false;
    c->next = c->page.body + c->page.packed;
    c->left -= c->page.values;
}

/* Comes to a page with values to take, or passes over it if all of them are to be passed over. */
static enum leat_status next_page(struct column *c, struct leat_error *err)
{
    enum leat_status s = look_ahead(c, err);

    if (s == LEAT_OK && c->page.values <= c->pass) {
        c->pass -= c->page.values;
        go_on(c);
        return LEAT_OK;
    }
    if (s == LEAT_OK)
        s = column_load_data(c, err);
    if (s != LEAT_OK)
        return s;
    c->here = c->page.values;
    go_on(c);
    return LEAT_OK;
}

enum leat_status column_load(struct column *c, struct leat_error *err)
{
    struct column_entry entry;
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && c->what->exists && (c->here == 0 || c->pass > 0)) {
        if (c->here == 0) {
            s = next_page(c, err);
            continue;
        }
        s = column_next(c, &entry, err);
        c->pass--;
    }
    return s;
}

/* After the last value of a page: what is left over, or NULL. */
static const char *end_of_page(const struct column *c)
{
    if (c->values.encoding->uses_all && c->values.at < c->values.end)
        return "bytes follow its values";
    if (c->page.kind == PAGE_DATA_2 && c->what->max_definition > 0 && !rle_ended(&c->definitions))
        return "it has more definition levels than values";
    if (c->page.kind == PAGE_DATA_2 && c->what->max_repetition > 0 && !rle_ended(&c->repetitions))
        return "it has more repetition levels than values";
    return NULL;
}

const char *column_repeat(struct column *c)
{
    c->repetition = 0;
    if (c->what->max_repetition == 0)
        return NULL;
    if (!rle_next(&c->repetitions, &c->repetition))
        return "its repetition levels end too early";
    return c->repetition > c->what->max_repetition ? "it has an impossible repetition level" : NULL;
}

enum leat_status column_next(struct column *c, struct column_entry *entry, struct leat_error *err)
{
    uint32_t level = c->what->max_definition;
    const char *why = NULL;

    *entry = (struct column_entry) { .repetition = c->repetition };
    if (!c->what->exists)
        return LEAT_OK;
    if (level > 0 && !rle_next(&c->definitions, &level))
        why = "its definition levels end too early";
    else if (level > c->what->max_definition)
        why = "it has an impossible definition level";
    else if (level == c->what->max_definition)
        why = c->values.encoding->next(&c->values, &entry->value);
    entry->definition = level;
    column_used(c, entry->value.size + 4);
    c->here--;
    if (!why)
        why = c->here == 0 ? end_of_page(c) : column_repeat(c);
    return why ? column_broken(c, why, err) : LEAT_OK;
}
