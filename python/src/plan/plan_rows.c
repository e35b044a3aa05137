/* plan_rows.c: rows at any positions of a plan, without a loader, for datasets that are indexed by number. If each
 * label is the next input, a row is one array of length + 1 tokens. Other plans have labels without loss, or order
 * fit, whose pieces have labels of their own. Their rows have inputs, labels and weights as in a batch (struct
 * leat_outputs), and on request positions, documents and the attention mask. Rows of order fit are padded to the
 * plan's longest row. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/array.h"
#include "plan.h"

/* Finds the stretches of a sample's row, which the caller frees. */
static enum leat_status find_row(const struct leat_plan *plan, const struct leat_sample *x, struct leat_stretch **row,
                                 uint64_t *count, struct leat_error *err)
{
    enum leat_status s = leat_plan_row(plan, x, NULL, 0, count, err);

    *row = NULL;
    if (s != LEAT_OK)
        return s;
    *row = calloc((size_t)*count + 1, sizeof **row);
    return *row ? leat_plan_row(plan, x, *row, *count, count, err)
                : errors_set(err, LEAT_E_NO_MEMORY, "no memory for a row of %" PRIu64 " pieces", *count);
}

/* pieces(n): Returns the pieces of sample n's row in their order, a list of (source, part, token or None, count, at,
 * document or None, inputs, literal or None). */
PyObject *plan_pieces(PyObject *self, PyObject *args)
{
    struct leat_stretch *row = NULL;
    struct leat_sample x;
    PyObject *list = NULL;
    uint64_t number, count = 0;
    struct leat_error err;
    enum leat_status s;

    if (!PyArg_ParseTuple(args, "O&:pieces", args_u64, &number))
        return NULL;
    s = leat_plan_sample(plan_of(self), number, &x, &err);
    if (s == LEAT_OK)
        s = find_row(plan_of(self), &x, &row, &count, &err);
    if (s == LEAT_OK)
        list = PyList_New((Py_ssize_t)count);
    else
        errors_raise(&err);
    for (uint64_t i = 0; list && i < count; i++) {
        const struct leat_stretch *t = &row[i];
        PyObject *item = ARGS_TUPLE(t->source, t->part, t->literal ? LEAT_NONE : t->token, t->count, t->at, t->document,
                                    t->inputs, t->literal ? t->token : LEAT_NONE);

        if (!item || PyList_SetItem(list, (Py_ssize_t)i, item) < 0)
            Py_CLEAR(list);
    }
    free(row);
    return list;
}

/* Finds the samples at the positions of a list; the caller frees them. They must have one length, unless rows are
 * padded (order fit). Returns NULL with an exception set on failure. */
static struct leat_sample *find_samples(const struct leat_plan *plan, PyObject *positions, size_t count)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;
    struct leat_sample *samples = malloc((count + 1) * sizeof *samples);
    struct leat_error err;

    if (!samples)
        return PyErr_NoMemory(), NULL;
    leat_plan_info(plan, &info);
    for (size_t i = 0; i < count; i++) {
        uint64_t position, got = 0;

        if (!args_u64(PyList_GetItem(positions, (Py_ssize_t)i), &position))
            break;
        if (leat_plan_samples(plan, position, 1, &samples[i], &got, &err) != LEAT_OK)
            errors_raise(&err);
        else if (got == 0)
            PyErr_Format(PyExc_IndexError, "the plan ends before position %llu", (unsigned long long)position);
        else if (samples[i].length != samples[0].length && info.order != LEAT_ORDER_FIT)
            PyErr_SetString(PyExc_ValueError, "the samples at these positions differ in length");
        if (PyErr_Occurred())
            break;
    }
    if (!PyErr_Occurred())
        return samples;
    free(samples);
    return NULL;
}

