/*
 * leftovers.h: datasets of splits and values that an earlier run of the same name made, and one with --force has not
 * replaced. They are not removed, since nothing says that they are needed no more; but what was the validation data of
 * the old dataset may be among the training data of the new one.
 */
#ifndef LEAT_COMMANDS_LEFTOVERS_H
#define LEAT_COMMANDS_LEFTOVERS_H

#include "arrange_values.h"
#include "by_outputs.h"

/* Warns of datasets OUT.NAME whose metadata say that they are, or were made of, the split NAME or documents of a value,
 * but for those that the run has written: its splits, or with `by` its outputs. */
void leftovers_warn(const char *output, const struct arrange_splits *splits, const struct by_outputs *outputs, bool by);

#endif
