/* groups.h: the row groups in a footer. */
#ifndef LEAT_PARQUET_GROUPS_H
#define LEAT_PARQUET_GROUPS_H

#include "footer.h"

/* Reads the row groups, the value of field `f`, of a file with so many columns, and adds them to the file's. *rows: of
 * all. */
enum leat_status groups_read(struct thrift *t, struct thrift_field f, struct parquet_file *file, uint64_t leaves,
                             uint64_t *rows);

#endif
