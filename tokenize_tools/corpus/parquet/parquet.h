/*
 * parquet.h: reads columns of texts, ids and conversations from a Parquet file, row by row. Its row groups do not
 * depend on each other: any number of threads may read groups of an opened file at once.
 *
 * This room reads Parquet and nothing else: the footer (thrift, schema, groups), pages (page, codec, rle, delta,
 * values), and the rows of a group from the pages of each wanted column (column, nested, reader). What may enter: an
 * encoding, a codec, a type that can be a text, an id or a number. The room does not know what the values mean, or
 * where the bytes of the file come from. It writes nothing, and reads only the wanted columns.
 *
 * Memory is bounded, whatever a file says. The footer is read through a window, and only the places of wanted columns
 * are kept (32 bytes per row group, and 32 more per column). A group takes one decompressed page and one dictionary per
 * column, and the entries of one row of a nested column. A page that is too large lies in a file, if the source has
 * any.
 *
 * The reader refuses encrypted files and columns, lists that are not wanted as JSON, columns in other files, the codecs
 * LZO and LZ4 (another framing of LZ4_RAW), and types that do not fit the use of a column.
 */
#ifndef LEAT_PARQUET_H
#define LEAT_PARQUET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

#define PARQUET_MAX_COLUMNS   16u
#define PARQUET_MAX_STRETCHES (PARQUET_MAX_COLUMNS + 48u)

/* The file that is read. Several threads may read at once. */
struct parquet_source {
    enum leat_status (*read)(void *context, uint64_t offset, void *out, uint64_t count, struct leat_error *err);
    void *context;
    uint64_t size;
    const char *name; /* for messages */
    uint64_t most;    /* most bytes of memory that an opened file may take; 0: no limit */
    uint64_t *needs;  /* gets the bytes that it needs, if `most` is too little; may be NULL */

    /* Maps a file without a name, on the disk of `beside`, for a page that is too large for memory (see
     * parquet_reader_limit()). The reader releases it by munmap(). May be NULL. */
    enum leat_status (*map)(const char *beside, size_t size, void **memory, struct leat_error *err);
    const char *beside;

    /* Returns true if the reader with this context should stop. Called while a page in such a file is read and
     * decompressed; parquet_reader_next() then returns LEAT_E_STOPPED. May be NULL. */
    bool (*stopped)(void *context);
};

enum parquet_use {
    PARQUET_TEXT,   /* BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY of bytes, UTF8, ENUM or JSON, unchanged */
    PARQUET_ID,     /* types of PARQUET_TEXT; UUIDs as text, and integers of 32 or 64 bits in decimal */
    PARQUET_VALUE,  /* types of PARQUET_ID; FLOAT and DOUBLE as the shortest decimal that is read as this number */
    PARQUET_NUMBER, /* numbers of PARQUET_VALUE; FLOAT as the shortest decimal of the double that it is */
    PARQUET_EXISTS, /* any type: values are null or empty */
    PARQUET_JSON    /* texts unchanged; or a list or a group of columns as JSON, for at most two wants */
};

/* A column to read. */
struct parquet_want {
    const char *path; /* name of the column; in a group, the names that lead to it, joined by dots */
    enum parquet_use use;
    bool optional;       /* true if all values are null when the column is missing or has a wrong type */
    bool may_lack;       /* true if all values are null when the column is missing or has the type null */
    size_t max_bytes;    /* most bytes of a list or a group; a larger one is skipped; 0: no limit */
    const char *advice;  /* what to do about a column of a wrong type; may be NULL */
    enum leat_hint hint; /* hint of an error about a missing column */
};

struct parquet_file;

/*
 * Opens a file and finds the wanted columns, at most PARQUET_MAX_COLUMNS. The source and its pointers must outlive the
 * file; the wants need not. On success *out is the caller's until parquet_close(); NULL on failure.
 *
 * Returns LEAT_E_NOT_FOUND, with a list of the columns, if one is missing; LEAT_E_UNSUPPORTED if the file is refused;
 * LEAT_E_TRUNCATED or LEAT_E_TEXT if it is cut off or broken; LEAT_E_NO_MEMORY if it has more row groups than the
 * source's `most` allows; or a status of the source.
 */
enum leat_status parquet_open(struct parquet_file **out, const struct parquet_source *source,
                              const struct parquet_want *wants, unsigned count, struct leat_error *err);
void parquet_close(struct parquet_file *file); /* NULL is fine */

/* Returns true if the column of a want, which exists, holds numbers. */
bool parquet_is_number(const struct parquet_file *file, unsigned want);

