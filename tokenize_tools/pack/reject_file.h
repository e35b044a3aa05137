/* reject_file.h: NAME.rejects.jsonl, which has a line for each record that was rejected. While the dataset is
 * unfinished it is called NAME.partial.rejects; a file without lines is removed. */
#ifndef LEAT_PACK_REJECT_FILE_H
#define LEAT_PACK_REJECT_FILE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "checksum/checksum.h"

struct reject_file {
    char *path, *partial;
    int fd;                /* -1: not open */
    bool named;            /* true if its name is durable */
    uint64_t bytes;        /* written */
    struct page_sum sum;   /* of these */
    struct buffer waiting; /* not yet written */
};

/* Prepares the names for a dataset `name` without .leat. Opens nothing. */
enum leat_status reject_file_init(struct reject_file *f, const char *name, struct leat_error *err);
void reject_file_free(struct reject_file *f); /* leaves the lines that have been written */

/* Begins an empty file, or goes on with the file of a killed run, of which the first `bytes` bytes count, with this
 * page sum. Returns LEAT_E_EXISTS if something that is not a file has one of the two names. */
enum leat_status reject_file_begin(struct reject_file *f, struct leat_error *err);
enum leat_status reject_file_resume(struct reject_file *f, uint64_t bytes, struct hash128 sum, struct leat_error *err);

/* A line of the file. `line` counts from 1; LEAT_NONE: the input has no lines. */
struct reject_line {
    const char *input;
    uint64_t offset, line;
    const void *reason, *sample;
    size_t reason_bytes, sample_bytes;
};
enum leat_status reject_file_add(struct reject_file *f, const struct reject_line *line, struct leat_error *err);

/* Makes all lines durable. Then a resumed run counts f->bytes and f->sum. */
enum leat_status reject_file_sync(struct reject_file *f, struct leat_error *err);

/* Gives the file its final name, if it has a line. */
enum leat_status reject_file_publish(struct reject_file *f, struct leat_error *err);

/* Removes the file; with `all` also the file that an older run published. */
void reject_file_remove(struct reject_file *f, bool all);

#endif
