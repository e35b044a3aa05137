/*
 * loader_values.c: numbers beside the tokens of a batch (loader_values.h).
 *
 * Stretches are found when a batch is begun, from the pieces of its rows, or from the cuts of rows in segments. Then
 * the arrays are laid out after the tokens. The output `places` is written at once; the engines that read tokens read
 * the columns straight into their arrays. A row whose values are widened is read into its second half: widening goes
 * from the start to the end, and never overtakes what it still has to read.
 *
 * If the outputs are larger than the batch, their padding is copied from a *strip*, which is some entries of padding
 * after each array. A device cannot make this padding, since it only copies.
 */
#include "loader_values.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/grow.h"
#include "base/options.h"
#include "base/status.h"
#include "column/column.h"
#include "loader.h"
#include "loader_segments.h"

#define STRIP     4096u
#define ALIGNMENT 64u

/* ---- Options ----------------------------------------------------------------------------------------------------- */

/* Turns stored numbers into this machine's order of bytes. */
static void to_machine(uint8_t *to, uint64_t bytes, uint32_t number)
{
    for (uint64_t at = 0; BYTES_BIG_ENDIAN && at < bytes; at += number)
        for (uint32_t i = 0; i < number / 2; i++) {
            uint8_t low = to[at + i];

            to[at + i] = to[at + number - 1 - i];
            to[at + number - 1 - i] = low;
        }
}

static enum leat_status widen_type(struct loader_value *v, struct leat_error *err)
{
    if (v->type != LEAT_COLUMN_F16 && v->type != LEAT_COLUMN_BF16)
        return status_argument(err, "columns", "column %s is %s: only f16 and bf16 can be widened", v->name,
                               leat_column_type_name(v->type));
    v->widened_from = v->type;
    v->type = LEAT_COLUMN_F32;
    return LEAT_OK;
}

/* Takes the type of the column from the plan's first dataset; gather_open() compares the others. */
static enum leat_status find_type(const struct loader_shape *shape, struct loader_value *v,
                                  const struct leat_loader_column *options, struct leat_error *err)
{
    struct leat_column_info info = LEAT_COLUMN_INFO_INIT;
    struct leat_column *column;
    uint8_t pad[8];
    enum leat_status s = column_open_part(&column, shape->plan->sources[0].dataset, 0, options->name, err);

    if (s != LEAT_OK)
        return s;
    leat_column_info(column, &info);
    leat_column_close(column);
    v->type = info.type;
    v->width = info.width;
    v->stored_bytes = info.entry_bytes;
    if (info.at != LEAT_COLUMN_TOKEN)
        return status_argument(err, "columns",
                               "column %s has an entry per document: batches have columns of tokens only", v->name);
    if (column_convert(v->stored_pad, info.type, &options->fill, LEAT_COLUMN_F64, 1) != 1)
        return status_argument(err, "columns", "column %s is %s, which does not hold its default %g", v->name,
                               leat_column_type_name(info.type), options->fill);
    if (options->widen)
        s = widen_type(v, err);
    v->number_bytes = column_type_bytes(v->type);
    v->bytes = v->number_bytes * v->width;
    memcpy(pad, v->stored_pad, sizeof pad);
    to_machine(pad, column_type_bytes(info.type), column_type_bytes(info.type));
    column_convert(v->pad, v->type, pad, info.type, 1);
    to_machine(v->pad, v->number_bytes, v->number_bytes);
    return s;
}

static enum leat_status add_column(const struct loader_shape *shape, struct loader_values *x, const void *given,
                                   struct leat_error *err)
{
    struct leat_loader_column own = LEAT_LOADER_COLUMN_INIT;
    const struct leat_loader_column *options = &own;
    struct loader_value *v = &x->each[x->count];
    enum leat_status s = options_read(&own, sizeof own, NULL, given, "leat_loader_column", err);

