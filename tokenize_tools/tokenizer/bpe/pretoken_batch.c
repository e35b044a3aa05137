/*
 * pretoken_batch.c: the cache of pretokens, the table of kernels over batches of them, and filling a batch
 * (pretoken_batch.h). pretoken_kernel.c looks up many pretokens at once.
 *
 * Sizes. A prefetched line from memory is cheaper than a merge, so larger tables win even where they fit no cache of
 * the CPU; yet untouched memory costs nothing only while it is fresh, and clearing 32 MiB takes some milliseconds.
 * So a cache begins small and becomes large when a good deal of text has come.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/cpu.h"
#include "base/tiny.h"
#include "base/utf8.h"
#include "pretoken_batch.h"

/* ---- The cache --------------------------------------------------------------------------------------------------- */

#define LINE_BYTES (PRETOKEN_LINE * sizeof(uint64_t))
#define HUGE       ((size_t)2 << 20)
#define STRETCH    ((size_t)TINY_OR(512, 8192)) /* words of a heap */

/* Numbers of lines, as powers of two: of a small cache, of a large one, and of a large one beside a shared one. The
 * three tables have them in the ratio 1 : 2 : 1. */
#define SMALL_BITS ((unsigned)TINY_OR(1, 10))
#define LARGE_BITS ((unsigned)TINY_OR(2, 13))

static const unsigned more_bits[PRETOKEN_TABLES] = { 0, 1, 0 };

static size_t lines_of(unsigned bits)
{
    size_t lines = 0;

    for (unsigned t = 0; t < PRETOKEN_TABLES; t++)
        lines += (size_t)1 << (bits + more_bits[t]);
    return lines;
}

static size_t ring_of(unsigned bits)
{
    return bits < 4 ? 64 : (size_t)8 << bits;
}

static size_t bytes_of(unsigned bits)
{
    return (lines_of(bits) + 2) * LINE_BYTES + ring_of(bits) * sizeof(uint32_t);
}

static void lay_out(struct pretoken_cache *c, void *memory, unsigned bits)
{
    /* starts at a multiple of two lines, as neighbour() needs */
    uint64_t *at = (uint64_t *)(((uintptr_t)memory + 2 * LINE_BYTES - 1) & ~(uintptr_t)(2 * LINE_BYTES - 1));

    for (unsigned t = 0; t < PRETOKEN_TABLES; t++) {
        c->tables[t] = (struct pretoken_table) { at, 64 - bits - more_bits[t] };
        at += PRETOKEN_LINE << (bits + more_bits[t]);
    }
    c->ring = (uint32_t *)at;
    c->ring_mask = ring_of(bits) - 1;
}

bool pretoken_cache_make(struct pretoken_cache *c)
{
    *c = (struct pretoken_cache) { .bytes = bytes_of(SMALL_BITS) };
    c->memory = calloc(1, c->bytes);
    if (c->memory)
        lay_out(c, c->memory, SMALL_BITS);
    return c->memory != NULL;
}

void pretoken_cache_free(struct pretoken_cache *c)
{
    if (c->large)
        munmap(c->memory, c->bytes);
    else
        free(c->memory);
    c->memory = NULL;
}

/* Maps zeroed memory, on huge pages if the system gives them. */
static void *map_zeros(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
#ifdef MADV_HUGEPAGE
    madvise(p, bytes, MADV_HUGEPAGE); /* a hint, which may fail */
#endif
    return p;
}

/* Returns the bits of a large cache of at most `max` bytes, and sets *bytes to its size; at most SMALL_BITS if there is
 * no room for one. */
static unsigned large_bits(size_t max, size_t *bytes)
{
    unsigned bits = LARGE_BITS;

    while (bits > SMALL_BITS && bytes_of(bits) + HUGE > max)
        bits--;
    *bytes = bytes_of(bits) + HUGE;
    return bits;
}

size_t pretoken_cache_large(size_t max)
{
    size_t bytes;

    return large_bits(max, &bytes) > SMALL_BITS ? bytes : 0;
}

/* Replaces a cache by a large one. Returns false if there is no memory. */
static bool make_large(struct pretoken_cache *c, unsigned bits, size_t bytes)
{
    void *memory = bits <= SMALL_BITS ? NULL : map_zeros(bytes);

    if (!memory)
        return false;
    pretoken_cache_free(c);
    *c = (struct pretoken_cache) { .memory = memory, .bytes = bytes, .large = true };
    lay_out(c, (void *)(((uintptr_t)memory + HUGE - 1) & ~(uintptr_t)(HUGE - 1)), bits);
    return true;
}

bool pretoken_cache_enlarge(struct pretoken_cache *c, size_t max)
{
    size_t bytes;
    unsigned bits = large_bits(max, &bytes);

    return !c->large && make_large(c, bits, bytes);
}

