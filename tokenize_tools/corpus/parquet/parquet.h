/*
 * parquet.h: reads columns of texts, ids and conversations from a Parquet file, row by row. Its row groups do not
 * depend on each other: any number of threads may read groups of an opened file at once.
 *
 * This room reads Parquet and nothing else: the footer (thrift, schema, groups), pages (page, codec, rle, delta,
 * values), and the rows of a group from the pages of each wanted column (column, nested, reader). What may enter: an
 * encoding, a codec, a type that can be a text, an id or a number. What the values mean, and where the bytes of the
 * file come from, is not known here. Nothing is written, and nothing but the wanted columns is read.
 *
 * Whatever a file says, memory is bounded: the footer is read through a window, of which the places of the wanted
 * columns stay (32 bytes per row group, and 32 more per column); a group takes one decompressed page and one dictionary
 * per column, and what a row of a nested column has. What of these is too large lies in files, if the source has them.
 *
 * Refused with a sentence: encrypted files and columns, lists that are not wanted as JSON, columns in other files, the
 * codecs LZO and LZ4 (an older framing of LZ4_RAW), types that are not for the use of a column.
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

/* Where the bytes of a file come from. Several threads may read at once. */
struct parquet_source {
    enum leat_status (*read)(void *context, uint64_t offset, void *out, uint64_t count, struct leat_error *err);
    void *context;
    uint64_t size;
    const char *name; /* for messages */
    uint64_t most;    /* memory that an opened file may take; 0: no limit */
    uint64_t *needs;  /* may be NULL; what it needs, if `most` is too little */

    /* Maps memory of a file without a name, to be released by munmap(), for what is too large for memory otherwise:
     * see parquet_reader_limit(). `beside` says where. May be NULL. */
    enum leat_status (*map)(const char *beside, size_t size, void **memory, struct leat_error *err);
    const char *beside;

    /* May be NULL: whether who reads with this context should stop: asked while a page in such files is read and
     * decompressed; then parquet_reader_next() returns LEAT_E_STOPPED. */
    bool (*stopped)(void *context);
};

enum parquet_use {
    PARQUET_TEXT,   /* BYTE_ARRAY or FIXED_LEN_BYTE_ARRAY of bytes, UTF8, ENUM or JSON, as they are */
    PARQUET_ID,     /* the same; UUIDs as text, and integers of 32 or 64 bits in decimal */
    PARQUET_VALUE,  /* the same; and FLOAT and DOUBLE as the shortest decimal number that is read as this one */
    PARQUET_EXISTS, /* any type: whether a value is null; the others are empty */
    PARQUET_JSON    /* texts as they are; or a list or a group of columns, as JSON: of at most one want */
};

/* A column to read. */
struct parquet_want {
    const char *path; /* its name; in a group, the names that lead to it, joined by dots */
    enum parquet_use use;
    bool optional;       /* it need not exist, nor be of such a type: then all its values are null */
    bool may_lack;       /* it need not exist, or have a type but null: then all its values are null */
    size_t max_bytes;    /* of a list or a group: a larger value is passed over; 0: none is too large */
    const char *advice;  /* what to do about a column of another type; may be NULL */
    enum leat_hint hint; /* of an error about a missing column */
};

struct parquet_file;

/*
 * Opens a file and finds the wanted columns, at most PARQUET_MAX_COLUMNS. The source and what it points to must outlive
 * the file; the wants need not. On success *out is the caller's until parquet_close(); NULL on failure.
 *
 * LEAT_E_NOT_FOUND with the columns that there are: one is missing. LEAT_E_UNSUPPORTED: refused, see above.
 * LEAT_E_TRUNCATED, LEAT_E_TEXT: the file is cut off or broken. LEAT_E_NO_MEMORY: it has more row groups than the
 * source's `most` allows. Or what the source returns.
 */
enum leat_status parquet_open(struct parquet_file **out, const struct parquet_source *source,
                              const struct parquet_want *wants, unsigned count, struct leat_error *err);
void parquet_close(struct parquet_file *file); /* NULL is fine */

/* Whether the column of a want, which exists, holds numbers. */
bool parquet_is_number(const struct parquet_file *file, unsigned want);

