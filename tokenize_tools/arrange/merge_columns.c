/*
 * merge_columns.c: copies columns. A column of all parts is opened as one, which numbers entries and texts through. The
 * documents of an output name their sources; a run of sources that follow each other is copied as one range. So merging
 * reads a column from its beginning to its end, and only shuffling reads it document by document. The texts of a
 * category get their numbers anew, as they come up: a column has the bytes of one that is attached to the output.
 */
#include "merge_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/bytes.h"
#include "base/file.h"
#include "base/search.h"
#include "base/status.h"
#include "base/tiny.h"
#include "private.h"

#define COPY_BYTES TINY_OR((size_t)4096, (size_t)1 << 20) /* at least one entry */

/* ---- Names ------------------------------------------------------------------------------------------------------- */

static enum leat_status say_missing(const char *has, const char *lacks, const char *column, struct leat_error *err)
{
    return status_set_in(err, LEAT_E_INCOMPATIBLE, lacks,
                         "%.300s has no column %s, which %.300s has: attach it, or, to go on without it, move "
                         "%.300s.%s.column and %.300s.%s.column-index away first",
                         lacks, column, has, has, column, has, column);
}

static enum leat_status keep_names(struct merge_parts *parts, const struct leat_column_info *columns, size_t count,
                                   struct leat_error *err)
{
    parts->columns = calloc(count + 1, sizeof *parts->columns); /* the count may be 0 */
    for (size_t i = 0; parts->columns && i < count; i++) {
        parts->columns[i] = strdup(columns[i].name);
        if (!parts->columns[i])
            return status_no_memory(err, strlen(columns[i].name));
        parts->column_count++;
    }
    return parts->columns ? LEAT_OK : status_no_memory(err, count * sizeof *parts->columns);
}

/* Compares the names of a part's columns with those of the first part. Both are sorted. */
static enum leat_status compare_names(const struct merge_parts *parts, const struct merge_part *part,
                                      const struct leat_column_info *columns, size_t count, struct leat_error *err)
{
    const char *first = parts->items[0].name;

    for (size_t i = 0; i < count || i < parts->column_count; i++) {
        int order = i >= count ? -1 : i >= parts->column_count ? 1 : strcmp(parts->columns[i], columns[i].name);

        if (order < 0)
            return say_missing(first, part->name, parts->columns[i], err);
        if (order > 0)
            return say_missing(part->name, first, columns[i].name, err);
    }
    return LEAT_OK;
}

enum leat_status merge_columns_take(struct merge_parts *parts, const struct leat_dataset *d, struct leat_error *err)
{
    struct leat_columns *all;
    enum leat_status s = leat_dataset_columns(d, &all, err);

    for (size_t k = 0, at = 0, count; s == LEAT_OK && k < parts->count; k++) {
        const struct merge_part *part = &parts->items[k];
        const struct leat_column_info *own = all->count > 0 ? all->columns + at : NULL;

        if (part->dataset != d)
            continue;
        for (count = 0; at + count < all->count && all->columns[at + count].part == part->number; count++)
            parts->column_bytes += all->columns[at + count].bytes;
        if (k == 0)
            s = keep_names(parts, own, count, err);
        else
            s = compare_names(parts, part, own, count, err);
        at += count;
    }
    leat_columns_free(all);
    return s;
}

void merge_columns_free(struct merge_parts *parts)
{
    for (size_t i = 0; i < parts->column_count; i++)
        free(parts->columns[i]);
    free(parts->columns);
}

/* Opens a column of all parts, in their order, as one. */
static enum leat_status open_all(struct leat_column **out, const struct merge_parts *parts, const char *name,
                                 struct leat_error *err)
{
    struct leat_column_part *list = calloc(parts->count, sizeof *list);
    enum leat_status s;

    *out = NULL;
    if (!list)
        return status_no_memory(err, parts->count * sizeof *list);
    for (size_t k = 0; k < parts->count; k++)
        list[k] = (struct leat_column_part) { parts->items[k].dataset, parts->items[k].number };
    s = leat_column_join(out, list, parts->count, name, err);
    free(list);
    return s;
}

enum leat_status merge_columns_check(const struct merge_parts *parts, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < parts->column_count; i++) {
        struct leat_column *all;

        s = open_all(&all, parts, parts->columns[i], err);
        leat_column_close(all);
    }
    return s;
}

/* ---- Sources ----------------------------------------------------------------------------------------------------- */

enum leat_status merge_sources_end(struct merge_sources *s, struct leat_writer *w, struct leat_error *err)
{
    size_t bytes = s->count * sizeof *s->numbers;