size_t pretoken_cache_common_bytes(unsigned bits)
{
    return bytes_of(bits) + HUGE;
}

bool pretoken_cache_make_common(struct pretoken_cache *c, unsigned bits, struct pretoken_heap *heap)
{
    *c = (struct pretoken_cache) { .memory = NULL };
    if (!make_large(c, bits, pretoken_cache_common_bytes(bits)))
        return false;
    c->heap = heap;
    c->ring = heap ? heap->words : c->ring;
    c->ring_mask = PRETOKEN_WHEN; /* nothing vanishes */
    c->written = PRETOKEN_WHEN + 1;
    return true;
}

uint32_t *pretoken_heap_take(struct pretoken_heap *h, struct pretoken_stretch *s, size_t count)
{
    uint32_t *at;

    if (s->end - s->at < count) {
        size_t used = __atomic_load_n(&h->used, __ATOMIC_RELAXED);

        do
            if (count > STRETCH || h->count - used < STRETCH)
                return NULL;
        while (!__atomic_compare_exchange_n(&h->used, &used, used + STRETCH, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
        *s = (struct pretoken_stretch) { used, used + STRETCH };
    }
    at = h->words + s->at;
    s->at += count;
    return at;
}

/* ---- One pretoken ---- */

struct pretoken_key pretoken_key_make(const uint8_t *pretoken, size_t bytes, unsigned part)
{
    uint8_t padded[PRETOKEN_AHEAD] = { 0 };

    memcpy(padded, pretoken, bytes);
    return pretoken_key_ahead(padded, bytes, part);
}

static uint64_t *line_of(const struct pretoken_cache *c, const struct pretoken_key *k)
{
    const struct pretoken_table *t = &c->tables[k->table];

    switch (k->table) {
    case PRETOKEN_SHORT:
        return t->lines + pretoken_line(t, pretoken_hash_short(k->words[0]));
    case PRETOKEN_MIDDLE:
        return t->lines + pretoken_line(t, pretoken_hash_middle(k->words[0], k->words[1]));
    default:
        return t->lines + pretoken_line(t, pretoken_hash_long(k->words));
    }
}

void pretoken_cache_fetch(const struct pretoken_cache *c, const struct pretoken_key *key)
{
    __builtin_prefetch(line_of(c, key), 1);
}

static uint64_t *neighbour(uint64_t *line)
{
    return (uint64_t *)((uintptr_t)line ^ LINE_BYTES);
}

/* Returns the words of ids of an entry, or NULL if there is none. */
static uint64_t *find_words(uint64_t *line, const struct pretoken_key *k)
{
    unsigned words = 1u << k->table;

    for (unsigned i = 0; i < 4; i += words)
        if (pretoken_same_key(line + i, k->words, words))
            return line + 4 + i;
    line = k->table == PRETOKEN_LONG ? neighbour(line) : NULL;
    return line && pretoken_same_key(line, k->words, words) ? line + 4 : NULL;
}

/* Unpacks the ids of an entry's words. Returns 0 if another thread has not written all of them yet. */
static size_t unpack(const uint64_t *words, size_t count, uint32_t *ids)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t word = pretoken_word(words + i / 3);

        if (word == 0)
            return 0;
        ids[i] = (uint32_t)(word >> PRETOKEN_ID_BITS * (i % 3) & PRETOKEN_ID_MASK);
    }
    return count;
}

static size_t find_common(const struct pretoken_cache *c, const struct pretoken_key *key, uint32_t *ids)
{
    const uint64_t *words = pretoken_key_whole(key) ? find_words(line_of(c, key), key) : NULL;
    uint64_t first = words ? pretoken_word(words) : 0;

    if (first < PRETOKEN_SPILLED)
        return words ? unpack(words, (size_t)(first >> PRETOKEN_COUNT_SHIFT), ids) : 0;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    pretoken_take_ids(ids, pretoken_spilled(c, first), pretoken_spilled_count(first));
    return pretoken_spilled_count(first);
}

/* Returns true if a thread's own cache can have a pretoken: the shared one has no room for it. */
static bool may_be_own(const struct pretoken_cache *c, const struct pretoken_key *key)
{
    uint64_t *line = c->common ? line_of(c->common, key) : NULL;

    return !line || c->spilled || !pretoken_key_whole(key) ||
           (pretoken_full(line) && (key->table != PRETOKEN_LONG || pretoken_full(neighbour(line))));
}

