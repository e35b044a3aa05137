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
    uint32_t width = parts->first.token_width, cost = width + parts->mask;

    return parts->token_bytes / width * cost + parts->documents * (sizeof(struct shuffle_record) + 8) + parts->id_bytes;
}

enum leat_status shuffle_begin(struct shuffle *s, const char *path, uint64_t seed, uint64_t ranges,
                               uint64_t memory_bytes, uint32_t width, bool masked, uint64_t bytes, size_t outputs,
                               struct leat_error *err)
{
    uint32_t cost = width + masked;
    size_t block_bytes;

    *s = (struct shuffle) {
        .path = path,
        .seed = seed,
        .memory = memory_bytes,
        .ranges = ranges,
        .width = width,
        .cost = cost,
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
    s->block = masked ? malloc((size_t)SHUFFLE_BLOCK * cost) : NULL;
    if (!s->numbers || (masked && !s->block))
        return status_no_memory(err, outputs * sizeof *s->numbers);
    return buckets_open(&s->buckets, path, outputs << s->bits, block_bytes, err);
}

void shuffle_end(struct shuffle *s)
{
    buckets_close(&s->buckets);
    free(s->numbers);
    free(s->block);
    s->numbers = NULL;
    s->block = NULL;
}

/* Puts the tokens of the block, and their masks. */
static enum leat_status put_block(struct shuffle *s, size_t bucket, uint64_t count, struct leat_error *err)
{
    enum leat_status status = buckets_append(&s->buckets, bucket, s->block, count * s->width, err);

    return status == LEAT_OK ? buckets_append(&s->buckets, bucket, s->block + SHUFFLE_BLOCK * s->width, count, err)
                             : status;
}

/* Fills blocks with a chunk; *used: tokens in the block. */
static enum leat_status fill_blocks(struct shuffle *s, size_t bucket, const uint8_t *ids, const uint8_t *mask,
                                    uint64_t count, uint64_t *used, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;

    for (uint64_t here; status == LEAT_OK && count > 0; count -= here) {
        here = SHUFFLE_BLOCK - *used < count ? SHUFFLE_BLOCK - *used : count;
        memcpy(s->block + *used * s->width, ids, (size_t)(here * s->width));
        memcpy(s->block + SHUFFLE_BLOCK * s->width + *used, mask, (size_t)here);
        ids += here * s->width;
        mask += here;
        *used += here;
        if (*used == SHUFFLE_BLOCK) {
            status = put_block(s, bucket, *used, err);
            *used = 0;
        }
    }
    return status;
}

static enum leat_status put_tokens(struct shuffle *s, size_t bucket, struct document_reader *r, struct leat_error *err)
{
    enum leat_status status = LEAT_OK;
    uint64_t used = 0;
    bool last = false;

    while (status == LEAT_OK && !last) {
        const uint8_t *mask;
        const void *ids;
        uint64_t count;

        status = document_reader_chunk(r, &ids, &mask, &count, &last, err);
        if (status == LEAT_OK && s->block)
            status = fill_blocks(s, bucket, ids, mask, count, &used, err);
        else if (status == LEAT_OK)
            status = buckets_append(&s->buckets, bucket, ids, count * s->width, err);
    }
    return status == LEAT_OK && used > 0 ? put_block(s, bucket, used, err) : status;
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
    shuffle_record_count(&s->buckets.items[*bucket], shuffle_record_bytes(r, s->cost));
    return buckets_append(&s->buckets, *bucket, r, sizeof *r, err);
}

enum leat_status shuffle_put(struct shuffle *s, size_t output, const struct document *d, struct document_reader *r,
                             struct leat_error *err)
{
    static const uint8_t zeros[8];
    struct shuffle_record record = shuffle_record_of(d);
    uint64_t bytes = shuffle_record_bytes(&record, s->cost);
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
    return buckets_append(&s->buckets, bucket, zeros, bytes - sizeof record - d->tokens * s->cost - d->origin.id_bytes,
                          err);
}
