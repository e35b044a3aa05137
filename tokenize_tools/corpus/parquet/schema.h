/*
 * schema.h: the schema in a footer: a tree, as a list of its nodes in the order in which they begin. The wanted columns
 * are found by their paths while it is read; nothing of it is kept but what they are.
 */
#ifndef LEAT_PARQUET_SCHEMA_H
#define LEAT_PARQUET_SCHEMA_H

#include "thrift.h"

/* As files number them. */
enum parquet_type {
    PARQUET_BOOLEAN,
    PARQUET_INT32,
    PARQUET_INT64,
    PARQUET_INT96,
    PARQUET_FLOAT,
    PARQUET_DOUBLE,
    PARQUET_BYTE_ARRAY,
    PARQUET_FIXED,
    PARQUET_TYPES
};

/* How a value becomes text; PARQUET_UNREAD: it does not, and is empty. */
enum parquet_form {
    PARQUET_AS_IT_IS,
    PARQUET_SIGNED,
    PARQUET_UNSIGNED,
    PARQUET_UUID,
    PARQUET_DECIMAL,
    PARQUET_TRUTH,
    PARQUET_UNREAD
};

/* A wanted column. */
struct parquet_column {
    char *path;      /* owned */
    bool exists;     /* if not, nothing of what follows is set */
    uint64_t number; /* among all columns of the file */
    enum parquet_type type;
    uint32_t type_bytes; /* of a value of PARQUET_FIXED and of numbers; else 0 */
    enum parquet_form form;
    uint32_t max_definition; /* the definition level of a value that is not null */
    uint32_t max_repetition; /* so many lists are around it */
};

#define SCHEMA_MAX_COLUMNS PARQUET_MAX_STRETCHES
#define NESTED_MAX_LEAVES  (SCHEMA_MAX_COLUMNS - PARQUET_MAX_COLUMNS)
#define NESTED_MAX_NODES   128u

/* A wanted column that is a list or a group: its nodes in the order of the schema, each before those below it. */
struct nested_node {
    char *name;                      /* owned */
    uint32_t definition, repetition; /* the levels from which on it is there, and of its repetition */
    bool optional, repeated, list;
    unsigned leaf, leaves;    /* those below it, or itself, among all leaves */
    unsigned children, after; /* the node after it and all below it */
};

struct nested {
    struct nested_node nodes[NESTED_MAX_NODES];
    unsigned count, leaves; /* count 0: no such column */
    unsigned want;
    size_t max_bytes; /* of the want */
};

struct schema_found {
    struct parquet_column *columns; /* room for SCHEMA_MAX_COLUMNS */
    unsigned *count;                /* of these */
    struct nested *nested;
    uint64_t *leaves; /* columns that the file has */
};

/* Reads a schema, the value of field `f`, and finds the columns of the wants; the leaves of a nested one are added to
 * the columns. */
enum leat_status schema_read(struct thrift *t, struct thrift_field f, const struct parquet_want *wants,
                             unsigned want_count, const struct schema_found *found);

/* ---- Nodes, while they are read ---------------------------------------------------------------------------------- */

/* A node of the schema, and whether it can be read as a text or an id. */

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

#endif