size_t pretoken_cache_find(const struct pretoken_cache *c, const struct pretoken_key *key, uint32_t *ids)
{
    size_t count = c->common ? find_common(c->common, key, ids) : 0;
    const uint64_t *words = count > 0 || !may_be_own(c, key) ? NULL : find_words(line_of(c, key), key);
    const uint32_t *spilled;

    if (!words)
        return count;
    if (*words < PRETOKEN_SPILLED)
        return unpack(words, (size_t)(words[0] >> PRETOKEN_COUNT_SHIFT), ids);
    spilled = pretoken_spilled(c, *words);
    count = spilled ? pretoken_spilled_count(*words) : 0;
    for (size_t i = 0; i < count; i++)
        ids[i] = spilled[i];
    return count;
}

/* Makes room in front of the other entries of the line; the oldest one is lost. Returns the words of ids. */
static uint64_t *push(uint64_t *line, const struct pretoken_key *k)
{
    if (k->table == PRETOKEN_SHORT) {
        memmove(line + 1, line, 3 * sizeof *line);
        memmove(line + 5, line + 4, 3 * sizeof *line);
    } else if (k->table == PRETOKEN_MIDDLE) {
        memmove(line + 2, line, 2 * sizeof *line);
        memmove(line + 6, line + 4, 2 * sizeof *line);
    } else {
        memcpy(neighbour(line), line, LINE_BYTES);
    }
    memcpy(line, k->words, (sizeof *line) << k->table);
    return line + 4;
}

static uint64_t spill(struct pretoken_cache *c, const uint32_t *ids, size_t count)
{
    uint64_t at = c->written & c->ring_mask, when;

    if (at + count > c->ring_mask + 1)
        c->written += c->ring_mask + 1 - at;
    when = c->written;
    memcpy(c->ring + (when & c->ring_mask), ids, count * sizeof *ids);
    c->written += count;
    return PRETOKEN_SPILLED | (uint64_t)count << 48 | when;
}

static bool all_fit(const uint32_t *ids, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ids[i] > PRETOKEN_ID_MASK)
            return false;
    return count > 0 && count <= PRETOKEN_IDS;
}

static const size_t max_ids[PRETOKEN_TABLES] = { 3, 6, 12 };

/* Packs at most max_ids ids into the words of an entry. */
static void pack(uint64_t *words, const struct pretoken_key *key, const uint32_t *ids, size_t count)
{
    words[0] = (uint64_t)count << PRETOKEN_COUNT_SHIFT;
    for (unsigned i = 1; i < 1u << key->table; i++)
        words[i] = PRETOKEN_WRITTEN;
    for (size_t i = 0; i < count; i++)
        words[i / 3] |= (uint64_t)ids[i] << PRETOKEN_ID_BITS * (i % 3);
}

/* Puts an entry into a free place. */
static bool claim(struct pretoken_cache *c, const struct pretoken_key *key, const uint64_t *ids)
{
    uint64_t *line = line_of(c, key);

    if (key->table != PRETOKEN_LONG)
        return pretoken_claim_in(line, key->words, ids, 1u << key->table);
    return pretoken_claim(line, key->words, ids, 4) || pretoken_claim(neighbour(line), key->words, ids, 4);
}

/* Writes ids that an entry has no room for into the heap of the shared cache. Returns false if that is full. */
static bool spill_common(struct pretoken_cache *c, const struct pretoken_key *key, const uint32_t *ids, size_t count,
                         uint64_t *words)
{
    struct pretoken_heap *h = c->common->heap;
    uint32_t *at = h ? pretoken_heap_take(h, &c->stretch, count) : NULL;

    if (!at)
        return false;
    for (size_t i = 0; i < count; i++)
        __atomic_store_n(at + i, ids[i], __ATOMIC_RELAXED);
    pack(words, key, NULL, 0);
    words[0] = PRETOKEN_SPILLED | (uint64_t)count << 48 | (uint64_t)(at - h->words);
    return true;
}

/* Puts ids into the shared cache. Returns false if it has no room for them. */
static bool offer(struct pretoken_cache *c, const struct pretoken_key *key, const uint32_t *ids, size_t count)
{
    bool many = count > max_ids[key->table], there;
    uint64_t words[4];

    if (!pretoken_key_whole(key))
        return false;
    if (many && find_words(line_of(c->common, key), key))
        return true;
    if (!many)
        pack(words, key, ids, count);
    else if (!spill_common(c, key, ids, count, words)) {
        c->spilled = true;
        c->unkept++;
        return false;
    }
    there = claim(c->common, key, words);
    c->refused += !there;
    return there;
}

static void copy_line(struct pretoken_cache *to, const uint64_t *line, unsigned table)
{
    for (unsigned i = 0; i < 4; i += 1u << table) {
        struct pretoken_key key = { .table = table };
        uint64_t ids[4] = { 0 };
        bool whole = true;

        for (unsigned k = 0; k < 1u << table; k++) {
            key.words[k] = pretoken_word(line + i + k);
            ids[k] = pretoken_word(line + i + 4 + k);
            whole = whole && ids[k] != 0;
        }
        if (whole && pretoken_key_whole(&key))
            claim(to, &key, ids);
    }
}

