/*
 * test_word_store.c: threads share what they have met (word_store.h) and see only whole entries: of pretokens of all
 * lengths and kinds, with one id or very many, with zeros in their bytes, while the memory grows under them and is full
 * in the end; also where another thread is in the middle of writing. What each thread finds is compared with what the
 * pretoken is, not with what was put there. Memory that no thread has any more is given back: AddressSanitizer would
 * tell.
 */
#include <pthread.h>

#include "t.h"
#include "tokenizer/bpe/pretoken_batch.h"
#include "tokenizer/bpe/word_store.h"

#define THREADS 4
#define WORDS   6000
#define ROUNDS  60000
#define GROW    4096 /* rounds after which a larger cache is asked for */
#define ASKED   ((ROUNDS + GROW - 1) / GROW)
#define MAX_IDS 300

struct pretoken {
    uint8_t text[WORD_BYTES];
    uint32_t bytes, kind, count;
};

static struct pretoken pretokens[WORDS];

static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15u;
    return (*state ^ *state >> 29) * 0xbf58476d1ce4e5b9u >> 24;
}

/* Half of them share their first bytes, and many have stretches of zeros. */
static void make_pretokens(uint64_t seed)
{
    static const uint32_t longest[] = { 8, 16, 32, WORD_BYTES + 1 };

    for (uint32_t i = 0; i < WORDS; i++) {
        struct pretoken *p = &pretokens[i];
        uint32_t zeros = (uint32_t)(next_random(&seed) % 40);

        p->bytes = 4 + (uint32_t)(next_random(&seed) % (longest[i % 4] - 4));
        p->kind = i % 2;
        for (uint32_t k = 0; k < p->bytes; k++)
            p->text[k] = i % 3 || k >= 6 ? (uint8_t)next_random(&seed) : (uint8_t)k;
        for (uint32_t k = zeros; i % 5 == 0 && k < zeros + 16 && k < p->bytes; k++)
            p->text[k] = 0;
        memcpy(p->text, &i, p->bytes < 3 ? p->bytes : 3); /* no two are the same */
        p->count = 1 + (uint32_t)(next_random(&seed) % (p->bytes <= PRETOKEN_MAX ? PRETOKEN_IDS : MAX_IDS));
        if (i % 7 == 0)
            p->count = 1;
    }
}

/* Zero among them. */
static void ids_of(uint32_t pretoken, uint32_t *ids)
{
    for (uint32_t k = 0; k < pretokens[pretoken].count; k++)
        ids[k] = k % 4 == 0 ? 0 : (pretoken * 131 + k * 7) & PRETOKEN_ID_MASK;
}

static void check(uint32_t pretoken, const uint32_t *got, size_t count)
{
    uint32_t want[MAX_IDS];

    ids_of(pretoken, want);
    T_EQ(count, pretokens[pretoken].count);
    T_CHECK(count == pretokens[pretoken].count && memcmp(got, want, count * sizeof *want) == 0);
}

struct worker {
    struct word_store *store;
    uint64_t random;
    unsigned found, grown;
};

static void take(struct worker *w, struct pretoken_cache *c)
{
    struct pretoken_cache *had = c->common;

    c->common = word_store_take(w->store, had);
    if (c->common != had)
        c->stretch = (struct pretoken_stretch) { 0, 0 };
}

/* Makes a part of a larger cache; returns true if that was the last part. */
static bool grow(struct worker *w, struct pretoken_cache *c)
{
    struct pretoken_cache *empty;

    if (!word_store_grow(w->store, c->common, WORDS, (size_t)1 << 30, &empty))
        return false;
    word_store_publish(w->store);
    w->grown++;
    take(w, c);
    return true;
}

static void meet_short(struct worker *w, struct pretoken_cache *c, uint32_t at)
{
    const struct pretoken *p = &pretokens[at];
    struct pretoken_key key = pretoken_key_make(p->text, p->bytes, p->kind);
    uint32_t ids[PRETOKEN_IDS];
    size_t count = pretoken_cache_find(c, &key, ids);

    if (count > 0) {
        check(at, ids, count);
        w->found++;
    } else {
        ids_of(at, ids);
        pretoken_cache_add(c, &key, ids, p->count);
    }
}

