/*
 * template.h: leat._leat.ChatTemplate. The room: conversations rendered by chat templates. It is the one that includes
 * headers of libleat_pack's own: a program in C has a template rendered by leat_pack(), and nobody has asked for more.
 */
#ifndef LEAT_PYTHON_TEMPLATE_H
#define LEAT_PYTHON_TEMPLATE_H

#include "core/module.h"

int template_register(PyObject *module);

#endif
