/* shuffle.c: fills buckets with documents, and writes the documents of each in the order of their keys. */
#include "shuffle.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/file.h"
#include "base/grow.h"
#include "base/status.h"
#include "base/tiny.h"
#include "sorting/external_sort.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

/* ---- A document in a bucket ---- */

/*
 * The head of a document's record. Its tokens in the stored width follow, then its id, then zeros up to a multiple
 * of 8, so that tokens are aligned in memory. Numbers have this machine's byte order, since no other process reads
 * them.
 */
struct shuffle_record {
    uint64_t number; /* the document's number in its output if nothing is shuffled */
    uint64_t source; /* the document's number in the order of the parts */
    uint64_t tokens;
    uint64_t input, offset, line, id_bytes; /* members of its origin */
    uint8_t hash[16];                       /* zeros: none */
};

/* Tokens per block, in a record with a mask. Each block is followed by its mask; the last one is shorter. */
#define SHUFFLE_BLOCK TINY_OR((uint64_t)8, (uint64_t)4096)

/* Returns the size of a record with everything after it; `cost` is the size of a token with its mask. Documents that
 * exist in files cannot overflow it. */
static inline uint64_t shuffle_record_bytes(const struct shuffle_record *r, uint32_t cost)
{
    return (sizeof *r + r->tokens * cost + r->id_bytes + 7) / 8 * 8;
}

/* Counts a record of this size in a bucket. */
static inline void shuffle_record_count(struct bucket *b, uint64_t bytes)
{
    b->records++;
    if (bytes > b->longest)
        b->longest = bytes;
}

/* ---- How many buckets, and how large their buffers ---- */

/*
 * Half of the memory is for filling buckets; half is for the bucket that is written, with an index of 24 bytes per
 * document.
 */

#define SHUFFLE_INDEX_BYTES        sizeof(struct triple)

#define SHUFFLE_MAX_BITS           12u
#define SHUFFLE_MAX_BITS_IN_MEMORY 8u
#define SHUFFLE_MIN_BLOCK          TINY_OR((size_t)64, (size_t)4096)
#define SHUFFLE_GOOD_BLOCK         TINY_OR((size_t)128, (size_t)64 << 10) /* size at which a disk writes blocks well */
#define SHUFFLE_MAX_BLOCK          TINY_OR((size_t)4096, (size_t)512 << 10)

/* Buckets of about this size lie in the processor's caches while they are written: ten million documents of six tokens
 * take 2 to 4 s, and 6 s in buckets of half a GiB (x86-64). */
#define SHUFFLE_CACHED_BYTES TINY_OR((uint64_t)1024, (uint64_t)4 << 20)

/*
 * Returns how many bits of a key choose the bucket, if all take `bytes` bytes; at least one, at most `left`. Buckets
 * come out half as large as can be written at once, so that few are too large; or smaller, if their blocks stay large
 * enough.
 */
static inline unsigned shuffle_plan_bits(uint64_t bytes, uint64_t memory, size_t outputs, unsigned left)
{
    uint64_t max = memory / 2 / SHUFFLE_MIN_BLOCK / outputs, good = memory / 2 / SHUFFLE_GOOD_BLOCK / outputs;
    unsigned bits = 1;

    while (bits < SHUFFLE_MAX_BITS && bits < left &&
           ((bytes >> bits > memory / 4 && (uint64_t)2 << bits <= max) ||
            (bytes >> bits > SHUFFLE_CACHED_BYTES && (uint64_t)2 << bits <= good)))
        bits++;
    return bits;
}

/* Returns the number of bits that choose the bucket if there is no file. */
static inline unsigned shuffle_plan_bits_in_memory(uint64_t bytes)
{
    unsigned bits = 0;

    while (bits < SHUFFLE_MAX_BITS_IN_MEMORY && bytes >> bits > SHUFFLE_CACHED_BYTES)
        bits++;
    return bits;
}

static inline size_t shuffle_plan_block(uint64_t memory, size_t buckets)
{
    uint64_t bytes = memory / 2 / buckets / SHUFFLE_MIN_BLOCK * SHUFFLE_MIN_BLOCK;

    return bytes < SHUFFLE_MIN_BLOCK   ? SHUFFLE_MIN_BLOCK
           : bytes > SHUFFLE_MAX_BLOCK ? SHUFFLE_MAX_BLOCK
                                       : (size_t)bytes;
}