static void meet_long(struct worker *w, struct pretoken_cache *c, uint32_t at)
{
    const struct pretoken *p = &pretokens[at];
    struct word_key key = word_key_make(p->text, p->bytes, p->kind);
    const struct word *word;
    uint32_t ids[MAX_IDS];

    word_store_fetch(c->common, &key);
    word_store_fetch_entry(c->common, &key);
    word = word_store_find(c->common, &key);
    if (word) {
        check(at, word->data, word->count);
        w->found++;
    } else {
        ids_of(at, ids);
        word_store_add(c, &key, ids, p->count);
    }
}

static void *work(void *context)
{
    struct worker *w = context;
    struct pretoken_cache c;
    bool grows = false;

    T_CHECK(pretoken_cache_make(&c));
    for (unsigned i = 0; i < ROUNDS && t_failures < 10; i++) {
        uint32_t at = (uint32_t)(next_random(&w->random) % WORDS);

        grows = grows || i % GROW == 0;
        grows = grows && !grow(w, &c);
        take(w, &c);
        (pretokens[at].bytes <= PRETOKEN_MAX ? meet_short : meet_long)(w, &c, at);
    }
    word_store_leave(c.common);
    pretoken_cache_free(&c);
    return NULL;
}

/* So many threads, with memory for `bytes`: words are found, and the cache grows at least so often. Several threads are
 * sure of the first cache only: while one of them makes a larger one, the others may come to their end. */
