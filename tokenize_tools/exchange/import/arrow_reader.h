/*
 * arrow_reader.h: a column of lists of ids in an Arrow IPC stream or file, batch by batch. The file may be a stretch of
 * another one.
 */
#ifndef LEAT_ARROW_READER_H
#define LEAT_ARROW_READER_H

#include "arrow_schema.h"

/* Bytes of a batch: in the file, or decompressed. */
struct arrow_buffer {
    struct import_bytes *bytes;
    uint64_t at, count;
};

struct arrow_reader {
    struct import_bytes lists, ids; /* the file twice: reading both goes forward */
    struct import_bytes plain_lists, plain_ids;
    struct arrow_column column;
    uint64_t begin, end, at; /* end: of a file, its footer; at: what follows the message that was read last */
    uint8_t *blocks;         /* of a file: where its batches are, in 24 bytes each; NULL: a stream */
    uint64_t block_count, block;
    uint64_t rows, row; /* of the batch */
    uint64_t values;    /* ids in the batch */
    uint64_t batch_at;  /* where the batch is in the file */
    struct arrow_buffer offsets, data;
};

void arrow_reader_begin(struct arrow_reader *r);
void arrow_reader_close(struct arrow_reader *r);

/* Opens bytes [begin, end) of a file (`end` LEAT_NONE: to its end), and chooses the column. */
enum leat_status arrow_reader_open(struct arrow_reader *r, struct import_source *s, const char *path, uint64_t begin,
                                   uint64_t end, struct leat_error *err);

/* As in struct import_format. */
enum leat_status arrow_reader_next(struct arrow_reader *r, struct import_document *d, bool *any,
                                   struct leat_error *err);

/* ---- arrow_buffers.c ---- */

/* Takes buffer `number` of a RecordBatch, whose body is `size` bytes at `body`. Decompresses it to `plain` if the batch
 * is compressed. `from`: the file. */
enum leat_status arrow_buffer_take(struct arrow_buffer *to, struct flat *f, uint64_t batch, uint64_t number,
                                   uint64_t body, uint64_t size, struct import_bytes *from, struct import_bytes *plain,
                                   struct leat_error *err);

enum leat_status arrow_damaged(const struct import_bytes *b, uint64_t at, const char *what, struct leat_error *err);

#endif
