/*
 * test_pretoken_rows.c: each row of the kernels over batches of pretokens cuts, finds, merges and writes what merging
 * one pretoken at a time gives, with merges drawn at random and ranks that do not rise along them. Pretokens of 1 to 90
 * bytes come again after others have pushed them out of the cache, or not; those that a row leaves to its caller are
 * the long ones only. Writing is tried alone, too. It needs no vocabulary, and so runs on other machines, too.
 */
#include "t.h"
#include "tokenizer/bpe/merge_table.h"
#include "tokenizer/bpe/pretoken_batch.h"

#define MERGES  400
#define WORDS   3000
#define LONGEST 90
#define BATCHES 200
#define HEAP    60000
#define MANY    (3 * BATCH_BYTES)

static uint64_t random_state;
static uint8_t words[WORDS][LONGEST];
static size_t lengths[WORDS];
static uint32_t bytes_of[256], first[1 << 16];
static struct pair_table pairs;
static struct merge_rules rules = { .pairs = &pairs, .bytes = bytes_of, .first = first };
static struct pretoken_batch batch;

static size_t below(size_t n)
{
    return (size_t)t_below(&random_state, n);
}

/* Of six letters, and of what was made of them before. */
static void make_rules(void)
{
    static struct merge merges[MERGES];

    for (uint32_t i = 0; i < MERGES; i++) {
        uint32_t left = (uint32_t)below(6 + i), right = (uint32_t)below(6 + i / 4);

        merges[i] = (struct merge) { left < 6 ? 'a' + left : 250 + left, right < 6 ? 'a' + right : 250 + right, 256 + i,
                                     i ^ 5 };
    }
    T_CHECK(pair_table_fit(merges, MERGES));
    T_OK(pair_table_make(&pairs, merges, MERGES, &t_err));
    for (uint32_t i = 0; i < 256; i++)
        bytes_of[i] = i;
    for (uint32_t i = 0; i < 1 << 16; i++)
        first[i] = pair_rank(&pairs, i >> 8, i & 0xff);
}

static void make_words(void)
{
    for (size_t i = 0; i < WORDS; i++) {
        lengths[i] = 1 + below(below(4) ? 9 : below(4) ? 32 : LONGEST);
        for (size_t k = 0; k < lengths[i]; k++)
            words[i][k] = (uint8_t)('a' + below(below(8) ? 6 : 26));
        if (i > 0 && below(2))
            memcpy(words[i], words[i - 1], 8);
    }
}

/* By the rule of merge_table.h; returns how many ids there are. */
static size_t merge_slowly(const uint8_t *pretoken, size_t bytes, uint32_t *ids)
{
    size_t count = bytes;

    for (size_t i = 0; i < bytes; i++)
        ids[i] = pretoken[i];
    for (;;) {
        uint32_t least = UINT32_MAX;
        size_t at = 0;

        for (size_t i = 0; i + 1 < count; i++) {
            uint32_t rank = pair_rank(&pairs, ids[i], ids[i + 1]);

            at = rank < least ? i : at;
            least = rank < least ? rank : least;
        }
        if (least == UINT32_MAX)
            return count;
        ids[at] = pair_result(&pairs, least);
        memmove(ids + at + 1, ids + at + 2, (--count - at - 1) * sizeof *ids);
    }
}

/* What a row leaves as missed, as its caller does it. */
static void encode_missed(const char *name)
{
    for (uint32_t i = 0; i < batch.missed_count; i++) {
        uint32_t at = batch.missed[i], bytes = batch.begins[at + 1] - batch.begins[at];
        uint32_t *ids = batch.many + batch.many_count;
        size_t count = merge_slowly(batch.text + batch.begins[at], bytes, ids);

        if (bytes <= 30)
            T_FAIL("%s: a pretoken of %u bytes is not merged", name, (unsigned)bytes);
        batch.values[at] = pretoken_value(ids, count, batch.many_count);
        batch.many_count += count;
    }
}

