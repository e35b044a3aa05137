/* loader_stats.h: a loader's statistics as a dict. */
#ifndef LEAT_PYTHON_LOADER_STATS_H
#define LEAT_PYTHON_LOADER_STATS_H

#include "core/module.h"

/* The fields of struct leat_loader_stats by their names, times in seconds (names without _ns). */
PyObject *loader_stats_dict(const struct leat_loader *loader);

#endif
