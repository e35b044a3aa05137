/*
 * join_in_place.h: joins the parts of a run without a second copy of their tokens: the token file of the first part
 * becomes that of OUTPUT, and those of the others are appended to it and freed.
 *
 * What is under way is in OUTPUT.joining (join_plan.h). From when that file is there, the parts are no datasets any
 * more, and only going on leads to one. The folder of a run whose parts these are has leat-run.joining until then, with
 * the name of OUTPUT; in the end it is no run's any more.
 */
#ifndef LEAT_ARRANGE_JOIN_IN_PLACE_H
#define LEAT_ARRANGE_JOIN_IN_PLACE_H

#include <stdbool.h>

#include "pace.h"

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
