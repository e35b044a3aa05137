/*
 * arrow_rows.c: adds rows of arrays to a packer, and keeps arrays of texts for a tokenizer.
 *
 * A column of texts is encoded; a column of lists holds ids already. check_rows() looks at all texts of an array
 * before add_rows() gives the first to the packer, so nothing of an array is taken if a text is invalid or missing.
 * Later failures (a number of a list that is not an id, or a failure of the packer) may come in the middle of an
 * array. Rows are counted over all arrays: `skip` leaves out the first ones, and a row's number in its input is its
 * origin's offset. A row that a condition of the packer rejects is not looked at: its text may be missing.
 *
 * A tokenizer wants all texts of a stream at once: its arrays are moved out of it and kept, and nothing is copied.
 */
#include "arrow.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/pause.h"
#include "one_text.h"

#define ROWS_BETWEEN_LOOKS 256

static PyTypeObject *rows_type;

struct arrow_rows *arrow_rows_of(PyObject *object)
{
    if (PyObject_TypeCheck(object, rows_type))
        return (struct arrow_rows *)object;
    PyErr_Format(PyExc_TypeError, "expected rows of an Arrow stream, not %R", (PyObject *)Py_TYPE(object));
    return NULL;
}

/* ---- One document ---- */

/* Appends the numbers of a list as ids. */
static enum leat_status take_list(const struct arrow_column *c, const struct arrow_value *value, struct text_ids *ids,
                                  struct leat_error *err)
{
    ids->count = 0;
    for (int64_t i = value->first; i < value->first + value->count; i++) {
        int64_t number;
        uint32_t id;
        bool there = arrow_number(c, i, &number);

        if (!there || arrow_negative(c, number) || (uint64_t)number > UINT32_MAX) {
            return errors_field(err,
                                errors_set(err, LEAT_E_ARGUMENT, "column %s: number %" PRId64 " of a list is %s",
                                           c->place->name, i - value->first,
                                           there ? "not an id: ids are from 0 to 2^32 - 1" : "missing (null)"),
                                c->place->name);
        }
        id = (uint32_t)number;
        if (text_ids_append(ids, &id, 1, err) != LEAT_OK)
            return err->status;
    }
    return LEAT_OK;
}

/* The mask of a document, a byte per id. */
struct marks {
    uint8_t *at;
    size_t room;
};

/* Returns the nearest 255th of a weight; halves round to even, as in Python. Only 0 becomes 0. */
static uint8_t weight_byte(double weight)
{
    double scaled = UINT8_MAX * weight;
    unsigned whole = (unsigned)scaled;
    double rest = scaled - whole;

    if (rest > 0.5 || (rest == 0.5 && whole % 2 == 1))
        whole++;
    return whole == 0 && weight > 0 ? 1 : (uint8_t)whole;
}

/* Makes the mask of a row of ids, a byte per id, from the list of weights in its column. */
static enum leat_status take_mask(const struct arrow_column *c, int64_t row, uint64_t ids, struct marks *marks,
                                  struct leat_error *err)
{
    struct arrow_value value;
    enum leat_status s = arrow_get(c, row, &value, err);

    if (s != LEAT_OK)
        return s;
    if (value.missing || (uint64_t)value.count != ids)
        return errors_field(err,
                            errors_set(err, LEAT_E_ARGUMENT, "column %s: a mask %s", c->place->name,
                                       value.missing ? "is missing (null)" : "has another length than its list of ids"),
                            c->place->name);
    if (!GROW(marks->at, ids, marks->room))
        return errors_set(err, LEAT_E_NO_MEMORY, "no memory for a mask of %" PRIu64 " ids", ids);
    for (int64_t i = 0; i < value.count; i++) {
        double weight;

        if (!arrow_weight(c, value.first + i, &weight))
            return errors_field(err,
                                errors_set(err, LEAT_E_ARGUMENT,
                                           "column %s: number %" PRId64 " of a mask is missing (null)", c->place->name,
                                           i),
                                c->place->name);
        if (!(weight >= 0 && weight <= 1))
            return errors_field(err,
                                errors_set(err, LEAT_E_ARGUMENT,
                                           "column %s: number %" PRId64
                                           " of a mask must be 0, 1, or a float from 0 to 1",
                                           c->place->name, i),
                                c->place->name);
        marks->at[i] = weight_byte(weight);
    }
    return LEAT_OK;
}

/* Reads a document's id, which is a text or a number. */
static enum leat_status take_id(const struct arrow_column *c, int64_t row, char room[24], struct leat_origin *origin,
                                struct leat_error *err)
{
    struct arrow_value value;
    enum leat_status s = arrow_get(c, row, &value, err);