bool pretoken_cache_copy(struct pretoken_cache *to, const struct pretoken_cache *from, size_t *line, size_t count)
{
    size_t first = 0; /* line of the table, as *line counts them */

    for (unsigned t = 0; t < PRETOKEN_TABLES; t++) {
        size_t lines = (size_t)1 << (64 - from->tables[t].shift);

        for (; *line < first + lines && count > 0; ++*line, count--)
            copy_line(to, from->tables[t].lines + (*line - first) * PRETOKEN_LINE, t);
        first += lines;
    }
    return *line == first;
}

void pretoken_cache_add(struct pretoken_cache *c, const struct pretoken_key *key, const uint32_t *ids, size_t count)
{
    uint64_t *line = line_of(c, key), *words;

    if (!all_fit(ids, count) || (c->common && offer(c, key, ids, count)))
        return;
    words = find_words(line, key);
    words = words ? words : push(line, key);
    if (count > max_ids[key->table])
        *words = spill(c, ids, count);
    else
        pack(words, key, ids, count);
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

extern const struct pretoken_kernels pretoken_kernels_plain;
#if defined(__x86_64__)
extern const struct pretoken_kernels pretoken_kernels_avx2, pretoken_kernels_avx512, pretoken_kernels_avx512vbmi;
#elif defined(__aarch64__) && defined(__ARM_NEON)
extern const struct pretoken_kernels pretoken_kernels_neon;
#endif

/* The kernels, fastest first; the last one needs nothing, so it ends every search. */
static const struct cpu_row rows[] = {
#if defined(__x86_64__)
    { CPU_AVX512_VBMI, &pretoken_kernels_avx512vbmi },
    { CPU_AVX512, &pretoken_kernels_avx512 },
    { CPU_AVX2, &pretoken_kernels_avx2 },
#elif defined(__aarch64__) && defined(__ARM_NEON)
    { CPU_PLAIN, &pretoken_kernels_neon },
#endif
    { CPU_PLAIN, &pretoken_kernels_plain },
};

const struct pretoken_kernels *pretoken_kernels(void)
{
    return cpu_choose(rows);
}

const struct pretoken_kernels *pretoken_kernels_row(unsigned number, int *usable)
{
    return cpu_row(rows, sizeof rows / sizeof rows[0], number, usable);
}

/* ---- Filling ----------------------------------------------------------------------------------------------------- */

void pretoken_place_text(struct pretoken_place *p, struct pretoken_batch *b, const struct pretoken_rest *r)
{
    size_t left = r->bytes - r->begin;

    b->text = r->text + r->begin;
    p->room = left;
    p->max = left - PRETOKEN_AHEAD < BATCH_BYTES ? (uint32_t)(left - PRETOKEN_AHEAD) : BATCH_BYTES;
    if (left < PRETOKEN_AHEAD) {
        memset(p->copy, 0, sizeof p->copy);
        memcpy(p->copy, b->text, left);
        b->text = p->copy;
        p->room = sizeof p->copy;
        p->max = PRETOKEN_AHEAD;
    }
}

/* Moves on to a place, which may be inside a pretoken. `next` is the first end that is not before it. */
static void move_on(struct pretoken_rest *r, const uint32_t *next, uint32_t to)
{
    r->inside = next == r->last || pretoken_end(next) != to;
    r->ends = next + !r->inside;
    r->begin = to;
}

void pretoken_fill(struct pretoken_batch *b, const struct pretoken_kernels *kernels, const struct char_cuts *cuts,
                   const struct orphans *orphans, struct pretoken_rest *r, const struct pretoken_place *p)
{
    uint32_t base = r->begin, bytes = pretoken_end(r->last - 1) - base;
    const uint32_t *ends = r->ends, *next;
    bool inside = r->inside;

    if (bytes > BATCH_BYTES)
        for (bytes = BATCH_BYTES; (b->text[bytes] & 0xc0) == 0x80;)
            bytes--;
    if (!cuts->pairs || !bytes_any_high(b->text, bytes))
        cuts = NULL;
    next = kernels->cut(&(struct pretoken_cut) { cuts, orphans, b->text, bytes, p->room, ends, r->last, base }, b);
    if (inside)
        b->parts[0] = orphans != NULL;
    move_on(r, next, base + bytes);
    b->count -= r->inside;
    while (b->count > 0 && b->begins[b->count - 1] > p->max)
        b->count--;
    while (b->fixed_count > 0 && b->fixed[b->fixed_count - 1] >= b->count)
        b->fixed_count--;
    bytes = b->begins[b->count];
    while (next > ends && pretoken_end(next - 1) >= base + bytes)
        next--;
    move_on(r, next, base + bytes);
    if (b->count == 0)
        r->inside = inside;
}