/* Reads a method's arguments, and calls find_samples() with them. */
static struct leat_sample *take_samples(const struct leat_plan *plan, PyObject *positions, unsigned number_bytes,
                                        size_t *count)
{
    *count = (size_t)PyList_Size(positions);
    if (*count > 0 && (number_bytes == 4 || number_bytes == 8))
        return find_samples(plan, positions, *count);
    PyErr_SetString(PyExc_ValueError, "missing positions, or a width other than 4 or 8");
    return NULL;
}

/* ---- Labels that are the next inputs: an array ---- */

/* Reads the tokens of a stretch. */
static enum leat_status read_stretch(const struct leat_plan *plan, const struct leat_stretch *t, uint32_t *ids,
                                     struct leat_error *err)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    enum leat_status s = leat_plan_source_info(plan, t->source, &source, err);

    if (s != LEAT_OK || !t->literal)
        return s == LEAT_OK ? leat_dataset_read_u32(source.dataset, t->token, t->count, ids, err) : s;
    *ids = (uint32_t)t->token;
    return LEAT_OK;
}

/* Reads the tokens of a sample, each to its place. A row is one array of inputs and labels, so each stretch must
 * begin where the one before it ends: a piece's own last label would take the place of the next piece's first token. */
static enum leat_status read_stretches(const struct leat_plan *plan, const struct leat_sample *x, uint32_t *ids,
                                       struct leat_error *err)
{
    struct leat_stretch *row;
    uint64_t count = 0, at = 0, i = 0;
    enum leat_status s = find_row(plan, x, &row, &count, err);

    for (; s == LEAT_OK && i < count && row[i].at == at && x->tokens - at >= row[i].count; at += row[i++].count)
        s = read_stretch(plan, &row[i], ids + at, err);
    free(row);
    if (s != LEAT_OK || (i == count && at == x->tokens))
        return s;
    return errors_set(err, LEAT_E_UNSUPPORTED,
                      "sample %" PRIu64 " has pieces with labels of their own; a row of tokens has no room for them",
                      x->number);
}

/* Reads the tokens of a sample and widens them. */
static enum leat_status read_row(const struct leat_plan *plan, const struct leat_sample *x, unsigned number_bytes,
                                 uint32_t *ids, char *to, struct leat_error *err)
{
    enum leat_status s = read_stretches(plan, x, number_bytes == 4 ? (uint32_t *)(void *)to : ids, err);

    if (s != LEAT_OK || number_bytes == 4)
        return s;
    for (uint64_t i = 0; i < x->tokens; i++)
        ((int64_t *)(void *)to)[i] = ids[i];
    return LEAT_OK;
}

static enum leat_status read_rows(const struct leat_plan *plan, const struct leat_sample *samples, size_t count,
                                  unsigned number_bytes, char *to, struct leat_error *err)
{
    size_t width = (size_t)samples[0].length + 1;
    uint32_t *ids = malloc(width * sizeof *ids);
    enum leat_status s = LEAT_OK;

    if (!ids)
        return errors_set(err, LEAT_E_NO_MEMORY, "no memory for a row of %zu tokens", width);
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = read_row(plan, &samples[i], number_bytes, ids, to + i * width * number_bytes, err);
    free(ids);
    return s;
}

/* rows(positions, number_bytes): Returns an Array of count x (length + 1) signed numbers. */
PyObject *plan_rows(PyObject *self, PyObject *args)
{
    struct array_shape a = { .dimensions = 2, .kind = ARRAY_SIGNED, .writable = 1 };
    struct handle *memory = NULL;
    struct leat_sample *samples;
    PyObject *positions, *result = NULL;
    struct leat_error err;
    enum leat_status s;
    size_t count;

    if (!PyArg_ParseTuple(args, "O!I:rows", &PyList_Type, &positions, &a.bytes))
        return NULL;
    samples = take_samples(plan_of(self), positions, a.bytes, &count);
    if (!samples)
        return NULL;
    a.shape[0] = (int64_t)count;
    a.shape[1] = (int64_t)samples[0].length + 1;
    if (count < SIZE_MAX / 16 / (size_t)a.shape[1])
        memory = memory_make(NULL, count * (size_t)a.shape[1] * a.bytes);
    if (memory) {
        a.data = handle_object(memory);
        ARGS_UNLOCKED(s = read_rows(plan_of(self), samples, count, a.bytes, a.data, &err));
        result = s == LEAT_OK ? array_make(memory, &a) : errors_raise(&err);
    } else {
        PyErr_NoMemory();
    }
    handle_drop(memory);
    free(samples);
    return result;
}

