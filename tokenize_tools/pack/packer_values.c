/* packer_values.c: see packer_values.h. */
#include "packer_values.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/utf8.h"
#include "private.h"

struct packer_column {
    struct buffer given; /* entries as the column stores them; texts, each after its length */
    uint64_t entries;
    size_t taken; /* bytes that documents have taken */
};

enum leat_status packer_values_open(struct packer_values *v, const struct column_specs *specs,
                                    struct leat_pack_options *options, struct leat_error *err)
{
    size_t bytes = specs->count * sizeof *v->names;
    char *to;

    v->specs = specs;
    for (size_t i = 0; i < specs->count; i++)
        bytes += strlen(options->column[i]) + 1;
    v->names = malloc(bytes + 1);
    v->columns = calloc(specs->count + 1, sizeof *v->columns);
    if (!v->names || !v->columns)
        return status_no_memory(err, bytes);
    to = (char *)(v->names + specs->count);
    for (size_t i = 0; i < specs->count; i++) {
        v->names[i] = to;
        to = stpcpy(to, options->column[i]) + 1;
    }
    options->column = v->names;
    return LEAT_OK;
}

void packer_values_free(struct packer_values *v)
{
    for (size_t i = 0; v->columns && i < v->specs->count; i++)
        buffer_free(&v->columns[i].given);
    free(v->columns);
    free(v->names);
}

void packer_values_clear(struct packer_values *v)
{
    for (size_t i = 0; i < v->specs->count; i++) {
        v->columns[i].given.size = v->columns[i].taken = 0;
        v->columns[i].entries = 0;
    }
}

/* ---- Giving ------------------------------------------------------------------------------------------------------ */

static enum leat_status put_texts(struct packer_column *c, const struct column_spec *spec,
                                  const struct leat_column_values *from, struct leat_error *err)
{
    const char *text = from->values;
    enum leat_status s = LEAT_OK;

    if (from->entries > 0 && !from->ends)
        return status_argument(err, "ends", "column %s is a category: its texts need their ends", spec->name);
    for (uint64_t i = 0, begin = 0; s == LEAT_OK && i < from->entries; begin = from->ends[i++]) {
        uint64_t bytes = from->ends[i] - begin;
        uint8_t length[4];

        if (from->ends[i] < begin || bytes > COLUMN_SPEC_TEXT)
            return status_argument(err, "values", "column %s: text %" PRIu64 " is longer than 1024 bytes", spec->name,
                                   i);
        if (bytes > 0 && utf8_valid_prefix((const uint8_t *)text + begin, (size_t)bytes) != bytes)
            return status_argument(err, "values", "column %s: text %" PRIu64 " is not UTF-8", spec->name, i);
        bytes_store32(length, (uint32_t)bytes);
        s = buffer_append(&c->given, length, sizeof length, err);
        if (s == LEAT_OK && bytes > 0)
            s = buffer_append(&c->given, text + begin, (size_t)bytes, err);
    }
    return s;
}

static enum leat_status put_numbers(struct packer_column *c, const struct column_spec *spec,
                                    const struct leat_column_values *from, struct leat_error *err)
{
    size_t entry = (size_t)spec->bytes * spec->width;
    uint64_t done, count = from->entries * spec->width;
    enum leat_status s;

    if (!leat_column_type_name(from->type) || from->type == LEAT_COLUMN_CATEGORY)
        return status_argument(err, "type", "column %s: its values have the unknown type %" PRIu32, spec->name,
                               from->type);
    if (from->entries > SIZE_MAX / 2 / entry)
        return status_no_memory(err, from->entries);
    s = buffer_reserve(&c->given, (size_t)from->entries * entry, err);
    if (s != LEAT_OK || count == 0)
        return s;
    done = leat_column_convert(c->given.bytes, spec->type, from->values, from->type, count);
    c->given.size = (size_t)from->entries * entry;
    if (done == count)
        return LEAT_OK;
    return status_argument(err, "values", "column %s: %s does not hold value %" PRIu64 " of its entry %" PRIu64,
                           spec->name, leat_column_type_name(spec->type), done % spec->width, done / spec->width);
}

enum leat_status packer_values_put(struct packer_values *v, const struct leat_column_values *columns, uint64_t count,
                                   struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    if (count != v->specs->count)
        return status_argument(err, "columns", "values of %" PRIu64 " columns, but the packer makes %zu", count,
                               v->specs->count);
    packer_values_clear(v);
    for (size_t i = 0; s == LEAT_OK && i < count; i++) {
        const struct column_spec *spec = &v->specs->items[i];

        v->columns[i].entries = columns[i].entries;
        s = spec->type == LEAT_COLUMN_CATEGORY ? put_texts(&v->columns[i], spec, &columns[i], err)
                                               : put_numbers(&v->columns[i], spec, &columns[i], err);
    }
    if (s != LEAT_OK)
        packer_values_clear(v);
    return s;
}

/* ---- Taking ------------------------------------------------------------------------------------------------------ */

enum leat_status packer_values_check(const struct packer_values *v, uint64_t documents, uint64_t ids,
                                     struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (size_t i = 0; s == LEAT_OK && i < v->specs->count; i++) {
        const struct column_spec *spec = &v->specs->items[i];
        uint64_t given = v->columns[i].entries, needed = spec->at == LEAT_COLUMN_DOCUMENT ? documents : ids;

        if (needed == LEAT_NONE && documents > 0)
            s = status_argument(err, "columns",
                                "column %s has values per token, which a text does not have: add ids, or attach the "
                                "column to the finished dataset",
                                spec->name);
        else if (needed != LEAT_NONE && given != needed)
            s = status_argument(err, "columns", "column %s has %" PRIu64 " entries for %" PRIu64 " %s", spec->name,
                                given, needed,
                                spec->at == LEAT_COLUMN_DOCUMENT ? (needed == 1 ? "document" : "documents")
                                : needed == 1                    ? "id"
                                                                 : "ids");
    }
    return s;
}

static enum leat_status take_column(struct packer_column *c, const struct column_spec *spec, uint64_t ids,
                                    uint64_t kept, struct buffer *to, struct leat_error *err)
{
    const uint8_t *at = c->given.bytes ? c->given.bytes + c->taken : NULL;
    size_t bytes = (size_t)spec->bytes * spec->width;

    if (spec->type == LEAT_COLUMN_CATEGORY)
        bytes = sizeof(uint32_t) + bytes_load32(at);
    c->taken += bytes * (spec->at == LEAT_COLUMN_TOKEN ? (size_t)ids : 1);
    bytes *= spec->at == LEAT_COLUMN_TOKEN ? (size_t)kept : 1;
    return to && bytes > 0 ? buffer_append(to, at, bytes, err) : LEAT_OK;
}

/* Those of documents come first, as column_spec.h has it. */
enum leat_status packer_values_take(struct packer_values *v, uint64_t ids, uint64_t kept, struct buffer *to,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (int at = LEAT_COLUMN_DOCUMENT; at >= LEAT_COLUMN_TOKEN; at--)
        for (size_t i = 0; s == LEAT_OK && i < v->specs->count; i++)
            if (v->specs->items[i].at == (uint32_t)at)
                s = take_column(&v->columns[i], &v->specs->items[i], ids, kept, to, err);
    return s;
}
