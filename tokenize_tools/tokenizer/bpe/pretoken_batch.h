/*
 * pretoken_batch.h: the ids of many pretokens at once, as far as the cache knows them. First the keys of all pretokens
 * are made and their lines fetched ahead, then the lines are looked at, and what is not there is noted; when the notes
 * have been dealt with, the ids are written. No step waits for the one before of the same pretoken.
 */
#ifndef LEAT_TOKENIZER_PRETOKEN_BATCH_H
#define LEAT_TOKENIZER_PRETOKEN_BATCH_H

#include "byte_cuts.h"
#include "orphans.h"
#include "pretoken_cache.h"

/* The bytes that a batch's pretokens may have together; they may be as many. Many together, so that those that must be
 * merged are many, too. */
#define BATCH_BYTES ((size_t)32768)
#define BATCH_ROOM  BATCH_BYTES

/* Pretokens that are looked for at a time: their lines must not push each other out of the CPU's cache. */
#define BATCH_FIND ((uint32_t)1024)

/* In the end of a pretoken: it is a token already. */
#define BATCH_FIXED ((uint32_t)1 << 31)

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
    BATCH_ARRAY(uint64_t, values, BATCH_ROOM); /* of pretoken_cache.h; below 1 << PRETOKEN_COUNT_SHIFT: unknown */
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

struct merge_rules;

struct pretoken_kernels {
    const char *name;
    /*
     * Cuts text[0..bytes) into the batch's pretokens: where pretokens end, at ends - base, and, if there are cuts
     * (NULL: none), in between, but not in fixed pretokens, whose ends have BATCH_FIXED set: these are noted. The first
     * end is not 0. Parts of cut pretokens that may be orphans (NULL: none is) are another kind of pretoken than whole
     * ones. text[0..room) can be read. Returns the first end that is not before text[bytes].
     */
    const uint32_t *(*cut)(const struct byte_cuts *c, const struct orphans *orphans, const uint8_t *text,
                           uint32_t bytes, size_t room, const uint32_t *ends, const uint32_t *last, uint32_t base,
                           struct pretoken_batch *b);
    /* Fills in values and missed; appends to `many`, at most PRETOKEN_IDS a pretoken. PRETOKEN_AHEAD bytes can be read
     * at each. */
    void (*find)(const struct pretoken_cache *c, struct pretoken_batch *b);
    /*
     * Merges the missed pretokens but for those of more than LANE_SYMBOLS (merge_lanes.h) bytes, which remain as
     * missed, fills in their values and puts them into the cache. There is room in `many` for an id for each of their
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

#endif
