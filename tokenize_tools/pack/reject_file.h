/*
 * reject_file.h: NAME.rejects.jsonl, a line for each record that was rejected. While the dataset is unfinished it is
 * called NAME.partial.rejects; of a file without lines nothing is left.
 */
#ifndef LEAT_PACK_REJECT_FILE_H
#define LEAT_PACK_REJECT_FILE_H

#include <stdbool.h>

#include "base/buffer.h"
#include "checksum/checksum.h"

struct reject_file {
    char *path, *partial;
    int fd;                /* -1: not open */
    bool named;            /* its name is durable */
    uint64_t bytes;        /* written */
    struct page_sum sum;   /* of these */
    struct buffer waiting; /* not yet written */
};

/* `name`: of the dataset, without .leat. Nothing is opened. */
enum leat_status reject_file_init(struct reject_file *f, const char *name, struct leat_error *err);
void reject_file_free(struct reject_file *f); /* what has been written stays */

/* Begins an empty one, or goes on with one of a killed run, of which the first `bytes` bytes count, with this page sum.
 * LEAT_E_EXISTS for what stands in the way of either name and is not a file. */
enum leat_status reject_file_begin(struct reject_file *f, struct leat_error *err);
enum leat_status reject_file_resume(struct reject_file *f, uint64_t bytes, struct hash128 sum, struct leat_error *err);

/* One line. `line` counts from 1; LEAT_NONE: not of lines. */
struct reject_line {
    const char *input;
    uint64_t offset, line;
    const void *reason, *sample;
    size_t reason_bytes, sample_bytes;
};
enum leat_status reject_file_add(struct reject_file *f, const struct reject_line *line, struct leat_error *err);

/* Makes all lines durable: f->bytes and f->sum are then of what a resumed run counts. */
enum leat_status reject_file_sync(struct reject_file *f, struct leat_error *err);

/* Gives it its name, if it has a line. */
enum leat_status reject_file_publish(struct reject_file *f, struct leat_error *err);

/* Removes it; with `all` also one that an older run published. */
void reject_file_remove(struct reject_file *f, bool all);

#endif
