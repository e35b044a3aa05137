/*
 * loader_stages.h: the line of stages that makes a batch, in their order. Each fills a struct of its own from that of
 * the stage before it, and from what is the same for all batches (struct loader_shape). No stage knows the loader;
 * loader_stage.c calls them one after another.
 *
 *   step      samples of this rank        loader_step.c
 *   places    where their tokens are      loader_places.c; of rows in segments loader_segments.c, loader_runs.c
 *   reads     what is gathered            loader_places.c; loader_segments.c
 *   memory    how it lies in the slot     loader_layout.c; loader_segments.c; numbers of sources: loader_sources.c
 *             beside the tokens           loader_values.c, from finding places to outputs
 *   marks     documents and masks         loader_marks.c; loader_segments.c
 *   outputs   a job for the kernels       loader_slot.c
 */
#ifndef LEAT_LOADER_STAGES_H
#define LEAT_LOADER_STAGES_H

#include <stdatomic.h>
#include <stdbool.h>

#include "gather/gather.h"
#include "leat.h"
#include "plan/plan.h"
#include "rows/rows.h"
#include "rows/rows_outputs.h"

#define LOADER_ANNOUNCED 1024u

/* What lies where in a slot: numbers and bits of rows, then the rows, and their mask after the last of them, so that a
 * copy can end there. */
struct loader_sizes {
    size_t lengths_at, flags_at, sources_at, source_weights_at, rows_at, starts_at, marks_at, heads_at, segments_at,
        tokens_at, slot_bytes;
    uint32_t tokens; /* room for so many tokens of rows in segments in a slot */
    size_t row_room; /* largest row with the pages around it; 0: rows never lie apart */
    size_t output_bytes;
    size_t outputs[ROWS_OUTPUT_COUNT]; /* offsets of the outputs that are borrowed */
};

/* What is the same for all batches: options, the plan, and what follows from them (loader_take_plan()). */
struct loader_shape {
    const struct leat_plan *plan;
    struct leat_loader_options options;
    uint64_t positions;    /* number of the plan's samples; LEAT_NONE: without end */
    uint32_t max_length;   /* most inputs of a row, as batches have it */
    uint32_t whole_length; /* most inputs of a row before it is cut into slices */
    uint64_t first_row;    /* number of this rank's first row in a global batch */
    uint32_t rows;         /* most rows of a batch */
    uint32_t token_width, pad;
    int32_t ignored;              /* a label without loss */
    bool narrow;                  /* ids fit into 31 bits */
    bool documents;               /* it must be known where documents begin */
    bool masks_first;             /* a document's first token has no loss, whatever is asked for */
    bool masks;                   /* some labels may have no loss */
    bool segmented;               /* rows are in segments */
    bool device_apart;            /* the device gains from rows that lie apart */
    bool device_marks;            /* the device needs marks (rows.h) */
    const uint32_t *first_file;   /* number of each source's first file, as gather counts them */
    uint32_t files;               /* number of all files of tokens; the files of each column follow them */
    struct loader_values *values; /* numbers beside the tokens (loader_values.h); NULL: none */
    struct loader_sizes sizes;
    struct loader_weights {
        float *each;    /* weights in the loss of the first `count` sources; NULL: all are 1 */
        uint64_t count; /* further sources have the weight 1 */
    } weights;
};

/* ---- Step: the samples that are this rank's ---- */

struct loader_step {
    struct leat_sample *samples; /* room for shape->rows */
    uint32_t rows;               /* rows of the batch, with padding; 0: the plan has ended */
    uint32_t filled;             /* rows that have samples, the first ones */
};

/* Rows that are dealt to ranks. */
#define LOADER_DEAL_ONE 1000000u
struct loader_deal {
    struct leat_sample *samples; /* samples of the global batch; NULL: ranks get consecutive rows */
    uint32_t *ranks;
    uint64_t *costs;
    uint64_t *sums; /* work of each rank, as dealt; then as with consecutive rows */
    /* How far apart the work of ranks is, in LOADER_DEAL_ONE, for statistics: in the last batch; sums over batches,
     * as dealt and with consecutive rows; number of batches. */
    atomic_uint_fast64_t last, spread, chance, batches;
};