/* Returns the bucket for a key whose first `passed` bits have been used. `bits` may be 0; passed + bits is at most
 * 64. */
static inline size_t shuffle_plan_bucket(size_t output, uint64_t key, unsigned bits, unsigned passed)
{
    return bits == 0 ? output : output << bits | (size_t)(key << passed >> (64 - bits));
}

/* ---- The first pass ---- */

/* Returns the key that documents are ordered by. */
static uint64_t shuffle_key(uint64_t seed, uint64_t number)
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
    /* A buffer that grows may take twice its memory while it is moved. */
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

/* Appends the tokens and masks of a chunk, block by block. */
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

/* Returns the fields of the document's record. */
static struct shuffle_record record_of(const struct document *d, uint64_t number)
{
    struct shuffle_record r = {
        .number = number,
        .source = d->number,
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

/* ---- The second pass ---- */

/*
 * The second pass writes one bucket after another, in the order of their documents' keys. If a bucket fits into
 * memory, it is read whole, and an index of its documents is sorted; helpers do this with the next buckets as far as
 * there is memory. If it does not fit, it is divided by the next bits of the keys, and each of its parts is written
 * as a bucket. If it does not fit because its documents are large, only its keys are sorted, and each document is
 * copied from the file.
 */

#define CHUNK_BYTES                                                                                                    \
    TINY_OR((size_t)64, (size_t)1 << 20) /* bytes that are read at once of a document which is not
                                                            loaded */

#define LOADED_MAX 4u

/* A bucket in memory, and the places of its documents, sorted. */
struct loaded {
    struct job job;
    const struct shuffle *shuffle;
    const struct buckets *buckets;
    size_t bucket;
    struct triple *index;
    uint8_t *data; /* NULL if the documents are in the bucket's buffer */
    size_t index_bytes, data_bytes;
    enum leat_status status;
    struct leat_error error;
};

struct writing {
    const struct shuffle *shuffle;
    struct outputs *outputs;
    size_t output; /* the output that is written */
    struct pace *pace;
    struct loaded loaded[LOADED_MAX]; /* loaded buckets before `next`; bucket i is item i % LOADED_MAX */
    size_t next;                      /* the first bucket that no helper loads yet */
    uint64_t held;                    /* bytes of the loaded buckets */
};

/* Ends the document whose tokens have been appended. */
static enum leat_status end_document(struct writing *w, const struct shuffle_record *r, const char *id,
                                     struct leat_error *err)
{
    struct leat_origin origin = {
        .input = r->input,
        .offset = r->offset,
        .line = r->line,
        .id = id,
        .id_bytes = r->id_bytes,
        .text_hash = r->hash,
    };

    return outputs_end_document(w->outputs, w->output, r->source, &origin, err);
}

/* Appends tokens as they lie in a record: in blocks, if they have masks. */
static enum leat_status append_tokens(struct writing *w, const uint8_t *tokens, uint64_t count, struct leat_error *err)
{
    uint32_t width = w->shuffle->width, cost = w->shuffle->cost;
    enum leat_status s = LEAT_OK;

    if (cost == width)
        return outputs_append(w->outputs, w->output, tokens, NULL, count, err);
    for (uint64_t here; s == LEAT_OK && count > 0; count -= here) {
        here = count < SHUFFLE_BLOCK ? count : SHUFFLE_BLOCK;
        s = outputs_append(w->outputs, w->output, tokens, tokens + here * width, here, err);
        tokens += here * cost;
    }
    return s;
}

static struct triple index_entry(const struct shuffle *s, const struct shuffle_record *r, uint64_t at)
{
    return (struct triple) { shuffle_key(s->seed, r->number), r->number, at };
}

/* ---- A bucket that fits into memory ---- */

static const uint8_t *data_of(const struct loaded *l)
{
    return l->data ? l->data : l->buckets->items[l->bucket].buffer;
}

/* Maps memory that the kernel gets back as soon as it is unmapped: malloc() would keep what a helper's thread frees. */
static void *take_pages(size_t *bytes, uint64_t count, size_t each, struct leat_error *err)
{
    void *pages = MAP_FAILED;

    if (count <= SIZE_MAX / each)
        pages = mmap(NULL, (size_t)count * each, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
        status_no_memory(err, count);
        return NULL;
    }
    *bytes = (size_t)count * each;
    return pages;
}

static enum leat_status load(struct loaded *l, struct leat_error *err)
{
    const struct bucket *b = &l->buckets->items[l->bucket];
    struct shuffle_record r;
    enum leat_status s = LEAT_OK;
    uint64_t at = 0;

