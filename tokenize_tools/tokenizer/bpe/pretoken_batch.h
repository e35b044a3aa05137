/*
 * pretoken_batch.h: finds the ids of many pretokens at once in a cache. First the keys of all pretokens are made, and
 * their lines are fetched ahead; then the lines are read, and pretokens that are missing are noted; these are merged;
 * at last the ids are written. So no step waits for memory that an earlier step of this pretoken has asked for.
 */
#ifndef LEAT_TOKENIZER_PRETOKEN_BATCH_H
#define LEAT_TOKENIZER_PRETOKEN_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "char_cuts.h"
#include "merge_table.h"
#include "tokenizer/spec/model.h"
#include "vocabulary_map.h"

/* ---- The cache --------------------------------------------------------------------------------------------------- */

/*
 * The cache holds the ids of pretokens that have been met before. A thread has one of its own, and looks first into one
 * that all threads may share (word_store.h).
 *
 * There are three tables by the length of the pretoken, in lines of 64 bytes that are read whole, without a branch on
 * the entry that fits. Up to 8 bytes: a word of bytes, a word of at most 3 ids, 4 entries per line. Up to 15: two
 * words, 6 ids, 2 entries per line. Up to 31: four words, 12 ids, a line and its neighbour. A new entry pushes out the
 * oldest one of its line. If an entry has no room for its ids, they lie in a ring that overwrites the oldest ids, and
 * the entry says when they were written. A shared cache has a heap instead of the ring. Longer pretokens are not kept
 * here (word_store.h).
 *
 * Keys are exact: all bytes of the pretoken, padded with zeros, and in the last byte its length. A pretoken of 8 bytes
 * fills its word; if its last byte could be taken for a length, it goes into the wider table.
 *
 * The key also has the kind of a pretoken: bytes may have other ids as a part of a pretoken than as a whole pretoken.
 *
 * A shared cache is read and filled without a lock, and in any order that the CPU and the compiler choose. Each word of
 * it changes once, from 0 to its final value: entries are written where one is free, and none is pushed out. So a
 * reader only needs to see that all words are there. Words of ids are never 0 (PRETOKEN_WRITTEN). Words of a key are 0
 * only where its length says so: a pretoken with eight NULs at one of these places is not shared, since half of another
 * key could be taken for its key (pretoken_key_whole()).
 */

#define PRETOKEN_LINE  8            /* words of a line */
#define PRETOKEN_MAX   31           /* bytes of the longest pretoken that is kept */
#define PRETOKEN_AHEAD ((size_t)32) /* bytes that must be readable from the start of a pretoken */
#define PRETOKEN_IDS   31           /* most ids of a pretoken that is kept */

/*
 * A word has up to three ids, the first lowest, and their number in its upper four bits; 0 is free. PRETOKEN_SPILLED in
 * place of the number: bits 0-47 say when the ids were written to the ring, counted in ids, bits 48-59 their number.
 * PRETOKEN_MANY, in a batch: bits 0-31 say where the ids lie, bits 32-59 their number.
 */
#define PRETOKEN_ID_BITS     20
#define PRETOKEN_ID_MASK     (((uint64_t)1 << PRETOKEN_ID_BITS) - 1)
#define PRETOKEN_COUNT_SHIFT 60
#define PRETOKEN_SPILLED     ((uint64_t)14 << PRETOKEN_COUNT_SHIFT)
#define PRETOKEN_MANY        ((uint64_t)15 << PRETOKEN_COUNT_SHIFT)
#define PRETOKEN_WHEN        (((uint64_t)1 << 48) - 1)

/* The bit that is set in further words of ids of an entry once they are written. */
#define PRETOKEN_WRITTEN ((uint64_t)1 << PRETOKEN_COUNT_SHIFT)

enum { PRETOKEN_SHORT, PRETOKEN_MIDDLE, PRETOKEN_LONG, PRETOKEN_TABLES };

struct pretoken_table {
    uint64_t *lines;
    unsigned shift; /* shift that makes the number of a line of a hash */
};

/* Memory that threads fill, each a stretch at a time. Written words never change. */
struct pretoken_heap {
    uint32_t *words;
    size_t count, used; /* all words, and those that threads have taken */
};

struct pretoken_stretch {
    size_t at, end;
};

