/*
 * pack.h: options and reports of packing, and runs that take long.
 *
 * The room pack/ makes datasets, by pack(), merge(), leat._leat.Packer and leat._leat.Importer, and takes whole ones to
 * other tools and servers. Documents come as texts, ids or Arrow rows, and tokenizers from the room tokenizer/.
 */
#ifndef LEAT_PYTHON_PACK_H
#define LEAT_PYTHON_PACK_H

#include <pthread.h>

#include "core/pause.h"
#include "tokenizer/tokenizer.h"

/* ---- Options and reports ---- */

#define PACK_SPLITS     64
#define PACK_CONDITIONS 64
#define PACK_LISTS      3 /* of texts */
struct pack_options {
    struct leat_pack_options options;
    struct leat_split splits[PACK_SPLITS];
    const char *texts[PACK_LISTS][PACK_CONDITIONS];
    struct leat_renderers renderers;
};

/* Reads the options from the tuple that python/leat/_pack_options.py makes, which must outlive them. The tokenizer may
 * be NULL. -1 with an exception. */
int pack_options_take(struct pack_options *o, const struct text_tokenizer *t, PyObject *tuple);

/* Reads a list of pairs of str; returns how many, or -1. */
Py_ssize_t pack_splits_take(struct leat_split splits[PACK_SPLITS], PyObject *list);

/* An object with open() -> descriptor and close(descriptor), which threads of the library call. */
struct leat_renderers pack_renderers_of(PyObject *object);

/* The report of a run, as a dict; a list of dicts, one for each split. */
PyObject *pack_report(const struct leat_pack_report *report);
PyObject *pack_infos(const struct leat_info *infos, size_t count);

/* ---- Runs ---- */

/*
 * The GIL is released for the whole run. The library's callbacks take it (pause_tell()), let signal handlers run and
 * call Python's functions. If one raises an exception, that stays set, and the answer to the progress callback stops
 * the library. The caller then gets that exception; its cause is leat.Error, whose `resumable` says whether the run can
 * go on. An exception that comes too late to stop the run is still raised.
 */
struct run_watch {
    struct pause pause;
    PyObject *function; /* None: only signals */
    bool raised;        /* an exception is set; it ends the run */
};

/* A progress callback of the library, whose context is a struct run_watch: gives `function` both numbers. */
uint32_t run_on_bytes(void *context, uint64_t done, uint64_t total);

/* Whether a run has ended without anything to raise; else that is raised. */
bool run_ended(bool raised, enum leat_status s, struct leat_error *err, bool resumable);

/* A leat._leat.Packer of a part of a run, which `owner` keeps open, and `lock` to one thread; renderers may be None. */
struct leat_run;
struct leat_run_push_options;
PyObject *packer_push(PyObject *owner, struct leat_run *run, pthread_mutex_t *lock, const char *key,
                      struct leat_run_push_options *options, PyObject *renderers);

/* Callbacks of packing, whose context is a struct pack_watch. */
struct pack_watch {
    struct run_watch base;
    PyObject *notice, *output; /* functions that take a tuple */
    bool started;
    uint64_t text_before; /* of a run that is resumed */
};
uint32_t pack_on_progress(void *context, const struct leat_pack_progress *progress);
void pack_on_notice(void *context, const struct leat_pack_notice *notice);

/* Joining, with its options and results; the splits and options that are read must outlive it. */
struct pack_joining {
    struct leat_merge_options options;
    struct leat_merge_report report;
    struct leat_info info, infos[PACK_SPLITS];
    struct leat_split split[PACK_SPLITS];
    struct pack_watch watch;
};
bool pack_joining_begin(struct pack_joining *j, PyObject *splits, PyObject *options);
PyObject *pack_joining_result(const struct pack_joining *j);

int options_register(PyObject *module);
int pack_register(PyObject *module);
int runs_register(PyObject *module);
int pushed_register(PyObject *module);
int packer_register(PyObject *module);
int importer_register(PyObject *module);
int foreign_register(PyObject *module);

#endif
