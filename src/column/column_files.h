/*
 * column_files.h: the names of the files of columns, beside any dataset: NAME.COLUMN.column has the values,
 * NAME.COLUMN.column-index says what they are. A column exists if its index does.
 */
#ifndef LEAT_COLUMN_FILES_H
#define LEAT_COLUMN_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "leat.h"

#define COLUMN_VALUES  ".column"
#define COLUMN_INDEX   ".column-index"
#define COLUMN_PARTIAL ".partial"

/* Returns true if name[0..length) can be the name of a column. It has no dot, so a file belongs to one dataset only. */
bool column_name_is_valid(const char *name, size_t length);

/* The names of a dataset's columns, sorted. */
struct column_names {
    char **names;
    size_t count, room;
};

/* Looks for the indexes beside the dataset NAME; a folder that is missing has none. column_names_free() must follow,
 * also after a failure. */
enum leat_status column_names_find(struct column_names *found, const char *name, struct leat_error *err);
void column_names_free(struct column_names *found);

/* The names of all indexes of columns in one folder, sorted. A list may have very many parts in a folder, which is read
 * once for all of them. */
struct column_folder {
    char *path; /* NULL: no folder was read */
    struct column_names files;
};

/* Does what column_names_find() does, and reads the folder only if it is not the one of the call before.
 * column_folder_free() must follow. */
enum leat_status column_folder_find(struct column_folder *f, struct column_names *found, const char *name,
                                    struct leat_error *err);
void column_folder_free(struct column_folder *f);

/* Returns LEAT_E_UNSUPPORTED if a dataset has these columns, for work (`what`: "merging") that would leave them out
 * without a word. */
enum leat_status column_names_refuse(const struct column_names *found, const char *dataset, const char *what,
                                     struct leat_error *err);

/* Removes all columns of the dataset NAME, and what killed processes left of others: first the indexes. */
enum leat_status column_files_remove(const char *name, struct leat_error *err);

#endif
