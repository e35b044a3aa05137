/*
 * arrow_rows.c: see arrow_rows.h.
 *
 * A column of texts is encoded; a column of lists holds ids already. check_rows() looks at all texts of an array before
 * add_rows() gives the first to the packer, so that an invalid or missing text takes nothing of the array. Later
 * failures (a number of a list that is not an id, one of the packer) may come in the middle of an array. Rows are
 * counted over all arrays: `skip` passes by the first ones, and a row's number in its input is its origin's offset.
 */
#include "arrow_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* The numbers of a list as ids, in a buffer that grows. */
static enum leat_status take_list(const struct arrow_column *c, const struct arrow_value *value, struct text_ids *ids,
                                  struct leat_error *err)
{
    ids->count = 0;
    for (int64_t i = value->first; i < value->first + value->count; i++) {
        int64_t number;
        uint32_t id;
        bool there = arrow_number(c, i, &number);

        if (!there || arrow_negative(c, number) || (uint64_t)number > UINT32_MAX) {
            return errors_set(err, LEAT_E_ARGUMENT, "column %s: number %" PRId64 " of a list is %s", c->place->name,
                              i - value->first, there ? "not an id: ids are from 0 to 2^32 - 1" : "missing (null)");
        }
        id = (uint32_t)number;
        if (text_ids_append(ids, &id, 1, err) != LEAT_OK)
            return err->status;
    }
    return LEAT_OK;
}

/* Bytes of a mask in one allocation. */
struct marks {
    uint8_t *at;
    uint64_t room;
};

/* A weight in 255ths, to the nearest, halves to even as Python rounds them. Only 0 becomes 0. */
static uint8_t weight_byte(double weight)
{
    double scaled = UINT8_MAX * weight;
    unsigned whole = (unsigned)scaled;
    double rest = scaled - whole;

    if (rest > 0.5 || (rest == 0.5 && whole % 2 == 1))
        whole++;
    return whole == 0 && weight > 0 ? 1 : (uint8_t)whole;
}

/* The mask of a row of ids, a byte each: its column has a list of as many weights. */
static enum leat_status take_mask(const struct arrow_column *c, int64_t row, uint64_t ids, struct marks *marks,
                                  struct leat_error *err)
{
    struct arrow_value value;
    enum leat_status s = arrow_get(c, row, &value, err);

    if (s != LEAT_OK)
        return s;
    if (value.missing || (uint64_t)value.count != ids)
        return errors_set(err, LEAT_E_ARGUMENT, "column %s: a mask %s", c->place->name,
                          value.missing ? "is missing (null)" : "has another length than its list of ids");
    if (ids > marks->room) {
        uint8_t *at = realloc(marks->at, ids);

        if (!at)
            return errors_set(err, LEAT_E_NO_MEMORY, "no memory for a mask of %" PRIu64 " ids", ids);
        *marks = (struct marks) { at, ids };
    }
    for (int64_t i = 0; i < value.count; i++) {
        double weight;

        if (!arrow_weight(c, value.first + i, &weight))
            return errors_set(err, LEAT_E_ARGUMENT, "column %s: number %" PRId64 " of a mask is missing (null)",
                              c->place->name, i);
        if (!(weight >= 0 && weight <= 1))
            return errors_set(err, LEAT_E_ARGUMENT,
                              "column %s: number %" PRId64 " of a mask must be 0, 1, or a float from 0 to 1",
                              c->place->name, i);
        marks->at[i] = weight_byte(weight);
    }
    return LEAT_OK;
}

/* The id of a document: a text, or a number as it is written. */
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
        if (c->place->number == 'L')
            snprintf(room, 24, "%" PRIu64, (uint64_t)value.number);
        else
            snprintf(room, 24, "%" PRId64, value.number);
        origin->id = room;
        origin->id_bytes = strlen(room);
    }
    return s;
}

/* ---- An array ---- */

struct adding {
    struct leat_packer *packer;
    struct arrow_column text, id, mask;
    bool has_id, has_mask;
    struct text_ids ids;
    struct marks marks;
};

static enum leat_status add_row(struct adding *a, int64_t row, const struct arrow_value *value,
                                struct arrow_rows_plan *plan, struct leat_error *err)
{
    struct leat_origin origin = { .input = plan->input, .line = LEAT_NONE };
    char number[24];
    enum leat_status s = a->has_id ? take_id(&a->id, row, number, &origin, err) : LEAT_OK;

    if (plan->input != LEAT_NONE) {
        origin.offset = plan->row;
        origin.line = plan->row + 1;
    }
    if (s != LEAT_OK)
        return s;
    if (!(a->text.place->kind & ARROW_LISTS))
        return leat_packer_add_text(a->packer, value->text, value->bytes, &origin, err);
    s = take_list(&a->text, value, &a->ids, err);
    if (s == LEAT_OK && a->has_mask)
        s = take_mask(&a->mask, row, a->ids.count, &a->marks, err);
    if (s != LEAT_OK)
        return s;
    return leat_packer_add_ids_masked(a->packer, a->ids.at, a->has_mask ? a->marks.at : NULL, a->ids.count, &origin,
                                      err);
}

