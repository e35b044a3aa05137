/* pack_dry_run.h: `leat pack --dry-run`: says what a run would do, from a look at its inputs and a sample that is
 * packed for a few seconds into a temporary folder. */
#ifndef LEAT_TOKENIZE_TOOLS_PACK_DRY_RUN_H
#define LEAT_TOKENIZE_TOOLS_PACK_DRY_RUN_H

#include "pack_options.h"

/* Prints the report, or one object with --json, and warns on stderr of what would go wrong; returns the exit code. */
int pack_dry_run(const struct pack_values *v, const char *const *words, size_t count);

#endif
