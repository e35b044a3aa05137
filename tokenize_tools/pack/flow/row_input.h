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

/*
 * Where the bytes of a Parquet file come from: a file of this machine; or an object on a server, of which each reader
 * fetches the columns of its row group ahead, and those of the group after it.
 */

/* A stretch that is fetched. */
struct row_stretch {
    uint64_t begin, end;
    struct fetch *fetch;
};

struct row_stretches {
    struct row_stretch of[PARQUET_MAX_STRETCHES];
    unsigned count;
    uint64_t group; /* LEAT_NONE: the head and the end of the file */
};

struct row_bytes {
    const struct input *input;
    const struct input_stop *stop;
    int fd;                        /* of a file; else -1 */
    struct row_stretches ahead[2]; /* of an object */
    struct fetch *other;           /* of an object: what no stretch holds */
};

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

struct row_input;

/* Opens an input and finds its columns; a missing one is LEAT_E_NOT_FOUND, and a file that is damaged so that none of
 * it can be read row_input_is_damage(). LEAT_E_NO_MEMORY, with the bound that is enough: it has so many row groups that
 * their places need more than `most`. It begins with row `next` of the file, or the first row of the share if that
 * comes later. The setup and its input must outlive it. On success *out is the caller's until row_input_close(); NULL
 * on failure. */
enum leat_status row_input_open(struct row_input **out, const struct pack_setup *setup, size_t input, uint64_t next,
                                uint64_t most, struct leat_error *err);
void row_input_close(struct row_input *in); /* NULL is fine */

/* Returns true if a failure says that a file is cut off or broken, and not that it cannot be read now, or never. */
bool row_input_is_damage(enum leat_status s);

/* Before the first row is taken: leaves it row groups with about `bytes` of the file, at least one with rows. *rest is
 * for the others, if these have rows: the caller's until row_input_close(), and for any thread; NULL: none, or a
 * failure. */
enum leat_status row_input_divide(struct row_input *in, uint64_t bytes, struct row_input **rest,
                                  struct leat_error *err);

/* Returns true if the share ends with its rows. */
bool row_input_is_last(const struct row_input *in);

/* A row; its values are the input's until the next call. */
struct row {
    uint64_t number, group;     /* in the file, from 0 */
    struct record *record;      /* NULL: it is damaged; a conversation is JSON, whose kind has not been looked for */
    const char *damage;         /* it and what follows it in its group cannot be read: why; NULL: it was read */
    uint64_t lost;              /* so many rows are that */
    uint64_t damage_at, unread; /* from that byte of the file on, so many bytes to the end of the group */
};

/* Gives the next row; *found is false after the last one. The same row comes again after row_input_back(). After a row
 * that is damaged comes the next group. */
enum leat_status row_input_next(struct row_input *in, struct row *row, bool *found, struct leat_error *err);
void row_input_back(struct row_input *in);

/* Lends the page that the last row's value of a want lies in, as parquet_reader_lend() does: all loans end before
 * row_input_close(). */
struct parquet_loan *row_input_lend(struct row_input *in, uint32_t want, size_t least);

/* Returns true if the next row does not lie there: then it is better returned first, to be used again. */
bool row_input_leaves(const struct row_input *in, uint32_t want, const struct parquet_loan *loan);

/* What of a row's values lies in files leaves memory, until it is used again. */
void row_input_rest(struct row_input *in);

/* Back to a row that it gave, without the pages in memory. */
void row_input_go_back(struct row_input *in, uint64_t row);

/* Returns the row that comes next, and its row group: how many groups were passed since the file's start. After the
 * last row of the share the numbers that follow it. */
uint64_t row_input_at(const struct row_input *in);
uint64_t row_input_group(const struct row_input *in);

/* So much of the share's bytes belongs to the rows before the next one, about. */
uint64_t row_input_bytes(const struct row_input *in);

/* Memory, as of a stream in byte_stream.h: what it uses, and its limit. With `map`, what is beyond it lies in files
 * beside the output, and it does not outgrow it. */
uint64_t row_input_memory(const struct row_input *in);
void row_input_limit(struct row_input *in, uint64_t bytes, bool map);
bool row_input_outgrew(const struct row_input *in);

#endif
