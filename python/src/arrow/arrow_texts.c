/* arrow_texts.c: see arrow_texts.h. */
#include "arrow_texts.h"

#include <stdlib.h>

#include "arrow_column.h"
#include "arrow_stream.h"
#include "core/pause.h"

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

static void *grown(void *old, size_t *room, size_t wanted, size_t size)
{
    size_t more = wanted + *room / 2 + 16;
    void *at = wanted < SIZE_MAX / 4 / size ? realloc(old, more * size) : NULL;

    if (at)
        *room = more;
    return at;
}

/* Moves the stream's array to those that are kept. */
static enum leat_status keep(struct arrow_texts *t, struct leat_error *err)
{
    if (t->array_count == t->array_room) {
        struct ArrowArray *at = grown(t->arrays, &t->array_room, t->array_count + 1, sizeof *at);

        if (!at)
            return no_memory(err, t->count);
        t->arrays = at;
    }
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
    if (t->count + (size_t)column.rows > t->room) {
        struct text_view *at = grown(t->views, &t->room, t->count + (size_t)column.rows, sizeof *at);

        if (!at)
            return no_memory(err, t->count + (size_t)column.rows);
        t->views = at;
    }
    for (int64_t row = 0; row < column.rows; row++) {
        s = arrow_get(&column, row, &value, err);
        if (s != LEAT_OK)
            return s;
        if (value.missing) {
            return errors_set(err, LEAT_E_ARGUMENT, "column %s: the text of row %zu is missing (null)", t->place.name,
                              t->count);
        }
        t->views[t->count++] = (struct text_view) { value.text, value.bytes };
    }
    return keep(t, err);
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
        errors_raise(&err, NULL);
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
