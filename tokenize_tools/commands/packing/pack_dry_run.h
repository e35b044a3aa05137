/* pack_dry_run.h: `leat pack --dry-run`: what a run would do, from a look at its inputs and a sample that is packed for
 * a few seconds into a temporary folder. */
#ifndef LEAT_TOKENIZE_TOOLS_PACK_DRY_RUN_H
#define LEAT_TOKENIZE_TOOLS_PACK_DRY_RUN_H

#include "pack_options.h"

/* Prints it, or one object with --json, and says on stderr what would go wrong; returns the exit code. */
int pack_dry_run(const struct pack_values *v, const char *const *words, size_t count);

/* After the message of a run that failed over an input: which others fail, too, up to ten, and the command that leaves
 * out those of folders; after that of one over files of unknown kinds, these. `from`: of a part, whose inputs are the
 * plan's, the folder from which they count; else NULL. */
void pack_dry_run_say_failing(const struct pack_values *v, const char *const *words, size_t count, const char *from,
                              const struct leat_error *err);

#endif
