/*
 * text_run.h: runs of the library that take long: their progress, and how they end.
 *
 * The GIL is released for the whole run. The library's callbacks take it (pause_tell()), let signal handlers run and
 * call Python's functions. If one raises an exception, that stays set, and the answer to the progress callback stops
 * the library. The caller then gets that exception; its cause is leat.Error, whose `resumable` says whether the run can
 * go on. An exception that comes too late to stop the run is raised all the same.
 */
#ifndef LEAT_PYTHON_TEXT_RUN_H
#define LEAT_PYTHON_TEXT_RUN_H

#include "core/pause.h"
#include "text_options.h"

struct text_watch {
    struct pause pause;
    PyObject *function; /* None: nothing but signals */
    bool raised;        /* an exception is set; it ends the run */
};

/* A progress callback of the library, whose context is a struct text_watch: gives `function` both numbers. */
uint32_t text_on_bytes(void *context, uint64_t done, uint64_t total);

/* Whether a run has ended without anything to raise; else that is raised. */
bool text_run_ended(bool raised, enum leat_status s, struct leat_error *err, const char *output, bool resumable);

#endif
