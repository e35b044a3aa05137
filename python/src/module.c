/* module.c: the extension leat._leat. */
#include "arrow/arrow.h"
#include "core/array.h"
#include "dataset/columns.h"
#include "dataset/dataset.h"
#include "documents/documents.h"
#include "loader/batch.h"
#include "pack/pack.h"
#include "plan/plan.h"
#include "tokenizer/tokenizer.h"

static int (*const registers[])(PyObject *) = {
    errors_register,    array_register,   dataset_register,        plan_register,       batch_register,
    loader_register,    turn_register,    text_tokenizer_register, arrow_rows_register, packer_register,
    pack_register,      runs_register,    foreign_register,        importer_register,   pushed_register,
    documents_register, options_register, columns_register,
};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "leat._leat",
    .m_doc = "The binding of libleat and libleat_pack; use the package leat.",
    .m_size = -1,
};

PyMODINIT_FUNC PyInit__leat(void);

__attribute__((visibility("default"))) PyMODINIT_FUNC PyInit__leat(void)
{
    PyObject *module = PyModule_Create(&definition);
    int r = module ? 0 : -1;

    if (r == 0)
        r = PyModule_AddStringConstant(module, "version", leat_version());
    for (size_t i = 0; r == 0 && i < sizeof registers / sizeof *registers; i++)
        r = registers[i](module);
    if (r < 0)
        Py_CLEAR(module);
    return module;
}
