/* text.c: what the extension has of leat_pack.h: tokenizers, packing and merging. */
#include "text.h"

int text_register(PyObject *module)
{
    if (text_tokenizer_register(module) < 0 || arrow_rows_register(module) < 0 || text_packer_register(module) < 0)
        return -1;
    return text_pack_register(module);
}