/* Looks for missing texts before the first row is taken. (Ids and masks are checked as they are taken.) */
static enum leat_status check_rows(const struct arrow_rows *r, const struct adding *a, int64_t first, bool skip_missing,
                                   struct leat_error *err)
{
    struct arrow_value value;

    for (int64_t row = first; row < a->text.rows; row++) {
        enum leat_status s = arrow_get(&a->text, row, &value, err);

        if (s != LEAT_OK)
            return s;
        if (!value.missing || skip_missing)
            continue;
        return errors_set(err, LEAT_E_ARGUMENT,
                          "column %s: the text of row %" PRIu64
                          " is missing (null); nulls=\"skip\" leaves such rows out",
                          r->text.name, r->rows + (uint64_t)row);
    }
    return LEAT_OK;
}

/* 1: all rows; 0: *status says why not; -1: interrupted. */
static int add_rows(struct adding *a, int64_t first, struct arrow_rows_plan *plan, uint64_t *added, uint64_t *passed,
                    struct pause *pause, enum leat_status *status, struct leat_error *err)
{
    struct arrow_value value;

    for (int64_t row = first; row < a->text.rows; row++) {
        *status = arrow_get(&a->text, row, &value, err);
        if (*status == LEAT_OK && !value.missing)
            *status = add_row(a, row, &value, plan, err);
        if (*status != LEAT_OK)
            return 0;
        *added += !value.missing;
        *passed += value.missing;
        plan->row++;
        if ((row - first) % ROWS_BETWEEN_LOOKS == 0 && pause_look(pause) < 0)
            return -1;
    }
    return 1;
}

int arrow_rows_add(struct arrow_rows *r, struct leat_packer *p, struct arrow_rows_plan *plan, uint64_t *added,
                   uint64_t *passed, bool *end, struct pause *pause, enum leat_status *status, struct leat_error *err)
{
    struct adding a = { .packer = p, .has_id = r->has_id, .has_mask = r->has_mask };
    uint64_t begin;
    int64_t first;
    int done;

    *added = *passed = 0;
    *end = false;
    *status = arrow_stream_next(&r->stream, err);
    if (*status == LEAT_OK && !r->stream.array.release) {
        *end = true;
        return 0;
    }
    if (*status == LEAT_OK)
        *status = arrow_bind(&a.text, &r->text, &r->stream.array, err);
    if (*status == LEAT_OK && r->has_id)
        *status = arrow_bind(&a.id, &r->id, &r->stream.array, err);
    if (*status == LEAT_OK && r->has_mask)
        *status = arrow_bind(&a.mask, &r->mask, &r->stream.array, err);
    if (*status != LEAT_OK)
        return 0;
    begin = plan->skip > r->rows ? plan->skip - r->rows : 0;
    first = begin < (uint64_t)a.text.rows ? (int64_t)begin : a.text.rows;
    *status = check_rows(r, &a, first, plan->skip_missing, err);
    if (*status != LEAT_OK)
        return 0;
    done = add_rows(&a, first, plan, added, passed, pause, status, err);
    text_ids_free(&a.ids);
    free(a.marks.at);
    r->rows += (uint64_t)a.text.rows;
    return done < 0 ? -1 : 0;
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
        errors_set(err, LEAT_E_ARGUMENT,
                   "column %s has texts, and a column of masks belongs to lists of ids: give texts with masks as dicts",
                   r->text.name);
        return 0;
    }
    return arrow_find(&r->stream.schema, mask, ARROW_LISTS | ARROW_WEIGHTS,
                      "lists (list, large_list) of integers, float32, float64 or bool", &r->mask, err) == LEAT_OK;
}

/* ArrowRows(capsules, text column, id column or None, whether the id column may be missing, mask column or None) */
static PyObject *rows_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    allocfunc allocate = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    PyObject *capsules, *self;
    const char *text, *id, *mask;
    struct arrow_rows *r;
    struct leat_error err;
    int optional;

    (void)kwargs;
    if (!PyArg_ParseTuple(args, "Oszpz", &capsules, &text, &id, &optional, &mask))
        return NULL;
    self = allocate(type, 0);
    r = (struct arrow_rows *)self;
    if (!self || arrow_stream_open(&r->stream, capsules) < 0) {
        Py_XDECREF(self);
        return NULL;
    }
    if ((!find_columns(r, text, id, &err) && !(optional && err.status == LEAT_E_NOT_FOUND && r->text.kind != 0)) ||
        !find_mask(r, mask, &err)) {
        errors_raise(&err, NULL);
        Py_DECREF(self);
        return NULL;
    }
    return self;
}

static void rows_free(PyObject *self)
{

    arrow_stream_close(&((struct arrow_rows *)self)->stream);
    module_free_object(self);
}

/* How many rows its arrays had so far. */
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
