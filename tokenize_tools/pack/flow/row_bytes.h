/*
 * row_bytes.h: where the bytes of a Parquet file come from: a file of this machine; or a thing on a server, of which
 * each reader fetches the columns of its row group ahead, and those of the group after it.
 */
#ifndef LEAT_PACK_ROW_BYTES_H
#define LEAT_PACK_ROW_BYTES_H

#include "corpus/inputs.h"
#include "corpus/parquet/parquet.h"

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
    struct row_stretches ahead[2]; /* of a thing */
    struct fetch *other;           /* of a thing: what no stretch holds */
};

/* Begins to read one. row_bytes_close() also after a failure. */
enum leat_status row_bytes_open(struct row_bytes *b, const struct input *in, const struct input_stop *stop,
                                struct leat_error *err);
void row_bytes_close(struct row_bytes *b);

/* Another reader of a thing whose footer was read, for a thread of its own. */
void row_bytes_begin(struct row_bytes *b, const struct input *in, const struct input_stop *stop);

/* From now on a group is read, and after it the next one, if that is below `stop`. */
enum leat_status row_bytes_announce(struct row_bytes *b, const struct parquet_file *file, uint64_t group, uint64_t stop,
                                    struct leat_error *err);

/* For struct parquet_source. */
bool row_bytes_stopped(void *row_bytes);
enum leat_status row_bytes_read(void *row_bytes, uint64_t offset, void *out, uint64_t count, struct leat_error *err);

#endif