static void check_batch(const struct pretoken_kernels *k, struct pretoken_cache *cache)
{
    static uint8_t text[BATCH_BYTES + BATCH_OVER];
    static uint32_t ends[BATCH_ROOM], want[BATCH_ROOM], got[BATCH_ROOM + BATCH_OVER], many[MANY];
    uint32_t bytes = 0, count = 0, base = (uint32_t)below(1000), fixed = 0;
    size_t wanted = 0, max = 1 + below(below(2) ? 400 : 4000), kinds = 1 + below(WORDS);
    struct pretoken_cut all = { .text = text, .room = sizeof text, .ends = ends, .base = base };

    for (size_t w; count < max && bytes + LONGEST <= BATCH_BYTES; count++) {
        w = below(kinds);
        memcpy(text + bytes, words[w], lengths[w]);
        wanted += merge_slowly(words[w], lengths[w], want + wanted);
        bytes += (uint32_t)lengths[w];
        ends[count] = (base + bytes) | (below(50) ? 0 : MODEL_FIXED);
        fixed += ends[count] >> 31;
    }
    batch.text = text;
    batch.many = many;
    batch.many_count = 0;
    all.bytes = bytes;
    all.last = ends + count;
    T_CHECK(k->cut(&all, &batch) == ends + count - 1);
    T_EQ(batch.count, count);
    T_EQ(batch.fixed_count, fixed);
    for (uint32_t i = 0, f = 0; i < count; i++) {
        T_EQ(batch.begins[i + 1], (ends[i] & ~MODEL_FIXED) - base);
        if (ends[i] & MODEL_FIXED)
            T_EQ(batch.fixed[f++], i);
    }
    k->find(cache, &batch);
    k->merge(&rules, cache, &batch);
    encode_missed(k->name);
    count = (uint32_t)k->write(&batch, 0, batch.count, got);
    if (count != wanted || memcmp(got, want, wanted * sizeof *want) != 0)
        T_FAIL("%s: %" PRIu32 " ids, not the %zu of single pretokens", k->name, count, wanted);
}

/* Four lines, so that keys share one all the time. */
static void make_tiny(struct pretoken_cache *c, unsigned tiny)
{
    for (unsigned t = 0; tiny && t < PRETOKEN_TABLES; t++)
        c->tables[t].shift = 62;
}

/* The same beside a shared cache, whose heap is full at some time. */
static void check_shared(const struct pretoken_kernels *k, struct pretoken_cache *cache, bool usable, unsigned tiny)
{
    struct pretoken_heap heap = { .words = calloc(HEAP, sizeof(uint32_t)), .count = HEAP };
    struct pretoken_cache common;

    T_CHECK(heap.words && pretoken_cache_make_common(&common, 12, &heap));
    make_tiny(&common, tiny);
    cache->common = &common;
    for (unsigned i = 0; usable && i < t_times(BATCHES) && t_failures < 10; i++)
        check_batch(k, cache);
    pretoken_cache_free(&common);
    free(heap.words);
}

/* Writing alone: values of one to three ids, and where `many` says so of more, which lie elsewhere; all are few, or
 * none, in some batches, as rows may write those in another way. */
static void check_write(const struct pretoken_kernels *k)
{
    static uint32_t elsewhere[40 * 300 + BATCH_OVER], want[40 * 300], got[40 * 300 + BATCH_OVER];
    uint32_t most = 1 + (uint32_t)below(3), many = (uint32_t)below(60), count = 0;

    batch.many = elsewhere;
    batch.many_count = 0;
    batch.count = 1 + (uint32_t)below(300);
    for (uint32_t i = 0; i < batch.count; i++) {
        uint32_t ids = many && below(many) == 0 ? 4 + (uint32_t)below(36) : 1 + (uint32_t)below(most);

        for (uint32_t n = 0; n < ids; n++)
            want[count + n] = elsewhere[batch.many_count + n] = (uint32_t)below(PRETOKEN_ID_MASK + 1);
        batch.values[i] = pretoken_value(want + count, ids, batch.many_count);
        batch.many_count += ids > 3 ? ids : 0;
        count += ids;
    }
    T_EQ(k->write(&batch, 0, batch.count, got), count);
    T_CHECK(memcmp(got, want, count * sizeof *want) == 0);
}

int main(void)
{
    const struct pretoken_kernels *k;
    int usable;

    random_state = t_seed();
    make_rules();
    make_words();
    for (unsigned number = 0; (k = pretoken_kernels_row(number, &usable)) != NULL; number++) {
        struct pretoken_cache cache;

        fprintf(stderr, "row %s%s\n", k->name, usable ? "" : ": this CPU lacks it");
        for (unsigned i = 0; usable && i < t_times(2000) && t_failures < 10; i++)
            check_write(k);
        for (unsigned tiny = 0; tiny < 2; tiny++) {
            T_CHECK(pretoken_cache_make(&cache));
            make_tiny(&cache, tiny);
            for (unsigned i = 0; usable && i < t_times(BATCHES) && t_failures < 10; i++)
                check_batch(k, &cache);
            check_shared(k, &cache, usable, tiny);
            pretoken_cache_free(&cache);
        }
    }
    pair_table_free(&pairs);
    return t_end();
}
