/*
 * nested.h: a wanted column that is a list or a group, as conversations are: its nodes in the schema, and its rows as
 * JSON. Its leaves are columns with levels: the repetition level of an entry says which list it continues, the
 * definition level how far down its way something is there, and a row has as many entries as its lists need.
 */
#ifndef LEAT_PARQUET_NESTED_H
#define LEAT_PARQUET_NESTED_H

#include "column.h"

/* The entries of the next row in one leaf. */
struct nested_leaf {
    struct column *column;
    struct block entries; /* struct nested_entry */
    struct block bytes;   /* of their values */
    bool complete;        /* all entries of the row are here */
    bool begun;           /* the first of them was taken */
    bool waits;           /* `entry` was taken, and is not among them yet */
    struct column_entry entry;
    size_t next, at; /* the entry to be written, and its value in `bytes` */
};

struct nested_entry {
    uint32_t size; /* of its value; values follow each other */
    uint8_t repetition, definition;
};

struct nested_row {
    const struct nested *what;
    struct nested_leaf leaves[NESTED_MAX_LEAVES];
    struct block json;
    bool large; /* the row is larger than is wanted: its entries are passed over */
};

/* Reads the entries of the next row; `last`: the group has no row after it. After LEAT_E_NO_MEMORY it goes on where it
 * was. */
enum leat_status nested_gather(struct nested_row *row, bool last, struct leat_error *err);

/* Writes the row as JSON: *value is the row's until the next call, and null if the column is. After LEAT_E_NO_MEMORY it
 * may be called again. */
enum leat_status nested_write(struct nested_row *row, struct parquet_value *value, struct leat_error *err);

/* Makes way for the next row. */
void nested_pass(struct nested_row *row);

/* Frees what it holds, but for the columns. */
void nested_close(struct nested_row *row);

#endif
