/*
 * text_options.h: the options and reports of packing.
 *
 * The room pack/ makes datasets, by pack(), merge() and leat._leat.Packer; documents come as texts, ids or Arrow rows,
 * and tokenizers from the room tokenizer/.
 */
#ifndef LEAT_PYTHON_TEXT_OPTIONS_H
#define LEAT_PYTHON_TEXT_OPTIONS_H

#include <stdbool.h>

#include "core/module.h"
#include "tokenizer/text_tokenizer.h"

#define TEXT_SPLITS     64
#define TEXT_CONDITIONS 64
struct text_pack_options {
    struct leat_pack_options options;
    struct leat_split splits[TEXT_SPLITS];
    const char *keep[TEXT_CONDITIONS];
    struct leat_renderers renderers;
};

/* text_renderers.c: struct leat_renderers, whose context is an object with open() -> descriptor and close(descriptor);
 * they take Python's lock. */
enum leat_status text_renderers_open(void *context, int *fd, struct leat_error *err);
void text_renderers_close(void *context, int fd);

/* Reads the options from the tuple that python/leat/packing.py makes, which must outlive them. -1 with an exception. */
int text_options_take(struct text_pack_options *o, const struct text_tokenizer *t, PyObject *tuple);
/* The same for a list of pairs of str; returns how many, or -1. */
Py_ssize_t text_splits_take(struct leat_split splits[TEXT_SPLITS], PyObject *list);

/* The report of a run as a dict; `infos` has an entry for each split. */
PyObject *text_report(const struct leat_pack_report *report);
PyObject *text_infos(const struct leat_info *infos, size_t count);

int text_packer_register(PyObject *module);
int text_pack_register(PyObject *module);
int text_foreign_register(PyObject *module);
int text_import_register(PyObject *module);
int text_mirror_register(PyObject *module);

#endif
