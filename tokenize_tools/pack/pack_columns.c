/*
 * pack_columns.c: makes columns. While documents are packed, their values go to one stream beside them, which belongs
 * to checkpoints; here it is read once from its beginning, and each value goes to its column, which is attached to the
 * dataset that has no name yet. So a column is hashed and checked as any that is attached later. Tokens that packing
 * has put around a document get zeros.
 */
#include "pack_columns.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/tiny.h"
#include "private.h"
#include "tokenizer/containers/string_map.h"

#define READ_BYTES TINY_OR((size_t)64, (size_t)1 << 20)

enum leat_status pack_columns_check(const struct leat_pack_options *o, bool in_run, struct leat_error *err)
{
    if (o->column_count == 0)
        return LEAT_OK;
    if (in_run)
        return status_argument(err, "column",
                               "the parts of a run have no columns: pack shares of the files apart and merge them, or "
                               "attach columns to the merged dataset");
    if (o->by)
        return status_argument(err, "column",
                               "dividing by values leaves columns out: pack without it, or without columns");
    return LEAT_OK;
}

/* ---- Reading the values ------------------------------------------------------------------------------------------ */

struct values {
    const struct leat_writer *w;
    uint64_t at, left;   /* place in the stream of what is read next, and bytes after it */
    size_t taken, count; /* bytes of the buffer that were taken, and that it has */
    uint8_t buffer[READ_BYTES];
};

/* Reads the next bytes of the stream. */
static enum leat_status take_bytes(struct values *v, void *out, size_t count, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint8_t *to = out;

    for (size_t here; s == LEAT_OK && count > 0; to += here, count -= here) {
        if (v->taken == v->count) {
            v->count = v->left < READ_BYTES ? (size_t)v->left : READ_BYTES;
            v->taken = 0;
            s = leat_writer_read_values(v->w, v->at, v->buffer, v->count, err);
            v->at += v->count;
            v->left -= v->count;
        }
        if (v->count == 0) /* impossible: each document brings its values */
            return status_set(err, LEAT_E_STATE, "the values of documents end too early");
        here = count < v->count - v->taken ? count : v->count - v->taken;
        if (s == LEAT_OK)
            memcpy(to, v->buffer + v->taken, here);
        v->taken += here;
    }
    return s;
}

/* ---- Columns ----------------------------------------------------------------------------------------------------- */

#define ENTRY_BYTES ((size_t)8 * LEAT_COLUMN_MAX_WIDTH) /* bytes of the largest entry */

struct column {
    const struct column_spec *spec;
    struct leat_column_writer *writer;
    struct string_map texts; /* of a category, by their numbers; each text is an allocation of its own */
    uint64_t text_bytes;
};

static enum leat_status open_column(struct column *c, const struct leat_dataset *d, const struct column_spec *spec,
                                    struct leat_error *err)
{
    struct leat_column_options o = LEAT_COLUMN_OPTIONS_INIT;

    c->spec = spec;
    o.name = spec->name;
    o.type = spec->type;
    o.width = spec->width;
    o.at = spec->at;
    o.force = 1; /* a killed process may have left it */
    if (spec->type == LEAT_COLUMN_CATEGORY && !string_map_init(&c->texts, LEAT_COLUMN_MAX_TEXTS + 1))
        return status_no_memory(err, LEAT_COLUMN_MAX_TEXTS);
    return leat_column_writer_open(&c->writer, d, &o, err);
}

static void close_column(struct column *c)
{
    leat_column_writer_abandon(c->writer);
    for (uint32_t i = 0; i < c->texts.count; i++)
        free((void *)(uintptr_t)c->texts.entries[i].bytes);
    string_map_free(&c->texts);
}

/* Adds entries whose numbers come next in the stream. */
static enum leat_status add_numbers(struct column *c, struct values *v, uint64_t entries, struct leat_error *err)
{
    _Alignas(8) uint8_t numbers[4 * ENTRY_BYTES];
    const struct column_spec *spec = c->spec;
    size_t entry = (size_t)spec->bytes * spec->width;
    enum leat_status s = LEAT_OK;

    for (uint64_t here; s == LEAT_OK && entries > 0; entries -= here) {
        here = entries < sizeof numbers / entry ? entries : sizeof numbers / entry;
        s = take_bytes(v, numbers, (size_t)here * entry, err);
        if (BYTES_BIG_ENDIAN)
            bytes_swap_each(numbers, here * spec->width, spec->bytes);
        if (s == LEAT_OK)
            s = leat_column_writer_add(c->writer, numbers, here, spec->type, err);
    }
    return s;
}

static enum leat_status add_zeros(struct column *c, struct leat_error *err)
{
    static const uint64_t zeros[ENTRY_BYTES / 8];

    return leat_column_writer_add(c->writer, zeros, 1, c->spec->type, err);
}

/* Adds a document with the text that comes next in the stream. The first document with a text gives it its number. */
static enum leat_status add_text(struct column *c, struct values *v, struct leat_error *err)
{
    uint8_t length[4], *text;
    uint16_t number;
    uint32_t bytes;
    bool found;
    enum leat_status s = take_bytes(v, length, sizeof length, err);

