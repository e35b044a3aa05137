/* pack_advice.h: what to do about a damaged file that the parts of a run in steps have left for each other. */
#ifndef LEAT_COMMANDS_PACK_ADVICE_H
#define LEAT_COMMANDS_PACK_ADVICE_H

#include "pack_steps.h"

/* Adds to the message which files to remove, and which parts to pack again, if it names such a file. */
void pack_advice_add(const struct pack_steps *s, struct leat_error *err);

#endif
