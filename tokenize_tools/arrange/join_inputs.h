/*
 * join_inputs.h: the inputs of all sources become those of the output, one after another. Where two shares of a run
 * meet inside an input, both list it; here it becomes one again.
 */
#ifndef LEAT_ARRANGE_JOIN_INPUTS_H
#define LEAT_ARRANGE_JOIN_INPUTS_H

#include "outputs.h"

/* Declares the inputs in all outputs, and sets in each source the numbers that its inputs get. */
enum leat_status join_inputs(struct sources *sources, struct outputs *outputs, struct leat_error *err);

#endif