/* Batches by tokens. */
struct loader_tokens {
    struct leat_sample *samples; /* samples of the pool that was looked at last; NULL: batches have a number of rows */
    uint64_t first, count;       /* number of the pool's first sample; number of its samples */
};

/* What the stage keeps from step to step. */
struct loader_steps {
    struct loader_deal deal;
    struct loader_tokens tokens;
    uint64_t announced; /* position up to which samples were announced (plan_announce()) */
    unsigned slots;     /* slots of the ring, and so the number of batches that are announced */
};

/* Checks the options of ranks and batches, and makes room. *rows becomes the most rows of a batch by tokens. */
enum leat_status loader_steps_open(struct loader_shape *shape, struct loader_steps *steps, uint64_t *rows,
                                   struct leat_error *err);
void loader_steps_close(struct loader_steps *steps);

/* Finds the samples of the step that begins at a position; *next is the position after it. */
enum leat_status loader_step_find(const struct loader_shape *shape, struct loader_steps *steps, uint64_t position,
                                  struct loader_step *step, uint64_t *next, struct leat_error *err);

/* Gives this rank's samples of the global batch at a position, for which `samples` has room for shape->rows, as
 * plan_samples() does. Not for batches by tokens. */
enum leat_status loader_deal_rows(const struct loader_shape *shape, struct loader_deal *d, uint64_t position,
                                  struct leat_sample *samples, uint64_t *got, struct leat_error *err);

/* Returns false if rows are dealt by lanes, and those of this lane are another rank's. */
bool loader_deal_takes(const struct loader_shape *shape, uint64_t lane);

/* Returns the most places that the rows of a batch have together, if the longest has `longest`. Batches by tokens have
 * few long rows; a row may have `more` places there than tokens that it counts with. */
uint64_t loader_tokens_places(const struct loader_shape *shape, uint64_t longest, uint64_t more);

/* ---- Places: where the tokens of the rows are ---- */

struct loader_places {
    struct loader_step step;          /* the step whose rows these are */
    struct leat_piece *pieces;        /* pieces of the filled rows, one row after another */
    uint32_t *first;                  /* number of each filled row's first piece, then the number of pieces */
    size_t room;                      /* number of pieces that there is memory for */
    uint32_t length;                  /* length of the batch */
    uint32_t whole_length;            /* length of the batch before rows are cut into slices */
    struct loader_segments *segments; /* NULL: rows are not in segments (loader_segments.h) */
    struct loader_found *found;       /* NULL: there is nothing beside the tokens (loader_values.h) */
};

/* Returns how many places follow so many up to the next multiple of the plan's `align`. */
uint32_t loader_gap_after(const struct loader_shape *shape, uint64_t places);

/* Returns the tokens of padding after a piece in its slot, up to where the next one begins (`align`). */
uint32_t loader_places_gap(const struct loader_shape *shape, const struct leat_piece *piece);

/* Returns how many tokens a filled row has in its slot, padding between its pieces included. */
uint32_t loader_places_tokens(const struct loader_shape *shape, const struct loader_places *places, uint32_t row);

/* Returns how many inputs a filled row has: its predictions; or its tokens, if labels are unshifted. */
uint32_t loader_places_inputs(const struct loader_shape *shape, const struct loader_places *places, uint32_t row);

/* ---- Reads: what is gathered ---- */

struct loader_reads {
    struct gather_job job; /* a read for each piece; for each stretch of a file if rows are in segments; then those of
                              columns (loader_values.h) */
    uint32_t *first;       /* number of each filled row's first read, then the number of reads */
    size_t room;           /* number of reads that there is memory for */
};

/* Makes room for the places and reads of a batch. */
enum leat_status loader_places_open(const struct loader_shape *shape, struct loader_places *places,
                                    struct loader_reads *reads, struct leat_error *err);
void loader_places_close(struct loader_places *places, struct loader_reads *reads);

