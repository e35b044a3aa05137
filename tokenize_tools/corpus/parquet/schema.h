/*
 * schema.h: the schema in a footer: a tree, as a list of its nodes in the order in which they begin. The wanted columns
 * are found by their paths while it is read, and only they are kept.
 */
#ifndef LEAT_PARQUET_SCHEMA_H
#define LEAT_PARQUET_SCHEMA_H

#include "thrift.h"

/* The types, with their numbers in files. */
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

/* The ways to make a value a text; PARQUET_UNREAD values are empty. */
enum parquet_form {
    PARQUET_AS_IT_IS,
    PARQUET_SIGNED,
    PARQUET_UNSIGNED,
    PARQUET_UUID,
    PARQUET_DECIMAL,
    PARQUET_EXACT, /* a decimal of the double */
    PARQUET_TRUTH,
    PARQUET_UNREAD
};

/* A wanted column. */
struct parquet_column {
    char *path;      /* owned */
    bool exists;     /* if false, the members below are not set */
    uint64_t number; /* number among all columns of the file */
    enum parquet_type type;
    uint32_t type_bytes; /* bytes of a value of PARQUET_FIXED, or of a number; else 0 */
    enum parquet_form form;
    uint32_t max_definition; /* definition level of a value that is not null */
    uint32_t max_repetition; /* number of lists around a value */
};

#define SCHEMA_MAX_COLUMNS PARQUET_MAX_STRETCHES
#define NESTED_MAX_LEAVES  (SCHEMA_MAX_COLUMNS - PARQUET_MAX_COLUMNS)
#define NESTED_MAX_NODES   128u

#define PARQUET_MAX_NESTED 2u

/* A wanted column that is a list or a group: its nodes in the order of the schema, each before those below it. */
struct nested_node {
    char *name;          /* owned */
    uint32_t definition; /* least definition level of an entry in which the node exists */
    uint32_t repetition; /* repetition level of an entry that repeats the node */
    bool optional, repeated, list;
    unsigned leaf, leaves; /* first leaf, and number of leaves, below the node or the node itself */
    unsigned children;     /* number of child nodes */
    unsigned after;        /* number of the node after this one and all nodes below it */
};

struct nested {
    struct nested_node nodes[NESTED_MAX_NODES];
    unsigned count, leaves;
    unsigned first; /* number of the first leaf among the columns */
    unsigned want;
    size_t max_bytes; /* max_bytes of the want */
};

struct schema_found {
    struct parquet_column *columns; /* room for SCHEMA_MAX_COLUMNS */
    unsigned *count;                /* number of columns in it */
    struct nested *nested;          /* room for PARQUET_MAX_NESTED */
    unsigned *nested_count;
    uint64_t *leaves; /* number of columns in the file */
};

/* Reads a schema, the value of field `f`, and finds the columns of the wants; the leaves of nested ones are added to
 * the columns. */
enum leat_status schema_read(struct thrift *t, struct thrift_field f, const struct parquet_want *wants,
                             unsigned want_count, const struct schema_found *found);

enum { SCHEMA_REQUIRED, SCHEMA_OPTIONAL, SCHEMA_REPEATED };

/* A node of the schema while it is read. */
struct schema_node {
    char name[256];
    uint64_t name_bytes; /* may be greater than the size of `name` */
    bool has_type;       /* true for a column, false for a group */
    uint64_t type, type_bytes, repetition, children;
    int64_t converted;   /* the ConvertedType; -1 for none */
    int32_t logical;     /* the field of LogicalType; 0 for none */
    bool logical_signed; /* true for a signed integer */
};

#endif
