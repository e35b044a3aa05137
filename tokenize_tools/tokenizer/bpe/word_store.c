/*
 * word_store.c: the shared cache begins small and is replaced by larger ones, each filled with the entries of the one
 * before, and the largest one by an empty one when texts have changed. Entries are copied a part per batch of text, by
 * any thread, so that encoding goes on meanwhile. A thread changes to the new one between two batches, and then frees
 * caches that no thread has. Entries that are added to the old one meanwhile are lost, and
 * merged once more. No thread waits for another one: if a process was forked while a thread held the lock, its encoders
 * go on with the cache that they have, or without one. There is memory for two of the largest caches; a third one is
 * not made while an encoder still has the first, even one that waits for its next text.
 *
 * Long pretokens have memory of one size. Their index has lines of eight words. A word has 24 bits of a pretoken's hash
 * and the place of its entry, in steps of four bytes; 0 is free. A line is filled from its first word on, and a full
 * one goes on in the next. Entries lie one after another. A thread takes a stretch of them, writes an entry into it,
 * and then puts its word into the index, with release; a thread that reads the word, with acquire, sees the whole
 * entry. If two threads add one pretoken at once, the second one finds the first one's word in the place of its own,
 * and the room of its entry is lost.
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
#define MAX_LINES  4 /* lines in which a pretoken is looked for */
#define PLACE_BITS 40
#define PLACE_MASK (((uint64_t)1 << PLACE_BITS) - 1)

/* Memory for the lines of one cache, and for the long pretokens of one cache: there may be two caches. A third of
 * the latter is their index. */
#define LINES_OF(max) ((max) / 5 * 2)
#define LONG_OF(max)  ((max) / 10)
#define INDEX_SHARE   3
#define MIN_LONG      ((size_t)TINY_OR(4096, 1 << 20)) /* bytes */

/* Numbers of lines of the shared cache, as powers of two: of the first and the largest cache, and the step by which
 * it grows. */
#define FIRST_BITS ((unsigned)TINY_OR(2, 16))
#define LAST_BITS  ((unsigned)TINY_OR(4, 20))
#define GROWTH     1

/* Lines that are copied to a larger cache at once: 128 KiB, and twice as much of new memory. */
#define COPIED_LINES ((size_t)TINY_OR(3, 2048))

/* With more tokens than this, a vocabulary begins with the larger one of two caches. */
#define MANY_PRETOKENS 65536

/* After this much text caches are worth making. */
#define MUCH_TEXT ((size_t)TINY_OR(64, 1 << 18))

/* The memory that all threads share is this part of one thread's bound, and at most this number of bytes. */
#define SHARED_PART  8
#define SHARED_BYTES ((size_t)TINY_OR(8, 192) << 20)

/* Numbers of refused pretokens, for a cache with `lines` lines of short pretokens. More than REFUSED_LARGER make a
 * larger cache worthwhile. More than REFUSED_FULL show that the cache is full. More than REFUSED_EMPTY make an empty
 * cache worthwhile, if the last window also had more than UNUSUAL times the usual number of refusals: learning the
 * words anew then costs no more than the refusals have cost. */
#define REFUSED_LARGER(lines) ((lines) / 2)
#define REFUSED_FULL(lines)   (lines)
#define REFUSED_EMPTY(lines)  (4 * (lines))
#define UNUSUAL               3
#define WINDOW                ((size_t)TINY_OR(4096, 16 << 20)) /* bytes of text */

/* Memory for long pretokens, and for ids of others. */
struct longs {
    uint64_t *index;
    uint64_t mask; /* number of lines of the index, minus 1 */
    struct pretoken_heap heap;
    void *memory;
    size_t mapped;
    atomic_uint users; /* shared caches that use it */
};

/* A shared cache, the number of threads that have it, and the cache before it, if that is still there. */
struct lines {
    struct pretoken_cache cache; /* first member, so that a pointer to one is a pointer to the other */
    unsigned bits;
    bool grows; /* true if a larger cache may follow */
    atomic_uint holders;
    struct lines *before;
    struct longs *longs; /* NULL: no memory */
};

