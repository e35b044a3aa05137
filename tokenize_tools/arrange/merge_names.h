/*
 * merge_names.h: the names that leat_merge() is given, which may be what a shell makes of a pattern, c.*: both files of
 * each part, and whatever lies beside them.
 */
#ifndef LEAT_ARRANGE_MERGE_NAMES_H
#define LEAT_ARRANGE_MERGE_NAMES_H

#include "leat_pack.h"

struct merge_names {
    const char **items; /* of those given: a part each */
    size_t count;
    struct merge_name *sorted; /* all that were given, by the part that they are of */
    size_t given;
};

/* What is left of the names: a part once, in the order given. LEAT_E_EXISTS: the output is among them.
 * merge_names_free() also after a failure. */
enum leat_status merge_names_take(struct merge_names *n, const char *output, const char *const *given, size_t count,
                                  const struct leat_merge_options *options, struct leat_error *err);
void merge_names_free(struct merge_names *n);

#endif
