/* merge_options.h: the options of leat_merge() and of the steps of a part, which share them. */
#ifndef LEAT_ARRANGE_MERGE_OPTIONS_H
#define LEAT_ARRANGE_MERGE_OPTIONS_H

#include "leat_pack.h"

/* Reads the caller's, and sets how much memory sorting takes. */
enum leat_status merge_options_take(struct leat_merge_options *o, const struct leat_merge_options *given,
                                    struct leat_error *err);

/* A path in the output's folder, for files that are not part of the output; the caller frees it. */
char *merge_temporary_name(const char *output, struct leat_error *err);

#endif