struct word_store {
    atomic_size_t max; /* bytes of memory; 0: not known yet */
    atomic_bool growing;
    struct lines *next;              /* cache that is being filled; NULL: none */
    size_t copied;                   /* lines of the present cache whose entries the next one has */
    _Atomic(struct lines *) current; /* NULL: none yet */
    pthread_mutex_t lock;            /* held while a cache is taken or freed */
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

static void free_longs(struct longs *l)
{
    if (!l || atomic_fetch_sub(&l->users, 1) > 1)
        return;
    munmap(l->memory, l->mapped);
    free(l);
}

/* Frees a cache, and returns the one before it. */
static struct lines *free_lines(struct lines *l)
{
    struct lines *before = l->before;

    pretoken_cache_free(&l->cache);
    free_longs(l->longs);
    free(l);
    return before;
}

void word_store_free(struct word_store *s)
{
    if (!s)
        return;
    for (struct lines *l = atomic_load(&s->current); l;)
        l = free_lines(l);
    if (s->next)
        free_lines(s->next);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* ---- The shared cache -------------------------------------------------------------------------------------------- */

bool word_store_needed(const struct pretoken_cache *c, struct word_need *n, size_t bytes)
{
    const struct lines *l = (const struct lines *)(const void *)c->common;
    uint32_t lines = (uint32_t)1 << l->bits, refused = c->refused + c->unkept, window;

    if (l->grows) /* the heap is kept for the larger cache */
        return c->refused > REFUSED_LARGER(lines);
    n->bytes += bytes;
    if (n->bytes < WINDOW)
        return false;
    window = refused - n->before;
    n->before = refused;
    n->bytes = 0;
    if (n->usual > 0)
        return refused > REFUSED_EMPTY(lines) && window / UNUSUAL > n->usual;
    n->usual = refused > REFUSED_FULL(lines) ? window : 0;
    return false;
}

void word_store_bound(struct word_store *s, size_t max)
{
    atomic_store(&s->max, max);
}

/* Makes the memory for long pretokens. Returns NULL if there is none, or `bytes` is too little. */
static struct longs *make_longs(size_t bytes)
{
    struct longs *l = bytes < MIN_LONG ? NULL : calloc(1, sizeof *l);
    void *memory = l ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) : MAP_FAILED;
    size_t lines = 1, index;

    if (memory == MAP_FAILED) {
        free(l);
        return NULL;
    }
    while (2 * lines * LINE * sizeof *l->index <= bytes / INDEX_SHARE)
        lines *= 2;
    index = lines * LINE * sizeof *l->index;
    l->memory = memory;
    l->mapped = bytes;
    l->index = memory;
    l->mask = lines - 1;
    l->heap.words = (uint32_t *)(void *)((uint8_t *)memory + index);
    l->heap.count = (bytes - index) / sizeof *l->heap.words;
    l->heap.used = 1; /* no entry lies at 0, which says that a word is free */
    return l;
}

static bool may_have(const struct word_store *s, unsigned bits)
{
    return bits <= LAST_BITS && pretoken_cache_common_bytes(bits) <= LINES_OF(s->max);
}

/* Returns the lines of the first cache. */
static unsigned first_bits(const struct word_store *s, size_t pretokens)
{
    unsigned bits = pretokens > MANY_PRETOKENS ? FIRST_BITS + 1 : FIRST_BITS;

    while (bits > 0 && !may_have(s, bits))
        bits--;
    return bits;
}

/* Makes lines. `longs` may be NULL; from then on they belong to the cache, too. */
static struct lines *make_lines(const struct word_store *s, unsigned bits, struct longs *longs)
{
    struct lines *l = calloc(1, sizeof *l);

