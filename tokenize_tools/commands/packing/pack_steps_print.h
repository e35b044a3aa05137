/* pack_steps_print.h: what `leat pack` says of a step of a part, for people or as JSON. */
#ifndef LEAT_TOKENIZE_TOOLS_PACK_STEPS_PRINT_H
#define LEAT_TOKENIZE_TOOLS_PACK_STEPS_PRINT_H

#include "pack_steps.h"

/* The datasets that were written: those of splits, then the rest's. */
void pack_steps_print(const struct pack_steps *s, char *const *names, const struct leat_merge_report *report);

/* A part that was finished before. */
void pack_steps_print_finished(const struct pack_steps *s, const char *name, const struct leat_info *info);

/* A part that has nothing more to do before all parts have done `step`. */
void pack_steps_print_waiting(const struct pack_steps *s, enum beat_step step);

#endif
