/*
 * join_inputs.h: joins the inputs of all parts, one after another, to those of the output. If two shares of a run meet
 * inside an input, both list it; here it becomes one again.
 */
#ifndef LEAT_ARRANGE_JOIN_INPUTS_H
#define LEAT_ARRANGE_JOIN_INPUTS_H

#include "outputs.h"

/* Declares the inputs in all outputs, and sets in each part the numbers that its inputs get. */
enum leat_status join_inputs(struct merge_parts *parts, struct outputs *outputs, struct leat_error *err);

#endif
