/* renderers.h: the processes that render conversations for `leat pack --chat`: Python, with leat/render.py. */
#ifndef LEAT_TOKENIZE_TOOLS_RENDERERS_H
#define LEAT_TOKENIZE_TOOLS_RENDERERS_H

#include "leat_pack.h"

/* For leat_pack()'s options. The interpreter is that of cli/own_python.h, whose package must be of this version.
 * LEAT_E_ARGUMENT: there is none, with how to get it. */
extern const struct leat_renderers pack_renderers;

#endif
