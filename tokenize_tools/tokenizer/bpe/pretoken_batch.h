/*
 * pretoken_batch.h: the ids of many pretokens at once, as far as the cache knows them. First the keys of all pretokens
 * are made and their lines fetched ahead, then the lines are looked at, and what is not there is noted; when the notes
 * have been dealt with, the ids are written. No step waits for the one before of the same pretoken.
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
 * The ids of pretokens that have been seen before. One belongs to one thread; another one all threads may share
 * (word_store.h), and look into first.
 *
 * Three tables by the length of the pretoken, in lines of 64 bytes that are read whole, without a branch on which of
 * their entries fits. Up to 8 bytes: a word of bytes, a word of at most 3 ids, 4 entries a line. Up to 15: two words, 6
 * ids, 2 entries a line. Up to 31: four words, 12 ids, a line and its neighbour. Newer entries push the oldest of their
 * line out. More ids than an entry takes lie in a ring, from which the oldest vanish: the entry says when they were
 * written. A shared cache has a heap instead of the ring. Longer pretokens are not kept here (word_store.h).
 *
 * Keys are exact: all bytes of the pretoken, padded with zeros, and in the last byte its length. A pretoken of 8 bytes
 * fills its word; those whose last byte could be taken for a length go into the wider table.
 *
 * A pretoken may be of two kinds, which the key shows too: the same bytes may have other ids as a part of a pretoken
 * than as a pretoken of their own.
 *
 * A shared cache is read and filled without a lock, and in any order that the CPU and the compiler choose. Each word of
 * it changes once, from 0 to what it remains: entries are written where one is free, and none is pushed out. So a
 * reader needs to see only that all words are there. Words of ids are never 0 (PRETOKEN_WRITTEN); and words of a key
 * are not, but where its length says so: a pretoken with eight NULs at one of these places is not shared, or half of
 * another's key could be taken for its own (pretoken_key_whole()).
 */

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

/* Set in the further words of ids of an entry: they have been written. */
#define PRETOKEN_WRITTEN ((uint64_t)1 << PRETOKEN_COUNT_SHIFT)

enum { PRETOKEN_SHORT, PRETOKEN_MIDDLE, PRETOKEN_LONG, PRETOKEN_TABLES };

struct pretoken_table {
    uint64_t *lines;
    unsigned shift; /* of a hash: its upper bits number the lines */
};

/* Memory that threads fill, each a stretch at a time. What is written there never changes. */
struct pretoken_heap {
    uint32_t *words;
    size_t count, used; /* `used` by all threads together */
};

struct pretoken_stretch {
    size_t at, end;
};

/* Room for so many words of 32 bits; NULL if the heap is full. */
uint32_t *pretoken_heap_take(struct pretoken_heap *h, struct pretoken_stretch *s, size_t count);

struct pretoken_cache {
    struct pretoken_table tables[PRETOKEN_TABLES];
    uint32_t *ring;
    uint64_t ring_mask, written; /* ids of the ring, less 1; ids that have been written to it */
    void *memory;                /* of all */
    size_t bytes;
    bool large;
    struct pretoken_cache *common; /* a shared one, where pretokens are looked for first and put first; NULL: none */
    uint32_t refused, unkept;      /* pretokens that its lines, and its heap, had no room for */
    bool spilled;                  /* its heap was full, so that ids were put here */
    struct pretoken_heap *heap;    /* of a shared one, in the place of its ring; may be NULL */
    struct pretoken_stretch stretch;
};

/* Small, for little text: made in microseconds. False: no memory. */
bool pretoken_cache_make(struct pretoken_cache *c);
void pretoken_cache_free(struct pretoken_cache *c);

/* What a large one takes, which has what a shared cache has no room for, if it may take `max` bytes; 0 if that is too
 * little for one. */
size_t pretoken_cache_large(size_t max);

/* Makes it as large as `max` bytes allow, and empty; false, and nothing changed, if it does not become larger. */
bool pretoken_cache_enlarge(struct pretoken_cache *c, size_t max);

/* Makes a cache of 1 << bits lines of a kind, to be shared; false: no memory. It is not seen by others before it has
 * been filled: by pretoken_cache_add(), with single ids, or with what another one with the same heap has. */
bool pretoken_cache_make_common(struct pretoken_cache *c, unsigned bits, struct pretoken_heap *heap);
void pretoken_cache_copy(struct pretoken_cache *to, const struct pretoken_cache *from);

/* What it takes. */
size_t pretoken_cache_common_bytes(unsigned bits);

/* A pretoken as the tables look for it. */
struct pretoken_key {
    uint64_t words[4];
    unsigned table;
};

/* The key of 1 to PRETOKEN_MAX bytes; `part` 0 or 1. pretoken_key_ahead() where PRETOKEN_AHEAD bytes can be read. */
struct pretoken_key pretoken_key_make(const uint8_t *pretoken, size_t bytes, unsigned part);

