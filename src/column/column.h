/*
 * column.h: values beside the tokens or documents of a dataset, in files of their own (FORMAT.md, "Columns"). The room
 * src/column/ reads, checks and writes these files; what loaders and plans make of the values does not belong here.
 *
 *   column_files.c        names of the files, which the writer of datasets needs, too
 *   column_numbers.c      numbers of all types, converted
 *   column_open.c         the index; reading values
 *   column_list.c         the column of several datasets as one
 *   column_writer.c       attaching
 *   column_share.c        the parts of a column that many processes attach
 *   column_commit.c       makes a column of these parts
 *   column_unfinished.c   opens datasets without names, for columns that are made while packing
 */
#ifndef LEAT_COLUMN_H
#define LEAT_COLUMN_H

#include "checksum/checksum.h"
#include "column_files.h"
#include "column_numbers.h"
#include "dataset/dataset.h"
#include "private.h"

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

/* A part of a column that is attached by many processes: a column of its documents alone, whose files have .I-of-N
 * behind their names. */
struct column_share {
    uint64_t number, count; /* I and N; 0 of 0: the whole column */
};

/* The column of one dataset in that of several. */
struct column_piece {
    struct leat_column *column;
    uint64_t end;      /* entries of this piece and those before it */
    uint16_t *numbers; /* numbers in the list of the piece's texts; NULL: the same numbers */
};

struct leat_column {
    struct file_map values, index;
    char *name;
    uint64_t part;
    struct column_share share;
    struct column_header header;
    uint8_t *texts; /* the area of texts */
    /* The values as a part of which they are the tokens, and which has the documents of the dataset, so that who reads
     * tokens can read them; of a column of tokens. */
    struct part bytes;
    struct column_piece *pieces; /* NULL: a column of one dataset */
    uint64_t piece_count;
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

/* Finds the entries of a share, among those of the dataset's tokens or documents (`at`). */
enum leat_status column_share_entries(const struct leat_dataset *d, struct column_share share, uint32_t at,
                                      uint64_t *first, uint64_t *count, struct leat_error *err);

/* Returns the path of a file of a share: NAME.COLUMN + suffix + .I-of-N; the caller frees it. NULL: no memory. */
char *column_share_path(const struct leat_dataset *d, const struct part *p, const char *column, const char *suffix,
                        struct column_share share);

/* Returns LEAT_E_UNSUPPORTED unless the column can be attached to the dataset, which must have one part. */
enum leat_status column_check_single(const struct leat_dataset *d, const char *name, struct leat_error *err);

/* Returns the path NAME.COLUMN + suffix of a part's column; the caller frees it. NULL: no memory. */
char *column_path(const struct leat_dataset *d, const struct part *p, const char *column, const char *suffix);

/* Lists the names of a part's columns; a part that cannot have any has none. `folder` is kept from part to part;
 * column_folder_free() must follow at the end, and column_names_free() each time. */
enum leat_status column_search_part(struct column_folder *folder, const struct leat_dataset *d, uint64_t part,
                                    struct column_names *found, struct leat_error *err);

/* Opens a column of one part of a list. */
enum leat_status column_open_part(struct leat_column **out, const struct leat_dataset *d, uint64_t part,
                                  const char *name, struct leat_error *err);

/* Opens a share of the column of a dataset of one part. */
enum leat_status column_open_share(struct leat_column **out, const struct leat_dataset *d, const char *name,
                                   struct column_share share, struct leat_error *err);

/* Do for the column of one part what the public functions of these names do for any. */
void column_close_part(struct leat_column *c);
enum leat_status column_read_part(const struct leat_column *c, uint64_t first, uint64_t count, void *out,
                                  struct leat_error *err);
enum leat_status column_view_part(const struct leat_column *c, uint64_t first, uint64_t count, struct leat_view *view,
                                  struct leat_error *err);

/* Make a column of `count` pieces: column_list_add() takes the next one over, even if it fails, as it does if pieces
 * differ; column_list_end() completes it. leat_column_close() must follow, on failure too. */
enum leat_status column_list_begin(struct leat_column **out, const char *name, uint64_t count, struct leat_error *err);
enum leat_status column_list_add(struct leat_column *c, struct leat_column *piece, struct leat_error *err);
enum leat_status column_list_end(struct leat_column *c, struct leat_error *err);

/* Checks all values: hashes, sums, numbers of texts. Calls `progress` with the bytes of each step; a result other than
 * 0 stops it with LEAT_E_STOPPED. */
enum leat_status column_verify(const struct leat_column *c, uint32_t (*progress)(void *context, uint64_t bytes),
                               void *context, struct leat_error *err);

#endif