    if (s != LEAT_OK)
        return s;
    bytes = bytes_load32(length);
    text = malloc((size_t)bytes + 1);
    if (!text)
        return status_no_memory(err, bytes);
    s = take_bytes(v, text, bytes, err);
    if (s != LEAT_OK) {
        free(text);
        return s;
    }
    number = (uint16_t)string_map_add(&c->texts, string_map_hash(&c->texts, text, bytes), text, bytes, &found);
    if (found)
        free(text);
    else
        c->text_bytes += bytes;
    if (c->texts.count > LEAT_COLUMN_MAX_TEXTS)
        return status_argument(err, "column",
                               "column %s: its field has more than %u different texts, which is too many for a "
                               "category",
                               c->spec->name, LEAT_COLUMN_MAX_TEXTS);
    return leat_column_writer_add(c->writer, &number, 1, LEAT_COLUMN_U16, err);
}

static enum leat_status finish_column(struct column *c, struct leat_error *err)
{
    uint64_t *ends = NULL, end = 0;
    char *text = NULL;
    enum leat_status s = LEAT_OK;

    if (c->spec->type == LEAT_COLUMN_CATEGORY) {
        ends = calloc((size_t)c->texts.count + 1, sizeof *ends);
        text = malloc((size_t)c->text_bytes + 1);
        if (!ends || !text)
            s = status_no_memory(err, c->text_bytes);
        for (uint32_t i = 0; s == LEAT_OK && i < c->texts.count; i++) {
            memcpy(text + end, c->texts.entries[i].bytes, c->texts.entries[i].length);
            end += c->texts.entries[i].length;
            ends[i] = end;
        }
        if (s == LEAT_OK)
            s = leat_column_writer_texts(c->writer, text, ends, c->texts.count, err);
    }
    free(ends);
    free(text);
    if (s == LEAT_OK)
        s = leat_column_writer_finish(c->writer, err);
    if (s == LEAT_OK)
        c->writer = NULL;
    return s;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

/* The begin and end tokens that packing puts around each document. */
struct around {
    bool begin, end;
};

static enum leat_status add_document(struct column *columns, size_t count, struct values *v, uint64_t tokens,
                                     struct around around, struct leat_error *err)
{
    uint64_t ids = tokens - around.begin - around.end;
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        if (columns[i].spec->type == LEAT_COLUMN_CATEGORY)
            s = add_text(&columns[i], v, err);
        else if (columns[i].spec->at == LEAT_COLUMN_DOCUMENT)
            s = add_numbers(&columns[i], v, 1, err);
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        if (columns[i].spec->at == LEAT_COLUMN_DOCUMENT)
            continue;
        s = around.begin ? add_zeros(&columns[i], err) : LEAT_OK;
        if (s == LEAT_OK)
            s = add_numbers(&columns[i], v, ids, err);
        if (s == LEAT_OK && around.end)
            s = add_zeros(&columns[i], err);
    }
    return s;
}

static enum leat_status make_columns(struct column *columns, const struct column_specs *specs, struct values *v,
                                     const struct leat_dataset *d, struct leat_error *err)
{
    struct leat_info info = LEAT_INFO_INIT;
    struct around around;
    enum leat_status s = LEAT_OK;

    leat_dataset_info(d, &info);
    around = (struct around) { info.begin_token != LEAT_NONE, info.end_token != LEAT_NONE };
    for (size_t i = 0; s == LEAT_OK && i < specs->count; i++)
        s = open_column(&columns[i], d, &specs->items[i], err);
    for (uint64_t i = 0; s == LEAT_OK && i < info.documents; i++) {
        uint64_t first, tokens;

        s = leat_dataset_document(d, i, &first, &tokens, err);
        if (s == LEAT_OK)
            s = add_document(columns, specs->count, v, tokens, around, err);
    }
    for (size_t i = 0; s == LEAT_OK && i < specs->count; i++)
        s = finish_column(&columns[i], err);
    return s;
}

enum leat_status pack_columns_make(struct leat_writer *w, const struct column_specs *specs, struct leat_error *err)
{
    struct leat_dataset *d = NULL;
    struct column *columns;
    struct values *v;
    enum leat_status s;

    if (specs->count == 0)
        return LEAT_OK;
    columns = calloc(specs->count, sizeof *columns);
    v = malloc(sizeof *v);
    s = columns && v ? leat_dataset_open_unfinished(&d, leat_writer_unfinished(w), err)
                     : status_no_memory(err, sizeof *v);
    if (s == LEAT_OK) {
        v->w = w;
        v->at = v->taken = v->count = 0;
        v->left = leat_writer_place_values(w, 0);
        s = make_columns(columns, specs, v, d, err);
    }
    for (size_t i = 0; columns && i < specs->count; i++)
        close_column(&columns[i]);
    leat_dataset_close(d);
    free(columns);
    free(v);
    return s;
}