/* Finds the pieces of a step's rows, the length of the batch, the cuts of rows in segments, and the reads. Samples get
 * the place of their first piece; reads of rows in segments get theirs, behind `tokens`, where the slot's tokens begin,
 * unless that is NULL. */
enum leat_status loader_places_find(const struct loader_shape *shape, struct loader_places *places,
                                    struct loader_reads *reads, uint8_t *tokens, struct leat_error *err);

/* Adds the read of `count` tokens of a piece, from its token `first` on. */
enum leat_status loader_reads_add(const struct loader_shape *shape, struct loader_reads *reads,
                                  const struct leat_piece *piece, uint64_t first, uint32_t count, uint8_t *to,
                                  struct leat_error *err);

/* Adds the read of bytes of a file. */
enum leat_status loader_reads_put(struct loader_reads *reads, uint32_t file, uint64_t offset, uint64_t bytes,
                                  uint8_t *to, struct leat_error *err);

/* ---- Memory: how a batch lies in its slot ---- */

struct loader_memory {
    uint8_t *base;
    struct rows_layout layout; /* how this batch lies */
    size_t bytes;              /* bytes from the slot's start that are used, and that a device needs */
};

/* Computes the sizes of slots that hold the longest batch. Returns false if they are too large. */
bool loader_layout_size(struct loader_shape *shape);

/* Returns the most inputs that a row of `inputs` predictions can have in a batch. */
uint64_t loader_layout_longest(const struct loader_shape *shape, uint64_t inputs);

/* Lays out a batch: gives the reads their places, and fills everything in the slot that is not gathered. */
void loader_layout_begin(const struct loader_shape *shape, struct gather *g, const struct loader_places *places,
                         struct loader_reads *reads, struct loader_memory *m);

/* Fills a filled row with end tokens. */
void loader_layout_clear(const struct loader_shape *shape, const struct loader_places *places,
                         const struct loader_memory *m, uint32_t row);

/* Writes the sources of the rows to the slot, and their weights (loader_sources.c). */
void loader_sources_put(const struct loader_shape *shape, const struct loader_step *step,
                        const struct loader_memory *m);

/* Adds `bytes`, aligned, to a size; *at is where they begin. Returns false if that is too large. */
bool loader_slot_add(uint64_t *size, uint64_t bytes, size_t *at);

/* Writes a token `tokens` times, as a slot stores it. */
void loader_slot_fill(const struct loader_shape *shape, uint8_t *to, uint64_t tokens, uint32_t token);

/* Returns where a row begins, on the host. */
uint8_t *loader_slot_row(const struct loader_places *places, const struct loader_memory *m, uint32_t row);

/* Returns true if a row of the slot is damaged. */
static inline bool loader_slot_damaged(const struct loader_memory *m, uint32_t row)
{
    return m->base[m->layout.flags_at + row] & LEAT_ROW_DAMAGED;
}

/* ---- Marks: what is known of the tokens that have come ---- */

/* Announces what the rows of a batch that was begun need of indexes on file servers. */
void loader_index_announce(const struct loader_shape *shape, uint64_t announced[LOADER_ANNOUNCED],
                           const struct loader_places *places);

/* Clears the bits of a row but the first, which is always set; returns the row's words. */
uint64_t *loader_documents_clear(const struct loader_memory *m, uint32_t row);

/* Finds where documents begin in a filled row, and its mask, unless it is damaged. */
enum leat_status loader_marks_find(const struct loader_shape *shape, const struct loader_places *places,
                                   const struct loader_memory *m, uint32_t row, struct leat_error *err);

/* Checks the options that take the loss of labels; if any does, the loader has a mask. */
enum leat_status loader_loss_open(struct loader_shape *shape, struct leat_error *err);

/* Clears the mask of those tokens, among `count` consecutive ones of a row of this source, whose loss the options take.
 * The row's second token has the number `second` among them, if it is there. */
void loader_loss_tokens(const struct loader_shape *shape, uint32_t source, const uint8_t *tokens, uint64_t count,
                        uint64_t second, uint8_t *mask);

#endif
