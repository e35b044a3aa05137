/*
 * join_runs.h: the folders of runs whose parts are joined in place. Until that has ended leat-run.joining says in them
 * which dataset the parts become; then they are no runs any more, so that nobody packs the parts again.
 */
#ifndef LEAT_ARRANGE_JOIN_RUNS_H
#define LEAT_ARRANGE_JOIN_RUNS_H

#include <stddef.h>

#include "leat.h"

#define JOIN_RUN "/leat-run"

/* The first `length` characters of a name with two suffixes; the caller frees it. NULL: no memory. */
char *join_name(const char *name, size_t length, const char *suffix, const char *more);

/* Before anything in the folders is changed, for the joining with this plan, OUTPUT.joining. LEAT_E_EXISTS if another
 * joining has one of them. */
enum leat_status join_runs_mark(char *const *runs, size_t count, const char *plan, struct leat_error *err);

/* When the parts are gone. */
enum leat_status join_runs_forget(char *const *runs, size_t count, struct leat_error *err);

#endif
