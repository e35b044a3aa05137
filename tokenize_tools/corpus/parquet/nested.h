/*
 * nested.h: a wanted column that is a list or a group, as conversations are: its nodes in the schema, and its rows as
 * JSON. Its leaves are columns with levels: the repetition level of an entry says which list it continues, and the
 * definition level how many of the nodes on its path exist. A row has as many entries as its lists need.
 */
#ifndef LEAT_PARQUET_NESTED_H
#define LEAT_PARQUET_NESTED_H

#include "column.h"

/* The entries of the next row in one leaf. */
struct nested_leaf {
    struct column *column;
    struct block entries; /* struct nested_entry */
    struct block bytes;   /* values of the entries, one after another */
    bool complete;        /* true if all entries of the row were read */
    bool begun;           /* true if the first entry of the row was read */
    bool waits;           /* true if `entry` was read, and is not in `entries` yet */
    struct column_entry entry;
    size_t next, at; /* next entry to write, and the place of its value in `bytes` */
};

struct nested_entry {
    uint32_t size; /* bytes of its value */
    uint8_t repetition, definition;
};

struct nested_row {
    const struct nested *what;
    uint64_t at; /* number of the row in its group */
    struct nested_leaf leaves[NESTED_MAX_LEAVES];
    struct block json;
    bool large; /* true if the row is larger than its want allows, so that its entries are skipped */
};

/* Reads the entries of the next row; `last` says that no row of the group follows. A call after LEAT_E_NO_MEMORY goes
 * on from there. */
enum leat_status nested_gather(struct nested_row *row, bool last, struct leat_error *err);

/* Writes the row as JSON. The row owns *value until the next call; it is null if the column is. May be called again
 * after LEAT_E_NO_MEMORY. */
enum leat_status nested_write(struct nested_row *row, struct parquet_value *value, struct leat_error *err);

/* Drops the entries of the row, before the next row is read. */
void nested_pass(struct nested_row *row);

/* Frees the row's memory; does not close its columns. */
void nested_close(struct nested_row *row);

#endif