    s->count = 0;
    return bytes > 0 ? leat_writer_put_values(w, leat_writer_place_values(w, bytes), s->numbers, bytes, err) : LEAT_OK;
}

enum leat_status merge_sources_add(struct merge_sources *s, struct leat_writer *w, uint64_t number,
                                   struct leat_error *err)
{
    s->numbers[s->count++] = number; /* in this machine's byte order, since no other process reads it */
    return s->count == MERGE_SOURCES ? merge_sources_end(s, w, err) : LEAT_OK;
}

/* ---- Copying ----------------------------------------------------------------------------------------------------- */

/* Where a part's documents and tokens end, counted through all parts. */
struct part_end {
    uint64_t documents, tokens;
};

/* The texts that an output has so far. `numbers` has the number of each text of the parts, plus 1; 0: not used yet. */
struct texts {
    uint32_t *numbers;
    uint64_t *ends;
    uint64_t count;
    struct buffer text;
};

struct copying {
    const struct merge_parts *parts;
    struct part_end *ends;
    struct leat_column *all; /* the column of all parts */
    struct leat_column_info info;
    uint8_t *block;
    struct texts texts; /* of a category */
    struct leat_column_writer *writer;
    struct pace *pace;
    uint64_t copied; /* bytes of the column */
};

/* Replaces a number of a text in the parts by its number in the output. */
static enum leat_status number_text(struct copying *c, uint16_t *number, struct leat_error *err)
{
    struct texts *t = &c->texts;
    enum leat_status s = LEAT_OK;
    const char *text;
    uint64_t bytes;

    if (!t->numbers[*number]) {
        s = leat_column_text(c->all, *number, &text, &bytes, err);
        if (s == LEAT_OK)
            s = buffer_append(&t->text, text, (size_t)bytes, err);
        if (s != LEAT_OK)
            return s;
        t->ends[t->count++] = t->text.size;
        t->numbers[*number] = (uint32_t)t->count;
    }
    *number = (uint16_t)(t->numbers[*number] - 1);
    return s;
}

/* Copies entries of the parts to the output. */
static enum leat_status copy_entries(struct copying *c, uint64_t first, uint64_t count, struct leat_error *err)
{
    const struct leat_column_info *i = &c->info;
    bool category = i->type == LEAT_COLUMN_CATEGORY;
    uint64_t at_once = COPY_BYTES / i->entry_bytes;
    enum leat_status s = LEAT_OK;

    for (uint64_t here; s == LEAT_OK && count > 0; first += here, count -= here) {
        here = count < at_once ? count : at_once;
        s = leat_column_read(c->all, first, here, c->block, err);
        if (BYTES_BIG_ENDIAN)
            bytes_swap_each(c->block, here * i->width, i->entry_bytes / i->width);
        for (uint64_t k = 0; category && s == LEAT_OK && k < here; k++)
            s = number_text(c, (uint16_t *)(void *)c->block + k, err);
        if (s == LEAT_OK)
            s = leat_column_writer_add(c->writer, c->block, here, category ? (uint32_t)LEAT_COLUMN_U16 : i->type, err);
        c->copied += here * i->entry_bytes;
        if (s == LEAT_OK)
            s = pace_step(c->pace, here * i->entry_bytes, err);
    }
    return s;
}

struct wanted {
    const struct part_end *ends;
    uint64_t document;
};

static bool ends_before(const void *context, uint64_t part)
{
    const struct wanted *w = context;

    return w->ends[part].documents <= w->document;
}

/* Copies the entries of the tokens of documents that follow each other in the parts. */
static enum leat_status copy_tokens(struct copying *c, uint64_t document, uint64_t count, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t here; s == LEAT_OK && count > 0; document += here, count -= here) {
        struct wanted wanted = { c->ends, document };
        uint64_t k = search_first(0, c->parts->count, ends_before, &wanted), at, first = 0, end = 0;
        const struct merge_part *p = &c->parts->items[k];

        here = c->ends[k].documents - document < count ? c->ends[k].documents - document : count;
        at = p->first_document + p->documents - (c->ends[k].documents - document);
        s = leat_dataset_starts(p->dataset, at, 1, &first, err);
        if (s == LEAT_OK)
            s = leat_dataset_starts(p->dataset, at + here, 1, &end, err);
        if (s == LEAT_OK)
            s = copy_entries(c, c->ends[k].tokens - p->tokens + (first - p->first_token), end - first, err);
    }
    return s;
}

