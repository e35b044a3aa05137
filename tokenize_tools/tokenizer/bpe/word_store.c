/*
 * word_store.c: see word_store.h. The shared cache begins small and is replaced by larger ones, each filled with what
 * the one before has. A thread changes to the new one between two batches, and then frees those that no thread has any
 * more. What is added to the old one meanwhile is lost, and merged once more. No thread waits for another one: a
 * process that was forked while one held the lock goes on with the cache that it has.
 *
 * Long pretokens have memory of one size. Their index has lines of eight words. A word has 24 bits of a pretoken's hash
 * and says where its entry lies, in steps of four bytes; 0: free. A line is filled from its first word on, and a full
 * one goes on in the next. Entries lie behind each other. A thread takes a stretch of them, writes an entry into it,
 * and then puts its word into the index, with release; whoever reads the word, with acquire, sees the whole entry. If
 * two threads add the same pretoken at once, the second one finds the first one's word where it wanted to put its own,
 * and its entry is lost room.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/bytes.h"
#include "base/status.h"
#include "base/tiny.h"
#include "word_store.h"

#define LINE       8
#define MAX_LINES  4 /* in which a pretoken is looked for */
#define PLACE_BITS 40
#define PLACE_MASK (((uint64_t)1 << PLACE_BITS) - 1)

/* Of the memory, a fifth is for long pretokens, and a third of that for their index. */
#define LONG_SHARE  5
#define INDEX_SHARE 3
#define MIN_LONG    ((size_t)TINY_OR(4096, 1 << 20)) /* bytes */

/* Lines of the shared cache, as powers of two: of a first one, of the largest, and how fast it grows. */
#define FIRST_BITS ((unsigned)TINY_OR(2, 16))
#define LAST_BITS  ((unsigned)TINY_OR(4, 20))
#define GROWTH     1

/* A vocabulary of more tokens begins with the larger of two caches. */
#define MANY_PRETOKENS 65536

/* A shared cache, how many threads have it, and the one before it, if that is still there. */
struct lines {
    struct pretoken_cache cache; /* first: one stands for the other */
    unsigned bits;
    atomic_uint holders;
    struct lines *before;
};

struct word_store {
    atomic_size_t max; /* bytes of memory; 0: not known yet */
    atomic_bool growing;
    struct lines *next;              /* that is being filled */
    _Atomic(struct lines *) current; /* NULL: none yet */
    pthread_mutex_t lock;            /* of taking and freeing */
    bool largest;                    /* it cannot become larger */

    atomic_bool open; /* the following is made: */
    uint64_t *index;
    uint64_t mask;             /* of lines of the index */
    struct pretoken_heap heap; /* entries of long pretokens, and ids of others */
    void *memory;
    size_t mapped;
};

enum leat_status word_store_make(struct word_store **out, struct leat_error *err)
{
    struct word_store *s = calloc(1, sizeof *s);

    *out = s;
    if (!s)
        return status_no_memory(err, sizeof *s);
    pthread_mutex_init(&s->lock, NULL);
    return LEAT_OK;
}

/* Frees a cache, and returns the one before it. */
static struct lines *free_lines(struct lines *l)
{
    struct lines *before = l->before;

    pretoken_cache_free(&l->cache);
    free(l);
    return before;
}