    if (s != LEAT_OK || value.missing)
        return s;
    origin->id = value.text;
    origin->id_bytes = value.bytes;
    if (c->place->kind == ARROW_NUMBER) {
        if (c->place->number == 'Q')
            snprintf(room, 24, "%" PRIu64, (uint64_t)value.number);
        else
            snprintf(room, 24, "%" PRId64, value.number);
        origin->id = room;
        origin->id_bytes = strlen(room);
    }
    return s;
}

/* ---- An array ---- */

struct columns {
    struct arrow_column text, id, mask;
    struct text_ids ids; /* ids of a row */
    struct marks marks;
};

static enum leat_status add_row(const struct arrow_rows *r, struct columns *c, int64_t row,
                                const struct arrow_value *value, struct leat_packer *p, struct arrow_adding *a)
{
    struct leat_origin origin = { .input = a->input, .line = LEAT_NONE };
    char number[24];
    enum leat_status s = r->has_id ? take_id(&c->id, row, number, &origin, &a->err) : LEAT_OK;

    if (a->input != LEAT_NONE) {
        origin.offset = a->row;
        origin.line = a->row + 1;
    }
    if (s != LEAT_OK)
        return s;
    if (!(r->text.kind & ARROW_LISTS))
        return add_one_text(p, value->text, value->bytes, NULL, 0, &origin, &a->err);
    s = take_list(&c->text, value, &c->ids, &a->err);
    if (s == LEAT_OK && r->has_mask)
        s = take_mask(&c->mask, row, c->ids.count, &c->marks, &a->err);
    if (s != LEAT_OK)
        return s;
    return add_one_of_ids(p, c->ids.at, r->has_mask ? c->marks.at : NULL, c->ids.count, &origin, &a->err);
}

static enum leat_status judge(struct arrow_rows *r, int64_t row, struct leat_packer *p, uint32_t *keep,
                              struct leat_error *err)
{
    *keep = 1;
    return r->fields.count > 0 ? arrow_fields_judge(&r->fields, row, p, keep, err) : LEAT_OK;
}

/* Looks for missing texts before the first row is taken. (Ids and masks are checked as they are taken.) */
static enum leat_status check_rows(struct arrow_rows *r, const struct columns *c, int64_t first, struct leat_packer *p,
                                   struct arrow_adding *a)
{
    struct arrow_value value;
    uint32_t keep;

    for (int64_t row = first; row < c->text.rows; row++) {
        enum leat_status s = arrow_get(&c->text, row, &value, &a->err);

        if (s == LEAT_OK && (!value.missing || a->skip_missing))
            continue;
        if (s == LEAT_OK)
            s = judge(r, row, p, &keep, &a->err);
        if (s == LEAT_OK && !keep)
            continue;
        if (s != LEAT_OK)
            return s;
        return errors_field(&a->err,
                            errors_set(&a->err, LEAT_E_ARGUMENT,
                                       "column %s: the text of row %" PRIu64
                                       " is missing (null); nulls=\"skip\" leaves such rows out",
                                       r->text.name, r->rows + (uint64_t)row),
                            r->text.name);
    }
    return LEAT_OK;
}

/* Adds the rows of an array. Returns -1 if it is interrupted; otherwise a->status says if all rows were added. */
static int add_rows(struct arrow_rows *r, struct columns *c, int64_t first, struct leat_packer *p,
                    struct arrow_adding *a, struct pause *pause)
{
    struct arrow_value value = { .missing = true };
    uint32_t keep;

    for (int64_t row = first; row < c->text.rows; row++) {
        a->status = judge(r, row, p, &keep, &a->err);
        if (a->status == LEAT_OK && keep)
            a->status = arrow_get(&c->text, row, &value, &a->err);
        if (a->status == LEAT_OK && keep && !value.missing)
            a->status = add_row(r, c, row, &value, p, a);
        if (a->status != LEAT_OK)
            return 0;
        a->added += keep && !value.missing;
        a->passed += keep && value.missing;
        a->kept_out += !keep;
        a->row++;
        if ((row - first) % ROWS_BETWEEN_LOOKS == 0 && pause_look(pause) < 0)
            return -1;
    }
    return 0;
}

static enum leat_status bind_columns(struct arrow_rows *r, struct columns *c, struct leat_error *err)
{
    enum leat_status s = arrow_bind(&c->text, &r->text, &r->stream.array, err);

    if (s == LEAT_OK && r->has_id)
        s = arrow_bind(&c->id, &r->id, &r->stream.array, err);
    if (s == LEAT_OK && r->has_mask)
        s = arrow_bind(&c->mask, &r->mask, &r->stream.array, err);
    return s == LEAT_OK ? arrow_fields_bind(&r->fields, &r->stream.array, err) : s;
}

/* Gets the next array and binds the columns of the conditions to it. Sets *end to true if there is none. */
static enum leat_status next_array(struct arrow_rows *r, const struct leat_packer *p, bool *end, struct leat_error *err)
{
    enum leat_status s = arrow_fields_find(&r->fields, &r->stream.schema, p, err);