    if (b->records == 0)
        return LEAT_OK;
    l->index = take_pages(&l->index_bytes, b->records, sizeof *l->index, err);
    if (!l->index)
        return LEAT_E_NO_MEMORY;
    if (l->buckets->block_bytes != BUCKETS_IN_MEMORY) {
        l->data = take_pages(&l->data_bytes, b->bytes, 1, err);
        s = l->data ? buckets_read(l->buckets, l->bucket, 0, l->data, b->bytes, err) : LEAT_E_NO_MEMORY;
        if (s == LEAT_OK)
            buckets_free_blocks(l->buckets, l->bucket);
    }
    for (uint64_t i = 0; s == LEAT_OK && i < b->records; i++) {
        memcpy(&r, data_of(l) + at, sizeof r);
        l->index[i] = index_entry(l->shuffle, &r, at);
        at += shuffle_record_bytes(&r, l->shuffle->cost);
    }
    if (s == LEAT_OK)
        triple_sort(l->index, (size_t)b->records);
    return s;
}

static void load_job(struct job *j)
{
    struct loaded *l = (void *)((char *)j - offsetof(struct loaded, job));

    l->status = load(l, &l->error);
}

static void give_load(struct writing *w, struct loaded *l, const struct buckets *buckets, size_t i)
{
    *l = (struct loaded) { .job = { .run = load_job }, .shuffle = w->shuffle, .buckets = buckets, .bucket = i };
    helpers_give(w->shuffle->helpers, &l->job);
}

static void unload(struct writing *w, struct loaded *l)
{
    helpers_drop(w->shuffle->helpers, &l->job);
    if (l->data)
        (void)munmap(l->data, l->data_bytes);
    if (l->index)
        (void)munmap(l->index, l->index_bytes);
    l->data = NULL;
    l->index = NULL;
}

static enum leat_status write_from_memory(struct writing *w, const struct loaded *l, struct leat_error *err)
{
    const uint8_t *data = data_of(l);
    struct shuffle_record r;
    enum leat_status s = LEAT_OK;

    for (uint64_t i = 0; s == LEAT_OK && i < l->buckets->items[l->bucket].records; i++) {
        const uint8_t *tokens = data + l->index[i].c + sizeof r;

        memcpy(&r, data + l->index[i].c, sizeof r);
        s = append_tokens(w, tokens, r.tokens, err);
        if (s == LEAT_OK)
            s = end_document(w, &r, (const char *)tokens + r.tokens * w->shuffle->cost, err);
        if (s == LEAT_OK)
            s = pace_step(w->pace, r.tokens * w->shuffle->width, err);
    }
    return s;
}

/* Returns the bytes that the bucket takes in memory. */
static uint64_t loaded_bytes(const struct bucket *b)
{
    return b->bytes + b->records * SHUFFLE_INDEX_BYTES;
}

static bool can_load(const struct writing *w, const struct buckets *buckets, size_t i)
{
    return buckets->block_bytes == BUCKETS_IN_MEMORY || loaded_bytes(&buckets->items[i]) <= w->shuffle->memory / 2;
}

/* Lets helpers load bucket i of the shuffle and those after it, as far as there is memory. */
static void load_ahead(struct writing *w, size_t i)
{
    const struct buckets *buckets = &w->shuffle->buckets;

    if (w->next < i)
        w->next = i;
    for (; w->next < buckets->count && w->next - i < LOADED_MAX && can_load(w, buckets, w->next); w->next++) {
        uint64_t bytes = loaded_bytes(&buckets->items[w->next]);

        if (w->next > i && w->held + bytes > w->shuffle->memory / 2)
            break;
        w->held += bytes;
        if (bytes > 0)
            give_load(w, &w->loaded[w->next % LOADED_MAX], buckets, w->next);
    }
}

static enum leat_status write_loaded(struct writing *w, struct buckets *buckets, size_t i, struct leat_error *err)
{
    bool of_shuffle = buckets == &w->shuffle->buckets;
    struct loaded alone, *l = of_shuffle ? &w->loaded[i % LOADED_MAX] : &alone;
    enum leat_status s;