/* Whether its words have none that is 0 but for its length: see above. */
static inline bool pretoken_key_whole(const struct pretoken_key *k)
{
    bool third = k->words[2] != 0 || (k->words[3] >> 56 & 31) == 16;

    return k->table == PRETOKEN_SHORT || (k->words[0] != 0 && (k->table == PRETOKEN_MIDDLE || (k->words[1] && third)));
}

/* Its ids, at most PRETOKEN_IDS; returns their number, 0 if it is not there. */
size_t pretoken_cache_find(const struct pretoken_cache *c, const struct pretoken_key *key, uint32_t *ids);

/* The line in which a pretoken is looked for first. */
const uint64_t *pretoken_cache_line(const struct pretoken_cache *c, const struct pretoken_key *key);

/* Prefetches the line of a pretoken that pretoken_cache_find() or _add() will soon read; not that of `common`. */
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

/* Of both halves alike: vectors multiply 32 bits. In the upper half. */
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

/* Ids of the heap. What an entry says of them must have been loaded before a fence for it. */
static inline void pretoken_take_ids(uint32_t *to, const uint32_t *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = __atomic_load_n(from + i, __ATOMIC_RELAXED);
}

/* Whether an entry's last word is that of a key, and the others are, too, or not written yet. */
static inline bool pretoken_may_become(const uint64_t *entry, const uint64_t *key, unsigned words)
{
    bool may = pretoken_word(entry + words - 1) == key[words - 1];

    for (unsigned i = 0; i + 1 < words; i++) {
        uint64_t word = pretoken_word(entry + i);

        may = may && (word == key[i] || word == 0);
    }
    return may;
}

/* Takes an entry if it is free: its key's last word, which has a length and is never 0, is put there first. True: the
 * key is there now, by this or another thread; or another thread is writing what may be this key, which then is not
 * added: two entries of a key would be taken for one by whoever looks at a line as a whole. */
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

/* The same with the entries of a line; `words`, of a key: 1 or 2. */
static inline bool pretoken_claim_in(uint64_t *line, const uint64_t *key, const uint64_t *ids, unsigned words)
{
    for (unsigned i = 0; i < 4; i += words)
        if (pretoken_claim(line + i, key, ids, words))
            return true;
    return false;
}