/* Takes room for `count` words of 32 bits; returns NULL if the heap is full. */
uint32_t *pretoken_heap_take(struct pretoken_heap *h, struct pretoken_stretch *s, size_t count);

struct pretoken_cache {
    struct pretoken_table tables[PRETOKEN_TABLES];
    uint32_t *ring;
    uint64_t ring_mask; /* number of ids in the ring, minus 1 */
    uint64_t written;   /* number of ids that have been written to the ring */
    void *memory;       /* memory of the tables and the ring */
    size_t bytes;
    bool large;
    struct pretoken_cache *common; /* shared cache, in which pretokens are searched and added first; may be NULL */
    uint32_t refused, unkept;      /* pretokens that the lines, and the heap, of that cache had no room for */
    bool spilled;                  /* true if the heap of that cache was full, so that ids were put into this one */
    struct pretoken_heap *heap;    /* heap of a shared cache, in place of its ring; may be NULL */
    struct pretoken_stretch stretch;
};

/* Makes a small cache, in microseconds, for little text. Returns false if there is no memory. */
bool pretoken_cache_make(struct pretoken_cache *c);
void pretoken_cache_free(struct pretoken_cache *c);

/* Returns the size, up to `max` bytes, of a large cache for pretokens that a shared cache has no room for; 0 if `max`
 * is too small for one. */
size_t pretoken_cache_large(size_t max);

/* Makes the cache empty, and as large as `max` bytes allow. Returns false, and changes nothing, if it would not
 * grow. */
bool pretoken_cache_enlarge(struct pretoken_cache *c, size_t max);

/* Makes a shared cache of 1 << bits lines per table; returns false if there is no memory. It must be filled before
 * other threads see it: by pretoken_cache_add() with single ids, or by pretoken_cache_copy(). */
bool pretoken_cache_make_common(struct pretoken_cache *c, unsigned bits, struct pretoken_heap *heap);

/* Copies the entries of at most `count` lines of another shared cache that has this heap. *line is the first of them,
 * begins as 0 and moves on. Returns true when all lines were copied. */
bool pretoken_cache_copy(struct pretoken_cache *to, const struct pretoken_cache *from, size_t *line, size_t count);

/* Returns the size of a shared cache in bytes. */
size_t pretoken_cache_common_bytes(unsigned bits);

/* A pretoken as a key of the tables. */
struct pretoken_key {
    uint64_t words[4];
    unsigned table;
};

/* Makes the key of 1 to PRETOKEN_MAX bytes; `part` is 1 for a part of a pretoken. If PRETOKEN_AHEAD bytes can be read,
 * pretoken_key_ahead() is faster. */
struct pretoken_key pretoken_key_make(const uint8_t *pretoken, size_t bytes, unsigned part);

/* Returns true if the words of the key are 0 only where its length says so, so that it may be shared. */
static inline bool pretoken_key_whole(const struct pretoken_key *k)
{
    bool third = k->words[2] != 0 || (k->words[3] >> 56 & 31) == 16;

    return k->table == PRETOKEN_SHORT || (k->words[0] != 0 && (k->table == PRETOKEN_MIDDLE || (k->words[1] && third)));
}

/* Writes the ids of a pretoken, at most PRETOKEN_IDS. Returns their number, 0 if the pretoken is not there. */
size_t pretoken_cache_find(const struct pretoken_cache *c, const struct pretoken_key *key, uint32_t *ids);

/* Prefetches the line of a pretoken that pretoken_cache_find() or _add() will soon read; but not the one in
 * `common`. */
void pretoken_cache_fetch(const struct pretoken_cache *c, const struct pretoken_key *key);

/* Keeps the ids of a pretoken, if it has any and they fit. */
void pretoken_cache_add(struct pretoken_cache *c, const struct pretoken_key *key, const uint32_t *ids, size_t count);

/* ---- Keys, words and lines, for the cache and the kernels ---- */

/* Returns a mask of the first `count` bytes, 1 to 8, of a word that was loaded little-endian. */
static inline uint64_t pretoken_bytes_mask(size_t count)
{
    return ~(uint64_t)0 >> (64 - 8 * count);
}

/* Makes the words of a pretoken of 16 to PRETOKEN_MAX bytes. */
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

/* The factors of a short word's halves of 32 bits, which vectors can multiply. The hash is in the upper half. */
#define PRETOKEN_LOW  0x9e3779b1u
#define PRETOKEN_HIGH 0x85ebca77u

