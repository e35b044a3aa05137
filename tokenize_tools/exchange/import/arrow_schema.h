/* arrow_schema.h: finds the column of ids in the schema of an Arrow file, and where its buffers are in each batch. */
#ifndef LEAT_ARROW_SCHEMA_H
#define LEAT_ARROW_SCHEMA_H

#include "arrow_flat.h"
#include "import.h"

struct arrow_column {
    const struct import_dtype *dtype;
    uint64_t node, buffer; /* the numbers of its first field node and buffer in a batch */
    uint64_t offset_bytes; /* 4 or 8: a list; 0: a list of fixed size */
    uint64_t list_size;    /* then */
    bool dictionaries;     /* other columns have some: a stream may hold messages of them */
};

/* `schema` is the table of a Schema. LEAT_E_HEADER: it is damaged. */
enum leat_status arrow_schema_find(struct arrow_column *column, struct flat *f, uint64_t schema,
                                   struct import_source *s, const char *path, struct leat_error *err);

#endif
