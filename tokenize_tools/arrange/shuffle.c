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

enum leat_status shuffle_begin(struct shuffle *s, const struct shuffle_plan *plan, struct leat_error *err)
{
    size_t block_bytes, outputs = plan->outputs;

    *s = (struct shuffle) {
        .path = plan->path,
        .seed = plan->seed,
        .memory = plan->memory,
        .width = plan->width,
        .cost = plan->width + plan->masked,
        .output_count = outputs,
        .helpers = plan->helpers,
        .buckets = { .fd = -1 },
    };
    /* growing in memory may take twice as much while it goes on */
    if (plan->bytes <= plan->memory / 2) {
        s->bits = shuffle_plan_bits_in_memory(plan->bytes);
        block_bytes = BUCKETS_IN_MEMORY;
    } else {
        s->bits = shuffle_plan_bits(plan->bytes, plan->memory, outputs, 64);
        block_bytes = shuffle_plan_block(plan->memory, outputs << s->bits);
    }
    s->numbers = calloc(outputs, sizeof *s->numbers);
    s->block = plan->masked ? malloc((size_t)SHUFFLE_BLOCK * s->cost) : NULL;
    if (!s->numbers || (plan->masked && !s->block))
        return status_no_memory(err, outputs * sizeof *s->numbers);
    return buckets_open(&s->buckets, plan->path, outputs << s->bits, block_bytes, plan->helpers, err);
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
static enum leat_status put_block(struct shuffle *s, size_t bucket, struct block *b, struct leat_error *err)
{
    uint64_t used = b->used;
    enum leat_status status = buckets_append(&s->buckets, bucket, b->bytes, used * b->width, err);

    b->used = 0;
    return status == LEAT_OK ? buckets_append(&s->buckets, bucket, b->bytes + SHUFFLE_BLOCK * b->width, used, err)
                             : status;
}

/* Fills blocks with a chunk. */
static enum leat_status fill_blocks(struct shuffle *s, size_t bucket, struct block *b, const struct token_chunk *c,
                                    struct leat_error *err)
{
    const uint8_t *ids = c->ids, *mask = c->mask;
    enum leat_status status = LEAT_OK;

    for (uint64_t count = c->count, here; status == LEAT_OK && count > 0; count -= here) {
        here = SHUFFLE_BLOCK - b->used < count ? SHUFFLE_BLOCK - b->used : count;
        memcpy(b->bytes + b->used * b->width, ids, (size_t)(here * b->width));
        memcpy(b->bytes + SHUFFLE_BLOCK * b->width + b->used, mask, (size_t)here);
        ids += here * b->width;
        mask += here;
        b->used += here;
        if (b->used == SHUFFLE_BLOCK)
            status = put_block(s, bucket, b, err);
    }
    return status;
}

/* Appends the tokens of the reader's document as they lie in a record. */
static enum leat_status put_tokens(struct shuffle *s, size_t bucket, struct document_reader *r, struct leat_error *err)
{
    struct block b = { s->block, s->width, 0 };
    enum leat_status status = LEAT_OK;
    bool last = false;

    while (status == LEAT_OK && !last) {
        struct token_chunk c;

        status = document_reader_chunk(r, &c, &last, err);
        if (status == LEAT_OK && s->block)
            status = fill_blocks(s, bucket, &b, &c, err);
        else if (status == LEAT_OK)
            status = buckets_append(&s->buckets, bucket, c.ids, c.count * s->width, err);
    }
    return status == LEAT_OK && b.used > 0 ? put_block(s, bucket, &b, err) : status;
}

/* The fields of the document's record. */
static struct shuffle_record record_of(const struct document *d, uint64_t number)
{
    struct shuffle_record r = {
        .number = number,
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

enum leat_status shuffle_put(struct shuffle *s, size_t output, const struct document *d, struct document_reader *r,
                             struct leat_error *err)
{
    static const uint8_t zeros[8];
    struct shuffle_record record = record_of(d, s->numbers[output]++);
    uint64_t bytes = shuffle_record_bytes(&record, s->cost);
    size_t bucket = shuffle_plan_bucket(output, shuffle_key(s->seed, record.number), s->bits, 0);
    enum leat_status status;

    shuffle_record_count(&s->buckets.items[bucket], bytes);
    status = buckets_append(&s->buckets, bucket, &record, sizeof record, err);
    if (status == LEAT_OK)
        status = put_tokens(s, bucket, r, err);
    if (status == LEAT_OK)
        status = buckets_append(&s->buckets, bucket, d->origin.id, d->origin.id_bytes, err);
    if (status != LEAT_OK)
        return status;
    return buckets_append(&s->buckets, bucket, zeros, bytes - sizeof record - d->tokens * s->cost - d->origin.id_bytes,
                          err);
}
