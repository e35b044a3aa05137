/* repeated_inputs.h: inputs that are named more than once, whose documents are packed as often. */
#ifndef LEAT_TOKENIZE_TOOLS_REPEATED_INPUTS_H
#define LEAT_TOKENIZE_TOOLS_REPEATED_INPUTS_H

#include "inputs.h"

/* Counts the inputs that are an earlier one again: the same file, by device and inode, or the same URL. *first is the
 * first of them, in the list; NULL if there is none. */
enum leat_status inputs_count_repeated(const struct input_list *list, size_t *count, const struct input **first,
                                       struct leat_error *err);

#endif
