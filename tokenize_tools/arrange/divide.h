/*
 * divide.h: divides the documents of a run by the values that they carry (by_values.h): one dataset, or one and its
 * splits, for each value.
 */
#ifndef LEAT_ARRANGE_DIVIDE_H
#define LEAT_ARRANGE_DIVIDE_H

#include "merge_parts.h"

/* Sets *field to the field that the parts are to be divided by, or NULL. Returns LEAT_E_INCOMPATIBLE if they differ. */
enum leat_status divide_field(const struct merge_parts *parts, const char **field, struct leat_error *err);

/* Writes OUTPUT.VALUE for each value, arranged as the options ask. Makes all of these datasets, or none. */
enum leat_status divide(const char *output, struct merge_parts *parts, const char *field,
                        const struct leat_merge_options *options, struct leat_merge_report *report,
                        struct leat_error *err);

#endif
