/* pack_again.h: the command that goes on after a run of `leat pack`, for a shell. */
#ifndef LEAT_COMMANDS_PACK_AGAIN_H
#define LEAT_COMMANDS_PACK_AGAIN_H

#include "pack_options.h"

#define PACK_AGAIN 4000 /* bytes, with ": " before it */

/* ": leat pack OPTIONS ...": what was run, with other options before its own, of which --resume, --allow-truncated and
 * --max-rejects are left out where `options` has them, and --force if it is not to be kept (`force`). Empty if it would
 * be longer, or if standard input is read, which nobody can give again. */
void pack_again(const struct pack_values *v, const char *options, bool force, char text[PACK_AGAIN]);

#endif