struct parquet_group {
    uint64_t rows, first_row; /* number of its rows, and of rows in the groups before it */
    uint64_t begin, bytes;    /* the stretch of the file that has the pages of all its columns; 0 if it has none */
};

uint64_t parquet_groups(const struct parquet_file *file);
uint64_t parquet_rows(const struct parquet_file *file);
const struct parquet_group *parquet_group(const struct parquet_file *file, uint64_t group);

/* Returns the number of stretches of the file that are read side by side in each group: one per column, several for a
 * nested one. */
unsigned parquet_stretches(const struct parquet_file *file);

/* Gives stretch `number`, as the footer says, which may be wrong; *bytes is 0 if the group has no such pages. */
void parquet_stretch(const struct parquet_file *file, uint64_t group, unsigned number, uint64_t *begin,
                     uint64_t *bytes);

/* Returns the bytes of memory that the file holds. */
uint64_t parquet_memory(const struct parquet_file *file);

/* ---- The rows of a group, in order ---- */

struct parquet_reader;

/* A value; `bytes` is NULL if it is null, but not if it is empty. A value that was skipped because it is too large has
 * the size SIZE_MAX, and no bytes. */
struct parquet_value {
    const uint8_t *bytes;
    size_t size;
};

/* Makes a reader of rows from `row` of the group on, counted from 0; pages before it are not decompressed. Reads
 * nothing yet, and later with `context` in place of the source's context, unless it is NULL. The file must outlive the
 * reader. On success *out is the caller's until parquet_reader_close(); NULL on failure. */
enum leat_status parquet_reader_open(struct parquet_reader **out, const struct parquet_file *file, void *context,
                                     uint64_t group, uint64_t row, struct leat_error *err);
void parquet_reader_close(struct parquet_reader *r); /* NULL is fine */

/* Returns the bytes of memory that the reader uses now. */
uint64_t parquet_reader_memory(const struct parquet_reader *r);

/* Returns the bytes of memory that the reader needs to go on; more than it uses if a page has just been refused. */
uint64_t parquet_reader_needs(const struct parquet_reader *r);

/* Limits memory to `bytes` from now on; a new reader has no limit. A page that needs more is refused:
 * parquet_reader_next() returns LEAT_E_NO_MEMORY, parquet_reader_outgrew() true, and with a larger limit the reader
 * goes on. With `map` and a source that has files, such a page lies in a file, which takes room on the disk but no
 * memory. */
void parquet_reader_limit(struct parquet_reader *r, uint64_t bytes, bool map);
bool parquet_reader_outgrew(const struct parquet_reader *r);

/* Lets values in files leave memory until they are used again. A caller that reads a long one in stretches calls it. */
void parquet_reader_rest(struct parquet_reader *r);

/* Returns the number of the next row in the group. */
uint64_t parquet_reader_row(const struct parquet_reader *r);

/*
 * Gives the values of the next row, one for each want; *found is false after the last row. The reader owns them until
 * its next call. Returns LEAT_E_TEXT, with group, column and page, if the data is broken, and LEAT_E_CHECKSUM if a page
 * does not match its CRC-32. An error stays, except LEAT_E_NO_MEMORY.
 */
enum leat_status parquet_reader_next(struct parquet_reader *r, struct parquet_value values[PARQUET_MAX_COLUMNS],
                                     bool *found, struct leat_error *err);

/* ---- Pages that outlive the reader's next call ---- */

/* The bytes of a page, or of a dictionary, that are lent. */
struct parquet_loan;

/* Lets the reader lend pages from now on. Bytes that it has left to borrowers still count for its limit, in *left,
 * which must outlive the loans. */
void parquet_reader_lends(struct parquet_reader *r, atomic_uint_least64_t *left);

/* Lends the page that holds a value of the last row: its bytes stay where they are until parquet_loan_release(), which
 * any thread may call. Returns NULL if the page has fewer bytes than `least` or lies in a file, if the value lies in no
 * page, if a second page of its size would go beyond the limit, or if there is no memory. */
struct parquet_loan *parquet_reader_lend(struct parquet_reader *r, unsigned want, const struct parquet_value *value,
                                         size_t least);
void parquet_loan_release(struct parquet_loan *loan); /* NULL is fine */

/* Returns true if no later value of the want lies in the lent page. */
bool parquet_reader_leaves(const struct parquet_reader *r, unsigned want, const struct parquet_loan *loan);

/* Returns the lent bytes, and sets *size to their number. */
const uint8_t *parquet_loan_bytes(const struct parquet_loan *loan, size_t *size);

#endif
