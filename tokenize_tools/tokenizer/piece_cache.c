/*
 * piece_cache.c: see piece_cache.h; piece_kernel.h looks up many pieces at once.
 *
 * Sizes. A prefetched line from memory is cheaper than a merge, so larger tables win even where they fit no cache of the
 * CPU; yet what is never touched costs nothing only while the memory is fresh, and clearing 32 MiB takes some
 * milliseconds. So a cache begins small and becomes large when a good deal of text has come.
 */
#include "piece_cache.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/tiny.h"

#define LINE_BYTES (PIECE_LINE * sizeof(uint64_t))
#define HUGE       ((size_t)2 << 20)

/* Lines, as powers of two: of a small cache, and how many of them a unit of the large one has: 4 : 8 : 4. */
#define SMALL_BITS ((unsigned)TINY_OR(1, 10))
#define LARGE_BITS ((unsigned)TINY_OR(2, 17))

static const unsigned more_bits[PIECE_TABLES] = { 0, 1, 0 };

static size_t lines_of(unsigned bits)
{
    size_t lines = 0;

    for (unsigned t = 0; t < PIECE_TABLES; t++)
        lines += (size_t)1 << (bits + more_bits[t]);
    return lines;
}

static void lay_out(struct piece_cache *c, void *memory, unsigned bits)
{
    /* two lines are neighbours */
    uint64_t *at = (uint64_t *)(((uintptr_t)memory + 2 * LINE_BYTES - 1) & ~(uintptr_t)(2 * LINE_BYTES - 1));

    for (unsigned t = 0; t < PIECE_TABLES; t++) {
        c->tables[t] = (struct piece_table) { at, 64 - bits - more_bits[t] };
        at += PIECE_LINE << (bits + more_bits[t]);
    }
}

bool piece_cache_make(struct piece_cache *c)
{
    *c = (struct piece_cache) { .bytes = (lines_of(SMALL_BITS) + 2) * LINE_BYTES };
    c->memory = calloc(1, c->bytes);
    if (c->memory)
        lay_out(c, c->memory, SMALL_BITS);
    return c->memory != NULL;
}

void piece_cache_free(struct piece_cache *c)
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

/* Of a large cache that takes at most so much; no more than SMALL_BITS if there is none. */
static unsigned large_bits(size_t most, size_t *bytes)
{
    unsigned bits = LARGE_BITS;

    while (*bytes = (lines_of(bits) + 2) * LINE_BYTES + HUGE, bits > SMALL_BITS && *bytes > most)
        bits--;
    return bits;
}

size_t piece_cache_large(size_t most)
{
    size_t bytes;

    return large_bits(most, &bytes) > SMALL_BITS ? bytes : 0;
}

bool piece_cache_enlarge(struct piece_cache *c, size_t most)
{
    size_t bytes;
    unsigned bits = large_bits(most, &bytes);
    void *memory = c->large || bits <= SMALL_BITS ? NULL : map_zeros(bytes);

    if (!memory)
        return false;
    piece_cache_free(c);
    *c = (struct piece_cache) { .memory = memory, .bytes = bytes, .large = true };
    lay_out(c, (void *)(((uintptr_t)memory + HUGE - 1) & ~(uintptr_t)(HUGE - 1)), bits);
    return true;
}

/* ---- One piece ---- */

struct piece_key piece_key_make(const uint8_t *piece, size_t bytes, unsigned part)
{
    uint8_t padded[PIECE_MOST + 1] = { 0 };
    struct piece_key k = { .table = bytes <= 15 ? PIECE_MIDDLE : PIECE_LONG };

    memcpy(padded, piece, bytes);
    if (bytes < 8 || (bytes == 8 && !part && padded[7] >= 16)) {
        k.table = PIECE_SHORT;
        padded[7] = bytes < 8 ? (uint8_t)(bytes | part << 3) : padded[7];
    } else {
        padded[bytes <= 15 ? 15 : PIECE_MOST] = (uint8_t)(bytes | part << (bytes <= 15 ? 4 : 5));
    }
    for (unsigned i = 0; i < 4; i++)
        k.words[i] = bytes_load64(padded + 8 * i);
    return k;
}

