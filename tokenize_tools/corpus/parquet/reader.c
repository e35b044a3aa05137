/* reader.c: reads the rows of a row group, from its columns side by side. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "column.h"
#include "nested.h"
#include "value_text.h"

struct parquet_reader {
    const struct parquet_file *file;
    struct parquet_source source; /* source of the file, with a context of its own */
    uint64_t row, rows;           /* number of the next row, and number of rows in the group */
    struct column *columns;       /* the file's */
    struct nested_row *nested;    /* rows of the nested columns */
    struct column_memory memory;
    char texts[PARQUET_MAX_COLUMNS][VALUE_TEXT];
    enum leat_status status; /* status of the first failure, which stays */
    struct leat_error error;
};

static uint64_t fixed_bytes(const struct parquet_reader *r)
{
    return sizeof *r + r->file->count * (uint64_t)(sizeof(struct column) + sizeof(struct window)) +
           r->file->nested_count * sizeof *r->nested;
}

void parquet_reader_close(struct parquet_reader *r)
{
    if (!r)
        return;
    for (unsigned i = 0; r->columns && i < r->file->count; i++)
        column_close(&r->columns[i]);
    for (unsigned n = 0; r->nested && n < r->file->nested_count; n++)
        nested_close(&r->nested[n]);
    free(r->nested);
    free(r->columns);
    block_free(&r->memory.packed);
    free(r);
}

/* Opens all columns. The leaves of nested columns begin with the first row, since only reading shows where rows begin.
 */
static enum leat_status open_columns(struct parquet_reader *r, uint64_t group, struct leat_error *err)
{
    const struct parquet_file *file = r->file;
    enum leat_status s = LEAT_OK;

    r->columns = calloc(file->count, sizeof *r->columns);
    if (!r->columns)
        return status_no_memory(err, file->count * sizeof *r->columns);
    for (unsigned i = 0; i < file->count && s == LEAT_OK; i++)
        s = column_open(&r->columns[i], file, &r->source,
                        &(struct column_place) { group, i, i < file->wants ? r->row : 0 }, &r->memory, err);
    if (s != LEAT_OK || file->nested_count == 0)
        return s;
    r->nested = calloc(file->nested_count, sizeof *r->nested);
    if (!r->nested)
        return status_no_memory(err, file->nested_count * sizeof *r->nested);
    for (unsigned n = 0; n < file->nested_count; n++) {
        r->nested[n].what = &file->nested[n];
        for (unsigned i = 0; i < file->nested[n].leaves; i++)
            r->nested[n].leaves[i].column = &r->columns[file->nested[n].first + i];
    }
    return LEAT_OK;
}

enum leat_status parquet_reader_open(struct parquet_reader **out, const struct parquet_file *file, void *context,
                                     uint64_t group, uint64_t row, struct leat_error *err)
{
    struct parquet_reader *r = calloc(1, sizeof *r);
    enum leat_status s;

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
    s = open_columns(r, group, err);
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

void parquet_reader_limit(struct parquet_reader *r, uint64_t bytes, bool map)
{
    uint64_t fixed = fixed_bytes(r);

    r->memory.limit = bytes > fixed ? bytes - fixed : 0;
    r->memory.may_map = map && r->source.map;
}

void parquet_reader_rest(struct parquet_reader *r)
{
    for (unsigned i = 0; i < r->file->count; i++)
        column_rest(&r->columns[i]);
}

bool parquet_reader_outgrew(const struct parquet_reader *r)
{
    return r->memory.outgrew;
}

uint64_t parquet_reader_row(const struct parquet_reader *r)
{
    return r->row;
}

/* ---- Rows ---- */

/* Reads the entries of the next row of a nested column; at first, skips the rows before the first wanted row. */
static enum leat_status gather(const struct parquet_reader *r, struct nested_row *row, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (; s == LEAT_OK && row->at < r->row; row->at += s == LEAT_OK) {
        s = nested_gather(row, false, err);
        if (s == LEAT_OK)
            nested_pass(row);
    }
    return s == LEAT_OK ? nested_gather(row, r->row + 1 == r->rows, err) : s;
}

static enum leat_status take_flat(struct parquet_reader *r, unsigned i, struct parquet_value *value,
                                  struct leat_error *err)
{
    struct column_entry entry;
    enum leat_status s = column_next(&r->columns[i], &entry, err);

    *value = entry.value;
    value_text(&r->file->columns[i], value, r->texts[i]);
    return s;
}

static enum leat_status read_row(struct parquet_reader *r, struct parquet_value values[PARQUET_MAX_COLUMNS],
                                 struct leat_error *err)
{
    struct parquet_value json[PARQUET_MAX_NESTED];
    unsigned nested = r->file->nested_count;
    enum leat_status s = LEAT_OK;

    /* steps that take memory come first, so that no value was taken if something is too large */
    for (unsigned i = 0; i < r->file->wants && s == LEAT_OK; i++)
        s = column_load(&r->columns[i], err);
    for (unsigned n = 0; n < nested && s == LEAT_OK; n++) {
        s = gather(r, &r->nested[n], err);
        if (s == LEAT_OK)
            s = nested_write(&r->nested[n], &json[n], err);
    }
    for (unsigned i = 0; i < r->file->wants && s == LEAT_OK; i++)
        s = take_flat(r, i, &values[i], err);
    for (unsigned n = 0; n < nested && s == LEAT_OK; n++) {
        values[r->file->nested[n].want] = json[n];
        nested_pass(&r->nested[n]);
        r->nested[n].at++;
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

/* ---- Lending ---- */

void parquet_reader_lends(struct parquet_reader *r, atomic_uint_least64_t *left)
{
    r->memory.left = left;
}

static bool lies_in(const struct block *b, const struct parquet_value *value)
{
    uintptr_t begin = (uintptr_t)b->bytes, at = (uintptr_t)value->bytes;

    return b->bytes && at >= begin && bytes_inside(at - begin, value->size, b->size);
}

struct parquet_loan *parquet_reader_lend(struct parquet_reader *r, unsigned want, const struct parquet_value *value,
                                         size_t least)
{
    struct column *c = &r->columns[want];
    struct block *b = lies_in(&c->bytes, value) ? &c->bytes : &c->dictionary_bytes;

    if (!r->memory.left || !lies_in(b, value) || b->mapped || b->size < least ||
        column_memory_all(&r->memory) + b->room > r->memory.limit)
        return NULL;
    if (!b->loan) {
        b->loan = calloc(1, sizeof *b->loan);
        if (!b->loan)
            return NULL;
        b->loan->users = 1;
        b->loan->left = r->memory.left;
        b->loan->bytes = *b;
        b->loan->bytes.loan = NULL;
    }
    if (!block_is_lent(b))
        b->loan->bytes.size = b->size;
    atomic_fetch_add(&b->loan->users, 1);
    return b->loan;
}

bool parquet_reader_leaves(const struct parquet_reader *r, unsigned want, const struct parquet_loan *loan)
{
    return r->columns[want].bytes.loan == loan && r->columns[want].here == 0;
}

void parquet_loan_release(struct parquet_loan *loan)
{
    if (!loan || atomic_fetch_sub(&loan->users, 1) > 1)
        return;
    atomic_fetch_sub(loan->left, loan->bytes.room); /* the reader's block has left the bytes to the borrowers */
    block_free(&loan->bytes);
    free(loan);
}

const uint8_t *parquet_loan_bytes(const struct parquet_loan *loan, size_t *size)
{
    *size = loan->bytes.size;
    return loan->bytes.bytes;
}