    if (s != LEAT_OK)
        return s;
    if (!options->name)
        return status_argument(err, "columns", "a column of `columns` has no name");
    if (options->at > LEAT_AT_LABELS)
        return status_argument(err, "columns", "unknown value %u for `at` of column %s", options->at, options->name);
    for (unsigned i = 0; i < x->count; i++)
        if (x->each[i].name && strcmp(x->each[i].name, options->name) == 0)
            return status_argument(err, "columns", "column %s is named twice", options->name);
    v->name = strdup(options->name);
    if (!v->name)
        return status_no_memory(err, strlen(options->name));
    x->count++;
    v->at = (enum loader_beside)options->at;
    x->at[v->at] = true;
    return find_type(shape, v, options, err);
}

enum leat_status loader_values_open(struct loader_shape *shape, struct leat_error *err)
{
    struct leat_loader_options *o = &shape->options;
    uint64_t columns = o->columns ? o->column_count : 0;
    bool places = o->outputs.wanted & LEAT_OUTPUT_PLACES;
    enum leat_status s = LEAT_OK;
    struct loader_values *x;

    if (columns > LOADER_COLUMNS)
        return status_argument(err, "columns", "a loader has at most %u columns, not %" PRIu64, LOADER_COLUMNS,
                               columns);
    if (!places && columns == 0)
        return LEAT_OK;
    x = shape->values = calloc(1, sizeof *x);
    if (!x)
        return status_no_memory(err, sizeof *x);
    if (places) {
        x->each[x->count++] = (struct loader_value) {
            .type = LEAT_COLUMN_I64, .width = 1, .bytes = sizeof(int64_t), .number_bytes = sizeof(int64_t)
        };
        memset(x->each[0].pad, 0xff, sizeof x->each[0].pad); /* -1 */
        x->at[LOADER_AT_INPUTS] = true;
    }
    x->first_column = x->count;
    for (uint64_t i = 0; s == LEAT_OK && i < columns; i++)
        s = add_column(shape, x, options_element(o->columns, i), err);
    o->columns = NULL; /* the array belongs to the caller */
    return s;
}

void loader_values_close(struct loader_shape *shape)
{
    for (unsigned i = 0; shape->values && i < shape->values->count; i++)
        free(shape->values->each[i].name);
    free(shape->values);
    shape->values = NULL;
}

uint32_t loader_values_columns(const struct loader_shape *shape, struct leat_column_info all[LOADER_COLUMNS])
{
    const struct loader_values *x = shape->values;
    uint32_t count = 0;

    for (unsigned k = x ? x->first_column : 0; x && k < x->count; k++, count++) {
        const struct loader_value *v = &x->each[k];

        all[count] = (struct leat_column_info)LEAT_COLUMN_INFO_INIT;
        all[count].name = v->name;
        all[count].type = v->widened_from ? v->widened_from : v->type;
        all[count].width = v->width;
        all[count].entry_bytes = v->stored_bytes;
    }
    return count;
}

/* Returns the bytes of an array's strip, which has whole entries. */
static uint64_t strip_of(const struct loader_value *v)
{
    return STRIP / v->bytes * v->bytes;
}

bool loader_values_size(const struct loader_shape *shape, uint64_t places, uint64_t *size)
{
    const struct loader_values *x = shape->values;
    uint64_t bytes;
    size_t at;

    for (unsigned i = 0; x && i < x->count; i++)
        if (!bytes_multiply(places, x->each[i].bytes, &bytes) || !loader_slot_add(size, bytes, &at) ||
            !loader_slot_add(size, strip_of(&x->each[i]), &at))
            return false;
    return true;
}

enum leat_status loader_found_open(const struct loader_shape *shape, struct loader_found **out, struct leat_error *err)
{
    struct loader_found *x = *out = calloc(1, sizeof *x);

    if (x)
        x->first_read = calloc((size_t)shape->rows + 1, sizeof *x->first_read);
    return x && x->first_read ? LEAT_OK : status_no_memory(err, shape->rows * sizeof *x->first_read);
}

void loader_found_close(struct loader_found *x)
{
    for (unsigned i = 0; x && i < LOADER_AT_COUNT; i++)
        free(x->at[i].items);
    if (x)
        free(x->first_read);
    free(x);
}