/* ---- Labels apart ---- */

#define IGNORED (-100)

/* labels_apart(): Returns True if rows() would lose what the plan says about labels. */
PyObject *plan_labels_apart(PyObject *self, PyObject *unused)
{
    struct leat_plan_info info = LEAT_PLAN_INFO_INIT;

    (void)unused;
    leat_plan_info(plan_of(self), &info);
    return PyBool_FromLong(info.order == LEAT_ORDER_FIT || info.masks);
}

struct job {
    const struct leat_plan *plan;
    struct leat_plan_info info;
    unsigned number_bytes;
    int documents, mask_first; /* 1 if documents are looked up; 1 if the first label of a document has no loss */
    size_t width;              /* bytes per row of each output */
    char *inputs, *labels, *positions, *numbers;
    float *weights;
    uint8_t *attention;
    struct leat_piece *pieces;
    uint32_t *ids; /* ids of a piece */
    uint8_t *mask;
    uint8_t *begins; /* one byte per place of the row, 1 if a document begins there */
};

static void put_number(const struct job *j, char *to, size_t i, int64_t number)
{
    if (j->number_bytes == 4)
        ((int32_t *)(void *)to)[i] = (int32_t)number;
    else
        ((int64_t *)(void *)to)[i] = number;
}

/* Fills a row with padding, which is the first source's end token, as in a loader. */
static enum leat_status clear_row(const struct job *j, size_t at, struct leat_error *err)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    struct leat_info dataset = LEAT_INFO_INIT;
    enum leat_status s = leat_plan_source_info(j->plan, 0, &source, err);
    uint64_t pad;

    if (s != LEAT_OK)
        return s;
    leat_dataset_info(source.dataset, &dataset);
    pad = dataset.end_token == LEAT_NONE ? 0 : dataset.end_token;
    for (size_t i = at; i < at + j->width; i++) {
        put_number(j, j->inputs, i, (int64_t)pad);
        put_number(j, j->labels, i, IGNORED);
        j->weights[i] = 0;
    }
    return LEAT_OK;
}

/* Marks where documents begin inside a stretch. It searches the dataset, because the plan does not say. */
static enum leat_status search_stretch(const struct job *j, const struct leat_stretch *t, struct leat_error *err)
{
    struct leat_plan_source_info source = LEAT_PLAN_SOURCE_INFO_INIT;
    uint64_t number, count, starts[64];
    enum leat_status s = leat_plan_source_info(j->plan, t->source, &source, err);

    if (s == LEAT_OK)
        s = leat_dataset_documents_in(source.dataset, t->token, t->count, &number, &count, err);
    for (uint64_t some; s == LEAT_OK && count > 0; number += some, count -= some) {
        some = count < 64 ? count : 64;
        s = leat_dataset_starts(source.dataset, number, some, starts, err);
        for (uint64_t i = 0; s == LEAT_OK && i < some; i++)
            if (starts[i] >= t->token && starts[i] - t->token < t->count) /* empty documents may begin after it */
                j->begins[t->at + (starts[i] - t->token)] = 1;
    }
    return s;
}

static enum leat_status find_begins(const struct job *j, const struct leat_stretch *row, uint64_t count,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    memset(j->begins, 0, j->width + 1);
    for (uint64_t i = 0; s == LEAT_OK && j->documents && i < count; i++) {
        j->begins[row[i].at] |= row[i].begins != 0;
        if (!row[i].literal && row[i].document == LEAT_NONE && row[i].count > 0)
            s = search_stretch(j, &row[i], err);
    }
    return s;
}

