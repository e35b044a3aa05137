/* text.c: what the extension has of leat_pack.h: tokenizers and packing. */
#include "module.h"

int text_register(PyObject *module)
{
    (void)module;
    return 0;
}
