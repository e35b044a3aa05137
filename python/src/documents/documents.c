/* documents.c: makes the schema, the batches and the stream, and has the functions for Python. */
#include "documents.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dataset/dataset.h"

/* A batch ends at one of these limits, or where a dataset of a list ends, so that its tokens lie in one piece. */
#define BATCH_DOCUMENTS ((uint64_t)16384)
#define BATCH_TOKENS    ((uint64_t)1 << 22)

/* ---- Schema ----------------------------------------------------------------------------------------------------- */

#define NULLABLE                                                                                                       \
    2 /* all columns have this flag, as Arrow's writers set it, so that tables of several sources can be
                      joined */

/* The columns. `items` is the format of a list's items. */
static const struct {
    const char *name, *format, *items; /* `items` is NULL if the column has no lists */
} kinds[DOCUMENTS_COLUMNS] = {
    [NUMBER] = { "number", "l", NULL }, [ID] = { "id", "U", NULL },        [SOURCE] = { "source", "U", NULL },
    [TEXT] = { "text", "U", NULL },     [TOKENS] = { "tokens", "+l", "" }, [MASK] = { "mask", "+l", "C" },
};

/* Memory of a schema. Each field has its own, because a consumer may move it out of its schema. */
struct schema_memory {
    struct ArrowSchema fields[DOCUMENTS_COLUMNS];
    struct ArrowSchema *list[DOCUMENTS_COLUMNS];
};

struct field_memory {
    struct ArrowSchema item;
    struct ArrowSchema *list[1];
};

static void release_item(struct ArrowSchema *item)
{
    item->release = NULL;
}

static void release_field(struct ArrowSchema *field)
{
    free(field->private_data);
    field->release = NULL;
}

static void release_schema(struct ArrowSchema *schema)
{
    struct schema_memory *m = schema->private_data;

    for (int64_t i = 0; i < schema->n_children; i++)
        if (m->fields[i].release)
            m->fields[i].release(&m->fields[i]);
    free(m);
    schema->release = NULL;
}

static bool make_field(struct ArrowSchema *field, const struct documents *s, enum documents_column c)
{
    struct field_memory *m = kinds[c].items ? calloc(1, sizeof *m) : NULL;

    if (kinds[c].items && !m)
        return false;
    *field = (struct ArrowSchema) {
        .format = kinds[c].format, .name = kinds[c].name, .flags = NULLABLE, .release = release_field, .private_data = m
    };
    if (!m)
        return true;
    m->item = (struct ArrowSchema) {
        .format = c == MASK                  ? kinds[c].items
                  : s->info.token_width == 2 ? "S"
                                             : "I",
        .name = "item",
        .flags = NULLABLE,
        .release = release_item,
    };
    m->list[0] = &m->item;
    field->n_children = 1;
    field->children = m->list;
    return true;
}

static enum leat_status make_schema(struct ArrowSchema *out, const struct documents *s, struct leat_error *err)
{
    struct schema_memory *m = calloc(1, sizeof *m);
    bool made = m != NULL;

    if (m)
        *out = (struct ArrowSchema) { .format = "+s",
                                      .name = "",
                                      .n_children = (int64_t)s->column_count,
                                      .children = m->list,
                                      .release = release_schema,
                                      .private_data = m };
    for (size_t i = 0; made && i < s->column_count; i++) {
        m->list[i] = &m->fields[i];
        made = make_field(&m->fields[i], s, s->columns[i]);
    }
    if (!made && m)
        release_schema(out);
    return made ? LEAT_OK : errors_set(err, LEAT_E_NO_MEMORY, "no memory for a schema");
}

/* ---- Batches ---------------------------------------------------------------------------------------------------- */

/* Counts the documents from `first` on that are in the same dataset of a list. */
static enum leat_status left_in_part(const struct documents *s, uint64_t first, uint64_t *left, struct leat_error *err)
{
    uint64_t low = 0, high = s->info.parts;

    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        struct leat_part part = LEAT_PART_INIT;
        enum leat_status status = leat_dataset_part(s->d, middle, &part, err);

        if (status != LEAT_OK)
            return status;
        *(part.first_document <= first ? &low : &high) = middle;
    }
    *left = s->info.documents - first;
    if (low + 1 < s->info.parts) {
        struct leat_part next = LEAT_PART_INIT;
        enum leat_status status = leat_dataset_part(s->d, low + 1, &next, err);

        *left = status == LEAT_OK ? next.first_document - first : 0;
        return status;
    }
    return LEAT_OK;
}

