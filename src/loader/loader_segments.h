/*
 * loader_segments.h: the stages of rows that a loader builds from runs, and lays out in segments (rows_segments.h):
 * slices of rows, rows with labels ahead, rows with tokens that no dataset has. No other loader has any of this.
 *
 * A row is *runs*, in its order (loader_runs.c): consecutive tokens of a dataset, or one token that no dataset has.
 * Runs are joined to *chains*: in a chain the label of a place is the token after it. A row of windows is one chain; a
 * row of whole documents has one for each, and a gap may follow it. *Cuts* are what the rank's slice has of the chains,
 * and of the padding after them: for these, and a few tokens after each, reads are begun. When they have come, cuts are
 * divided into segments where documents begin.
 */
#ifndef LEAT_LOADER_SEGMENTS_H
#define LEAT_LOADER_SEGMENTS_H

#include "loader_stages.h"
#include "loader_values.h"
#include "plan/plan_row.h"

#define LOADER_OF_DATASET UINT32_MAX /* the `id` of a run whose tokens are a dataset's */
#define LOADER_PADDING    UINT32_MAX /* the `chain` of a cut after a row's end */

struct loader_run {
    struct leat_piece piece; /* its place in a dataset; it has all tokens of the run */
    uint32_t first;          /* number of the piece's token that is the run's first */
    uint32_t count;          /* number of tokens; 1 if no dataset has it */
    uint32_t id;             /* id of a token that no dataset has */
    uint8_t weight;          /* weight of that token as a label, in 255ths (if the loader has masks) */
    bool chain;              /* it begins a chain; a row's first run always does */
    bool document;           /* a document of the row begins here */
    bool search;             /* documents also begin inside it, where the dataset says so */
    bool beyond;             /* it follows the chain's last label, for labels ahead only; it is the chain's last run */
};

struct loader_chain {
    uint32_t run;           /* number of its first run in the slot, as all numbers of runs, chains and cuts are */
    uint32_t place, places; /* place in the whole row; number of places, with the gap after it */
    uint32_t tokens;
};

struct loader_cut {
    uint32_t chain;
    uint32_t place, places; /* place in the whole row; number of places */
    uint32_t token, tokens; /* number of its first token in the slot; number of tokens, with those that labels need */
};

/* A row of a batch. */
struct loader_row {
    uint32_t chain, cut, token; /* numbers of its first chain, cut and token */
    uint32_t length;            /* number of places of the whole row before the padding */
};

/* All runs, chains and cuts of a batch; the arrays except `rows` grow when they must. */
struct loader_segments {
    struct loader_row *rows; /* the loader's rows, one of padding, and one for the ends of the last */
    struct loader_run *runs;
    struct loader_chain *chains;
    struct loader_cut *cuts;
    struct plan_row changed; /* room for one row that the plan changes */
    uint64_t *starts;        /* where one row's documents start: chain << 32 | token of the chain, in rising order */
    size_t run_count, run_room, chain_count, chain_room, cut_count, cut_room, start_count, start_room;
    uint32_t tokens;                   /* number of tokens in the slot */
    uint32_t pool, documents, shorter; /* members of struct rows_segmented, for the next row */
};

/* Adds the runs of a filled row to those that are there (loader_runs.c). A change to rows is made there. */
enum leat_status loader_runs_find(const struct loader_shape *shape, struct loader_places *places, uint32_t row,
                                  struct leat_error *err);

/* ---- loader_segments.c ---- */

/* Checks that slices can be cut from rows of the plan, with the options. */
enum leat_status loader_segments_check(const struct loader_shape *shape, struct leat_error *err);

/* Returns the length of a batch whose longest row has this many places, as slices need it. */
uint64_t loader_segments_length(const struct loader_shape *shape, uint64_t longest);

/* Returns the most places of a batch's rows together, in the slice. */
uint64_t loader_segments_places(const struct loader_shape *shape);

/* Adds what a slot needs to *size. Returns false if that is too large. */
bool loader_segments_size(struct loader_shape *shape, uint64_t *size);

enum leat_status loader_segments_open(const struct loader_shape *shape, struct loader_segments **out,
                                      struct leat_error *err);
void loader_segments_close(struct loader_segments *x);

/* Cuts rows of pieces that are known, and makes the reads of the cuts. The batch's length becomes that of a slice. */
enum leat_status loader_segments_cut(const struct loader_shape *shape, struct loader_places *places,
                                     struct loader_reads *reads, uint8_t *tokens, struct leat_error *err);

/* Adds the stretches of a row's cuts. Token t of a cut is the input of its place t, and the label of place t - `shift`.
 */
enum leat_status loader_segments_stretches(const struct loader_places *places, uint32_t row, uint32_t shift,
                                           struct loader_stretches *out, struct leat_error *err);

/* Returns how many places a row has in the slice, without padding. */
uint32_t loader_segments_inputs(const struct loader_segments *x, uint32_t row);

/* Lays out a batch of segments, after loader_layout.c has put its head; and the pool, which comes last in the slot. */
void loader_segments_lay(const struct loader_shape *shape, const struct loader_places *places, struct loader_memory *m);
void loader_segments_lay_pool(struct loader_memory *m);

/* Finds documents and masks of a row whose tokens have come; if that fails, it has one document. */
enum leat_status loader_segments_find(const struct loader_shape *shape, struct loader_places *places,
                                      const struct loader_memory *m, uint32_t row, struct leat_error *err);

/* Puts the row's segments into the slot after that, row by row; after the last row, it ends the slot's pool. */
void loader_segments_put(struct loader_places *places, const struct loader_memory *m, uint32_t row);
void loader_segments_end(struct loader_places *places, struct loader_memory *m);

#endif
