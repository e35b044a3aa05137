/*
 * text_packer_add.c: the methods of leat._leat.Packer that add documents: one, those of an iterator, or rows of Arrow.
 *
 * Documents of an iterator are gathered in bunches, so that Python's part of the work is done with the GIL and the
 * library's part without it.
 */
#include <stdlib.h>

#include "arrow/arrow_rows.h"
#include "text/text.h"
#include "text_packer.h"

/* A bunch of an iterator's documents goes to the packer when it has this many, or this many bytes. */
#define BUNCH_DOCUMENTS 4096
#define BUNCH_BYTES     ((uint64_t)1 << 20)

/* ---- Single documents ---- */

/* (document, id or None, source or None, bytes of the mask or None) */
static int take_origin(struct packer *p, PyObject *args, PyObject **document, struct leat_origin *origin,
                       PyObject **kept, struct text_view *mask)
{
    struct text_view view = { NULL, 0 };
    PyObject *id, *source;
    Py_ssize_t mask_bytes = 0;

    *kept = NULL;
    mask->at = NULL;
    if (!PyArg_ParseTuple(args, "OOO|z#", document, &id, &source, &mask->at, &mask_bytes))
        return -1;
    mask->bytes = (uint64_t)mask_bytes;
    if (id != Py_None && text_view_of(id, &view, kept) < 0)
        return -1;
    *origin = (struct leat_origin) { .line = LEAT_NONE, .id = view.at, .id_bytes = view.bytes };
    if (packer_find_source(p, source, &origin->input, &origin->offset) < 0) {
        Py_CLEAR(*kept);
        return -1;
    }
    if (origin->input != LEAT_NONE)
        origin->line = origin->offset + 1;
    return 0;
}

/* The end of a call that adds a document. */
static PyObject *added(struct packer *p, const struct leat_origin *origin, enum leat_status s,
                       const struct leat_error *err)
{
    if (s == LEAT_OK)
        packer_count(p, origin->input, 1, 0);
    return packer_done(s, err);
}

/* add_text(text, id, source, spans): pairs of uint64, in bytes of the text, or None */
PyObject *packer_add_text(PyObject *self, PyObject *args)
{
    struct packer *p = (struct packer *)self;
    PyObject *text, *kept, *kept_id, *result = NULL;
    struct leat_origin origin;
    struct pause pause;
    struct text_view view, spans;
    struct leat_error err;
    enum leat_status s;

    if (take_origin(p, args, &text, &origin, &kept_id, &spans) < 0)
        return NULL;
    if (text_view_of(text, &view, &kept) == 0) {
        if (packer_enter(p, &pause) == 0) {
            s = leat_packer_add_text_masked(p->packer, view.at, view.bytes, (const void *)spans.at,
                                            spans.bytes / sizeof(struct leat_span), &origin, &err);
            packer_leave(p, &pause);
            result = added(p, &origin, s, &err);
        }
        Py_XDECREF(kept);
    }
    Py_XDECREF(kept_id);
    return result;
}

/* add_ids(ids, id, source, a byte of the mask for each or None) */
PyObject *packer_add_ids(PyObject *self, PyObject *args)
{
    struct packer *p = (struct packer *)self;
    PyObject *list, *kept_id, *result = NULL;
    struct leat_origin origin;
    struct pause pause;
    struct leat_error err;
    struct text_view mask;
    struct text_ids ids;
    enum leat_status s;

    if (take_origin(p, args, &list, &origin, &kept_id, &mask) < 0)
        return NULL;
    if (text_ids_take(&ids, list) == 0) {
        if (mask.at && mask.bytes != ids.count) {
            PyErr_Format(PyExc_ValueError, "the mask has %zu numbers, for %zu ids", (size_t)mask.bytes, ids.count);
        } else if (packer_enter(p, &pause) == 0) {
            s = leat_packer_add_ids_masked(p->packer, ids.at, (const uint8_t *)mask.at, ids.count, &origin, &err);
            packer_leave(p, &pause);
            result = added(p, &origin, s, &err);
        }
        text_ids_free(&ids);
    }
    Py_XDECREF(kept_id);
    return result;
}

/* ---- Many documents ---- */

/* What an iterator gave: texts, and perhaps their ids, kept alive by `objects`. A row without a text has `at` NULL. */
struct bunch {
    struct text_view *texts, *ids;
    PyObject *objects;
    size_t count;
    uint64_t bytes;
    bool skip_missing; /* None is a row without a text; else it is an error */
    uint64_t added, passed;
};

static int keep_view(struct bunch *b, PyObject *object, struct text_view *view)
{
    PyObject *kept;

    if (text_view_of(object, view, &kept) < 0)
        return -1;
    if (PyList_Append(b->objects, kept ? kept : object) < 0) {
        Py_XDECREF(kept);
        return -1;
    }
    Py_XDECREF(kept);
    return 0;
}

/* An id may also be anything else that is no number but an integer, as in add(). */
static int keep_id(struct bunch *b, PyObject *id, struct text_view *view)
{
    bool is_text = PyUnicode_Check(id) || PyBytes_Check(id);
    PyObject *text;
    int r;

    if (PyBool_Check(id) || (!PyIndex_Check(id) && PyObject_HasAttrString(id, "__float__"))) {
        PyErr_Format(PyExc_TypeError, "a document's id is a text or an integer, not %R", id);
        return -1;
    }
    text = is_text ? Py_NewRef(id) : PyObject_Str(id);
    r = text ? keep_view(b, text, view) : -1;
    Py_XDECREF(text);
    return r;
}

