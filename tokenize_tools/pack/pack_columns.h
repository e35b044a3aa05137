/* pack_columns.h: the columns of a run: which runs can have some; and made, when the dataset is complete, of the values
 * that its documents brought (corpus/record/column_spec.h). */
#ifndef LEAT_PACK_COLUMNS_H
#define LEAT_PACK_COLUMNS_H

#include "corpus/record/column_spec.h"
#include "leat_pack.h"

/* Returns LEAT_E_ARGUMENT if the options ask for columns, and for work that would leave them out. */
enum leat_status pack_columns_check(const struct leat_pack_options *o, bool in_run, struct leat_error *err);

/* Makes the columns of a dataset between leat_writer_prepare() and leat_writer_finish(). */
enum leat_status pack_columns_make(struct leat_writer *w, const struct column_specs *specs, struct leat_error *err);

#endif
