/*
 * text_options.h: the options and reports of packing. The room: making datasets, by pack(), merge() and
 * leat._leat.Packer; it takes documents as texts, ids or Arrow rows, and a tokenizer of the room tokenizer.
 */
#ifndef LEAT_PYTHON_TEXT_OPTIONS_H
#define LEAT_PYTHON_TEXT_OPTIONS_H

#include <stdbool.h>

#include "core/module.h"
#include "tokenizer/text_tokenizer.h"

#define TEXT_SPLITS 64
struct text_pack_options {
    struct leat_pack_options options;
    struct leat_split splits[TEXT_SPLITS];
};
/* From the tuple that python/leat/packing.py makes, and which must outlive it. -1 with an exception. */
int text_options_take(struct text_pack_options *o, const struct text_tokenizer *t, PyObject *tuple);
/* The same of a list of pairs of str; the number of them, or -1. */
Py_ssize_t text_splits_take(struct leat_split splits[TEXT_SPLITS], PyObject *list);

/* What a run did, as a dict; `infos` has an entry for each split. */
PyObject *text_report(const struct leat_pack_report *report);
PyObject *text_infos(const struct leat_info *infos, size_t count);

int text_packer_register(PyObject *module);
int text_pack_register(PyObject *module);

#endif