    if (of_shuffle)
        load_ahead(w, i);
    else
        give_load(w, l, buckets, i);
    helpers_wait(w->shuffle->helpers, &l->job);
    s = l->status;
    if (s != LEAT_OK && err)
        *err = l->error;
    if (s == LEAT_OK)
        s = write_from_memory(w, l, err);
    unload(w, l);
    w->held -= of_shuffle ? loaded_bytes(&buckets->items[i]) : 0;
    return s;
}

/* ---- A bucket with large documents: only its keys are sorted ---- */

/* Copies the record that the cursor is about to read. */
static enum leat_status look_at_record(struct bucket_cursor *c, struct shuffle_record *r, struct leat_error *err)
{
    const void *bytes;
    enum leat_status s = bucket_cursor_look(c, &bytes, sizeof *r, err);

    if (s == LEAT_OK)
        memcpy(r, bytes, sizeof *r);
    return s;
}

/* Moves the cursor past a record, and appends the record to a bucket of `to` (NULL: none). */
static enum leat_status pass_record(struct bucket_cursor *c, uint64_t bytes, struct buckets *to, size_t bucket,
                                    struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    while (s == LEAT_OK && bytes > 0) {
        const void *chunk;
        size_t count;

        s = bucket_cursor_take(c, &chunk, &count, bytes, err);
        if (s == LEAT_OK && to)
            s = buckets_append(to, bucket, chunk, count, err);
        bytes -= count;
    }
    return s;
}

static enum leat_status fill_index(struct writing *w, struct buckets *buckets, size_t i, struct triple *index,
                                   struct leat_error *err)
{
    struct bucket_cursor c;
    enum leat_status s = bucket_cursor_open(&c, buckets, i, err);
    uint64_t at = 0;

    for (uint64_t k = 0; s == LEAT_OK && k < buckets->items[i].records; k++) {
        struct shuffle_record r;

        s = look_at_record(&c, &r, err);
        if (s != LEAT_OK)
            break;
        index[k] = index_entry(w->shuffle, &r, at);
        at += shuffle_record_bytes(&r, w->shuffle->cost);
        s = pass_record(&c, shuffle_record_bytes(&r, w->shuffle->cost), NULL, 0, err);
    }
    bucket_cursor_close(&c);
    return s;
}

/* Memory for a document that is copied from the file: a chunk of its tokens, and its id. */
struct copy_room {
    uint8_t *chunk;
    char *id;
    size_t id_room;
};

static enum leat_status copy_record(struct writing *w, const struct buckets *buckets, size_t i, uint64_t at,
                                    struct copy_room *room, struct leat_error *err)
{
    uint32_t width = w->shuffle->width, cost = w->shuffle->cost;
    uint64_t most = cost == width ? CHUNK_BYTES / width : SHUFFLE_BLOCK;
    struct shuffle_record r;
    enum leat_status s = buckets_read(buckets, i, at, &r, sizeof r, err);

    if (s != LEAT_OK)
        return s;
    at += sizeof r;
    for (uint64_t done = 0; s == LEAT_OK && done < r.tokens;) {
        uint64_t left = r.tokens - done, here = left < most ? left : most;

        s = buckets_read(buckets, i, at, room->chunk, here * cost, err);
        if (s == LEAT_OK)
            s = append_tokens(w, room->chunk, here, err);
        if (s == LEAT_OK)
            s = pace_step(w->pace, here * width, err);
        at += here * cost;
        done += here;
    }
    if (s == LEAT_OK)
        s = GROW(room->id, r.id_bytes, room->id_room, err);
    if (s == LEAT_OK && r.id_bytes > 0)
        s = buckets_read(buckets, i, at, room->id, r.id_bytes, err);
    return s == LEAT_OK ? end_document(w, &r, room->id, err) : s;
}

static enum leat_status write_by_keys(struct writing *w, struct buckets *buckets, size_t i, struct leat_error *err)
{
    uint64_t records = buckets->items[i].records;
    struct triple *index = records <= SIZE_MAX / sizeof *index ? malloc((size_t)records * sizeof *index) : NULL;
    struct copy_room room = { .chunk = file_buffer(CHUNK_BYTES) };
    enum leat_status s;

