/*
 * pretoken_cache.h: the ids of pretokens that have been seen before. One belongs to one thread, and no line of it is
 * shared.
 *
 * Three tables by the length of the pretoken, in lines of 64 bytes that are read whole, without a branch on which of
 * their entries fits. Up to 8 bytes: a word of bytes, a word of at most 3 ids, 4 entries a line. Up to 15: two words, 6
 * ids, 2 entries a line. Up to 31: four words, 12 ids, a line and its neighbour. Newer entries push the oldest of their
 * line out. More ids than an entry takes lie in a ring, from which the oldest vanish: the entry says when they were
 * written. Longer pretokens seldom come again, and are not kept.
 *
 * Keys are exact: all bytes of the pretoken, padded with zeros, and in the last byte its length. A pretoken of 8 bytes
 * fills its word; those whose last byte could be taken for a length go into the wider table.
 *
 * A pretoken may be of two kinds, which the key shows too: the same bytes may have other ids as a part of a pretoken
 * than as a pretoken of their own.
 */
#ifndef LEAT_TOKENIZER_PRETOKEN_CACHE_H
#define LEAT_TOKENIZER_PRETOKEN_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"

/* Words of a line, and the longest pretoken that is kept. */
#define PRETOKEN_LINE  8
#define PRETOKEN_MAX   31
#define PRETOKEN_AHEAD ((size_t)32)
#define PRETOKEN_IDS   31 /* at most, of a pretoken that is kept */

/*
 * Ids in a word, three of them, the first lowest; above them, in the upper four bits, their number. 0: free.
 * PRETOKEN_SPILLED: bits 0-47 say when they were written to the ring, in ids, bits 48-59 how many they are.
 * PRETOKEN_MANY, in a batch: bits 0-31 say where they lie, bits 32-59 how many they are.
 */
#define PRETOKEN_ID_BITS     20
#define PRETOKEN_ID_MASK     (((uint64_t)1 << PRETOKEN_ID_BITS) - 1)
#define PRETOKEN_COUNT_SHIFT 60
#define PRETOKEN_SPILLED     ((uint64_t)14 << PRETOKEN_COUNT_SHIFT)
#define PRETOKEN_MANY        ((uint64_t)15 << PRETOKEN_COUNT_SHIFT)
#define PRETOKEN_WHEN        (((uint64_t)1 << 48) - 1)

enum { PRETOKEN_SHORT, PRETOKEN_MIDDLE, PRETOKEN_LONG, PRETOKEN_TABLES };

struct pretoken_table {
    uint64_t *lines;
    unsigned shift; /* of a hash: its upper bits number the lines */
};

struct pretoken_cache {
    struct pretoken_table tables[PRETOKEN_TABLES];
    uint32_t *ring;
    uint64_t ring_mask, written; /* ids of the ring, less 1; ids that have been written to it */
    void *memory;                /* of all */
    size_t bytes;
    bool large;
};

/* Small, for little text: made in microseconds. False: no memory. */
bool pretoken_cache_make(struct pretoken_cache *c);
void pretoken_cache_free(struct pretoken_cache *c);

/* What a large one takes if it may take `most` bytes; 0 if that is too little for one. */
size_t pretoken_cache_large(size_t max);

/* Makes it as large as `most` bytes allow, and empty; false, and nothing changed, if it does not become larger. */
bool pretoken_cache_enlarge(struct pretoken_cache *c, size_t max);

/* A pretoken as the tables look for it. */
struct pretoken_key {
    uint64_t words[4];
    unsigned table;
};

/* The key of 1 to PRETOKEN_MAX bytes; `part` 0 or 1. pretoken_key_ahead() where PRETOKEN_AHEAD bytes can be read. */
struct pretoken_key pretoken_key_make(const uint8_t *pretoken, size_t bytes, unsigned part);

/* Its ids, at most PRETOKEN_IDS; returns their number, 0 if it is not there. */
size_t pretoken_cache_find(const struct pretoken_cache *c, const struct pretoken_key *key, uint32_t *ids);

/* Has the line of a pretoken fetched that pretoken_cache_find() or _add() will ask for soon. */
void pretoken_cache_fetch(const struct pretoken_cache *c, const struct pretoken_key *key);

/* Keeps these ids of a pretoken, if there are any and they fit. */
void pretoken_cache_add(struct pretoken_cache *c, const struct pretoken_key *key, const uint32_t *ids, size_t count);