/* ---- Stretches --------------------------------------------------------------------------------------------------- */

/* Finds the stretches of a row whose pieces lie as the plan gives them. Token t of a piece that begins at place `at` is
 * the input of place at + t, and the label of place at + t - shift. */
static enum leat_status find_in_row(const struct loader_shape *shape, const struct loader_places *places, uint32_t row,
                                    uint32_t shift, struct loader_stretches *x, struct leat_error *err)
{
    uint64_t at = 0, length = loader_places_inputs(shape, places, row);
    bool own = shape->plan->order->own_labels;
    enum leat_status s = LEAT_OK;

    for (uint32_t k = places->first[row]; s == LEAT_OK && k < places->first[row + 1]; k++) {
        const struct leat_piece *p = &places->pieces[k];
        uint64_t first = own || at == 0 ? shift : 0, place = at + first - shift, end = at + p->count;

        if (p->count == 0)
            continue;
        if (own)
            end = end + loader_places_gap(shape, p) - !shape->options.outputs.unshifted;
        at = end;
        end = end < place + p->count - first ? end : place + p->count - first;
        end = end < length ? end : length;
        if (place < end)
            s = loader_stretch_add(x, p, first, row, (uint32_t)place, (uint32_t)(end - place), err);
    }
    return s;
}

static enum leat_status find_stretches(const struct loader_shape *shape, const struct loader_places *places,
                                       enum loader_beside at, struct leat_error *err)
{
    struct loader_stretches *x = &places->found->at[at];
    uint32_t shift = at == LOADER_AT_LABELS && !shape->options.outputs.unshifted;
    enum leat_status s = LEAT_OK;

    x->count = 0;
    for (uint32_t row = 0; s == LEAT_OK && row < places->step.filled; row++)
        s = places->segments ? loader_segments_stretches(places, row, shift, x, err)
                             : find_in_row(shape, places, row, shift, x, err);
    return s;
}

/* Adds the reads of the columns of a row. `next` has the numbers of the first stretches of this row, and gets those of
 * the next row. */
static enum leat_status read_row(const struct loader_shape *shape, const struct loader_found *found, uint32_t row,
                                 size_t next[LOADER_AT_COUNT], struct loader_reads *reads, struct leat_error *err)
{
    const struct loader_values *x = shape->values;
    enum leat_status s = LEAT_OK;

    for (unsigned k = x->first_column; k < x->count; k++) {
        const struct loader_stretches *all = &found->at[x->each[k].at];
        uint32_t file = shape->files * (k - x->first_column + 1);

        for (size_t i = next[x->each[k].at]; s == LEAT_OK && i < all->count && all->items[i].row == row; i++) {
            const struct loader_stretch *t = &all->items[i];

            s = loader_reads_put(reads, file + shape->first_file[t->source] + t->part,
                                 t->offset * x->each[k].stored_bytes, (uint64_t)t->count * x->each[k].stored_bytes,
                                 NULL, err);
        }
    }
    for (unsigned i = 0; i < LOADER_AT_COUNT; i++)
        while (next[i] < found->at[i].count && found->at[i].items[next[i]].row == row)
            next[i]++;
    return s;
}

enum leat_status loader_values_find(const struct loader_shape *shape, struct loader_places *places,
                                    struct loader_reads *reads, struct leat_error *err)
{
    size_t next[LOADER_AT_COUNT] = { 0, 0 };
    enum leat_status s = LEAT_OK;

    for (unsigned i = 0; s == LEAT_OK && i < LOADER_AT_COUNT; i++)
        if (shape->values->at[i])
            s = find_stretches(shape, places, (enum loader_beside)i, err);
    for (uint32_t row = 0; s == LEAT_OK && row < places->step.filled; row++) {
        places->found->first_read[row] = reads->job.count;
        s = read_row(shape, places->found, row, next, reads, err);
    }
    places->found->first_read[places->step.filled] = reads->job.count;
    return s;
}

/* ---- Laying out -------------------------------------------------------------------------------------------------- */