/* A text, or a pair of a text and its id. */
static int take_item(struct bunch *b, PyObject *item)
{
    PyObject *text = item, *id = Py_None;

    if (PyTuple_Check(item) && PyTuple_Size(item) == 2) {
        text = PyTuple_GetItem(item, 0);
        id = PyTuple_GetItem(item, 1);
    }
    b->ids[b->count] = b->texts[b->count] = (struct text_view) { NULL, 0 };
    if (text == Py_None && b->skip_missing) {
        b->count++;
        return 0;
    }
    if (text == Py_None) {
        PyErr_SetString(PyExc_ValueError, "a document has no text; nulls=\"skip\" leaves such documents out");
        return -1;
    }
    if (keep_view(b, text, &b->texts[b->count]) < 0 || (id != Py_None && keep_id(b, id, &b->ids[b->count]) < 0))
        return -1;
    b->bytes += b->texts[b->count].bytes;
    b->count++;
    return 0;
}

/* Gathers what the iterator gives until there is enough. -1: it, or an item, has raised an exception, which is set; the
 * bunch has what came before. */
static int fill(struct bunch *b, PyObject *iterator)
{
    while (b->count < BUNCH_DOCUMENTS && b->bytes < BUNCH_BYTES) {
        PyObject *item = PyIter_Next(iterator);
        int r;

        if (!item)
            return PyErr_Occurred() ? -1 : 0;
        r = take_item(b, item);
        Py_DECREF(item);
        if (r < 0)
            return -1;
    }
    return 0;
}

static enum leat_status give(struct packer *p, struct bunch *b, uint64_t input, uint64_t row, struct leat_error *err)
{
    for (size_t i = 0; i < b->count; i++) {
        struct leat_origin origin = {
            .input = input, .line = LEAT_NONE, .id = b->ids[i].at, .id_bytes = b->ids[i].bytes
        };

        if (!b->texts[i].at) {
            b->passed++;
            continue;
        }
        if (input != LEAT_NONE) {
            origin.offset = row + i;
            origin.line = row + i + 1;
        }
        if (leat_packer_add_text(p->packer, b->texts[i].at, b->texts[i].bytes, &origin, err) != LEAT_OK)
            return err->status;
        b->added++;
    }
    return LEAT_OK;
}

/* add_some(iterator, source, whether None is a row that is left out) -> whether the iterator gave something. What comes
 * before an exception is added, too. */
PyObject *packer_add_some(PyObject *self, PyObject *args)
{
    struct packer *p = (struct packer *)self;
    PyObject *iterator, *source, *type = NULL, *value = NULL, *trace = NULL, *result = NULL;
    uint64_t input, row;
    struct pause pause;
    struct leat_error err;
    struct bunch b = { 0 };
    enum leat_status s;
    int skip_missing;

    if (!PyArg_ParseTuple(args, "OOp", &iterator, &source, &skip_missing))
        return NULL;
    b.skip_missing = skip_missing;
    b.texts = calloc(BUNCH_DOCUMENTS, sizeof *b.texts);
    b.ids = calloc(BUNCH_DOCUMENTS, sizeof *b.ids);
    b.objects = PyList_New(0);
    if (!b.texts || !b.ids || !b.objects) {
        PyErr_NoMemory();
        goto out;
    }
    if (fill(&b, iterator) < 0)
        PyErr_Fetch(&type, &value, &trace);
    if (packer_find_source(p, source, &input, &row) < 0 || packer_enter(p, &pause) < 0)
        goto out;
    s = give(p, &b, input, row, &err);
    packer_leave(p, &pause);
    packer_count(p, input, b.added, b.passed);
    result = s == LEAT_OK ? PyBool_FromLong(b.count > 0) : errors_raise(&err, NULL);
    if (result && type) {
        Py_CLEAR(result);
        PyErr_Restore(type, value, trace);
        type = value = trace = NULL;
    }
out:
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    Py_XDECREF(b.objects);
    free(b.texts);
    free(b.ids);
    return result;
}

/* add_arrow(rows, skip, skip missing, source) -> whether there was an array left */
PyObject *packer_add_arrow(PyObject *self, PyObject *args)
{
    struct packer *p = (struct packer *)self;
    unsigned long long skip;
    uint64_t added = 0, passed = 0;
    struct arrow_rows_plan plan;
    struct arrow_rows *rows;
    struct pause pause;
    struct leat_error err;
    enum leat_status s;
    PyObject *object, *source;
    int skip_missing, r;
    bool at_end;

    if (!PyArg_ParseTuple(args, "OKpO", &object, &skip, &skip_missing, &source) ||
        (rows = arrow_rows_of(object)) == NULL)
        return NULL;
    if (rows->busy)
        return packer_raise_state("the rows are in the middle of another call");
    plan = (struct arrow_rows_plan) { .skip = skip, .skip_missing = skip_missing != 0 };
    rows->busy = true;
    if (packer_find_source(p, source, &plan.input, &plan.row) < 0 || packer_enter(p, &pause) < 0) {
        rows->busy = false;
        return NULL;
    }
    r = arrow_rows_add(rows, p->packer, &plan, &added, &passed, &at_end, &pause, &s, &err);
    packer_leave(p, &pause);
    rows->busy = false;
    packer_count(p, plan.input, added, passed);
    if (r < 0)
        return NULL;
    return s == LEAT_OK ? PyBool_FromLong(!at_end) : errors_raise(&err, NULL);
}
