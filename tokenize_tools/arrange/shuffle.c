/* shuffle.c: see shuffle.h. This file fills the buckets; shuffle_write.c empties them. */
#include "shuffle.h"

#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/tiny.h"
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
                               struct helpers *helpers, struct leat_error *err)
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
        .helpers = helpers,
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
    return buckets_open(&s->buckets, path, outputs << s->bits, block_bytes, helpers, err);
}

void shuffle_end(struct shuffle *s)
{
    buckets_close(&s->buckets);
    free(s->numbers);
    free(s->block);
    s->numbers = NULL;
    s->block = NULL;
}

struct block {
    uint8_t *bytes;
    uint32_t width;
    uint64_t used; /* tokens */
};

/* Appends the tokens of the block, and their masks. */
static enum leat_status put_block(const struct shuffle_target *to, struct block *b, struct leat_error *err)
{
    uint64_t used = b->used;
    enum leat_status s = to->append(to->context, to->where, b->bytes, used * b->width, err);

    b->used = 0;
    return s == LEAT_OK ? to->append(to->context, to->where, b->bytes + SHUFFLE_BLOCK * b->width, used, err) : s;
}

/* Fills blocks with a chunk. */
static enum leat_status fill_blocks(const struct shuffle_target *to, struct block *b, const uint8_t *ids,
                                    const uint8_t *mask, uint64_t count, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    for (uint64_t here; s == LEAT_OK && count > 0; count -= here) {
        here = SHUFFLE_BLOCK - b->used < count ? SHUFFLE_BLOCK - b->used : count;
        memcpy(b->bytes + b->used * b->width, ids, (size_t)(here * b->width));
        memcpy(b->bytes + SHUFFLE_BLOCK * b->width + b->used, mask, (size_t)here);
        ids += here * b->width;
        mask += here;
        b->used += here;
        if (b->used == SHUFFLE_BLOCK)
            s = put_block(to, b, err);
    }
    return s;
}

enum leat_status shuffle_put_tokens(const struct shuffle_target *to, struct document_reader *r, uint32_t width,
                                    uint8_t *block, struct leat_error *err)
{
    struct block b = { block, width, 0 };
    enum leat_status s = LEAT_OK;
    bool last = false;

    while (s == LEAT_OK && !last) {
        const uint8_t *mask;
        const void *ids;
        uint64_t count;

        s = document_reader_chunk(r, &ids, &mask, &count, &last, err);
        if (s == LEAT_OK && block)
            s = fill_blocks(to, &b, ids, mask, count, err);
        else if (s == LEAT_OK)
            s = to->append(to->context, to->where, ids, count * width, err);
    }
    return s == LEAT_OK && b.used > 0 ? put_block(to, &b, err) : s;
}

static enum leat_status append(void *context, uint64_t where, const void *bytes, uint64_t count, struct leat_error *err)
{
    return buckets_append(context, (size_t)where, bytes, count, err);
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
        status =
            shuffle_put_tokens(&(struct shuffle_target) { append, &s->buckets, bucket }, r, s->width, s->block, err);
    if (status == LEAT_OK)
        status = buckets_append(&s->buckets, bucket, d->origin.id, d->origin.id_bytes, err);
    if (status != LEAT_OK)
        return status;
    return buckets_append(&s->buckets, bucket, zeros, bytes - sizeof record - d->tokens * s->cost - d->origin.id_bytes,
                          err);
}
