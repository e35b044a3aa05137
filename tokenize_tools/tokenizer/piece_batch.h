/*
 * piece_batch.h: the ids of many pieces at once, as far as the cache knows them. First the keys of all pieces are made
 * and their lines fetched ahead, then the lines are looked at, and what is not there is noted; when the notes have been
 * dealt with, the ids are written. No step waits for the one before of the same piece.
 */
#ifndef LEAT_TOKENIZER_PIECE_BATCH_H
#define LEAT_TOKENIZER_PIECE_BATCH_H

#include "piece_cache.h"

/* Pieces of a batch, and the bytes that all together may have. */
#define BATCH_PIECES ((size_t)1024)
#define BATCH_BYTES  ((size_t)16384)

/* Bytes behind a piece's first that may be read, whatever its length. */
#define BATCH_AHEAD ((size_t)16)

struct piece_batch {
    const uint8_t *text; /* where the first piece begins */
    uint32_t count;
    uint32_t begins[BATCH_PIECES + 1]; /* of each piece; then where the last one ends */
    uint8_t parts[BATCH_PIECES];       /* 1: of a cut piece, see piece_key_make() */
    uint64_t values[BATCH_PIECES];     /* words of ids as in piece_cache.h; below 1 << PIECE_COUNT_SHIFT: not known */

    uint32_t missed_count;
    uint32_t missed[BATCH_PIECES];

    /* Ids that do not fit a word. */
    uint32_t *many;
    size_t many_count;

    /* Between the steps of a look-up. */
    uint32_t short_count, middle_count, long_count;
    uint32_t short_at[BATCH_PIECES], middle_at[BATCH_PIECES], long_at[BATCH_PIECES];
    uint64_t short_words[BATCH_PIECES];
    uint64_t middle_words[2 * BATCH_PIECES];
};

struct merge_rules;

struct piece_kernels {
    const char *name;
    /* Fills in values and missed; appends to `many`, at most 6 a piece. BATCH_AHEAD bytes can be read at each piece. */
    void (*find)(const struct piece_cache *c, struct piece_batch *b);
    /*
     * Merges the missed pieces but for those of more than LANE_SYMBOLS (merge_lanes.h) bytes, which remain as missed,
     * fills in their values and puts them into the cache. There is room in `many` for an id for each of their bytes, and
     * 12 more.
     */
    void (*merge)(const struct merge_rules *rules, struct piece_cache *c, struct piece_batch *b);
    /* Writes the ids of all values; returns their number. May write 3 more. */
    size_t (*write)(const struct piece_batch *b, uint32_t *ids);
};

/* The fastest row that this CPU has. Constant memory. */
const struct piece_kernels *piece_kernels(void);

/* Row `number`, fastest first, for tests; NULL past the last. `usable` (if not NULL) tells whether this CPU has it. */
const struct piece_kernels *piece_kernels_row(unsigned number, int *usable);

#endif