    if (s == LEAT_OK)
        s = arrow_stream_next(&r->stream, err);
    *end = s == LEAT_OK && !r->stream.array.release;
    return s;
}

int arrow_rows_add(struct arrow_rows *r, struct leat_packer *p, struct arrow_adding *a, struct pause *pause)
{
    struct columns c = { 0 };
    struct leat_error why;
    uint64_t begin;
    int64_t first;
    int interrupted;

    a->status = next_array(r, p, &a->end, &a->err);
    if (a->status == LEAT_OK && !a->end)
        a->status = bind_columns(r, &c, &a->err);
    if (a->status != LEAT_OK || a->end)
        return 0;
    begin = a->skip > r->rows ? a->skip - r->rows : 0;
    first = begin < (uint64_t)c.text.rows ? (int64_t)begin : c.text.rows;
    a->status = check_rows(r, &c, first, p, a);
    if (a->status != LEAT_OK)
        return 0;
    interrupted = add_rows(r, &c, first, p, a, pause);
    if (a->kept_out > 0 && leat_packer_keep_out(p, a->kept_out, &why) != LEAT_OK && a->status == LEAT_OK) {
        a->status = why.status;
        a->err = why;
    }
    text_ids_free(&c.ids);
    free(c.marks.at);
    r->rows += (uint64_t)c.text.rows;
    return interrupted;
}

enum leat_status arrow_rows_judge(struct arrow_rows *r, struct leat_packer *p, char **keep, size_t *count,
                                  struct leat_error *err)
{
    bool end;
    uint32_t one;
    enum leat_status s = next_array(r, p, &end, err);

    *keep = NULL;
    *count = 0;
    if (s != LEAT_OK || end)
        return s;
    s = arrow_fields_bind(&r->fields, &r->stream.array, err);
    if (s != LEAT_OK)
        return s;
    *count = (size_t)r->stream.array.length;
    *keep = malloc(*count + 1);
    if (!*keep)
        return errors_set(err, LEAT_E_NO_MEMORY, "no memory to judge %zu rows", *count);
    for (size_t row = 0; s == LEAT_OK && row < *count; row++) {
        s = judge(r, (int64_t)row, p, &one, err);
        (*keep)[row] = (char)one;
    }
    return s;
}

/* ---- The type ---- */

static int find_columns(struct arrow_rows *r, const char *text, const char *id, struct leat_error *err)
{
    enum leat_status s = arrow_find(&r->stream.schema, text, ARROW_TEXTS | ARROW_LISTS,
                                    "texts (string, large_string, string_view, binary, or a dictionary of these) or "
                                    "lists of integers (list, large_list)",
                                    &r->text, err);

    if (s != LEAT_OK || !id || r->text.depth == 0)
        return s == LEAT_OK;
    s = arrow_find(&r->stream.schema, id, ARROW_TEXTS | ARROW_NUMBER, "texts or integers", &r->id, err);
    r->has_id = s == LEAT_OK;
    return s == LEAT_OK;
}

static int find_mask(struct arrow_rows *r, const char *mask, struct leat_error *err)
{
    if (!mask)
        return 1;
    r->has_mask = true;
    if (!(r->text.kind & ARROW_LISTS)) {
        errors_field(
            err,
            errors_set(
                err, LEAT_E_ARGUMENT,
                "column %s has texts, and a column of masks belongs to lists of ids: give texts with masks as dicts",
                r->text.name),
            r->text.name);
        return 0;
    }
    return arrow_find(&r->stream.schema, mask, ARROW_LISTS | ARROW_WEIGHTS,
                      "lists (list, large_list) of integers, float32, float64 or bool", &r->mask, err) == LEAT_OK;
}

/* ArrowRows(capsules, text, id, may_lack_id, mask) takes the names of columns, `id` and `mask` also None. The rows
 * of ArrowRows(capsules) can only be judged. */
static PyObject *rows_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    PyObject *capsules, *self;
    const char *text = NULL, *id = NULL, *mask = NULL;
    struct arrow_rows *r;
    struct leat_error err;
    int optional = 0;

    (void)kwargs;
    if (!PyArg_ParseTuple(args, "O|szpz", &capsules, &text, &id, &optional, &mask))
        return NULL;
    self = module_new_object(type);
    r = (struct arrow_rows *)self;
    if (!self || arrow_stream_open(&r->stream, capsules) < 0) {
        Py_XDECREF(self);
        return NULL;
    }
    if (!text)
        return self;
    if ((!find_columns(r, text, id, &err) && !(optional && err.status == LEAT_E_NOT_FOUND && r->text.kind != 0)) ||
        !find_mask(r, mask, &err)) {
        errors_raise(&err);
        Py_DECREF(self);
        return NULL;
    }
    return self;
}

