/*
 * load_consumer.h: what `leat-bench load` does with a batch, as a training loop would: it gets its numbers, in memory
 * on the host or on a GPU, and, for the checksum, its rows as they are stored.
 */
#ifndef LEAT_BENCH_LOAD_CONSUMER_H
#define LEAT_BENCH_LOAD_CONSUMER_H

#include <stdio.h>

#include "bench/device/load_device.h"
#include "load.h"

struct load_hash; /* load_consumer.c */

struct load_consumer {
    const struct load_values *v;
    uint8_t *inputs, *labels, *positions; /* with a GPU only what is brought back for the checksum */
    int32_t *sequences;
    uint64_t cu_seqlens_room;
    bool on_device;
    struct load_device device;
    void *there[4];         /* the same four on the GPU */
    uint8_t *row;           /* one, as stored, for the checksum */
    struct load_hash *hash; /* NULL: neither a checksum nor a dump is wanted */
    bool hashing;           /* what is taken now belongs to them */
    FILE *dump;             /* the caller's; NULL: not wanted */
    uint64_t aside_ns;      /* spent on the checksum, which does not count */
    double aside_cpu;
};

/* For batches of `rows` rows of up to `length`. After a failure load_consumer_close() frees what was made. */
enum leat_status load_consumer_open(struct load_consumer *c, const struct load_values *v, uint64_t rows,
                                    uint64_t length, struct leat_error *err);
void load_consumer_close(struct load_consumer *c);

/* Writes or borrows what the batch's outputs are; *bytes is how much. */
enum leat_status load_consumer_take(struct load_consumer *c, const struct leat_batch *b, uint64_t *bytes,
                                    struct leat_error *err);

/* Rows of a batch that is not taken, and one row, for the checksum. */
void load_consumer_hash(struct load_consumer *c, const struct leat_batch *b);
void load_consumer_hash_row(struct load_consumer *c, const void *tokens, size_t bytes);
uint64_t load_consumer_checksum(const struct load_consumer *c); /* 0: not wanted */

#endif