static void end_batch(struct documents_batch *b)
{
    free(b->starts);
    free(b->origins);
}

static bool wants(const struct documents *s, enum documents_column column)
{
    for (size_t i = 0; i < s->column_count; i++)
        if (s->columns[i] == column)
            return true;
    return false;
}

/* Begins a batch of the next documents, and reads their starts and origins at once. Call end_batch() afterwards,
 * also if this fails. */
static enum leat_status begin_batch(struct documents *s, struct documents_batch *b, struct leat_error *err)
{
    uint64_t left = 0;
    enum leat_status status = left_in_part(s, s->next, &left, err);

    *b = (struct documents_batch) { .first = s->next, .count = s->end - s->next };
    if (status != LEAT_OK)
        return status;
    b->count = b->count > left ? left : b->count;
    b->count = b->count > BATCH_DOCUMENTS ? BATCH_DOCUMENTS : b->count;
    b->starts = malloc((size_t)(b->count + 1) * sizeof *b->starts);
    if (!b->starts)
        return errors_set(err, LEAT_E_NO_MEMORY, "no memory for %llu documents", (unsigned long long)b->count);
    status = leat_dataset_starts(s->d, b->first, b->count + 1, b->starts, err);
    while (status == LEAT_OK && b->count > 1 && b->starts[b->count] - b->starts[0] > BATCH_TOKENS)
        b->count = b->count / 2;
    if (status != LEAT_OK || (!wants(s, ID) && !wants(s, SOURCE)))
        return status;
    b->origins = malloc((size_t)b->count * sizeof *b->origins);
    if (!b->origins)
        return errors_set(err, LEAT_E_NO_MEMORY, "no memory for %llu documents", (unsigned long long)b->count);
    status = leat_dataset_origins(s->d, b->first, b->count, b->origins, err);
    for (uint64_t i = 0; status == LEAT_E_NOT_FOUND && i < b->count; i++) /* Files of other tools store no origins. */
        b->origins[i] = (struct leat_origin) { .input = LEAT_NONE, .line = LEAT_NONE };
    return status == LEAT_E_NOT_FOUND ? LEAT_OK : status;
}

struct table_memory {
    const void *buffers[1];
    struct ArrowArray columns[DOCUMENTS_COLUMNS];
    struct ArrowArray *list[DOCUMENTS_COLUMNS];
};

static void release_table(struct ArrowArray *table)
{
    struct table_memory *m = table->private_data;

    for (int64_t i = 0; i < table->n_children; i++)
        if (m->columns[i].release) /* A consumer may have moved the column out. */
            m->columns[i].release(&m->columns[i]);
    free(m);
    table->release = NULL;
}

static enum leat_status make_table(struct ArrowArray *out, struct documents *s, const struct documents_batch *b,
                                   struct leat_error *err)
{
    struct table_memory *m = calloc(1, sizeof *m);
    enum leat_status status = LEAT_OK;

    if (!m)
        return errors_set(err, LEAT_E_NO_MEMORY, "no memory for a batch");
    *out = (struct ArrowArray) { .length = (int64_t)b->count,
                                 .n_buffers = 1,
                                 .n_children = (int64_t)s->column_count,
                                 .buffers = m->buffers,
                                 .children = m->list,
                                 .release = release_table,
                                 .private_data = m };
    for (size_t i = 0; i < s->column_count; i++)
        m->list[i] = &m->columns[i];
    for (size_t i = 0; i < s->column_count && status == LEAT_OK; i++)
        status = documents_make_column(&m->columns[i], s, b, s->columns[i], err);
    if (status != LEAT_OK)
        release_table(out);
    return status;
}

/* ---- The stream ------------------------------------------------------------------------------------------------- */

static int code_of(enum leat_status s)
{
    return s == LEAT_OK ? 0 : s == LEAT_E_NO_MEMORY ? ENOMEM : s == LEAT_E_UNSUPPORTED ? EINVAL : EIO;
}

static int get_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    struct documents *s = stream->private_data;

    return code_of(make_schema(out, s, &s->err));
}

static int get_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    struct documents *s = stream->private_data;
    struct documents_batch b;
    enum leat_status status;

    memset(out, 0, sizeof *out);
    if (s->next >= s->end)
        return 0;
    status = begin_batch(s, &b, &s->err);
    if (status == LEAT_OK)
        status = make_table(out, s, &b, &s->err);
    if (status == LEAT_OK)
        s->next += b.count;
    end_batch(&b);
    return code_of(status);
}

static const char *get_last_error(struct ArrowArrayStream *stream)
{
    return ((struct documents *)stream->private_data)->err.message;
}

