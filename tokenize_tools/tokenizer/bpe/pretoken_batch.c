/*
 * pretoken_batch.c: the cache of pretokens, the table of kernels over batches of them, and filling a batch; see
 * pretoken_batch.h. pretoken_kernel.c looks up many pretokens at once.
 *
 * Sizes. A prefetched line from memory is cheaper than a merge, so larger tables win even where they fit no cache of
 * the CPU; yet what is never touched costs nothing only while the memory is fresh, and clearing 32 MiB takes some
 * milliseconds. So a cache begins small and becomes large when a good deal of text has come.
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

/* Lines, as powers of two: of a small cache, and how many of them a unit of the large one has: 4 : 8 : 4. */
#define SMALL_BITS ((unsigned)TINY_OR(1, 10))
#define LARGE_BITS ((unsigned)TINY_OR(2, 17))

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
    /* two lines are neighbours */
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

/* Fresh zeros on huge pages, if the system gives them. */
static void *map_zeros(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        return NULL;
#ifdef MADV_HUGEPAGE
    madvise(p, bytes, MADV_HUGEPAGE); /* a hint: that it fails is fine */
#endif
    return p;
}

/* The bits of a large cache within so many bytes; at most SMALL_BITS if there is none. */
static unsigned large_bits(size_t max, size_t *bytes)
{
    unsigned bits = LARGE_BITS;

    while (*bytes = bytes_of(bits) + HUGE, bits > SMALL_BITS && *bytes > max)
        bits--;
    return bits;
}

size_t pretoken_cache_large(size_t max)
{
    size_t bytes;

    return large_bits(max, &bytes) > SMALL_BITS ? bytes : 0;
}

bool pretoken_cache_enlarge(struct pretoken_cache *c, size_t max)
{
    size_t bytes;
    unsigned bits = large_bits(max, &bytes);
    void *memory = c->large || bits <= SMALL_BITS ? NULL : map_zeros(bytes);

    if (!memory)
        return false;
    pretoken_cache_free(c);
    *c = (struct pretoken_cache) { .memory = memory, .bytes = bytes, .large = true };
    lay_out(c, (void *)(((uintptr_t)memory + HUGE - 1) & ~(uintptr_t)(HUGE - 1)), bits);
    return true;
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

/* The words of ids of an entry; NULL if there is none. */
static uint64_t *find_words(uint64_t *line, const struct pretoken_key *k)
{
    switch (k->table) {
    case PRETOKEN_SHORT:
        for (unsigned i = 0; i < 4; i++)
            if (line[i] == k->words[0])
                return line + 4 + i;
        return NULL;
    case PRETOKEN_MIDDLE:
        for (unsigned i = 0; i < 4; i += 2)
            if (line[i] == k->words[0] && line[i + 1] == k->words[1])
                return line + 4 + i;
        return NULL;
    default:
        for (unsigned i = 0; i < 2; i++, line = neighbour(line))
            if (memcmp(line, k->words, sizeof k->words) == 0)
                return line + 4;
        return NULL;
    }
}

size_t pretoken_cache_find(const struct pretoken_cache *c, const struct pretoken_key *key, uint32_t *ids)
{
    const uint64_t *words = find_words(line_of(c, key), key);
    const uint32_t *spilled;
    size_t count;

    if (!words)
        return 0;
    if (*words < PRETOKEN_SPILLED) {
        count = (size_t)(words[0] >> PRETOKEN_COUNT_SHIFT);
        for (size_t i = 0; i < count; i++)
            ids[i] = (uint32_t)(words[i / 3] >> PRETOKEN_ID_BITS * (i % 3) & PRETOKEN_ID_MASK);
        return count;
    }
    spilled = pretoken_spilled(c, *words);
    count = spilled ? pretoken_spilled_count(*words) : 0;
    for (size_t i = 0; i < count; i++)
        ids[i] = spilled[i];
    return count;
}

/* Makes room in front of the others of the line; the oldest is lost. Returns the words of ids. */
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

void pretoken_cache_add(struct pretoken_cache *c, const struct pretoken_key *key, const uint32_t *ids, size_t count)
{
    static const size_t max[PRETOKEN_TABLES] = { 3, 6, 12 };
    uint64_t *line = line_of(c, key), *words = find_words(line, key);

    for (size_t i = 0; i < count; i++)
        if (ids[i] > PRETOKEN_ID_MASK)
            return;
    if (count == 0 || count > PRETOKEN_IDS)
        return;
    words = words ? words : push(line, key);
    memset(words, 0, (sizeof *words) << key->table);
    if (count > max[key->table]) {
        *words = spill(c, ids, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        words[i / 3] |= (uint64_t)ids[i] << PRETOKEN_ID_BITS * (i % 3);
    words[0] |= (uint64_t)count << PRETOKEN_COUNT_SHIFT;
}

/* ---- Kernels ----------------------------------------------------------------------------------------------------- */

extern const struct pretoken_kernels pretoken_kernels_plain;
#if defined(__x86_64__)
extern const struct pretoken_kernels pretoken_kernels_avx2, pretoken_kernels_avx512, pretoken_kernels_avx512vbmi;
#elif defined(__aarch64__) && defined(__ARM_NEON)
extern const struct pretoken_kernels pretoken_kernels_neon;
#endif

/* Fastest first; the last needs nothing, so it ends every search. */
static const struct {
    enum cpu_level needs;
    const struct pretoken_kernels *kernels;
} rows[] = {
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
    enum cpu_level level = cpu_level();
    unsigned i = 0;

    while (rows[i].needs > level)
        i++;
    return rows[i].kernels;
}

const struct pretoken_kernels *pretoken_kernels_row(unsigned number, int *usable)
{
    if (number >= sizeof rows / sizeof rows[0])
        return NULL;
    if (usable)
        *usable = rows[number].needs <= cpu_level();
    return rows[number].kernels;
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

/* Moves on to a place, which may be inside of a pretoken; `next`: the first end that is not before. */
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