static void rows_free(PyObject *self)
{
    arrow_stream_close(&((struct arrow_rows *)self)->stream);
    arrow_fields_free(&((struct arrow_rows *)self)->fields);
    module_free_object(self);
}

/* Returns how many rows the arrays had so far. */
static PyObject *rows_count(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((struct arrow_rows *)self)->rows);
}

static PyMethodDef methods[] = {
    { "count", rows_count, METH_NOARGS, NULL },
    { NULL, NULL, 0, NULL },
};

static PyType_Slot slots[] = {
    { Py_tp_new, rows_new },
    { Py_tp_dealloc, rows_free },
    { Py_tp_methods, methods },
    { 0, NULL },
};

static PyType_Spec spec = {
    .name = "leat._leat.ArrowRows",
    .basicsize = sizeof(struct arrow_rows),
    .flags = Py_TPFLAGS_DEFAULT,
    .slots = slots,
};

int arrow_rows_register(PyObject *module)
{
    return module_add_type(module, &spec, &rows_type);
}

/* ---- All texts of a column ---- */

struct arrow_texts {
    struct arrow_stream stream;
    struct arrow_place place;
    struct ArrowArray *arrays;
    size_t array_count, array_room;
    struct text_view *views;
    size_t count, room;
};

static enum leat_status no_memory(struct leat_error *err, size_t count)
{
    return errors_set(err, LEAT_E_NO_MEMORY, "no memory for %zu texts", count);
}

/* Moves the stream's array to the arrays that are kept. */
static enum leat_status keep_array(struct arrow_texts *t, struct leat_error *err)
{
    if (!GROW(t->arrays, t->array_count + 1, t->array_room))
        return no_memory(err, t->count);
    t->arrays[t->array_count++] = t->stream.array;
    t->stream.array.release = NULL;
    return LEAT_OK;
}

static enum leat_status take_array(struct arrow_texts *t, struct leat_error *err)
{
    struct arrow_column column;
    struct arrow_value value;
    enum leat_status s = arrow_bind(&column, &t->place, &t->stream.array, err);

    if (s != LEAT_OK)
        return s;
    if (!GROW(t->views, t->count + (size_t)column.rows, t->room))
        return no_memory(err, t->count + (size_t)column.rows);
    for (int64_t row = 0; row < column.rows; row++) {
        s = arrow_get(&column, row, &value, err);
        if (s != LEAT_OK)
            return s;
        if (value.missing)
            return errors_field(err,
                                errors_set(err, LEAT_E_ARGUMENT, "column %s: the text of row %zu is missing (null)",
                                           t->place.name, t->count),
                                t->place.name);
        t->views[t->count++] = (struct text_view) { value.text, value.bytes };
    }
    return keep_array(t, err);
}

static enum leat_status read_all(struct arrow_texts *t, struct pause *pause, int *interrupted, struct leat_error *err)
{
    enum leat_status s;

    for (;;) {
        s = arrow_stream_next(&t->stream, err);
        if (s != LEAT_OK || !t->stream.array.release)
            return s;
        s = take_array(t, err);
        if (s != LEAT_OK)
            return s;
        *interrupted = pause_look(pause) < 0;
        if (*interrupted)
            return LEAT_OK;
    }
}

int arrow_texts_read(struct arrow_texts **out, PyObject *capsules, const char *column)
{
    struct arrow_texts *t = calloc(1, sizeof *t);
    struct pause pause;
    struct leat_error err;
    enum leat_status s;
    int interrupted = 0;

    *out = NULL;
    if (!t) {
        PyErr_NoMemory();
        return -1;
    }
    if (arrow_stream_open(&t->stream, capsules) < 0) {
        free(t);
        return -1;
    }
    s = arrow_find(&t->stream.schema, column ? column : "text", ARROW_TEXTS, "texts", &t->place, &err);
    if (s == LEAT_OK) {
        pause_begin(&pause);
        s = read_all(t, &pause, &interrupted, &err);
        pause_end(&pause);
    }
    if (s != LEAT_OK)
        errors_raise(&err);
    if (s != LEAT_OK || interrupted) {
        arrow_texts_free(t);
        return -1;
    }
    *out = t;
    return 0;
}

const struct text_view *arrow_texts_views(const struct arrow_texts *texts, size_t *count)
{
    *count = texts->count;
    return texts->views;
}

void arrow_texts_free(struct arrow_texts *t)
{
    PyObject *type, *value, *trace;

    PyErr_Fetch(&type, &value, &trace);
    for (size_t i = 0; i < t->array_count; i++)
        t->arrays[i].release(&t->arrays[i]);
    PyErr_Restore(type, value, trace);
    arrow_stream_close(&t->stream);
    free(t->arrays);
    free(t->views);
    free(t);
}
