/* columns.h: columns of a Dataset, and leat._leat.ColumnWriter, which attaches one. */
#ifndef LEAT_PYTHON_COLUMNS_H
#define LEAT_PYTHON_COLUMNS_H

#include "core/module.h"

int columns_register(PyObject *module);

#endif
