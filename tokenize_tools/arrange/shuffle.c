/* shuffle.c: see shuffle.h. This file fills the buckets; shuffle_write.c empties them. */
#include "shuffle.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "shuffle_plan.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

uint64_t shuffle_key(uint64_t seed, uint64_t number)
{
    uint8_t bytes[8];

    bytes_store64(bytes, number);
    return XXH3_64bits_withSeed(bytes, sizeof bytes, seed);
}

uint64_t shuffle_bytes(const struct merge_parts *parts)
{
    return parts->token_bytes + parts->documents * (sizeof(struct shuffle_record) + 8) + parts->id_bytes;
}

enum leat_status shuffle_begin(struct shuffle *s, const char *path, uint64_t seed, uint64_t ranges,
                               uint64_t memory_bytes, uint32_t width, uint64_t bytes, size_t outputs,
                               struct leat_error *err)
{
    size_t block_bytes;

    *s = (struct shuffle) {
        .path = path,
        .seed = seed,
        .memory = memory_bytes,
        .ranges = ranges,
        .width = width,
        .output_count = outputs,
        .buckets = { .fd = -1 },
    };
    /* growing in memory may take twice as much while it goes on */
    if (bytes <= memory_bytes / 2) {
        s->bits = shuffle_plan_bits_in_memory(bytes);
        block_bytes = BUCKETS_IN_MEMORY;
    } else {
        s->bits = shuffle_plan_bits(bytes, memory_bytes, outputs, 64);
        block_bytes = shuffle_plan_block(memory_bytes, outputs << s->bits);
    }
    s->numbers = calloc(outputs, sizeof *s->numbers);
    if (!s->numbers)
        return status_no_memory(err, outputs * sizeof *s->numbers);
    return buckets_open(&s->buckets, path, outputs << s->bits, block_bytes, err);
}

void shuffle_end(struct shuffle *s)
{
    buckets_close(&s->buckets);
    free(s->numbers);
    s->numbers = NULL;
}

static enum leat_status put_tokens(struct shuffle *s, size_t bucket, struct document_reader *r, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;
    bool last = false;

    while (status == LEAT_OK && !last) {
        const void *ids;
        uint64_t count;

        status = document_reader_chunk(r, &ids, &count, &last, err);
        if (status == LEAT_OK)
            status = buckets_append(&s->buckets, bucket, ids, count * s->width, err);
    }
    return status;
}

struct shuffle_record shuffle_record_of(const struct document *d)
{
    struct shuffle_record r = {
        .tokens = d->tokens,
        .input = d->origin.input,
        .offset = d->origin.offset,
        .line = d->origin.line,
        .id_bytes = d->origin.id_bytes,
    };

    if (d->origin.text_hash)
        memcpy(r.hash, d->origin.text_hash, sizeof r.hash);
    return r;
}

enum leat_status shuffle_put_record(struct shuffle *s, size_t output, const struct shuffle_record *r, size_t *bucket,
                                    struct leat_error *err)
{
    *bucket = shuffle_plan_bucket(output, shuffle_place(s, r->number), s->bits, 0);
    shuffle_record_count(&s->buckets.items[*bucket], shuffle_record_bytes(r, s->width));
    return buckets_append(&s->buckets, *bucket, r, sizeof *r, err);
}

enum leat_status shuffle_put(struct shuffle *s, size_t output, const struct document *d, struct document_reader *r,
                             struct leat_error *err)
{
    static const uint8_t zeros[8];
    struct shuffle_record record = shuffle_record_of(d);
    uint64_t bytes = shuffle_record_bytes(&record, s->width);
    enum leat_status status;
    size_t bucket;

    record.number = s->numbers[output]++;
    status = shuffle_put_record(s, output, &record, &bucket, err);
    if (status == LEAT_OK)
        status = put_tokens(s, bucket, r, err);
    if (status == LEAT_OK)
        status = buckets_append(&s->buckets, bucket, d->origin.id, d->origin.id_bytes, err);
    if (status != LEAT_OK)
        return status;
    return buckets_append(&s->buckets, bucket, zeros, bytes - sizeof record - d->tokens * s->width - d->origin.id_bytes,
                          err);
}
