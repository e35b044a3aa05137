/* reader.c: see parquet.h: the rows of a row group, from its columns side by side. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "column.h"
#include "decimal.h"

#define ID_BYTES 40u /* of a number in decimal, or a UUID */

_Static_assert(ID_BYTES >= DECIMAL_TEXT, "a number fits");

struct parquet_reader {
    const struct parquet_file *file;
    struct parquet_source source; /* the file's, with a context of its own */
    uint64_t row, rows;           /* of the group: the next one, all */
    struct column columns[PARQUET_MAX_COLUMNS];
    struct column_memory memory;
    char ids[PARQUET_MAX_COLUMNS][ID_BYTES];
    enum leat_status status; /* of the first failure, which stays */
    struct leat_error error;
};

static uint64_t fixed_bytes(const struct parquet_reader *r)
{
    return sizeof *r + r->file->count * (uint64_t)sizeof(struct window);
}

void parquet_reader_close(struct parquet_reader *r)
{
    if (!r)
        return;
    for (unsigned i = 0; i < r->file->count; i++)
        column_close(&r->columns[i]);
    free(r->memory.packed.bytes);
    free(r);
}

enum leat_status parquet_reader_open(struct parquet_reader **out, const struct parquet_file *file, void *context,
                                     uint64_t group, uint64_t row, struct leat_error *err)
{
    struct parquet_reader *r = calloc(1, sizeof *r);
    enum leat_status s = LEAT_OK;

    *out = NULL;
    if (!r)
        return status_no_memory(err, sizeof *r);
    r->file = file;
    r->source = file->source;
    if (context)
        r->source.context = context;
    r->rows = parquet_group(file, group)->rows;
    r->row = row;
    r->memory.limit = UINT64_MAX;
    for (unsigned i = 0; i < file->count && s == LEAT_OK; i++)
        s = column_open(&r->columns[i], file, &r->source, group, i, row, &r->memory, err);
    if (s != LEAT_OK) {
        parquet_reader_close(r);
        return s;
    }
    *out = r;
    return LEAT_OK;
}

/* ---- Facts ---- */

uint64_t parquet_reader_memory(const struct parquet_reader *r)
{
    return fixed_bytes(r) + r->memory.held;
}

uint64_t parquet_reader_needs(const struct parquet_reader *r)
{
    return fixed_bytes(r) + (r->memory.outgrew ? r->memory.needs : r->memory.held);
}

void parquet_reader_limit(struct parquet_reader *r, uint64_t bytes)
{
    uint64_t fixed = fixed_bytes(r);

    r->memory.limit = bytes > fixed ? bytes - fixed : 0;
}

bool parquet_reader_outgrew(const struct parquet_reader *r)
{
    return r->memory.outgrew;
}

const char *parquet_reader_large(const struct parquet_reader *r)
{
    return r->memory.large;
}

uint64_t parquet_reader_row(const struct parquet_reader *r)
{
    return r->row;
}

uint64_t parquet_reader_read(const struct parquet_reader *r)
{
    uint64_t read = 0;

    for (unsigned i = 0; i < r->file->count; i++)
        read += r->columns[i].window ? r->columns[i].window->read : 0;
    return read;
}

/* ---- Rows ---- */

/* A value as text, if it is not text already. */
static void tell(const struct parquet_column *c, struct parquet_value *value, char text[ID_BYTES])
{
    const uint8_t *b = value->bytes;
    int64_t number = 0;

    if (c->form == PARQUET_AS_IT_IS || c->form == PARQUET_UNREAD || !b)
        return;
    if (c->form == PARQUET_SIGNED || c->form == PARQUET_UNSIGNED)
        number = c->type == PARQUET_INT64    ? (int64_t)bytes_load64(b)
                 : c->form == PARQUET_SIGNED ? (int32_t)bytes_load32(b)
                                             : (int64_t)bytes_load32(b);
    if (c->form == PARQUET_UUID)
        snprintf(text, ID_BYTES, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
                 b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
    else if (c->form == PARQUET_DECIMAL)
        decimal_of(c->type == PARQUET_FLOAT, b, text);
    else if (c->form == PARQUET_SIGNED)
        snprintf(text, ID_BYTES, "%lld", (long long)number);
    else
        snprintf(text, ID_BYTES, "%llu", (unsigned long long)number);
    *value = (struct parquet_value) { (const uint8_t *)text, strlen(text) };
}

static enum leat_status read_row(struct parquet_reader *r, struct parquet_value values[PARQUET_MAX_COLUMNS],
                                 struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    /* first all pages, so that nothing was taken if one is too large */
    for (unsigned i = 0; i < r->file->count && s == LEAT_OK; i++)
        s = column_load(&r->columns[i], err);
    for (unsigned i = 0; i < r->file->count && s == LEAT_OK; i++) {
        s = column_next(&r->columns[i], &values[i], err);
        if (s == LEAT_OK)
            tell(&r->file->columns[i], &values[i], r->ids[i]);
    }
    return s;
}

enum leat_status parquet_reader_next(struct parquet_reader *r, struct parquet_value values[PARQUET_MAX_COLUMNS],
                                     bool *found, struct leat_error *err)
{
    enum leat_status s;

    *found = false;
    if (r->status != LEAT_OK && err)
        *err = r->error;
    if (r->status != LEAT_OK || r->row >= r->rows)
        return r->status;
    r->memory.outgrew = false;
    s = read_row(r, values, &r->error);
    if (s == LEAT_OK) {
        *found = true;
        r->row++;
        return LEAT_OK;
    }
    if (err)
        *err = r->error;
    if (!r->memory.outgrew)
        r->status = s;
    return s;
}
