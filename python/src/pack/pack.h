/* pack.h: options and reports of packing, and long runs that signals and callers can stop. The room pack/ makes
 * datasets by pack(), merge(), leat._leat.Packer and leat._leat.Importer, and copies whole datasets to other tools
 * and servers. Documents come as texts, ids or Arrow rows. Tokenizers come from the room tokenizer/. */
#ifndef LEAT_PYTHON_PACK_H
#define LEAT_PYTHON_PACK_H

#include <pthread.h>

#include "core/pause.h"
#include "tokenizer/tokenizer.h"

/* ---- Options and reports ---- */

#define PACK_SPLITS     64
#define PACK_CONDITIONS 64
#define PACK_LISTS      4 /* number of the options that are lists of texts */
struct pack_options {
    struct leat_pack_options options;
    struct leat_split splits[PACK_SPLITS];
    const char *texts[PACK_LISTS][PACK_CONDITIONS];
    struct leat_renderers renderers;
};

/* Reads the options from the tuple that python/leat/_pack_options.py makes, which must outlive them. The tokenizer
 * may be NULL. Returns -1 with an exception set on failure. */
int pack_options_take(struct pack_options *o, const struct text_tokenizer *t, PyObject *tuple);

/* Reads a list of pairs of str. Returns the number of pairs, or -1 with an exception set. */
Py_ssize_t pack_splits_take(struct leat_split splits[PACK_SPLITS], PyObject *list);

/* Wraps an object with open() -> descriptor and close(descriptor), which threads of the library call. */
struct leat_renderers pack_renderers_of(PyObject *object);

/* Returns the report of a run as a dict, or those of its splits as a list of dicts. */
PyObject *pack_report(const struct leat_pack_report *report);
PyObject *pack_infos(const struct leat_info *infos, size_t count);

/* ---- Runs ---- */

/* Watches a run, which releases the GIL for its whole duration. The library's callbacks take the GIL (pause_tell()),
 * let signal handlers run and call Python's functions. If one of these raises, the exception stays set and the
 * progress callback stops the library. The caller then gets that exception, caused by a leat.Error whose `resumable`
 * says if the run can continue. An exception that comes too late to stop the run is still raised. */
struct run_watch {
    struct pause pause;
    PyObject *function; /* Python's function, or None to check only for signals */
    bool raised;        /* true if an exception is set, which ends the run */
};

/* Passes both numbers to the `function` of a struct run_watch, which is its context. It is a progress callback. */
uint32_t run_on_bytes(void *context, uint64_t done, uint64_t total);

/* Returns true if a run ended without an error or exception; otherwise raises it and returns false. */
bool run_ended(bool raised, enum leat_status s, struct leat_error *err, bool resumable);

/* Makes a leat._leat.Packer for a part of a run. `owner` keeps the run open, and `lock` lets one thread use it.
 * Renderers may be None. */
struct leat_run;
struct leat_run_push_options;
PyObject *packer_push(PyObject *owner, struct leat_run *run, pthread_mutex_t *lock, const char *key,
                      struct leat_run_push_options *options, PyObject *renderers);

/* The context of the callbacks of packing. */
struct pack_watch {
    struct run_watch base;
    PyObject *notice, *output; /* Python's functions, which take a tuple */
    bool started;
    uint64_t text_before; /* bytes of text that the resumed run had packed */
};
uint32_t pack_on_progress(void *context, const struct leat_pack_progress *progress);
void pack_on_notice(void *context, const struct leat_pack_notice *notice);

/* The options and results of a merge. The splits and options that it reads must outlive it. */
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