    if (longs)
        atomic_fetch_add(&longs->users, 1);
    if (!l || !pretoken_cache_make_common(&l->cache, bits, longs ? &longs->heap : NULL)) {
        free_longs(longs);
        free(l);
        return NULL;
    }
    l->bits = bits;
    l->longs = longs;
    l->grows = may_have(s, bits + GROWTH);
    return l;
}

/* Frees the caches before this one that no thread has. The caller holds the lock. */
static void drop_left(struct lines *current)
{
    for (struct lines **at = &current->before; *at;) {
        struct lines *l = *at;

        if (atomic_load(&l->holders) > 0) {
            at = &l->before;
            continue;
        }
        *at = l->before; /* unlinked before it is freed: a process that is forked now must not find it */
        free_lines(l);
    }
}

/* Returns true if all threads have the present cache. */
static bool all_took(struct word_store *s, struct lines *current)
{
    bool all;

    if (pthread_mutex_trylock(&s->lock) != 0)
        return false;
    drop_left(current);
    all = !current->before;
    pthread_mutex_unlock(&s->lock);
    return all;
}

/* Returns the cache that comes after `current`, or NULL if there is no room for it. */
static struct lines *make_next(struct word_store *s, struct lines *current, size_t pretokens)
{
    if (!current)
        return make_lines(s, first_bits(s, pretokens), make_longs(LONG_OF(s->max)));
    if (current->grows && may_have(s, current->bits + GROWTH))
        return make_lines(s, current->bits + GROWTH, current->longs);
    return may_have(s, current->bits) && all_took(s, current)
               ? make_lines(s, current->bits, make_longs(LONG_OF(s->max)))
               : NULL;
}

bool word_store_grow(struct word_store *s, const struct pretoken_cache *now, size_t pretokens, size_t max,
                     struct pretoken_cache **empty)
{
    struct lines *current;
    size_t unknown = 0;

    if (atomic_load_explicit(&s->growing, memory_order_relaxed) || atomic_exchange(&s->growing, true))
        return false;
    current = atomic_load(&s->current);
    atomic_compare_exchange_strong(&s->max, &unknown, max);
    if (!s->next) {
        s->next = (struct pretoken_cache *)current == now ? make_next(s, current, pretokens) : NULL;
        s->copied = 0;
    }
    if (!s->next) { /* no memory, or another thread has made the next cache already */
        atomic_store(&s->growing, false);
        return false;
    }
    *empty = &s->next->cache;
    if (current && s->next->bits > current->bits) {
        if (!pretoken_cache_copy(*empty, &current->cache, &s->copied, COPIED_LINES)) {
            atomic_store(&s->growing, false);
            return false;
        }
        *empty = NULL;
    }
    return true;
}

void word_store_publish(struct word_store *s)
{
    s->next->before = atomic_load(&s->current);
    atomic_store_explicit(&s->current, s->next, memory_order_release);
    s->next = NULL;
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
    drop_left(l);
    pthread_mutex_unlock(&s->lock);
    return &l->cache;
}

void word_store_leave(struct pretoken_cache *had)
{
    if (had)
        atomic_fetch_sub(&((struct lines *)(void *)had)->holders, 1);
}

void word_store_share(const struct model *m, size_t bytes)
{
    word_store_bound(m->words, bytes);
}

/* ---- A thread's cache -------------------------------------------------------------------------------------------- */

bool word_cache_make(struct word_cache *c, const struct bound *bound, size_t own_bytes)
{
    *c = (struct word_cache) { .bound = bound, .own_bytes = own_bytes };
    return pretoken_cache_make(&c->own);
}

void word_cache_free(struct word_cache *c)
{
    word_store_leave(c->own.common);
    pretoken_cache_free(&c->own);
}

/* Returns the bytes of memory that all threads may share, by the bound of one thread. */
static size_t shared_bytes(const struct bound *b)
{
    return !b || b->max / SHARED_PART > SHARED_BYTES ? SHARED_BYTES : (size_t)(b->max / SHARED_PART);
}

struct pretoken_cache *word_cache_grow(struct word_cache *c, struct word_store *s, size_t bytes, size_t pretokens)
{
    struct pretoken_cache *now = c->own.common, *empty;