/* Writes a number again and again. */
static void fill(uint8_t *to, uint64_t bytes, const uint8_t *number, uint32_t number_bytes)
{
    if (bytes == 0)
        return;
    memcpy(to, number, number_bytes);
    for (uint64_t done = number_bytes, here; done < bytes; done += here) {
        here = done < bytes - done ? done : bytes - done;
        memcpy(to + done, to, (size_t)here);
    }
}

static void put_places(uint8_t *to, const struct loader_stretch *t)
{
    for (uint32_t i = 0; i < t->count; i++) {
        int64_t number = (int64_t)(t->token + i);

        memcpy(to + sizeof number * i, &number, sizeof number);
    }
}

/* Lays out one row of an array. The row's stretches begin at number `i`; returns the number after its last one. `read`
 * has the row's reads of this column. */
static size_t lay_row(const struct loader_value *v, const struct loader_stretches *all, size_t i, uint32_t row,
                      uint8_t *to, uint32_t length, struct gather_piece *read)
{
    /* values as the file has them are read into the end of the row */
    uint8_t *stored = to + (size_t)length * (v->bytes - (v->name ? v->stored_bytes : v->bytes));
    const uint8_t *pad = v->name ? v->stored_pad : v->pad;
    uint32_t bytes = v->name ? v->stored_bytes : v->bytes, number = bytes / v->width, place = 0;

    for (; i < all->count && all->items[i].row == row; i++) {
        const struct loader_stretch *t = &all->items[i];
        uint8_t *here = stored + (size_t)t->place * bytes;

        fill(stored + (size_t)place * bytes, (uint64_t)(t->place - place) * bytes, pad, number);
        if (v->name)
            (read++)->to = here;
        else
            put_places(here, t);
        place = t->place + t->count;
    }
    fill(stored + (size_t)place * bytes, (uint64_t)(length - place) * bytes, pad, number);
    return i;
}

void loader_values_lay(const struct loader_shape *shape, const struct loader_places *places, struct loader_reads *reads,
                       struct loader_memory *m)
{
    const struct loader_values *x = shape->values;
    struct loader_found *found = places->found;
    uint32_t rows = places->step.rows, filled = places->step.filled, length = places->length;
    size_t next[LOADER_COLUMNS + 1] = { 0 };

    for (unsigned k = 0; k < x->count; k++) {
        const struct loader_value *v = &x->each[k];
        uint64_t row_bytes = (uint64_t)length * v->bytes;

        found->begins[k] = (size_t)bytes_divide_up(m->bytes, ALIGNMENT) * ALIGNMENT;
        m->bytes = found->begins[k] + (size_t)(rows * row_bytes);
        fill(m->base + found->begins[k] + filled * row_bytes, (rows - filled) * row_bytes, v->pad, v->number_bytes);
        fill(m->base + m->bytes, strip_of(v), v->pad, v->number_bytes);
        m->bytes += (size_t)strip_of(v);
    }
    for (uint32_t row = 0; row < filled; row++) {
        struct gather_piece *read = &reads->job.pieces[found->first_read[row]];

        for (unsigned k = 0; k < x->count; k++) {
            const struct loader_value *v = &x->each[k];
            size_t first = next[k];

            next[k] = lay_row(v, &found->at[v->at], first, row,
                              m->base + found->begins[k] + (size_t)row * length * v->bytes, length, read);
            read += v->name ? next[k] - first : 0;
        }
    }
}

/* ---- When values have come --------------------------------------------------------------------------------------- */

/* Returns the bits of the same number as a float of 32 bits. Calculates with integers where the thread's settings may
 * turn subnormal floats into 0. */
static uint32_t widen(uint32_t bits, uint32_t from)
{
    uint32_t exponent = bits >> 10 & 31, fraction = bits & 1023, sign = (bits & 0x8000) << 16, shift;

    if (from == LEAT_COLUMN_BF16)
        return bits << 16;
    if (exponent == 31)
        return sign | 0x7f800000 | fraction << 13;
    if (exponent > 0)
        return sign | (exponent + 112) << 23 | fraction << 13;
    if (fraction == 0)
        return sign;
    shift = (uint32_t)__builtin_clz(fraction) - 21;
    return sign | (113 - shift) << 23 | (fraction << shift & 1023) << 13;
}