static void share(unsigned count, size_t bytes, uint64_t seed, unsigned least_grown)
{
    struct worker workers[THREADS];
    pthread_t threads[THREADS];
    struct word_store *store;
    unsigned found = 0, grown = 0;

    T_OK(word_store_make(&store, &t_err));
    word_store_bound(store, bytes);
    for (unsigned i = 0; i < count; i++) {
        workers[i] = (struct worker) { .store = store, .random = seed + i };
        T_EQ(pthread_create(&threads[i], NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < count; i++) {
        T_EQ(pthread_join(threads[i], NULL), 0);
        found += workers[i].found;
        grown += workers[i].grown;
    }
    T_CHECK(found > 0);
    T_CHECK(grown >= least_grown);
    word_store_free(store);
}

/* What a thread sees while another one writes an entry for the same pretoken, with ids of its own in the heap: it adds
 * none beside it, since a line with two would give both values as one; and when the other has finished, it finds that
 * thread's. */
static void half_written(void)
{
    const struct pretoken_key key = pretoken_key_make((const uint8_t *)"0123456789ab", 12, 0);
    static uint32_t words[20000]; /* from 10000 on, the other thread's */
    uint32_t ids[PRETOKEN_IDS], got[PRETOKEN_IDS];
    struct pretoken_heap heap = { .words = words, .count = sizeof words / sizeof *words };
    struct pretoken_cache c, common;
    uint64_t *line;

    T_CHECK(pretoken_cache_make(&c) && pretoken_cache_make_common(&common, 12, &heap));
    c.common = &common;
    line = common.tables[key.table].lines +
           pretoken_line(&common.tables[key.table], pretoken_hash_middle(key.words[0], key.words[1]));
    for (uint32_t i = 0; i < 9; i++)
        ids[i] = words[10000 + i] = i;
    line[1] = key.words[1];
    pretoken_cache_add(&c, &key, ids, 9);
    T_EQ(line[2] | line[3] | line[6] | line[7], 0);
    T_EQ(pretoken_cache_find(&c, &key, got), 0);
    line[0] = key.words[0];
    T_EQ(pretoken_cache_find(&c, &key, got), 0);
    line[5] = PRETOKEN_WRITTEN;
    line[4] = PRETOKEN_SPILLED | (uint64_t)9 << 48 | 10000;
    T_EQ(pretoken_cache_find(&c, &key, got), 9);
    T_CHECK(memcmp(got, ids, 9 * sizeof *ids) == 0);
    pretoken_cache_free(&common);
    pretoken_cache_free(&c);
}

/* Reads `mebibytes` of text of which so many pretokens of each are refused; how many are read when another cache is
 * needed, or all. */
static unsigned until_needed(struct pretoken_cache *c, struct word_need *n, unsigned mebibytes, uint32_t refused)
{
    for (unsigned i = 0; i < mebibytes; i++, c->refused += refused)
        if (word_store_needed(c, n, (size_t)1 << 20))
            return i;
    return mebibytes;
}

/* When the largest cache is full, it is replaced if texts are unlike those that filled it, and not by and by. */
static void other_texts(void)
{
    struct word_store *store;
    struct pretoken_cache c, *now, *empty = NULL;
    struct word_need need = { .bytes = 0 };
    uint32_t lines;

    T_OK(word_store_make(&store, &t_err));
    word_store_bound(store, (size_t)24 << 20);
    T_CHECK(pretoken_cache_make(&c));
    T_CHECK(word_store_grow(store, NULL, WORDS, 1, &empty) && empty);
    word_store_publish(store);
    c.common = word_store_take(store, NULL);
    lines = (uint32_t)1 << (64 - c.common->tables[PRETOKEN_SHORT].shift);
    T_EQ(until_needed(&c, &need, 2000, lines / 100), 2000);
    T_EQ(until_needed(&c, &need, 2000, lines / 50), 2000);
    T_CHECK(until_needed(&c, &need, 2000, lines / 10) < 50);
    T_CHECK(word_store_grow(store, c.common, WORDS, 1, &empty) && empty); /* of the same size, and empty */
    T_EQ(empty->tables[PRETOKEN_SHORT].shift, c.common->tables[PRETOKEN_SHORT].shift);
    word_store_publish(store);
    T_CHECK(!word_store_grow(store, c.common, WORDS, 1, &empty)); /* this is no longer the one of now */
    c.common = word_store_take(store, c.common);
    T_CHECK(word_store_grow(store, c.common, WORDS, 1, &empty));
    word_store_publish(store);
    now = empty;
    T_CHECK(!word_store_grow(store, now, WORDS, 1, &empty)); /* a thread has the one before that */
    word_store_leave(c.common);
    T_CHECK(word_store_grow(store, now, WORDS, 1, &empty));
    word_store_publish(store);
    pretoken_cache_free(&c);
    word_store_free(store);
}

static unsigned count_found(struct pretoken_cache *common)
{
    struct pretoken_cache c;
    unsigned found = 0;

    T_CHECK(pretoken_cache_make(&c));
    c.common = common;
    for (uint32_t i = 0; i < WORDS; i++) {
        uint32_t ids[PRETOKEN_IDS];
        struct pretoken_key key;
        size_t count;

        if (pretokens[i].bytes > PRETOKEN_MAX)
            continue;
        key = pretoken_key_make(pretokens[i].text, pretokens[i].bytes, pretokens[i].kind);
        count = pretoken_cache_find(&c, &key, ids);
        if (count > 0)
            check(i, ids, count);
        found += count > 0;
    }
    pretoken_cache_free(&c);
    return found;
}

/* A larger cache has all that the one before had, in whatever parts it was filled. */
static void keeps_entries(void)
{
    struct word_store *store;
    struct worker w = { .random = 1 };
    struct pretoken_cache c;
    unsigned before, parts = 1;

    T_OK(word_store_make(&store, &t_err));
    word_store_bound(store, (size_t)400 << 20);
    w.store = store;
    T_CHECK(pretoken_cache_make(&c));
    T_CHECK(grow(&w, &c));
    for (uint32_t i = 0; i < WORDS; i++)
        if (pretokens[i].bytes <= PRETOKEN_MAX)
            meet_short(&w, &c, i);
    before = count_found(c.common);
    while (!grow(&w, &c))
        parts++;
    T_CHECK(parts > 10 && before > WORDS / 4);
    T_EQ(count_found(c.common), before);
    word_store_leave(c.common);
    pretoken_cache_free(&c);
    word_store_free(store);
}

int main(void)
{
    uint64_t seed = t_seed();

    half_written();
    other_texts();
    make_pretokens(seed);
    keeps_entries();
    /* grows step by step, is replaced by empty ones, is not there at all */
    share(1, (size_t)400 << 20, seed, ASKED);
    share(1, (size_t)24 << 20, seed, ASKED);
    share(THREADS, (size_t)400 << 20, seed, 1);
    share(THREADS, (size_t)24 << 20, seed, 1);
    share(THREADS, (size_t)1 << 20, seed, 0);
    return t_end();
}