/* Whether a line of short or middle pretokens has no entry left. */
static inline bool pretoken_full(const uint64_t *line)
{
    return pretoken_word(line + 3) != 0;
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

/* ---- Orphans ----------------------------------------------------------------------------------------------------- */

/*
 * Orphans are tokens that do not come about when their own text is merged. Where a pretoken that is a token is taken as
 * it stands, these are the only ones for which that makes a difference: Llama 3 has 588 of them, most vocabularies have
 * none. So only a pretoken whose text may be one of them must be looked up as a token, and only then must a part of a
 * pretoken be told from a pretoken of the same text.
 */
#define ORPHAN_BITS 14

struct orphans {
    uint32_t maybe[1 << (ORPHAN_BITS - 5)]; /* bits by hash of the text: the set ones may be one */
    uint64_t *tokens;                       /* bits by place in the vocabulary */
};

static inline uint32_t orphan_hash(const uint8_t *text, size_t bytes)
{
    uint32_t some = text[0] | (uint32_t)text[bytes / 2] << 8 | (uint32_t)text[bytes - 1] << 16 | (uint32_t)bytes << 24;

    return some * 0x9e3779b1u >> (32 - ORPHAN_BITS);
}

/* Whether a text of at least one byte may be such a token. */
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

#define LANE_SYMBOLS   62 /* the most symbols of a pretoken that a kernel merges */
#define LANE_LETTERS   0x10000u
#define LANE_NO_LETTER UINT32_MAX

/* What a kernel must know of a model whose pretokens are bytes, or characters. */
struct merge_rules {
    const struct pair_table *pairs;
    const uint32_t *bytes;              /* the symbol of each; of pretokens of characters, of those of one byte */
    const uint32_t *first;              /* of two bytes, at left << 8 | right, the rank; UINT32_MAX: none */
    const uint32_t *ids;                /* by symbol; NULL: a symbol is its own */
    const struct vocabulary_map *whole; /* pretokens that are tokens stay as they are; NULL: they come out so anyway */
    const struct orphans *orphans;      /* for which tokens that must be asked */
    const uint32_t *letters;            /* the symbol of each character below LANE_LETTERS; LANE_NO_LETTER: none, it
                                           becomes bytes. NULL: pretokens are bytes */
    const uint32_t *fallback;           /* the symbols of these bytes, which nothing merges with */
};

/* ---- A batch ----------------------------------------------------------------------------------------------------- */

/* The bytes that a batch's pretokens may have together; they may be as many. Many together, so that those that must be
 * merged are many, too. */
#define BATCH_BYTES ((size_t)32768)
#define BATCH_ROOM  BATCH_BYTES

/* Pretokens that are looked for at a time: their lines must not push each other out of the CPU's cache. */
#define BATCH_FIND ((uint32_t)1024)

/* Vectors are written whole. */
#define BATCH_OVER ((size_t)64)

/* Bytes of a line of the CPU's cache. */
#define BATCH_ARRAY(type, name, count) _Alignas(64) type name[(count) + BATCH_OVER]

struct pretoken_batch {
    const uint8_t *text; /* where the first pretoken begins */
    uint32_t count;
    uint32_t missed_count; /* of unknown ones */
    uint32_t fixed_count;  /* of pretokens that are tokens already */

    /* Ids that do not fit a value. */
    uint32_t *many;
    size_t many_count;

    BATCH_ARRAY(uint32_t, begins, BATCH_ROOM); /* of each pretoken; then where the last one ends */
    BATCH_ARRAY(uint8_t, parts, BATCH_ROOM);   /* 1: of the other kind, see pretoken_key_make() */
    BATCH_ARRAY(uint64_t, values, BATCH_ROOM); /* of pretoken_batch.h; below 1 << PRETOKEN_COUNT_SHIFT: unknown */
    BATCH_ARRAY(uint32_t, missed, BATCH_ROOM);
    BATCH_ARRAY(uint32_t, fixed, BATCH_ROOM);

    /* Between the steps of a look-up of pretokens from `from` on: numbers of pretokens, keys, and numbers of lines. */
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

/* What a batch is cut out of: text[0..bytes); text[0..room) can be read. */
struct pretoken_cut {
    const struct char_cuts *cuts; /* cuts are made in between, too, but not in fixed pretokens; NULL: none */
    const struct orphans
        *orphans; /* parts that may be one are another kind of pretoken than whole ones; NULL: none is */
    const uint8_t *text;
    uint32_t bytes;
    size_t room;
    const uint32_t *ends, *last; /* pretokens end at ends - base; the first end is not 0. Fixed: with MODEL_FIXED */
    uint32_t base;
};

struct pretoken_kernels {
    const char *name;
    /* Makes the batch's pretokens, and notes those that are fixed. Returns the first end that is not before
     * text[bytes]. */
    const uint32_t *(*cut)(const struct pretoken_cut *w, struct pretoken_batch *b);
    /* Fills in values and missed; appends to `many`, at most PRETOKEN_IDS a pretoken. PRETOKEN_AHEAD bytes can be read
     * at each. */
    void (*find)(const struct pretoken_cache *c, struct pretoken_batch *b);
    /*
     * Merges the missed pretokens but for those of more than LANE_SYMBOLS bytes, which remain as missed,
     * fills in their values and puts them into the cache. There is room in `many` for an id for each of their
     * bytes, and PRETOKEN_IDS more.
     */
    void (*merge)(const struct merge_rules *rules, struct pretoken_cache *c, struct pretoken_batch *b);
    /* Writes the ids of the values from one to another, all known; returns their number. May write BATCH_OVER more. */
    size_t (*write)(const struct pretoken_batch *b, uint32_t from, uint32_t to, uint32_t *ids);
};

/* The fastest row that this CPU has. Constant memory. */
const struct pretoken_kernels *pretoken_kernels(void);

/* Row `number`, fastest first, for tests; NULL past the last. `usable` (may be NULL): whether this CPU can run it. */
const struct pretoken_kernels *pretoken_kernels_row(unsigned number, int *usable);

/* ---- Filling a batch --------------------------------------------------------------------------------------------- */

/* These take as many pretokens of a run as fit a batch, and do what kernels must not do: they do not read past the end
 * of the text, and do not take a part of a pretoken for all of it. */

/* What is left of a run of pretokens: the next one begins at `begin`, or the rest of a cut one does. */
struct pretoken_rest {
    const uint8_t *text;
    size_t bytes; /* that can be read */
    uint32_t begin;
    const uint32_t *ends, *last;
    bool inside; /* of a cut pretoken */
};

/* Where the batch's text lies, and the last place at which a pretoken may begin: kernels read on after it. The last
 * pretokens of a text go from a copy. */
struct pretoken_place {
    uint8_t copy[3 * PRETOKEN_AHEAD];
    size_t room; /* bytes that can be read */
    uint32_t max;
};

/* Where a pretoken ends. */
static inline uint32_t pretoken_end(const uint32_t *end)
{
    return *end & ~MODEL_FIXED;
}

/* Comes before pretoken_fill(). The batch's text is that of the rest, or lies in `p`. */
void pretoken_place_text(struct pretoken_place *p, struct pretoken_batch *b, const struct pretoken_rest *r);

/* Takes as many pretokens as fit a batch, and cuts them where they have characters beyond ASCII. Left for the next
 * batch are a pretoken that may go on after the batch, and pretokens that begin where kernels cannot read. A batch that
 * stays empty: the next pretoken is longer than a batch, and must be encoded without one. `orphans` may be NULL. */
void pretoken_fill(struct pretoken_batch *b, const struct pretoken_kernels *kernels, const struct char_cuts *cuts,
                   const struct orphans *orphans, struct pretoken_rest *r, const struct pretoken_place *p);

#endif
