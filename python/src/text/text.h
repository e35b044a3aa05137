/* text.h: conversion of texts and ids between Python and C. This room knows the forms in which Python gives them
 * (str, bytes, lists of ints, buffers), and neither tokenizers nor files. */
#ifndef LEAT_PYTHON_TEXT_H
#define LEAT_PYTHON_TEXT_H

#include "core/module.h"

/* ---- Texts ---- */

/* A text whose bytes belong to another object. */
struct text_view {
    const char *at;
    uint64_t bytes;
};

/* Points the view at the UTF-8 of a str or at the bytes of a bytes object. It lasts as long as the object and *kept,
 * which is NULL or a reference for the caller. A str with lone surrogates is read as UTF-16 would read it, with
 * U+FFFD in their place, as in tiktoken. Returns -1 with an exception on failure: TypeError for any other type. */
int text_view_of(PyObject *object, struct text_view *view, PyObject **kept);

/* The texts of a sequence's items, with the references that keep them alive. */
struct text_views {
    struct text_view *items;
    size_t count;
    uint64_t bytes;   /* bytes of all texts */
    PyObject *tuple;  /* the items, which stay alive when the list is changed */
    PyObject *others; /* a list of the references that text_view_of() kept, or NULL */
};
int text_views_take(struct text_views *views, PyObject *sequence);
void text_views_free(struct text_views *views);

/* ---- Ids ---- */

/* Ids in one allocation; {0} is empty. */
struct text_ids {
    uint32_t *at;
    size_t count, room;
};
/* Appends ids. Fails with LEAT_E_NO_MEMORY only. The GIL is not needed. */
enum leat_status text_ids_append(struct text_ids *ids, const uint32_t *more, uint64_t count, struct leat_error *err);
void text_ids_free(struct text_ids *ids);

/* Takes ids as Python gives them: a list or tuple of ints, or a pair of bytes and their type code (core/integers.h).
 * Returns -1 with OverflowError or TypeError on failure. */
int text_ids_take(struct text_ids *ids, PyObject *object);

/* The form of returned ids: a list of ints, or a bytearray of uint32, which numpy views without a copy. */
enum text_form { TEXT_LIST = 0, TEXT_BYTES = 1 };
PyObject *text_ids_give(const uint32_t *ids, size_t count, enum text_form form);

#endif