static inline uint64_t pretoken_hash_short(uint64_t word)
{
    return (uint64_t)((uint32_t)word * PRETOKEN_LOW + (uint32_t)(word >> 32) * PRETOKEN_HIGH) << 32;
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

/* Returns the place of spilled ids, or NULL if the ring has overwritten them. */
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

/* ---- A shared cache's words ---- */

static inline uint64_t pretoken_word(const uint64_t *word)
{
    return __atomic_load_n(word, __ATOMIC_RELAXED);
}

static inline bool pretoken_same_key(const uint64_t *entry, const uint64_t *key, unsigned words)
{
    bool same = true;

    for (unsigned i = 0; i < words; i++)
        same = same && pretoken_word(entry + i) == key[i];
    return same;
}

/* Copies ids from the heap. Their entry must have been loaded before a fence. */
static inline void pretoken_take_ids(uint32_t *to, const uint32_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
}

/* Returns true if an entry has the last word of a key, and each of its other words is the key's, or not written yet. */
static inline bool pretoken_may_become(const uint64_t *entry, const uint64_t *key, unsigned words)
{
    bool may = pretoken_word(entry + words - 1) == key[words - 1];

    for (unsigned i = 0; i + 1 < words; i++) {
        uint64_t word = pretoken_word(entry + i);

        may = may && (word == key[i] || word == 0);
    }
    return may;
}

/* Takes an entry if it is free, by writing the key's last word first, which has a length and is never 0. Returns true
 * if the key is now there, by this or another thread. Also returns true, and adds nothing, if another thread is writing
 * a key that may be this one: a reader of a whole line would take two entries of one key for one entry. */
static inline bool pretoken_claim(uint64_t *entry, const uint64_t *key, const uint64_t *ids, unsigned words)
{
    uint64_t before = pretoken_word(entry + words - 1);

    if (before != 0 || !__atomic_compare_exchange_n(entry + words - 1, &before, key[words - 1], false, __ATOMIC_RELAXED,
                                                    __ATOMIC_RELAXED))
        return pretoken_may_become(entry, key, words);
    for (unsigned i = 0; i + 1 < words; i++)
        __atomic_store_n(entry + i, key[i], __ATOMIC_RELAXED);
    for (unsigned i = 0; i < words; i++)
        __atomic_store_n(entry + 4 + i, ids[i], __ATOMIC_RELEASE); /* after what lies in the heap */
    return true;
}

/* Takes the first free entry of a line, as pretoken_claim() does; a key has `words` words, 1 or 2. */
static inline bool pretoken_claim_in(uint64_t *line, const uint64_t *key, const uint64_t *ids, unsigned words)
{
    for (unsigned i = 0; i < 4; i += words)
        if (pretoken_claim(line + i, key, ids, words))
            return true;
    return false;
}

/* Returns true if a line of short or middle pretokens has no free entry. */
static inline bool pretoken_full(const uint64_t *line)
{
    return pretoken_word(line + 3) != 0;
}

/* Puts at most three ids into a word. */
static inline uint64_t pretoken_pack(const uint32_t *ids, size_t count)
{
    uint64_t value = (uint64_t)count << PRETOKEN_COUNT_SHIFT;

    for (size_t i = 0; i < count; i++)
        value |= (uint64_t)ids[i] << PRETOKEN_ID_BITS * i;
    return value;
}

/* Returns true if ids fit a word. */
static inline bool pretoken_fits(const uint32_t *ids, size_t count)
{
    return count > 0 && count <= 3 && (ids[0] | ids[count / 2] | ids[count - 1]) <= PRETOKEN_ID_MASK;
}

/* Returns the number of ids of a value of a batch. */
static inline size_t pretoken_value_count(uint64_t value)
{
    return (size_t)(value >= PRETOKEN_MANY ? value << 4 >> 36 : value >> PRETOKEN_COUNT_SHIFT);
}

/* Makes the value of ids that lie at `place` of a batch's `many`. They must stay there if they do not fit a word. */
static inline uint64_t pretoken_value(const uint32_t *ids, size_t count, size_t place)
{
    return pretoken_fits(ids, count) ? pretoken_pack(ids, count) : PRETOKEN_MANY | (uint64_t)count << 32 | place;
}

/* ---- Orphans ----------------------------------------------------------------------------------------------------- */

/*
 * Orphans are tokens that merging their own text does not make. If a pretoken that is a token is not merged, this makes
 * a difference only for orphans: Llama 3 has 588 of them, most vocabularies have none. So only a pretoken that may be
 * an orphan must be looked up as a token, and only then must a part of a pretoken have another key than a whole
 * pretoken.
 */
#define ORPHAN_BITS 14

struct orphans {
    uint32_t maybe[1 << (ORPHAN_BITS - 5)]; /* bits by hash of a text; set if the text may be an orphan */
    uint64_t *tokens;                       /* bits by place in the vocabulary */
};

static inline uint32_t orphan_hash(const uint8_t *text, size_t bytes)
{
    uint32_t some = text[0] | (uint32_t)text[bytes / 2] << 8 | (uint32_t)text[bytes - 1] << 16 | (uint32_t)bytes << 24;

    return some * 0x9e3779b1u >> (32 - ORPHAN_BITS);
}

/* Returns true if a text of at least one byte may be an orphan. */
static inline bool orphan_maybe(const struct orphans *o, const uint8_t *text, size_t bytes)
{
    uint32_t bit = orphan_hash(text, bytes);

    return o->maybe[bit / 32] >> bit % 32 & 1;
}

static inline bool orphan_is(const struct orphans *o, uint32_t place)
{
    return o->tokens[place / 64] >> place % 64 & 1;
}

/* ---- Merging ----------------------------------------------------------------------------------------------------- */

#define LANE_SYMBOLS   62 /* most symbols of a pretoken that a kernel merges */
#define LANE_LETTERS   0x10000u
#define LANE_NO_LETTER UINT32_MAX

/* The rules of a model whose pretokens are bytes, or characters, for kernels. */
struct merge_rules {
    const struct pair_table *pairs;
    const uint32_t *bytes;              /* symbol of each byte; with `letters`, of each character of one byte */
    const uint32_t *first;              /* rank of each pair of bytes, at left << 8 | right; UINT32_MAX for none */
    const uint32_t *ids;                /* id of each symbol; NULL if they are equal */
    const struct vocabulary_map *whole; /* tokens that are not merged; NULL if merging makes all of them anyway */
    const struct orphans *orphans;      /* the tokens for which that makes a difference */
    const uint32_t *letters;            /* symbol of each character below LANE_LETTERS; LANE_NO_LETTER if it becomes
                                           bytes. NULL if pretokens are bytes */
    const uint32_t *fallback;           /* symbols of these bytes, which nothing merges with */
};

/* ---- A batch ----------------------------------------------------------------------------------------------------- */

/* The most bytes of a batch, and the most pretokens. It is large, so that many pretokens are merged together. */
#define BATCH_BYTES ((size_t)32768)
#define BATCH_ROOM  BATCH_BYTES

/* The number of pretokens that are searched at a time: their lines must not push each other out of the CPU's cache. */
#define BATCH_FIND ((uint32_t)1024)

/* Room after an array for vectors that are written whole. */
#define BATCH_OVER ((size_t)64)

/* Aligned to lines of the CPU's cache */
#define BATCH_ARRAY(type, name, count) _Alignas(64) type name[(count) + BATCH_OVER]

struct pretoken_batch {
    const uint8_t *text; /* start of the first pretoken */
    uint32_t count;
    uint32_t missed_count; /* number of pretokens that the cache does not know */
    uint32_t fixed_count;  /* number of pretokens that are tokens already */

    uint32_t *many; /* ids that do not fit a value */
    size_t many_count;

    BATCH_ARRAY(uint32_t, begins, BATCH_ROOM); /* start of each pretoken, then the end of the last one */
    BATCH_ARRAY(uint8_t, parts, BATCH_ROOM);   /* 1 for a part of a pretoken, as in pretoken_key_make() */
    BATCH_ARRAY(uint64_t, values, BATCH_ROOM); /* ids; unknown if below 1 << PRETOKEN_COUNT_SHIFT */
    BATCH_ARRAY(uint32_t, missed, BATCH_ROOM); /* numbers of pretokens that the cache does not know */
    BATCH_ARRAY(uint32_t, fixed, BATCH_ROOM);  /* numbers of pretokens that are tokens already */

    /* State between two steps of a look-up of pretokens [from, to): numbers of pretokens, keys, numbers of lines. */
    uint32_t from, to;
    uint32_t other_count, middle_count, long_count;
    BATCH_ARRAY(uint32_t, others, BATCH_FIND);
    BATCH_ARRAY(uint32_t, middle_at, BATCH_FIND);
    BATCH_ARRAY(uint32_t, long_at, BATCH_FIND);
    BATCH_ARRAY(uint32_t, short_lines, BATCH_FIND);
    BATCH_ARRAY(uint32_t, middle_lines, BATCH_FIND);
    BATCH_ARRAY(uint32_t, long_lines, BATCH_FIND);
    BATCH_ARRAY(uint64_t, short_words, BATCH_FIND);
    BATCH_ARRAY(uint64_t, middle_words, 2 * BATCH_FIND);
};

/* The text of a batch, text[0..bytes), and its pretokens. */
struct pretoken_cut {
    const struct char_cuts *cuts;  /* safe places to cut pretokens that are not fixed; may be NULL */
    const struct orphans *orphans; /* parts that may be orphans get the key of a part; NULL if there are none */
    const uint8_t *text;
    uint32_t bytes;
    size_t room;                 /* number of bytes that can be read */
    const uint32_t *ends, *last; /* ends of pretokens plus `base`; fixed ones have MODEL_FIXED; the first is not 0 */
    uint32_t base;
};

struct pretoken_kernels {
    const char *name;
    /* Makes the batch's pretokens, and notes those that are fixed. Returns the first end that is not before
     * text[bytes]. */
    const uint32_t *(*cut)(const struct pretoken_cut *w, struct pretoken_batch *b);
    /* Fills in values and missed, and appends at most PRETOKEN_IDS ids per pretoken to `many`. PRETOKEN_AHEAD bytes can
     * be read at each pretoken. */
    void (*find)(const struct pretoken_cache *c, struct pretoken_batch *b);
    /*
     * Merges the missed pretokens, fills in their values, and puts them into the cache; but those of more than
     * LANE_SYMBOLS bytes remain missed. `many` has room for an id per byte, and PRETOKEN_IDS more.
     */
    void (*merge)(const struct merge_rules *rules, struct pretoken_cache *c, struct pretoken_batch *b);
    /* Writes the ids of the values [from, to), which are all known. Returns their number. May write BATCH_OVER more. */
    size_t (*write)(const struct pretoken_batch *b, uint32_t from, uint32_t to, uint32_t *ids);
};

/* Returns the fastest row that this CPU can run, in constant memory. */
const struct pretoken_kernels *pretoken_kernels(void);

/* Returns row `number`, fastest first, for tests; NULL past the last. Sets *usable (may be NULL) if this CPU can run
 * it. */
const struct pretoken_kernels *pretoken_kernels_row(unsigned number, int *usable);

/* ---- Filling a batch --------------------------------------------------------------------------------------------- */

/* The rest of a run of pretokens: the next one begins at `begin`, or the rest of a cut one does. */
struct pretoken_rest {
    const uint8_t *text;
    size_t bytes; /* number of bytes that can be read */
    uint32_t begin;
    const uint32_t *ends, *last;
    bool inside; /* true if `begin` is inside a cut pretoken */
};

/* The place of a batch's text. Kernels read PRETOKEN_AHEAD bytes, so the last pretokens of a text lie in a copy. */
struct pretoken_place {
    uint8_t copy[3 * PRETOKEN_AHEAD];
    size_t room;  /* number of bytes that can be read */
    uint32_t max; /* the last place at which a pretoken may begin */
};

/* Returns the end of a pretoken. */
static inline uint32_t pretoken_end(const uint32_t *end)
{
    return *end & ~MODEL_FIXED;
}

/* Sets the batch's text, which is that of the rest, or a copy in `p`. Called before pretoken_fill(). */
void pretoken_place_text(struct pretoken_place *p, struct pretoken_batch *b, const struct pretoken_rest *r);

/* Takes as many pretokens as fit a batch, and cuts them at safe places. Leaves for the next batch a pretoken that may
 * go on after this one, and pretokens that begin after p->max. If the batch stays empty, the next pretoken is longer
 * than a batch, and must be encoded without one. `orphans` may be NULL. */
void pretoken_fill(struct pretoken_batch *b, const struct pretoken_kernels *kernels, const struct char_cuts *cuts,
                   const struct orphans *orphans, struct pretoken_rest *r, const struct pretoken_place *p);

#endif