/* Copies the entries of all documents of an output. */
static enum leat_status copy_documents(struct copying *c, const struct leat_writer *w, uint64_t documents,
                                       struct leat_error *err)
{
    uint64_t numbers[MERGE_SOURCES], first = 0, count = 0;
    enum leat_status s = LEAT_OK;

    for (uint64_t at = 0, here; s == LEAT_OK && at < documents; at += here) {
        here = documents - at < MERGE_SOURCES ? documents - at : MERGE_SOURCES;
        s = leat_writer_read_values(w, at * sizeof *numbers, numbers, here * sizeof *numbers, err);
        for (uint64_t i = 0; s == LEAT_OK && i < here; i += count) {
            first = numbers[i];
            for (count = 1; i + count < here && numbers[i + count] == first + count; count++)
                ;
            if (c->info.at == LEAT_COLUMN_DOCUMENT)
                s = copy_entries(c, first, count, err);
            else
                s = copy_tokens(c, first, count, err);
        }
    }
    return s;
}

/* Makes the column of one output, which is complete but has no name. */
static enum leat_status make_column(struct copying *c, const struct leat_writer *w, struct leat_error *err)
{
    struct leat_column_options o = LEAT_COLUMN_OPTIONS_INIT;
    struct leat_info info = LEAT_INFO_INIT;
    struct leat_dataset *d;
    enum leat_status s = leat_dataset_open_unfinished(&d, leat_writer_unfinished(w), err);

    if (s != LEAT_OK)
        return s;
    o.name = c->info.name;
    o.type = c->info.type;
    o.width = c->info.width;
    o.at = c->info.at;
    o.force = 1; /* a killed process may have left it */
    c->texts.count = c->texts.text.size = 0;
    memset(c->texts.numbers, 0, LEAT_COLUMN_MAX_TEXTS * sizeof *c->texts.numbers);
    leat_dataset_info(d, &info);
    s = leat_column_writer_open(&c->writer, d, &o, err);
    if (s == LEAT_OK)
        s = copy_documents(c, w, info.documents, err);
    if (s == LEAT_OK && o.type == LEAT_COLUMN_CATEGORY)
        s = leat_column_writer_texts(c->writer, (const char *)c->texts.text.bytes, c->texts.ends, c->texts.count, err);
    if (s == LEAT_OK)
        s = leat_column_writer_finish(c->writer, err);
    if (s != LEAT_OK)
        leat_column_writer_abandon(c->writer);
    c->writer = NULL;
    leat_dataset_close(d);
    return s;
}

/* Makes a column of all outputs. */
static enum leat_status make_in_all(struct copying *c, const char *name, struct leat_writer *const *writers,
                                    size_t count, struct leat_error *err)
{
    enum leat_status s = open_all(&c->all, c->parts, name, err);

    c->copied = 0;
    c->info = (struct leat_column_info)LEAT_COLUMN_INFO_INIT;
    if (s == LEAT_OK)
        leat_column_info(c->all, &c->info);
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = make_column(c, writers[i], err);
    if (s == LEAT_OK)
        s = pace_step(c->pace, c->info.bytes - c->copied, err); /* what no output has is done, too */
    leat_column_close(c->all);
    return s;
}

enum leat_status merge_columns_make(const struct merge_parts *parts, struct leat_writer *const *writers, size_t count,
                                    struct pace *pace, struct leat_error *err)
{
    struct copying c = { .parts = parts, .pace = pace };
    struct part_end end = { 0 };
    enum leat_status s = LEAT_OK;

    if (parts->column_count == 0)
        return LEAT_OK;
    c.ends = calloc(parts->count, sizeof *c.ends);
    c.block = file_buffer(COPY_BYTES);
    c.texts.numbers = calloc(LEAT_COLUMN_MAX_TEXTS, sizeof *c.texts.numbers);
    c.texts.ends = calloc(LEAT_COLUMN_MAX_TEXTS, sizeof *c.texts.ends);
    if (!c.ends || !c.block || !c.texts.numbers || !c.texts.ends)
        s = status_no_memory(err, COPY_BYTES);
    for (size_t k = 0; s == LEAT_OK && k < parts->count; k++) {
        end.documents += parts->items[k].documents;
        end.tokens += parts->items[k].tokens;
        c.ends[k] = end;
    }
    for (size_t i = 0; s == LEAT_OK && i < parts->column_count; i++)
        s = make_in_all(&c, parts->columns[i], writers, count, err);
    if (s == LEAT_OK)
        s = pace_call(pace, err);
    free(c.ends);
    free(c.block);
    free(c.texts.numbers);
    free(c.texts.ends);
    buffer_free(&c.texts.text);
    return s;
}
