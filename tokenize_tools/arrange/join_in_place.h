/*
 * join_in_place.h: joins the parts of a run without a second copy of their tokens: the token file of the first part
 * becomes that of OUTPUT, and those of the others are appended to it and freed.
 *
 * What is under way is in the plan OUTPUT.joining, which says what is to be done and how far that has come: the token
 * files in order, the folders of their runs, and how many bytes are in their new place. From when that file is there,
 * the parts are no datasets any more, and only going on leads to one. The folder of a run whose parts these are has
 * leat-run.joining until then, with the name of OUTPUT; in the end it is no run's any more, so that nobody packs the
 * parts again.
 */
#ifndef LEAT_ARRANGE_JOIN_IN_PLACE_H
#define LEAT_ARRANGE_JOIN_IN_PLACE_H

#include <stdbool.h>

#include "merge_parts.h"

/* The name of the plan, and of the dataset whose index is written first, OUTPUT.joining; the caller frees it. NULL: no
 * memory. */
char *join_plan_name(const char *output);

/* LEAT_E_UNSUPPORTED, with the reason, if the parts cannot be joined in place. */
enum leat_status join_plan_check(const char *output, const struct merge_parts *parts, struct leat_error *err);

/* When OUTPUT.joining.leat is there: writes down what is to be done. Nothing has been changed before. */
enum leat_status join_plan_write(const char *output, const struct merge_parts *parts, struct leat_error *err);

/* Keeps other processes from writing `output`: LEAT_E_BUSY if one does. *began: joining is under way. On failure
 * too join_in_place_unlock() must follow. */
struct join_lock {
    char *path;
    int fd;
};
enum leat_status join_in_place_lock(struct join_lock *lock, const char *output, bool *began, struct leat_error *err);
void join_in_place_unlock(struct join_lock *lock);

/* Does what the plan says, or what is left of it: the parts are closed. `pace` counts the bytes of tokens. *parts: how
 * many the plan has. */
enum leat_status join_in_place_go_on(const char *output, struct pace *pace, struct leat_info *info, uint64_t *parts,
                                     struct leat_error *err);

#endif
