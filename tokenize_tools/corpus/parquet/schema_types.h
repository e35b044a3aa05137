/* schema_types.h: a node of the schema, and whether it can be read as a text or an id. */
#ifndef LEAT_PARQUET_SCHEMA_TYPES_H
#define LEAT_PARQUET_SCHEMA_TYPES_H

#include "schema.h"

enum { SCHEMA_REQUIRED, SCHEMA_OPTIONAL, SCHEMA_REPEATED };

struct schema_node {
    char name[256];
    uint64_t name_bytes; /* may be more than the name holds */
    bool has_type;       /* it is a column, not a group */
    uint64_t type, type_bytes, repetition, children;
    int64_t converted;   /* the older annotation; -1: none */
    int32_t logical;     /* the field of the newer one; 0: none */
    bool logical_signed; /* of an integer */
};

/* Takes a LogicalType, the value of field `f`. */
void schema_read_logical(struct thrift *t, struct thrift_field f, struct schema_node *n);

/* Whether a column has no type but null. */
bool schema_is_nothing(const struct schema_node *n);

/* Whether a group is annotated as a list, or as a map. */
bool schema_is_list(const struct schema_node *n);
bool schema_is_map(const struct schema_node *n);

/* Sets what the column is; returns why it cannot be used so, or NULL. */
const char *schema_take(struct parquet_column *c, const struct schema_node *n, enum parquet_use use);

#endif
