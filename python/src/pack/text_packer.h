/*
 * text_packer.h: leat._leat.Packer, for its own files.
 */
#ifndef LEAT_PYTHON_TEXT_PACKER_H
#define LEAT_PYTHON_TEXT_PACKER_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/types.h>

#include "core/module.h"
#include "core/pause.h"

struct packer {
    PyObject_HEAD struct leat_packer *packer; /* NULL: ended */
    PyObject *tokenizer;
    pthread_mutex_t lock;
    bool has_lock;
    pid_t owner;
    /* what was given, changed and read with the GIL held only, in the call that adds: an interrupt finds all or nothing
     * of it */
    uint64_t given, skipped; /* documents; rows without a text that were left out */
    PyObject *numbers;       /* of the sources, by their names: a dict */
    uint64_t *rows;          /* that each source has given, by its number */
    uint64_t source_count;
};

/* Raises leat.StateError. */
PyObject *packer_raise_state(const char *sentence);

/* Releases the GIL and locks; -1 with an exception, and the GIL held, if the packer cannot be used. */
int packer_enter(struct packer *p, struct pause *pause);
void packer_leave(struct packer *p, struct pause *pause);

/* None, or raises the error. */
PyObject *packer_done(enum leat_status s, const struct leat_error *err);

/* Where the next row of a source comes from; it becomes an input with its first row. None: no source. */
int packer_find_source(struct packer *p, PyObject *name, uint64_t *input, uint64_t *row);

/* Notes what a call has added: documents of this input (LEAT_NONE: of none), and rows without a text. */
void packer_count(struct packer *p, uint64_t input, uint64_t documents, uint64_t skipped);

/* Methods; their arguments stand at their definitions. */
PyObject *packer_add_text(PyObject *self, PyObject *args);
PyObject *packer_add_ids(PyObject *self, PyObject *args);
PyObject *packer_add_some(PyObject *self, PyObject *args);
PyObject *packer_add_arrow(PyObject *self, PyObject *args);

#endif