    if (index && room.chunk)
        s = fill_index(w, buckets, i, index, err);
    else
        s = status_no_memory(err, index ? CHUNK_BYTES : records * sizeof *index);
    if (s == LEAT_OK)
        triple_sort(index, (size_t)records);
    for (uint64_t k = 0; s == LEAT_OK && k < records; k++)
        s = copy_record(w, buckets, i, index[k].c, &room, err);
    free(index);
    free(room.chunk);
    free(room.id);
    return s;
}

/* ---- A bucket with too many documents: divided by the next bits of the keys ---- */

static enum leat_status divide_bucket(struct writing *w, const struct buckets *from, size_t i, unsigned passed,
                                      unsigned bits, struct buckets *to, struct leat_error *err)
{
    uint32_t cost = w->shuffle->cost;
    struct bucket_cursor c;
    enum leat_status s = bucket_cursor_open(&c, from, i, err);

    for (uint64_t k = 0; s == LEAT_OK && k < from->items[i].records; k++) {
        struct shuffle_record r;
        size_t bucket;

        s = look_at_record(&c, &r, err);
        if (s != LEAT_OK)
            break;
        bucket = shuffle_plan_bucket(0, shuffle_key(w->shuffle->seed, r.number), bits, passed);
        shuffle_record_count(&to->items[bucket], shuffle_record_bytes(&r, cost));
        s = pass_record(&c, shuffle_record_bytes(&r, cost), to, bucket, err);
        if (s == LEAT_OK)
            s = pace_step(w->pace, 0, err);
    }
    bucket_cursor_close(&c);
    return s == LEAT_OK ? buckets_seal(to, err) : s;
}

static enum leat_status write_bucket(struct writing *w, struct buckets *buckets, size_t i, unsigned passed,
                                     struct leat_error *err);

/* Divides a bucket and writes its parts. The recursion is no deeper than a key has bits. */
static enum leat_status write_divided(struct writing *w, struct buckets *buckets, size_t i, unsigned passed,
                                      struct leat_error *err)
{
    uint64_t memory = w->shuffle->memory;
    unsigned bits = shuffle_plan_bits(buckets->items[i].bytes, memory, 1, 64 - passed);
    struct buckets smaller;
    enum leat_status s = buckets_open(&smaller, w->shuffle->path, (size_t)1 << bits,
                                      shuffle_plan_block(memory, (size_t)1 << bits), w->shuffle->helpers, err);

    if (s == LEAT_OK)
        s = divide_bucket(w, buckets, i, passed, bits, &smaller, err);
    if (s == LEAT_OK)
        buckets_release(buckets, i);
    for (size_t k = 0; s == LEAT_OK && k < (size_t)1 << bits; k++)
        s = write_bucket(w, &smaller, k, passed + bits, err);
    buckets_close(&smaller);
    return s;
}

/* Writes all documents of the bucket in order. The first `passed` bits of their keys are equal. */
static enum leat_status write_bucket(struct writing *w, struct buckets *buckets, size_t i, unsigned passed,
                                     struct leat_error *err)
{
    const struct bucket *b = &buckets->items[i];
    uint64_t max = w->shuffle->memory / 2, index = b->records * SHUFFLE_INDEX_BYTES;
    enum leat_status s;

    if (b->records == 0)
        return LEAT_OK;
    if (can_load(w, buckets, i))
        s = write_loaded(w, buckets, i, err);
    else if (passed == 64 || (b->bytes - b->longest + index <= max))
        s = write_by_keys(w, buckets, i, err);
    else
        s = write_divided(w, buckets, i, passed, err);
    if (s == LEAT_OK)
        buckets_release(buckets, i);
    return s;
}

enum leat_status shuffle_write(struct shuffle *s, struct outputs *outputs, struct pace *pace, struct leat_error *err)
{
    struct writing w = { .shuffle = s, .outputs = outputs, .pace = pace };
    enum leat_status status = buckets_seal(&s->buckets, err);

    for (; status == LEAT_OK && w.output < s->output_count; w.output++)
        for (size_t i = 0; status == LEAT_OK && i < (size_t)1 << s->bits; i++)
            status = write_bucket(&w, &s->buckets, (w.output << s->bits) + i, s->bits, err);
    for (unsigned i = 0; i < LOADED_MAX; i++)
        unload(&w, &w.loaded[i]);
    return status;
}