/* Writes positions, documents and the attention mask of a row of `length` places; padding counts as a document. */
static void put_documents(const struct job *j, size_t at, size_t length)
{
    size_t begin = 0;
    int64_t document = 0;

    for (size_t i = 0; i < j->width; i++) {
        if (i > 0 && (i == length || (i < length && j->begins[i]))) {
            begin = i;
            document++;
        }
        put_number(j, j->positions, at + i, (int64_t)(i - begin));
        put_number(j, j->numbers, at + i, document);
        j->attention[at + i] = i < length;
    }
}

/* Reads a piece's ids and mask from its stretches, which begin at *row, and moves *row past them. */
static enum leat_status read_piece(const struct job *j, uint64_t number, const struct leat_piece *p,
                                   const struct leat_stretch **row, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint32_t done = 0; s == LEAT_OK && done < p->count; done += (*row)++->count) {
        const struct leat_stretch *t = *row;

        s = read_stretch(j->plan, t, j->ids + done, err);
        memset(j->mask + done, t->literal && leat_plan_banned(j->plan, t->source, t->document, number) ? 0 : UINT8_MAX,
               t->count);
        if (s == LEAT_OK && !t->literal)
            s = leat_plan_mask(j->plan, number, p, t->token - p->token, t->count, j->mask + done, err);
    }
    return s;
}

/* Writes a piece that covers places [at, end) of the outputs. Its first token is the label of the place before, unless
 * that piece has its label itself. */
static void put_piece(const struct job *j, const struct leat_piece *p, size_t at, size_t end, bool labels_before)
{
    for (size_t i = 0; i < p->count && at + i < end; i++)
        put_number(j, j->inputs, at + i, j->ids[i]);
    for (size_t i = labels_before ? 0 : 1; i < p->count; i++) {
        if (j->mask[i] == 0 || (j->mask_first && j->begins[p->at + i]))
            continue;
        put_number(j, j->labels, at + i - 1, j->ids[i]);
        j->weights[at + i - 1] = (float)j->mask[i] / UINT8_MAX;
    }
}

static enum leat_status make_row(const struct job *j, const struct leat_sample *x, size_t at, struct leat_error *err)
{
    bool own_labels = j->info.order == LEAT_ORDER_FIT;
    uint64_t count = x->pieces, stretches;
    const struct leat_stretch *next;
    struct leat_stretch *row;
    enum leat_status s = find_row(j->plan, x, &row, &stretches, err);

    next = row;
    if (s == LEAT_OK)
        s = leat_plan_pieces(j->plan, x, 1, j->pieces, err);
    if (s == LEAT_OK)
        s = find_begins(j, row, stretches, err);

    if (s == LEAT_OK)
        s = clear_row(j, at, err);

    for (uint64_t k = 0; s == LEAT_OK && k < count; k++) {
        const struct leat_piece *p = &j->pieces[k];

        s = read_piece(j, x->number, p, &next, err);
        if (s == LEAT_OK)
            put_piece(j, p, at + p->at, at + (k + 1 < count ? p[1].at : x->length), k > 0 && !own_labels);
    }
    if (s == LEAT_OK && j->documents)
        put_documents(j, at, (size_t)x->length);
    free(row);
    return s;
}

static enum leat_status make_rows(struct job *j, const struct leat_sample *samples, size_t count,
                                  struct leat_error *err)
{
    enum leat_status s = LEAT_OK;
    uint64_t most = 0;

    for (size_t i = 0; i < count; i++)
        most = samples[i].pieces > most ? samples[i].pieces : most;
    j->pieces = calloc((size_t)most + 1, sizeof *j->pieces);
    j->ids = calloc(j->width + 1, sizeof *j->ids);
    j->mask = calloc(j->width + 1, 1);
    j->begins = calloc(j->width + 1, 1);
    if (!j->pieces || !j->ids || !j->mask || !j->begins)
        s = errors_set(err, LEAT_E_NO_MEMORY, "no memory for a row of %zu tokens", j->width);
    for (size_t i = 0; s == LEAT_OK && i < count; i++)
        s = make_row(j, &samples[i], i * j->width, err);
    free(j->pieces);
    free(j->ids);
    free(j->mask);
    free(j->begins);
    return s;
}

