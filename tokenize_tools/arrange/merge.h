/* merge.h: leat_merge() for the other rooms of the library. */
#ifndef LEAT_ARRANGE_MERGE_H
#define LEAT_ARRANGE_MERGE_H

#include <stdbool.h>

#include "leat_pack.h"

/* Does what leat_merge() does. With `folders`, the dataset of a split of OUTPUT FOLDER/FILE is FOLDER/NAME/FILE; else
 * it is OUTPUT.NAME. */
enum leat_status merge_into(const char *output, const char *const *parts, uint64_t count, bool folders,
                            const struct leat_merge_options *options, struct leat_merge_report *report,
                            struct leat_error *err);

#endif
