/*
 * loader_segments.h: rows that a loader builds from runs, and lays out in segments (rows_segments.h): slices of rows,
 * rows with labels ahead, rows with tokens that no dataset has. All other rows are laid out by loader_layout.c.
 *
 * A row is *runs*, in its order (loader_runs.c): consecutive tokens of a dataset, or one token that no dataset has.
 * Runs are joined to *chains*: in a chain the label of a place is the token after it. A row of windows is one chain; a
 * row of whole documents has one for each, and a gap may follow it. *Cuts* are what the rank's slice has of the chains,
 * and of the padding after them: for these, and a few tokens after each, reads are begun. When they have come, cuts are
 * divided into segments where documents begin.
 */
#ifndef LEAT_LOADER_SEGMENTS_H
#define LEAT_LOADER_SEGMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"
#include "plan/plan_row.h"

struct leat_loader;
struct loader_slot;

#define LOADER_OF_DATASET UINT32_MAX /* the `id` of a run whose tokens are a dataset's */
#define LOADER_PADDING    UINT32_MAX /* the `chain` of a cut after a row's end */

struct loader_run {
    struct leat_piece piece; /* only its place in a dataset counts; it has all tokens of the run */
    uint32_t first;          /* which of the piece's tokens is the run's first */
    uint32_t count;          /* tokens; 1 if no dataset has it */
    uint32_t id;             /* of a token that no dataset has */
    uint8_t weight;          /* how much that one counts as a label, in 255ths (if the loader has masks) */
    bool chain;              /* begins a chain; a row's first run always does */
    bool document;           /* a document of the row begins here */
    bool search;             /* and where the dataset says so, inside of it */
    bool beyond;             /* after the chain's last label: only labels ahead. The chain's last run */
};

struct loader_chain {
    uint32_t run;           /* its first; in the slot, as all numbers of runs, chains and cuts */
    uint32_t place, places; /* of the whole row, with the gap after it */
    uint32_t tokens;
};

struct loader_cut {
    uint32_t chain;
    uint32_t place, places; /* of the whole row */
    uint32_t token, tokens; /* where its tokens are in the slot, and how many, with those that labels need */
};

/* A row of a slot. */
struct loader_row {
    uint32_t chain, cut, token; /* its first ones */
    uint32_t length;            /* places of the whole row before the padding */
};

/* Of a slot; all but `rows` grow as needed. */
struct loader_segments {
    struct loader_row *rows; /* the loader's, one of padding, and one for the ends */
    struct loader_run *runs;
    struct loader_chain *chains;
    struct loader_cut *cuts;
    struct plan_row changed; /* of one row */
    uint64_t *starts;        /* of one row's documents: chain << 32 | token of the chain, in rising order */
    size_t run_count, run_room, chain_count, chain_room, cut_count, cut_room, start_count, start_room;
    uint32_t read_count;
    uint32_t tokens;                   /* in the slot */
    uint32_t pool, documents, shorter; /* as of struct rows_segmented, of the next row to put */
};

/* ---- loader_runs.c: which tokens a row has ---- */

/* Adds the runs of a row to the slot's. Whoever changes rows changes these. */
enum leat_status loader_runs_find(const struct leat_loader *l, struct loader_slot *slot, uint32_t row,
                                  struct leat_error *err);

/* Adds one run. */
enum leat_status loader_runs_add(struct loader_segments *x, const struct loader_run *run, struct leat_error *err);

/* ---- loader_segments.c ---- */

/* Whether the loader's rows are in segments. */
bool loader_segments_needed(const struct leat_loader *l);

/* Checks that slices can be cut from rows of this plan, with the options that the loader has. */
enum leat_status loader_segments_check(const struct leat_loader *l, const struct leat_plan *plan,
                                       struct leat_error *err);

/* The length of a batch whose longest row has this many places, as slices need it. */
uint64_t loader_segments_length(const struct leat_loader *l, uint64_t longest);

/* The most places of a batch's rows together, in the slice. */
uint64_t loader_segments_places(const struct leat_loader *l);

/* Adds what a slot needs to *size; false: too large. */
bool loader_segments_size(struct leat_loader *l, uint64_t *size);

enum leat_status loader_segments_open(const struct leat_loader *l, struct loader_slot *slot, struct leat_error *err);
void loader_segments_close(struct loader_slot *slot);

/* Lays out `rows` rows of whole length batch.length, which becomes that of a slice: fills layout, batch, job and reads.
 * A slot without memory only gets the reads. */
enum leat_status loader_segments_begin(struct leat_loader *l, struct loader_slot *slot, uint32_t rows,
                                       struct leat_error *err);

/* Finds documents and masks of a row whose tokens have come; if that fails, it has one document. */
enum leat_status loader_segments_find(struct leat_loader *l, struct loader_slot *slot, uint32_t row,
                                      struct leat_error *err);

/* Then puts its segments into the slot, one row after the other; and after the last what is the slot's end. */
void loader_segments_put(const struct leat_loader *l, struct loader_slot *slot, uint32_t row);
void loader_segments_end(const struct leat_loader *l, struct loader_slot *slot);

/* Fills a row with end tokens. */
void loader_segments_clear(const struct leat_loader *l, const struct loader_slot *slot, uint32_t row);

#endif