#define MOST_OUTPUTS 6

/* Makes Arrays of the outputs, which follow each other in `memory`. */
static PyObject *make_arrays(struct handle *memory, const struct job *j, size_t count)
{
    const struct {
        void *data;
        enum array_kind kind;
        unsigned bytes;
    } outputs[MOST_OUTPUTS] = {
        { j->inputs, ARRAY_SIGNED, j->number_bytes },  { j->labels, ARRAY_SIGNED, j->number_bytes },
        { j->weights, ARRAY_FLOAT, sizeof(float) },    { j->positions, ARRAY_SIGNED, j->number_bytes },
        { j->numbers, ARRAY_SIGNED, j->number_bytes }, { j->attention, ARRAY_BOOL, 1 },
    };
    Py_ssize_t made = j->documents ? MOST_OUTPUTS : 3;
    PyObject *all = PyTuple_New(made);

    for (Py_ssize_t i = 0; all && i < made; i++) {
        struct array_shape a = { .dimensions = 2, .kind = outputs[i].kind, .bytes = outputs[i].bytes, .writable = 1 };
        PyObject *array;

        a.shape[0] = (int64_t)count;
        a.shape[1] = (int64_t)j->width;
        a.data = outputs[i].data;
        array = array_make(memory, &a);
        if (!array || PyTuple_SetItem(all, i, array) < 0)
            Py_CLEAR(all);
    }
    return all;
}

static PyObject *make_outputs(struct job *j, const struct leat_sample *samples, size_t count)
{
    struct handle *memory = NULL;
    size_t bytes = count * j->width * j->number_bytes;
    struct leat_error err;
    enum leat_status s;
    PyObject *all;

    if (count < SIZE_MAX / 64 / (j->width + 1))
        memory = memory_make(NULL, 4 * bytes + count * j->width * (sizeof(float) + 1));
    if (!memory)
        return PyErr_NoMemory();
    j->inputs = handle_object(memory);
    j->labels = j->inputs + bytes;
    j->positions = j->labels + bytes;
    j->numbers = j->positions + bytes;
    j->weights = (float *)(void *)(j->numbers + bytes);
    j->attention = (uint8_t *)(j->weights + count * j->width);
    ARGS_UNLOCKED(s = make_rows(j, samples, count, &err));
    all = s == LEAT_OK ? make_arrays(memory, j, count) : errors_raise(&err);
    handle_drop(memory);
    return all;
}

/* rows_apart(positions, number_bytes, documents, mask_first): Returns Arrays of inputs, labels and weights; if
 * `documents`, also of positions, documents and the attention mask. If `mask_first`, a label that begins another
 * document has no loss. */
PyObject *plan_rows_apart(PyObject *self, PyObject *args)
{
    struct job j = { .plan = plan_of(self), .info = LEAT_PLAN_INFO_INIT };
    struct leat_sample *samples;
    PyObject *positions, *all;
    size_t count;

    if (!PyArg_ParseTuple(args, "O!Ipp:rows_apart", &PyList_Type, &positions, &j.number_bytes, &j.documents,
                          &j.mask_first))
        return NULL;
    samples = take_samples(j.plan, positions, j.number_bytes, &count);
    if (!samples)
        return NULL;
    leat_plan_info(j.plan, &j.info);
    j.documents |= j.mask_first;
    if (j.info.order == LEAT_ORDER_FIT)
        j.mask_first = 0; /* No label of a piece belongs to another document. */
    j.width = j.info.order == LEAT_ORDER_FIT ? (size_t)j.info.max_seq_len : samples[0].length;
    all = make_outputs(&j, samples, count);
    free(samples);
    return all;
}