void word_store_free(struct word_store *s)
{
    if (!s)
        return;
    for (struct lines *l = atomic_load(&s->current); l;)
        l = free_lines(l);
    if (s->memory)
        munmap(s->memory, s->mapped);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* ---- The shared cache -------------------------------------------------------------------------------------------- */

void word_store_bound(struct word_store *s, size_t max)
{
    atomic_store(&s->max, max);
}

/* Memory for long pretokens; without it, none is kept. */
static void map_entries(struct word_store *s, size_t bytes)
{
    void *memory =
        bytes < MIN_LONG ? MAP_FAILED : mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    size_t lines = 1, index;

    if (memory == MAP_FAILED)
        return;
    while (2 * lines * LINE * sizeof *s->index <= bytes / INDEX_SHARE)
        lines *= 2;
    index = lines * LINE * sizeof *s->index;
    s->memory = memory;
    s->mapped = bytes;
    s->index = memory;
    s->mask = lines - 1;
    s->heap.words = (uint32_t *)(void *)((uint8_t *)memory + index);
    s->heap.count = (bytes - index) / sizeof *s->heap.words;
    s->heap.used = 1; /* no entry lies at 0, which says that a word is free */
    atomic_store_explicit(&s->open, true, memory_order_release);
}

/* The lines of the first cache. */
static unsigned first_bits(size_t pretokens)
{
    return pretokens > MANY_PRETOKENS ? FIRST_BITS + 1 : FIRST_BITS;
}

/* Makes the next one as large as it may be beside the one of now. */
static struct lines *make_next(struct word_store *s, unsigned now, unsigned bits)
{
    struct pretoken_heap *heap = atomic_load(&s->open) ? &s->heap : NULL;
    size_t max = s->max - s->max / LONG_SHARE, old = now > 0 ? pretoken_cache_common_bytes(now) : 0;
    struct lines *l = calloc(1, sizeof *l);

    while (bits > now && pretoken_cache_common_bytes(bits) + old > max)
        bits--;
    if (l && bits > now && pretoken_cache_make_common(&l->cache, bits, heap)) {
        l->bits = bits;
        return l;
    }
    free(l);
    return NULL;
}

bool word_store_grow(struct word_store *s, const struct pretoken_cache *now, size_t pretokens, size_t max,
                     struct pretoken_cache **lines)
{
    struct lines *current;
    size_t unknown = 0;
    unsigned bits;

    if (atomic_load_explicit(&s->growing, memory_order_relaxed) || atomic_exchange(&s->growing, true))
        return false;
    current = atomic_load(&s->current);
    bits = current ? current->bits + GROWTH : first_bits(pretokens);
    if (bits > LAST_BITS)
        bits = LAST_BITS;
    if (s->largest || (current && &current->cache != now)) { /* another thread has made a larger one */
        atomic_store(&s->growing, s->largest);
        return false;
    }
    atomic_compare_exchange_strong(&s->max, &unknown, max);
    if (!current)
        map_entries(s, s->max / LONG_SHARE);
    s->next = make_next(s, current ? current->bits : 0, bits);
    s->largest = !s->next;
    if (s->largest)
        return false; /* `growing` remains set: nobody need ask again */
    if (current)
        pretoken_cache_copy(&s->next->cache, &current->cache);
    *lines = &s->next->cache;
    return true;
}

void word_store_publish(struct word_store *s)
{
    s->next->before = atomic_load(&s->current);
    atomic_store_explicit(&s->current, s->next, memory_order_release);
    atomic_store(&s->growing, false);
}

struct pretoken_cache *word_store_take(struct word_store *s, struct pretoken_cache *had)
{
    struct lines *l = atomic_load_explicit(&s->current, memory_order_acquire);

    if ((struct pretoken_cache *)l == had || pthread_mutex_trylock(&s->lock) != 0)
        return had;
    l = atomic_load(&s->current);
    atomic_fetch_add(&l->holders, 1);
    word_store_leave(had);
    for (struct lines **at = &l->before; *at;)
        if (atomic_load(&(*at)->holders) == 0)
            *at = free_lines(*at);
        else
            at = &(*at)->before;
    pthread_mutex_unlock(&s->lock);
    return &l->cache;
}

void word_store_leave(struct pretoken_cache *had)
{
    if (had)
        atomic_fetch_sub(&((struct lines *)(void *)had)->holders, 1);
}

static bool is_open(const struct word_store *s)
{
    return atomic_load_explicit(&s->open, memory_order_acquire);
}

/* ---- Long pretokens ---------------------------------------------------------------------------------------------- */

/* Eight bytes at a time. Whoever makes texts whose hashes are the same gains 32 comparisons. */
static uint64_t hash_of(const uint8_t *text, size_t bytes, unsigned kind)
{
    uint64_t h = bytes << 1 | kind;

    for (size_t i = 0; i < bytes; i += 8) {
        uint64_t word = 0;

        memcpy(&word, text + i, bytes - i < 8 ? bytes - i : 8);
        h = pretoken_hash_middle(h, word);
    }
    return h ^ h >> 32;
}

struct word_key word_key_make(const uint8_t *text, size_t bytes, unsigned kind)
{
    return (struct word_key) { hash_of(text, bytes, kind), text, (uint8_t)bytes, (uint8_t)kind };
}

static uint64_t *line_of(const struct word_store *s, uint64_t hash, unsigned step)
{
    return s->index + ((hash + step) & s->mask) * LINE;
}

static bool may_be(uint64_t word, uint64_t hash)
{
    return (word ^ hash) >> PLACE_BITS == 0;
}

static const struct word *entry_of(const struct word_store *s, uint64_t word)
{
    return (const struct word *)(const void *)(s->heap.words + (word & PLACE_MASK));
}

static bool is_of(const struct word *w, const struct word_key *k)
{
    return w->bytes == k->bytes && w->kind == k->kind && memcmp(w->data + w->count, k->text, k->bytes) == 0;
}

void word_store_fetch(const struct word_store *s, const struct word_key *key)
{
    if (is_open(s))
        __builtin_prefetch(line_of(s, key->hash, 0));
}

void word_store_fetch_entry(const struct word_store *s, const struct word_key *key)
{
    for (unsigned i = 0; is_open(s) && i < LINE; i++) {
        uint64_t word = __atomic_load_n(line_of(s, key->hash, 0) + i, __ATOMIC_RELAXED);

        if (may_be(word, key->hash))
            __builtin_prefetch(entry_of(s, word));
    }
}

/* The entry of a pretoken. NULL: it is not there, and *vacant is the free word where it belongs; that is NULL if all
 * lines are full. */
static const struct word *search(const struct word_store *s, const struct word_key *key, uint64_t **vacant)
{
    *vacant = NULL;
    for (unsigned i = 0; i < MAX_LINES * LINE; i++) {
        uint64_t *at = line_of(s, key->hash, i / LINE) + i % LINE;
        uint64_t word = __atomic_load_n(at, __ATOMIC_ACQUIRE);

        if (word == 0) {
            *vacant = at;
            return NULL;
        }
        if (may_be(word, key->hash) && is_of(entry_of(s, word), key))
            return entry_of(s, word);
    }
    return NULL;
}

const struct word *word_store_find(const struct word_store *s, const struct word_key *key)
{
    uint64_t *vacant;

    return is_open(s) ? search(s, key, &vacant) : NULL;
}

void word_store_add(struct word_store *s, struct pretoken_stretch *stretch, const struct word_key *key,
                    const uint32_t *ids, size_t count)
{
    size_t words = 1 + count + (key->bytes + 3u) / 4;
    uint64_t *vacant;
    struct word *w;
    uint64_t word;

    if (!is_open(s) || count > UINT16_MAX || search(s, key, &vacant) || !vacant)
        return;
    w = (struct word *)(void *)pretoken_heap_take(&s->heap, stretch, words);
    if (!w)
        return;
    *w = (struct word) { key->bytes, key->kind, (uint16_t)count };
    memcpy(w->data, ids, count * sizeof *ids);
    memcpy(w->data + count, key->text, key->bytes);
    word = (key->hash & ~PLACE_MASK) | (uint64_t)((uint32_t *)(void *)w - s->heap.words);
    do { /* another thread may have taken the word since, for this pretoken or another one */
        uint64_t before = 0;

        if (__atomic_compare_exchange_n(vacant, &before, word, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return;
    } while (!search(s, key, &vacant) && vacant);
}
