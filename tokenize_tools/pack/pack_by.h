/* pack_by.h: runs that make a dataset for each value of a field (`by`): the values that occur while documents are
 * packed; and the datasets of a run that has ended. */
#ifndef LEAT_PACK_BY_H
#define LEAT_PACK_BY_H

#include "pack_run.h"

/* Notes the values of the unit's documents. Returns LEAT_E_UNSUPPORTED if there are too many, and LEAT_E_EXISTS if a
 * dataset has the name of one. */
enum leat_status pack_by_count(struct pack_output *o, const struct unit *u, struct leat_error *err);

/* Loads the values from a checkpoint's note. Returns false if it is damaged, or there is no memory. */
bool pack_by_load(struct pack_output *o, const uint8_t *at, const uint8_t *end);

/* ---- Values that are found ---- */

/* Sets *ended if all datasets of a run with these options and inputs are there; then they are reported. */
enum leat_status pack_by_look(const char *output, const struct leat_pack_options *options,
                              const struct input_list *inputs, struct leat_pack_report *report, bool *ended,
                              struct leat_error *err);

/* Adds the pins (pack_facts.h) that the first of such datasets has. */
enum leat_status pack_by_pins(struct hub_pins *pins, const char *output, const struct leat_pack_options *options,
                              struct leat_error *err);

/* Removes the datasets of such a run, if the dataset `packed` is what it had packed and was dividing. */
enum leat_status pack_by_remove(const char *output, const char *packed, const struct leat_pack_options *options,
                                const struct input_list *inputs, struct leat_error *err);

#endif