/* ---- What the kernels of a batch share with it ---- */

/* The bytes below `count`, 1 to 8, of a word that was loaded little-endian. */
static inline uint64_t pretoken_bytes_mask(size_t count)
{
    return ~(uint64_t)0 >> (64 - 8 * count);
}

/* The words of a pretoken of 16 to PRETOKEN_MAX bytes. */
static inline void pretoken_words_long(const uint8_t *pretoken, size_t bytes, unsigned part, uint64_t words[4])
{
    words[0] = bytes_load64(pretoken);
    words[1] = bytes_load64(pretoken + 8);
    words[2] = bytes_load64(pretoken + 16) & (bytes == 16 ? 0 : pretoken_bytes_mask(bytes < 24 ? bytes - 16 : 8));
    words[3] = bytes_load64(pretoken + 24) & (bytes <= 24 ? 0 : pretoken_bytes_mask(bytes - 24));
    words[3] |= (uint64_t)(bytes | part << 5) << 56;
}

static inline struct pretoken_key pretoken_key_ahead(const uint8_t *pretoken, size_t bytes, unsigned part)
{
    struct pretoken_key k = { .words = { bytes_load64(pretoken) & pretoken_bytes_mask(bytes < 8 ? bytes : 8) } };

    if (bytes < 8) {
        k.words[0] |= (uint64_t)(bytes | part << 3) << 56;
    } else if (bytes > 15) {
        k.table = PRETOKEN_LONG;
        pretoken_words_long(pretoken, bytes, part, k.words);
    } else if (bytes > 8 || part || k.words[0] >> 56 < 16) {
        k.table = PRETOKEN_MIDDLE;
        k.words[1] = (bytes_load64(pretoken + 7) & pretoken_bytes_mask(bytes - 7)) >> 8;
        k.words[1] |= (uint64_t)(bytes | part << 4) << 56;
    }
    return k;
}

static inline uint64_t pretoken_hash_short(uint64_t word)
{
    return word * 0x9e3779b97f4a7c15u;
}

static inline uint64_t pretoken_hash_middle(uint64_t first, uint64_t second)
{
    uint64_t h = first * 0x9e3779b97f4a7c15u ^ second * 0xd6e8feb86659fd93u;

    return (h ^ h >> 32) * 0xff51afd7ed558ccdu;
}

static inline uint64_t pretoken_hash_long(const uint64_t words[4])
{
    return pretoken_hash_middle(pretoken_hash_middle(words[0], words[1]) ^ words[2], words[3]);
}

/* Where spilled ids lie; NULL if they are no longer there. */
static inline const uint32_t *pretoken_spilled(const struct pretoken_cache *c, uint64_t value)
{
    uint64_t when = value & PRETOKEN_WHEN;

    return c->written - when <= c->ring_mask + 1 ? c->ring + (when & c->ring_mask) : NULL;
}

static inline size_t pretoken_spilled_count(uint64_t value)
{
    return (size_t)(value << 4 >> 52);
}

static inline size_t pretoken_line(const struct pretoken_table *t, uint64_t hash)
{
    return (size_t)(hash >> t->shift) * PRETOKEN_LINE;
}

/* At most three ids. */
static inline uint64_t pretoken_pack(const uint32_t *ids, size_t count)
{
    uint64_t value = (uint64_t)count << PRETOKEN_COUNT_SHIFT;

    for (size_t i = 0; i < count; i++)
        value |= (uint64_t)ids[i] << PRETOKEN_ID_BITS * i;
    return value;
}

/* Whether ids fit a word. */
static inline bool pretoken_fits(const uint32_t *ids, size_t count)
{
    return count > 0 && count <= 3 && (ids[0] | ids[count / 2] | ids[count - 1]) <= PRETOKEN_ID_MASK;
}

/* How many ids a value of a batch has. */
static inline size_t pretoken_value_count(uint64_t value)
{
    return (size_t)(value >= PRETOKEN_MANY ? value << 4 >> 36 : value >> PRETOKEN_COUNT_SHIFT);
}

/* The value of ids that lie at `place` of a batch's `many`: there they must remain if pretoken_fits() says no. */
static inline uint64_t pretoken_value(const uint32_t *ids, size_t count, size_t place)
{
    return pretoken_fits(ids, count) ? pretoken_pack(ids, count) : PRETOKEN_MANY | (uint64_t)count << 32 | place;
}

#endif