struct parquet_group {
    uint64_t rows, first_row; /* rows of it, and of the groups before it */
    uint64_t begin, bytes;    /* the stretch of the file that its pages take, of all columns; 0 if it has none */
};

uint64_t parquet_groups(const struct parquet_file *file);
uint64_t parquet_rows(const struct parquet_file *file);
const struct parquet_group *parquet_group(const struct parquet_file *file, uint64_t group);

/* Stretches of the file that are read side by side in each group, one per column; a nested one has several. */
unsigned parquet_stretches(const struct parquet_file *file);

/* One of them, as the footer says, which may be wrong; *bytes is 0 if the group has no such pages. */
void parquet_stretch(const struct parquet_file *file, uint64_t group, unsigned number, uint64_t *begin,
                     uint64_t *bytes);

/* Memory that it holds. */
uint64_t parquet_memory(const struct parquet_file *file);

/* ---- The rows of a group, in order ---- */

struct parquet_reader;

/* A value is null if `bytes` is; an empty one is not. One that was passed over as too large has the size SIZE_MAX, and
 * no bytes. */
struct parquet_value {
    const uint8_t *bytes;
    size_t size;
};

/* From `row` of the group on, counted from 0: pages before it are not decompressed. Reads nothing yet; then it reads by
 * `context` in place of the source's (NULL: that). The file must outlive it. On success *out is the caller's until
 * parquet_reader_close(); NULL on failure. */
enum leat_status parquet_reader_open(struct parquet_reader **out, const struct parquet_file *file, void *context,
                                     uint64_t group, uint64_t row, struct leat_error *err);
void parquet_reader_close(struct parquet_reader *r); /* NULL is fine */

/* Memory that it uses now, and that it needs to go on: more where the next pages have just been refused. */
uint64_t parquet_reader_memory(const struct parquet_reader *r);
uint64_t parquet_reader_needs(const struct parquet_reader *r);

/* From now on, a page that would take it over `bytes` is refused: parquet_reader_next() then returns LEAT_E_NO_MEMORY,
 * parquet_reader_outgrew() is true, and with a larger limit it goes on. With `map` and a source that has files, such a
 * page lies in these instead: it takes none of the memory, but room on the disk. A new reader has no limit. */
void parquet_reader_limit(struct parquet_reader *r, uint64_t bytes, bool map);
bool parquet_reader_outgrew(const struct parquet_reader *r);

/* Values that lie in files leave memory, until they are used again: for who reads a long one in stretches. */
void parquet_reader_rest(struct parquet_reader *r);

/* The number of the next row in the group. */
uint64_t parquet_reader_row(const struct parquet_reader *r);

/*
 * Gives the values of the next row, one for each want; *found is false after the last one. They are the reader's until
 * its next call. LEAT_E_TEXT with group, column and page: broken; LEAT_E_CHECKSUM: the page has a CRC-32, and it
 * does not match. An error stays, unless memory was the reason.
 */
enum leat_status parquet_reader_next(struct parquet_reader *r, struct parquet_value values[PARQUET_MAX_COLUMNS],
                                     bool *found, struct leat_error *err);

/* ---- Pages that outlive the reader's next call ---- */

/* The bytes of a page, or of a dictionary, lent. */
struct parquet_loan;

/* From now on the reader can lend pages. What it has left to those that have them still counts for its limit, in *left,
 * which must outlive them. */
void parquet_reader_lends(struct parquet_reader *r, atomic_uint_least64_t *left);

/* Lends the page that a value of a want lies in, of the last row that was given: its bytes stay where they are until
 * parquet_loan_release(), which any thread may call. NULL: it has fewer bytes than `least`; it is in files; the value
 * was put together elsewhere; another one like it would go beyond the limit; or no memory. */
struct parquet_loan *parquet_reader_lend(struct parquet_reader *r, unsigned want, const struct parquet_value *value,
                                         size_t least);
void parquet_loan_release(struct parquet_loan *loan); /* NULL is fine */

/* Whether no value that a want still gets lies there: to go on means to leave it. */
bool parquet_reader_leaves(const struct parquet_reader *r, unsigned want, const struct parquet_loan *loan);

/* The lent bytes, and how many. */
const uint8_t *parquet_loan_bytes(const struct parquet_loan *loan, size_t *size);

#endif
