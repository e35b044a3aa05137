/*
 * plan_steps.h: which positions of a plan a step shows, by the schedule that --batch takes: B, or B,B@STEP,... for a
 * global batch that changed its size.
 */
#ifndef LEAT_CLI_PLAN_STEPS_H
#define LEAT_CLI_PLAN_STEPS_H

#include <stdint.h>

#include "command.h"

/* Sets the positions [*first, *end) of step `number`: after the rows of all steps before it. False, after a message:
 * the schedule is none, or the step lies too far. */
bool plan_steps_find(const struct command *self, const char *schedule, uint64_t number, uint64_t *first, uint64_t *end);

#endif