static uint64_t *line_of(const struct piece_cache *c, const struct piece_key *k, unsigned table)
{
    const struct piece_table *t = &c->tables[table];
    uint64_t hash;

    if (table == PIECE_SHORT)
        hash = piece_hash_short(k->words[0]);
    else if (table == PIECE_MIDDLE)
        hash = piece_hash_middle(k->words[0], k->words[1]);
    else
        hash = piece_hash_middle(piece_hash_middle(k->words[0], k->words[1]) ^ k->words[2], k->words[3]);
    return t->lines + piece_line(t, hash);
}

static uint64_t *neighbour(uint64_t *line)
{
    return (uint64_t *)((uintptr_t)line ^ LINE_BYTES);
}

/* The words of ids of the entry in one table; NULL if there is none. */
static const uint64_t *find_in(const struct piece_cache *c, const struct piece_key *k, unsigned table)
{
    uint64_t *line = line_of(c, k, table);

    if (table == PIECE_SHORT) {
        for (unsigned i = 0; i < 4; i++)
            if (line[i] == k->words[0])
                return line + 4 + i;
    } else if (table == PIECE_MIDDLE) {
        for (unsigned i = 0; i < 4; i += 2)
            if (line[i] == k->words[0] && line[i + 1] == k->words[1])
                return line + 4 + i;
    } else {
        for (unsigned i = 0; i < 2; i++, line = neighbour(line))
            if (memcmp(line, k->words, sizeof k->words) == 0)
                return line + 4;
    }
    return NULL;
}

static size_t unpack(const uint64_t *words, uint32_t *ids)
{
    size_t count = (size_t)(words[0] >> PIECE_COUNT_SHIFT);

    for (size_t i = 0; i < count; i++)
        ids[i] = (uint32_t)(words[i / 3] >> PIECE_ID_BITS * (i % 3) & PIECE_ID_MASK);
    return count;
}

size_t piece_cache_find(const struct piece_cache *c, const struct piece_key *key, uint32_t ids[12])
{
    for (unsigned table = key->table; table < PIECE_TABLES; table++) {
        const uint64_t *words = find_in(c, key, table);

        if (!words)
            return 0;
        if (*words != PIECE_WIDER)
            return unpack(words, ids);
    }
    return 0;
}

/* Makes room in front of the others of the line; the oldest is lost. Returns the words of ids. */
static uint64_t *push(uint64_t *line, const struct piece_key *k, unsigned table)
{
    if (table == PIECE_SHORT) {
        memmove(line + 1, line, 3 * sizeof *line);
        memmove(line + 5, line + 4, 3 * sizeof *line);
    } else if (table == PIECE_MIDDLE) {
        memmove(line + 2, line, 2 * sizeof *line);
        memmove(line + 6, line + 4, 2 * sizeof *line);
    } else {
        memcpy(neighbour(line), line, LINE_BYTES);
    }
    memcpy(line, k->words, (sizeof *line) << table);
    return line + 4;
}

void piece_cache_add(struct piece_cache *c, const struct piece_key *key, const uint32_t *ids, size_t count)
{
    static const size_t most[PIECE_TABLES] = { 3, 6, 12 };
    unsigned table = key->table;
    uint64_t *words;

    for (size_t i = 0; i < count; i++)
        if (ids[i] > PIECE_ID_MASK)
            return;
    if (count == 0 || count > most[PIECE_LONG])
        return;
    for (; count > most[table]; table++)
        if (!find_in(c, key, table))
            *push(line_of(c, key, table), key, table) = PIECE_WIDER;
    words = push(line_of(c, key, table), key, table);
    for (unsigned i = 0; i < 1u << table; i++)
        words[i] = 0;
    for (size_t i = 0; i < count; i++)
        words[i / 3] |= (uint64_t)ids[i] << PIECE_ID_BITS * (i % 3);
    words[0] |= (uint64_t)count << PIECE_COUNT_SHIFT;
}