static void free_documents(struct documents *s)
{
    stored_decoder_free(s->decoder);
    handle_drop(s->handle);
    free(s);
}

static void release_stream(struct ArrowArrayStream *stream)
{
    free_documents(stream->private_data);
    stream->release = NULL;
}

/* ---- For Python ------------------------------------------------------------------------------------------------- */

#define STREAM "arrow_array_stream"
#define SCHEMA "arrow_schema"

/* Reads the numbers of columns from a tuple. */
static int take_columns(struct documents *s, PyObject *columns)
{
    Py_ssize_t count = PyTuple_Size(columns);

    if (count < 0 || count > DOCUMENTS_COLUMNS)
        return count < 0 ? -1 : (PyErr_SetString(PyExc_ValueError, "a column comes twice"), -1);
    for (Py_ssize_t i = 0; i < count; i++) {
        long column = PyLong_AsLong(PyTuple_GetItem(columns, i));

        if (column < 0 || column >= DOCUMENTS_COLUMNS)
            return PyErr_Occurred() ? -1 : (PyErr_SetString(PyExc_ValueError, "unknown column"), -1);
        s->columns[s->column_count++] = (enum documents_column)column;
    }
    return 0;
}

/* Makes what a stream reads, except its range. Returns NULL with an exception set on failure. */
static struct documents *make_documents(PyObject *dataset, PyObject *columns)
{
    struct handle *handle = dataset_handle(dataset);
    struct documents *s = handle ? calloc(1, sizeof *s) : NULL;

    if (!s)
        return handle ? (struct documents *)PyErr_NoMemory() : NULL;
    s->handle = handle_hold(handle);
    s->d = handle_object(handle);
    s->info = (struct leat_info)LEAT_INFO_INIT;
    leat_dataset_info(s->d, &s->info);
    if (take_columns(s, columns) == 0)
        return s;
    free_documents(s);
    return NULL;
}

static void free_stream(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, STREAM);

    if (stream->release)
        stream->release(stream);
    free(stream);
}

static void free_schema(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, SCHEMA);

    if (schema->release)
        schema->release(schema);
    free(schema);
}

/* documents_stream(dataset, columns, first, count): Returns a capsule. */
static PyObject *documents_stream(PyObject *module, PyObject *args)
{
    PyObject *dataset, *columns, *capsule;
    struct ArrowArrayStream *stream;
    struct documents *s;
    struct leat_error err;
    enum leat_status status = LEAT_OK;
    uint64_t first, count;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO!O&O&", &dataset, &PyTuple_Type, &columns, args_u64, &first, args_u64, &count) ||
        !(s = make_documents(dataset, columns)))
        return NULL;
    if (wants(s, TEXT))
        ARGS_UNLOCKED(status = stored_decoder_open(&s->decoder, s->d, &err));
    stream = status == LEAT_OK ? calloc(1, sizeof *stream) : NULL;
    if (!stream) {
        free_documents(s);
        return status == LEAT_OK ? PyErr_NoMemory() : errors_raise(&err);
    }
    s->next = first < s->info.documents ? first : s->info.documents;
    s->end = count < s->info.documents - s->next ? s->next + count : s->info.documents;
    *stream = (struct ArrowArrayStream) { get_schema, get_next, get_last_error, release_stream, s };
    capsule = PyCapsule_New(stream, STREAM, free_stream);
    if (!capsule) {
        release_stream(stream);
        free(stream);
    }
    return capsule;
}

/* documents_schema(dataset, columns): Returns a capsule. */
static PyObject *documents_schema(PyObject *module, PyObject *args)
{
    PyObject *dataset, *columns, *capsule = NULL;
    struct ArrowSchema *schema;
    struct documents *s;
    struct leat_error err;

    (void)module;
    if (!PyArg_ParseTuple(args, "OO!", &dataset, &PyTuple_Type, &columns) || !(s = make_documents(dataset, columns)))
        return NULL;
    schema = calloc(1, sizeof *schema);
    if (schema && make_schema(schema, s, &err) == LEAT_OK)
        capsule = PyCapsule_New(schema, SCHEMA, free_schema);
    else
        PyErr_NoMemory();
    if (!capsule && schema && schema->release)
        release_schema(schema);
    if (!capsule)
        free(schema);
    free_documents(s);
    return capsule;
}

static PyMethodDef functions[] = {
    { "documents_stream", documents_stream, METH_VARARGS, NULL },
    { "documents_schema", documents_schema, METH_VARARGS, NULL },
    { NULL, NULL, 0, NULL },
};

int documents_register(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