static void widen_row(uint8_t *to, uint64_t numbers, uint32_t from)
{
    const uint8_t *read = to + 2 * numbers;

    for (uint64_t i = 0; i < numbers; i++) {
        uint32_t bits = widen((uint32_t)bytes_load16(read + 2 * i), from);

        memcpy(to + 4 * i, &bits, sizeof bits);
    }
}

void loader_values_finish(const struct loader_shape *shape, const struct loader_places *places,
                          const struct loader_memory *m, uint32_t row)
{
    const struct loader_values *x = shape->values;

    for (unsigned k = x->first_column; k < x->count; k++) {
        const struct loader_value *v = &x->each[k];
        uint8_t *to = m->base + places->found->begins[k] + (size_t)row * places->length * v->bytes;

        if (v->widened_from)
            widen_row(to, (uint64_t)places->length * v->width, v->widened_from);
        else
            to_machine(to, (uint64_t)places->length * v->bytes, v->number_bytes);
    }
}

void loader_values_clear(const struct loader_shape *shape, const struct loader_places *places,
                         const struct loader_memory *m, uint32_t row)
{
    const struct loader_values *x = shape->values;

    for (unsigned k = 0; k < x->count; k++) {
        uint64_t bytes = (uint64_t)places->length * x->each[k].bytes;

        fill(m->base + places->found->begins[k] + row * bytes, bytes, x->each[k].pad, x->each[k].number_bytes);
    }
}

/* ---- Outputs ----------------------------------------------------------------------------------------------------- */

enum leat_status loader_values_wanted(const struct loader_slot *slot, const struct leat_outputs *o,
                                      struct backend_values wanted[1 + LOADER_COLUMNS], unsigned *count,
                                      struct leat_error *err)
{
    const struct loader_values *x = slot->loader->shape.values;
    uint32_t rows = slot->batch.rows, length = slot->batch.length;

    *count = 0;
    if (o->places && (!x || x->first_column == 0))
        return status_argument(err, "wanted",
                               "places need a loader that finds them: name them in `outputs` when opening the loader");
    if (o->columns && (!x || x->first_column == x->count))
        return status_argument(err, "columns",
                               "the loader has no columns: name them in `columns` when opening the loader");
    for (unsigned k = 0; x && k < x->count; k++) {
        const struct loader_value *v = &x->each[k];
        void *to = !v->name ? o->places : o->columns ? o->columns[k - x->first_column] : NULL;
        uint64_t row_bytes = (uint64_t)length * v->bytes;

        if (to)
            wanted[(*count)++] =
                (struct backend_values) { .to = to,
                                          .at = slot->places.found->begins[k],
                                          .padding_at = slot->places.found->begins[k] + (size_t)(rows * row_bytes),
                                          .padding_bytes = strip_of(v),
                                          .rows = rows,
                                          .row_bytes = row_bytes,
                                          .to_rows = o->rows ? o->rows : rows,
                                          .to_row_bytes = (o->length ? o->length : length) * v->bytes };
    }
    return LEAT_OK;
}

void loader_values_borrowed(const struct loader_slot *slot, uint8_t *base, struct leat_outputs *o)
{
    const struct loader_values *x = slot->loader->shape.values;
    struct loader_found *found = slot->places.found;

    for (unsigned k = 0; x && k < x->count; k++)
        if (x->each[k].name)
            found->lent[k - x->first_column] = base + found->begins[k];
        else
            o->places = (int64_t *)(void *)(base + found->begins[k]);
    if (x && x->first_column < x->count)
        o->columns = found->lent;
}

uint32_t leat_loader_column_type(const struct leat_loader *loader, uint64_t number, uint32_t *type, uint32_t *width)
{
    const struct loader_values *x = loader->shape.values;

    if (!x || number >= x->count - x->first_column)
        return 0;
    *type = x->each[x->first_column + number].type;
    *width = x->each[x->first_column + number].width;
    return 1;
}
