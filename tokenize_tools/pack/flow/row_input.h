/*
 * row_input.h: an input in Parquet, row by row: the row groups whose pages begin in the run's share of the file, one
 * after another; or some of them, so that threads may read others of the same file. One thread at a time may use it.
 */
#ifndef LEAT_PACK_ROW_INPUT_H
#define LEAT_PACK_ROW_INPUT_H

#include "corpus/inputs.h"
#include "corpus/parquet/parquet.h"
#include "pack_setup.h"

/* ---- Bytes of rows ----------------------------------------------------------------------------------------------- */

/* The source of the bytes of a Parquet file: a file of this machine, or an object on a server. Each reader of an
 * object fetches the columns of its row group and of the next one ahead. */

/* A stretch that is fetched. */
struct row_stretch {
    uint64_t begin, end;
    struct fetch *fetch;
};

struct row_stretches {
    struct row_stretch of[PARQUET_MAX_STRETCHES];
    unsigned count;
    uint64_t group; /* number of the row group; LEAT_NONE: the head and the end of the file */
};

struct row_bytes {
    const struct input *input;
    const struct input_stop *stop;
    int fd;                        /* descriptor of a file; -1 for an object */
    struct row_stretches ahead[2]; /* of an object */
    struct fetch *other;           /* fetch for bytes of an object that no stretch holds */
};

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

struct row_input;

/*
 * Opens an input and finds its columns. Returns LEAT_E_NOT_FOUND if one is missing, a status with
 * row_input_is_damage() if the file is so damaged that none of it can be read, and LEAT_E_NO_MEMORY, with the bound
 * that is enough, if the places of its row groups need more than `most`. It begins with row `next` of the file, or
 * the first row of the share if that comes later. The setup and its input must outlive it. On success *out is the
 * caller's until row_input_close(); NULL on failure.
 */
enum leat_status row_input_open(struct row_input **out, const struct pack_setup *setup, size_t input, uint64_t next,
                                uint64_t most, struct leat_error *err);
void row_input_close(struct row_input *in); /* NULL is fine */

/* Returns true if a failure means that a file is cut off or broken, and not that it cannot be read now, or never. */
bool row_input_is_damage(enum leat_status s);

/*
 * Divides the share before the first row is taken: keeps row groups with about `bytes` of the file, at least one
 * with rows. *rest gets the others, if they have rows; it is the caller's until row_input_close(), and any thread
 * may use it. It is NULL if there is none, or on failure.
 */
enum leat_status row_input_divide(struct row_input *in, uint64_t bytes, struct row_input **rest,
                                  struct leat_error *err);

/* Returns true if the share ends with its rows. */
bool row_input_is_last(const struct row_input *in);

/* A row. Its values are the input's until the next call. */
struct row {
    uint64_t number, group;     /* numbers of the row and its group in the file, from 0 */
    struct record *record;      /* NULL if the row is damaged; in the values, a conversation is JSON, whose kind has
                                   not been looked for */
    const char *damage;         /* why this row and those after it in its group cannot be read; NULL: it was read */
    uint64_t lost;              /* number of these rows */
    uint64_t damage_at, unread; /* byte of the file from which on it cannot be read, and number of bytes from there
                                   to the end of the group */
};

/* Gets the next row; *found is false after the last one. After row_input_back() the same row comes again. After a
 * damaged row the next group comes. */
enum leat_status row_input_next(struct row_input *in, struct row *row, bool *found, struct leat_error *err);
void row_input_back(struct row_input *in);

/* Lends the page that the last row's value of a want lies in, as parquet_reader_lend() does: all loans end before
 * row_input_close(). */
struct parquet_loan *row_input_lend(struct row_input *in, uint32_t want, size_t least);

/* Returns true if the next row lies in another page: then the caller should first end its loan, so that the page is
 * used again. */
bool row_input_leaves(const struct row_input *in, uint32_t want, const struct parquet_loan *loan);

/* Frees the memory of values that lie in files, until they are used again. */
void row_input_rest(struct row_input *in);

/* Goes back to an earlier row, and frees the pages in memory. */
void row_input_go_back(struct row_input *in, uint64_t row);

/* Return the number of the next row, and that of its row group, which is the number of groups before it in the file.
 * After the last row of the share they return the numbers that follow. */
uint64_t row_input_at(const struct row_input *in);
uint64_t row_input_group(const struct row_input *in);

/* Returns about how many of the share's bytes belong to the rows before the next one. */
uint64_t row_input_bytes(const struct row_input *in);

/* The memory, as with a stream in byte_stream.h: what the input uses, and its limit. With `map`, memory beyond the
 * limit lies in files beside the output, so the input does not outgrow it. */
uint64_t row_input_memory(const struct row_input *in);
void row_input_limit(struct row_input *in, uint64_t bytes, bool map);
bool row_input_outgrew(const struct row_input *in);

#endif
