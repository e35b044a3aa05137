/* renderers.h: the processes that render conversations for `leat pack --chat`: Python, with leat/render.py. */
#ifndef LEAT_TOKENIZE_TOOLS_RENDERERS_H
#define LEAT_TOKENIZE_TOOLS_RENDERERS_H

#include "leat_pack.h"

/*
 * For leat_pack()'s options. The package is the one in whose folder bin/ this program lies, with its Python; for
 * another program, the one of python3 on PATH, which must be of the same version. $LEAT_PYTHON is another interpreter:
 * the package's own commands set it. LEAT_E_ARGUMENT: there is none, with how to get it.
 */
extern const struct leat_renderers pack_renderers;

#endif