    c->seen_bytes += bytes;
    if (now ? !word_store_needed(&c->own, &c->need, bytes) : c->seen_bytes < MUCH_TEXT)
        return NULL;
    if (!word_store_grow(s, now, pretokens, shared_bytes(c->bound), &empty))
        return NULL;
    if (!empty)
        word_store_publish(s);
    return empty;
}

void word_cache_take(struct word_cache *c, struct word_store *s)
{
    struct pretoken_cache *had = c->own.common, *now;
    const struct pretoken_heap *heap = had ? had->heap : NULL;

    now = word_store_take(s, had); /* may free `had` */
    if (c->seen_bytes >= MUCH_TEXT && c->own_bytes > 0) {
        pretoken_cache_enlarge(&c->own, c->own_bytes);
        c->own_bytes = 0; /* once is enough */
    }
    if (now != had) {
        c->own.refused = c->own.unkept = 0;
        c->need = (struct word_need) { .bytes = 0 };
        if (now->heap != heap)
            c->own.stretch = (struct pretoken_stretch) { 0, 0 };
    }
    c->own.common = now;
}

/* ---- Long pretokens ---------------------------------------------------------------------------------------------- */

/* Hashes a text, eight bytes at a time. A user who makes texts with equal hashes only causes 32 comparisons. */
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

/* NULL: none. */
static struct longs *longs_of(const struct pretoken_cache *common)
{
    return common ? ((const struct lines *)(const void *)common)->longs : NULL;
}

static uint64_t *line_of(const struct longs *l, uint64_t hash, unsigned step)
{
    return l->index + ((hash + step) & l->mask) * LINE;
}

static bool may_be(uint64_t word, uint64_t hash)
{
    return (word ^ hash) >> PLACE_BITS == 0;
}

static const struct word *entry_of(const struct longs *l, uint64_t word)
{
    return (const struct word *)(const void *)(l->heap.words + (word & PLACE_MASK));
}

static bool is_of(const struct word *w, const struct word_key *k)
{
    return w->bytes == k->bytes && w->kind == k->kind && memcmp(w->data + w->count, k->text, k->bytes) == 0;
}

void word_store_fetch(const struct pretoken_cache *common, const struct word_key *key)
{
    const struct longs *l = longs_of(common);

    if (l)
        __builtin_prefetch(line_of(l, key->hash, 0));
}

void word_store_fetch_entry(const struct pretoken_cache *common, const struct word_key *key)
{
    const struct longs *l = longs_of(common);

    for (unsigned i = 0; l && i < LINE; i++) {
        uint64_t word = __atomic_load_n(line_of(l, key->hash, 0) + i, __ATOMIC_RELAXED);

        if (may_be(word, key->hash))
            __builtin_prefetch(entry_of(l, word));
    }
}

/* Returns the entry of a pretoken. If there is none, returns NULL and sets *vacant to the free word where it
 * belongs, or to NULL if all lines are full. */
static const struct word *search(const struct longs *l, const struct word_key *key, uint64_t **vacant)
{
    *vacant = NULL;
    for (unsigned i = 0; i < MAX_LINES * LINE; i++) {
        uint64_t *at = line_of(l, key->hash, i / LINE) + i % LINE;
        uint64_t word = __atomic_load_n(at, __ATOMIC_ACQUIRE);

        if (word == 0) {
            *vacant = at;
            return NULL;
        }
        if (may_be(word, key->hash) && is_of(entry_of(l, word), key))
            return entry_of(l, word);
    }
    return NULL;
}

const struct word *word_store_find(const struct pretoken_cache *common, const struct word_key *key)
{
    const struct longs *l = longs_of(common);
    uint64_t *vacant;

    return l ? search(l, key, &vacant) : NULL;
}

/* Puts an entry's word where it belongs, unless another thread has put a word for this pretoken. */
static void put_word(const struct longs *l, const struct word_key *key, uint64_t *vacant, uint64_t word)
{
    do { /* another thread may have taken the place since, for this pretoken or another one */
        uint64_t before = 0;

        if (__atomic_compare_exchange_n(vacant, &before, word, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
            return;
    } while (!search(l, key, &vacant) && vacant);
}

void word_store_add(struct pretoken_cache *c, const struct word_key *key, const uint32_t *ids, size_t count)
{
    struct longs *l = longs_of(c->common);
    size_t words = 1 + count + (key->bytes + 3u) / 4;
    uint64_t *vacant;
    struct word *w;

    if (!l || count > UINT16_MAX || search(l, key, &vacant))
        return;
    w = vacant ? (struct word *)(void *)pretoken_heap_take(&l->heap, &c->stretch, words) : NULL;
    if (!w) {
        c->unkept++;
        return;
    }
    *w = (struct word) { key->bytes, key->kind, (uint16_t)count };
    memcpy(w->data, ids, count * sizeof *ids);
    memcpy(w->data + count, key->text, key->bytes);
    put_word(l, key, vacant, (key->hash & ~PLACE_MASK) | (uint64_t)((uint32_t *)(void *)w - l->heap.words));
}
