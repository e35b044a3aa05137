/*
 * column.h: values beside the tokens or documents of a dataset, in files of their own (FORMAT.md, "Columns"). The room
 * src/column/ reads, checks and writes these files; what loaders and plans make of the values does not belong here.
 *
 *   column_files.c     names of the files, which the writer of datasets needs, too
 *   column_numbers.c   numbers of all types, converted
 *   column_open.c      the index; reading values
 *   column_writer.c    attaching
 */
#ifndef LEAT_COLUMN_H
#define LEAT_COLUMN_H

#include "checksum/checksum.h"
#include "column_files.h"
#include "column_numbers.h"
#include "dataset/dataset.h"

#define COLUMN_HEADER   128u
#define COLUMN_MAX_TEXT ((uint64_t)64 << 20) /* bytes of all texts of a category */
#define COLUMN_AT_ONCE  8u                   /* pages that are read at once */

/* The header of an index. The hashes of pages follow it, 4 bytes each, and then the texts: where each ends, 4 bytes
 * each, and their bytes. */
struct column_header {
    uint32_t type, width, at;
    uint64_t entries;
    uint8_t identity[16];       /* identity of the dataset */
    struct hash128 sum;         /* page sum of the values */
    struct hash128 hashes;      /* page sum of the hashes of pages */
    uint64_t texts, text_bytes; /* number of texts; bytes of the whole area of texts */
    struct hash128 text_hash;
    /* made from these: */
    uint64_t bytes, pages;
    uint32_t entry_bytes;
};

struct leat_column {
    struct file_map values, index;
    char *name;
    uint64_t part;
    struct column_header header;
    uint8_t *texts; /* the area of texts */
};

/* Computes the sizes that follow from the type, the width and the number of entries; false if they are too large. */
bool column_header_size(struct column_header *h);

/* Stores a header with its checksum, and reads one that belongs to a part. */
void column_header_store(uint8_t out[COLUMN_HEADER], const struct column_header *h);
enum leat_status column_header_load(struct column_header *h, const uint8_t in[COLUMN_HEADER], const struct part *p,
                                    const char *path, struct leat_error *err);

/* Returns true if an area of texts is as the format says. */
bool column_texts_are_valid(const uint8_t *area, uint64_t bytes, uint64_t count);

/* Returns LEAT_E_UNSUPPORTED unless part `number` can have columns. */
enum leat_status column_check_part(const struct leat_dataset *d, uint64_t number, struct leat_error *err);

/* Returns the path NAME.COLUMN + suffix of a part's column; the caller frees it. NULL: no memory. */
char *column_path(const struct leat_dataset *d, const struct part *p, const char *column, const char *suffix);

/* A search for the columns of one part after another. A folder without any column is looked through once: a list may
 * have very many parts in it. */
struct column_search {
    const struct leat_dataset *d;
    char *clean; /* folder that has no column, or NULL; the caller frees it at the end */
};

/* Lists the names of a part's columns; a part that cannot have any has none. column_names_free() must follow. */
enum leat_status column_search_part(struct column_search *x, uint64_t part, struct column_names *found,
                                    struct leat_error *err);

/* Opens a column of one part of a list. */
enum leat_status column_open_part(struct leat_column **out, const struct leat_dataset *d, uint64_t part,
                                  const char *name, struct leat_error *err);

/* Checks all values: hashes, sums, numbers of texts. Calls `progress` with the bytes of each step; a result other than
 * 0 stops it with LEAT_E_STOPPED. */
enum leat_status column_verify(const struct leat_column *c, uint32_t (*progress)(void *context, uint64_t bytes),
                               void *context, struct leat_error *err);

#endif
