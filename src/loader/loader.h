/*
 * loader.h: the inside of struct leat_loader: a ring of slots, the stage that fills them (in a thread, or inside the
 * caller's calls), and the consumer's side. Only the stage knows plan and files; only the consumer's side knows the
 * caller; they meet in the ring, in `end_at`, and in counters.
 *
 * The room src/loader/ decides when a batch is made, and by whom: slots, stage, statistics. How bytes are read belongs
 * to src/gather/, what is made of them to src/rows/, where they go to src/device/.
 *
 * Words: a *batch* is the rows of one step, a global batch; a rank gets a consecutive part of it. A *slot* is the
 * memory of one batch, the *ring* is all slots, the *stage* is the side that fills them. A *gate* is a place where
 * threads wait.
 */
#ifndef LEAT_LOADER_H
#define LEAT_LOADER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/counter.h"
#include "device/backend.h"
#include "gather/gather.h"
#include "leat.h"
#include "loader_segments.h"
#include "plan/plan.h"
#include "ring.h"
#include "rows/rows.h"
#include "rows/rows_outputs.h"

#define LOADER_ANNOUNCED  1024u
#define LOADER_THREADS    64u  /* at most */
#define LOADER_RECENT     100u /* batches of which the share of waiting is reported */
#define LOADER_MAX_BATCH  ((uint64_t)1 << 31)
#define LOADER_MAX_SLICES 65536u
#define LOADER_MAX_AHEAD  256u
#define LOADER_POLL_NS    50000u /* between looks at slots that a device still uses */

struct loader_slot {
    struct leat_batch batch; /* first: the caller's pointer is this slot's */
    struct leat_loader *loader;
    unsigned number;
    uint8_t *memory;
    struct rows_layout layout; /* of this filling */
    size_t bytes;              /* used, from its start: what a device needs */
    struct leat_sample *samples;
    uint32_t places;           /* rows that are not padding */
    struct leat_piece *pieces; /* of these rows, one row after another */
    uint32_t *first_piece;     /* of each of these rows, then how many there are in all */
    uint32_t piece_room, read_room;
    struct gather_piece *reads; /* one for each piece, but of rows in segments */
    struct gather_job job;      /* all of them */
    uint32_t *first_read;       /* of each row, then how many; `first_piece` unless rows are in segments */
    struct loader_segments segments;
    uint32_t *learned; /* of each row that is not padding: its labels with loss */
};

/* What lies where in a slot: numbers and bits of rows, then the rows, and their mask after the last of them, so that a
 * copy can end there. */
struct loader_sizes {
    size_t lengths_at, flags_at, sources_at, source_weights_at, rows_at, starts_at, marks_at, heads_at, segments_at,
        tokens_at, slot_bytes;
    uint32_t tokens; /* of rows in segments: room for so many in a slot */
    size_t row_room; /* largest row with the pages around it; 0: rows never lie apart */
    size_t output_bytes;
    size_t outputs[ROWS_OUTPUT_COUNT]; /* offsets of those that are borrowed */
};

/* The stage's state; only the stage writes it, statistics read it. */
struct loader_stage {
    uint64_t position, batch; /* of the next one to begin */
    uint64_t next;            /* the position after the one whose rows were found last */
    uint64_t announced;       /* the position from which on nothing was said to plan_announce() */
    uint64_t damaged;
    bool ended;     /* no further batch can begin */
    bool finishing; /* the oldest one begun */
    uint8_t begun[RING_MAX];
    unsigned begun_first, begun_count;
    atomic_uint_fast64_t order_ns, gather_ns, documents_ns, outputs_ns, copy_ns, slot_ns, rows_damaged, sent_bytes;
    atomic_int node;               /* of the thread that finished the last batch that is a multiple of 64 */
    atomic_uint_fast64_t batch_ns; /* what a batch took lately, from begun to done */
    uint64_t begin_ns, waited_ns;  /* when the last one was begun; the last wait for a free slot */
};

/* The consumer's state, likewise. */
struct loader_consumer {
    uint64_t damaged;                                               /* of the last batch; of the beginning */
    uint64_t asked_ns;                                              /* when the last call returned; 0: no call yet */
    uint64_t unfinished_began, unfinished_ns;                       /* of calls that waited, without a batch yet */
    uint32_t recent_wait[LOADER_RECENT], recent_all[LOADER_RECENT]; /* in units of 1024 ns */
    atomic_uint_fast64_t recent_wait_sum, recent_all_sum, recent_worked; /* the last: how many had work */
    struct durations next;
    atomic_uint_fast64_t cursor; /* of the last batch; of the beginning */
    atomic_uint_fast64_t batches, rows, tokens, inputs, wait_ns, all_ns, first_ns;
};

/* What was given of each source; only the consumer writes it. */
struct loader_source {
    atomic_uint_fast64_t rows, tokens, loss_tokens;
};
struct loader_sources {
    struct loader_sources *before; /* of a plan with fewer sources */
    uint64_t count;
    struct loader_source each[];
};

/* A file of statistics (loader_stats.c); only the consumer writes it. */
struct loader_log {
    int fd; /* -1: none, or no more */
    uint64_t every_ns, due_ns;
    uint64_t batches; /* at the last line */
    atomic_int error; /* errno of what ended it */
};

/* What is announced to the caches of servers' datasets, beyond the slots (loader_ahead.c). */
struct loader_ahead {
    struct loader_slot *rows; /* without memory; NULL: nothing is announced */
    uint64_t position;        /* of the next batch to announce */
    uint64_t batches;         /* how many beyond those that have begun */
};

/* Rows that are dealt to ranks (loader_deal.c); the stage's, of the batch that it looked at last. */
#define LOADER_DEAL_ONE 1000000u
struct loader_deal {
    struct leat_sample *samples; /* of the global batch; NULL: ranks get consecutive rows */
    uint32_t *ranks;
    uint64_t *costs;
    uint64_t *sums; /* of the ranks, as dealt; then as consecutive rows would be */
    /* Read by statistics: how far apart ranks are, in LOADER_DEAL_ONE: of the last batch; then sums over batches. */
    atomic_uint_fast64_t last, spread, chance, batches;
};

/* Batches by tokens (loader_tokens.c); the stage's. */
struct loader_tokens {
    struct leat_sample *samples; /* of the pool that was looked at last; NULL: batches have a number of rows */
    uint64_t first, count;       /* its samples */
};

/* What options and plan say of the rows of all batches (loader_take_plan()). */
struct loader_shape {
    uint64_t positions;    /* of the plan; LEAT_NONE: without end */
    uint32_t max_length;   /* most inputs of a row, as batches have it */
    uint32_t whole_length; /* most inputs of a row before it is cut into slices */
    uint64_t first_row;    /* of this rank in a global batch */
    uint32_t rows;         /* most rows of a batch */
    uint32_t token_width, pad;
    uint64_t begin_token; /* whose labels have no loss; LEAT_NONE: they have it */
    int32_t ignored;      /* a label without loss */
    bool narrow;          /* ids fit into 31 bits */
    bool documents;       /* where documents begin is needed */
    bool masks_first;     /* a document's first token has no loss, whatever is asked for */
    bool masks;           /* some labels may have no loss */
    bool segmented;       /* rows are in segments */
};

/* Why there are no more batches: `status` and `error` are valid once `at` is the number of all batches. */
struct loader_end {
    atomic_uint_fast64_t at;
    enum leat_status status;
    struct leat_error error;
};

struct leat_loader {
    const struct leat_plan *plan;
    struct leat_loader_options options;
    struct loader_shape shape;
    struct loader_device {
        const struct backend_ops *ops;
        struct backend *backend;
        struct backend_memory memory;
        int node; /* of the ring and its threads; negative: any */
    } device;
    struct loader_sizes sizes;
    struct loader_slot *slots;
    struct ring ring;
    struct gather gather;
    uint64_t announced[LOADER_ANNOUNCED]; /* regions whose document starts were, by a hash of their numbers */
    /* The stages, in their order; only the stage's side uses them. */
    struct loader_tokens tokens;
    struct loader_deal deal;
    struct loader_ahead ahead;
    struct loader_weights {
        float *each;    /* weights in the loss of the first `count` sources; NULL: all are 1 */
        uint64_t count; /* others have 1 */
    } weights;
    /* Each side writes to cache lines of its own. */
    _Alignas(64) struct loader_stage stage;
    _Alignas(64) struct loader_consumer consumer;
    atomic_uint held; /* slots that the caller has */
    _Alignas(64) struct loader_end end;
    uint64_t opened_ns;
    struct loader_thread {
        pthread_t id;
        bool runs;
        atomic_bool stop;
    } thread;
    atomic_int event_fd; /* -1: none */
    struct loader_process {
        uint32_t *guard; /* memory that the kernel wipes in a child; NULL: it cannot */
        pid_t owner;
    } process;
    _Atomic(struct loader_sources *) sources;
    struct loader_log log;
    atomic_uint given; /* bits of the rows of loader_notices.c that were given */
};

/*
 * Waking a thread costs the waker about 5 us, and the sleeper 50 on a virtual machine. If that is much beside what a
 * batch takes, the consumer is woken only when several are ready, and looks by itself if these take longer than before.
 *
 * On a busy Zen 3, 32 x 2048 tokens in 8 slots, a consumer that always waits: 23.1 us a batch and 4.1 us of the
 * consumer's CPU time when it was woken for each batch of more than 25 us, and else for half of the slots; 22.1 and 2.6
 * with these numbers; 23.6 and 3.5 if it sleeps by the clock alone and is never woken.
 */
#define LOADER_QUICK_NS     100000u
#define LOADER_MAX_SLEEP_NS 200000u
static inline bool loader_is_quick(const struct leat_loader *l)
{
    return counter_value(&l->stage.batch_ns) < LOADER_QUICK_NS;
}

/* How many are several: the slots that are left take what is made until the consumer is awake. */
static inline unsigned loader_many(const struct leat_loader *l)
{
    return 3 * l->ring.slots / 4;
}

/* ---- loader_process.c: the process that it works in ---- */

void loader_process_open(struct leat_loader *l);
void loader_process_close(struct leat_loader *l);

/* Returns true in a child after fork(). */
bool loader_forked(const struct leat_loader *l);

/* Returns LEAT_E_FORKED in a child. */
enum leat_status loader_check_process(const struct leat_loader *l, struct leat_error *err);

/* ---- loader_open.c ---- */

/* Reads from the plan everything that the options decide, except the sizes of slots. */
enum leat_status loader_take_plan(struct leat_loader *l, struct leat_error *err);

/* Opens the files of a plan for this loader's slots. gather_close() is fine after a failure. */
enum leat_status loader_open_files(const struct leat_loader *l, struct gather *g, const struct leat_plan *plan,
                                   struct leat_error *err);

/* Starts the loader's threads. */
enum leat_status loader_start_threads(struct leat_loader *l, struct leat_error *err);

/* ---- loader.c ---- */

/* Stops the loader's threads, and waits for their end. */
void loader_end_thread(struct leat_loader *l);

/* ---- loader_stage.c: the stages, one after another ---- */

/* Runs in the loader's thread until it is stopped. */
void *loader_stage_run(void *loader);

/* Fills a slot in the caller's thread. Returns false if there is nothing to do, since the plan has ended or no slot is
 * free. */
bool loader_stage_step(struct leat_loader *l);

/* Begins as many batches as useful, also while one is being finished. Returns whether a device still has slots. */
bool loader_stage_begin(struct leat_loader *l);

/* ---- First stage: the samples of a step that are this rank's (loader_deal.c, loader_tokens.c) ---- */

/* Checks `balance`, and makes room for it. */
enum leat_status loader_deal_open(struct leat_loader *l, struct leat_error *err);
void loader_deal_close(struct leat_loader *l);

/* Gives this rank's samples of the global batch at a position, for which `samples` has room for l->shape.rows, as
 * plan_samples() does. */
enum leat_status loader_deal_rows(struct leat_loader *l, uint64_t position, struct leat_sample *samples, uint64_t *got,
                                  struct leat_error *err);

/* Counts the batch whose rows were given last in the statistics. */
void loader_deal_count(struct leat_loader *l);

/* Makes room, if the plan has batches by tokens; *rows is then the most rows of a batch. */
enum leat_status loader_tokens_open(struct leat_loader *l, uint64_t *rows, struct leat_error *err);
void loader_tokens_close(struct leat_loader *l);

/* Returns the most places that the rows of a batch have together, if the longest has `longest`. Batches by tokens have
 * few long rows; a row may have `more` places there than tokens that it counts with. */
uint64_t loader_tokens_places(const struct leat_loader *l, uint64_t longest, uint64_t more);

/* Gives the samples of this rank's batch of the step that begins at a position, how many batches the step has for all
 * ranks, and the position after them. */
enum leat_status loader_tokens_rows(struct leat_loader *l, uint64_t position, struct leat_sample *samples,
                                    uint64_t *got, uint64_t *batches, uint64_t *next, struct leat_error *err);

/* ---- Second stage: the places of their tokens (loader_pieces.c) ---- */

/* Finds the pieces of the slot's first `places` samples. */
enum leat_status loader_pieces_find(struct leat_loader *l, struct loader_slot *slot, struct leat_error *err);

/* Finds the length of the slot's batch, whose pieces are known. */
enum leat_status loader_pieces_length(const struct leat_loader *l, struct loader_slot *slot, struct leat_error *err);

/* Returns the number of the file that has a piece, as gather counts them. */
static inline uint32_t loader_file_of(const struct leat_loader *l, const struct leat_piece *p)
{
    return l->gather.first_file[p->source] + p->part;
}

/* Returns how many places follow so many up to the next multiple of the plan's `align`. */
uint32_t loader_pieces_gap_after(const struct leat_loader *l, uint64_t places);

/* Returns the tokens of padding after a piece in its slot, up to where the next one begins (`align`). */
uint32_t loader_pieces_gap(const struct leat_loader *l, const struct leat_piece *piece);

/* Returns how many tokens a row that is not padding has in its slot, padding between its pieces included. */
uint32_t loader_pieces_tokens(const struct leat_loader *l, const struct loader_slot *slot, uint32_t row);

/* Returns how many inputs a row that is not padding has: its predictions; or its tokens, if labels are unshifted. */
uint32_t loader_pieces_inputs(const struct leat_loader *l, const struct loader_slot *slot, uint32_t row);

/* ---- Third stage: how they lie in the slot, and what is read (loader_layout.c, or loader_segments.h) ---- */

/* Computes the sizes of slots that hold the longest batch. Returns false if they are too large. */
bool loader_layout_size(struct leat_loader *l);

/* Returns the most inputs that a row of `inputs` predictions can have in a batch. */
uint64_t loader_layout_longest(const struct leat_loader *l, uint64_t inputs);

/* Lays out `rows` rows of the batch's length, those of the slot's samples first: fills layout, batch, job and reads,
 * and everything in the slot that is not gathered. */
void loader_layout_begin(struct leat_loader *l, struct loader_slot *slot, uint32_t rows);

/* Fills a row with end tokens. */
void loader_layout_clear(const struct leat_loader *l, struct loader_slot *slot, uint32_t row);

/* ---- Fourth stage: what is known of the tokens that have come (loader_marks.c, or loader_segments.h) ---- */

/* Announces what the rows of a batch that was begun need of indexes on file servers. */
void loader_index_announce(struct leat_loader *l, const struct loader_slot *slot);

/* Clears the bits of a row but the first, which is always set; returns the row's words. */
uint64_t *loader_documents_clear(const struct loader_slot *slot, uint32_t row);

/* Sets the bits of a row where documents begin. */
enum leat_status loader_documents_find(struct leat_loader *l, const struct loader_slot *slot, uint32_t row,
                                       struct leat_error *err);

/* Checks the options that take the loss of labels; if any does, the loader has a mask. */
enum leat_status loader_loss_open(struct leat_loader *l, struct leat_error *err);

/* Clears the mask of those tokens, among `count` consecutive ones, whose loss the options take. The row's second token
 * has the number `second` among them, if it is there. */
void loader_loss_tokens(const struct leat_loader *l, const uint8_t *tokens, uint64_t count, uint64_t second,
                        uint8_t *mask);

/* Makes room for the mask after the slot's rows. */
void loader_mask_put(const struct leat_loader *l, struct loader_slot *slot);

/* Reads the mask of a row's tokens to its place in the slot. */
enum leat_status loader_mask_row(struct leat_loader *l, const struct loader_slot *slot, uint32_t row,
                                 struct leat_error *err);

/* ---- loader_slot.c: what all stages ask of a slot ---- */

/* Makes room in a slot for `count` pieces, each with a read; or for `count` reads alone. */
enum leat_status loader_pieces_room(struct loader_slot *slot, uint64_t count, struct leat_error *err);
enum leat_status loader_reads_room(struct loader_slot *slot, uint64_t count, struct leat_error *err);

/* Adds `bytes`, aligned, to a size; *at is where they begin. Returns false if that is too large. */
bool loader_slot_add(uint64_t *size, uint64_t bytes, size_t *at);

/* Writes a token `tokens` times, as a slot stores it. */
void loader_slot_fill(const struct leat_loader *l, uint8_t *to, uint64_t tokens, uint32_t token);

/* Returns where a row begins, on the host. */
const uint8_t *loader_slot_row(const struct loader_slot *slot, uint32_t row);

/* Returns a job for the kernels, for a slot and the outputs that are wanted. */
struct rows_job loader_job(const struct loader_slot *slot, const struct leat_outputs *outputs);

/* Fills the outputs that consumers borrow, relative to `base`. */
void loader_borrowed(const struct loader_slot *slot, uint8_t *base, struct leat_outputs *outputs);

/* ---- loader_ahead.c ---- */

/* Makes room for announcing, if a dataset comes from a server. */
enum leat_status loader_ahead_open(struct leat_loader *l, struct leat_error *err);
void loader_ahead_close(struct leat_loader *l);

/* Announces further batches, if any are due. */
void loader_ahead(struct leat_loader *l);

/* ---- loader_sources.c ---- */

/* Takes the weights of the options, and makes room for the counts of the plan's sources. */
enum leat_status loader_sources_open(struct leat_loader *l, struct leat_error *err);
void loader_sources_close(struct leat_loader *l);

/* Makes room for the counts of `count` sources, which a change of the plan may raise between two batches. */
enum leat_status loader_sources_room(struct leat_loader *l, uint64_t count, struct leat_error *err);

/* Writes the sources of the rows to the slot, and their weights. */
void loader_sources_put(const struct leat_loader *l, struct loader_slot *slot, uint32_t rows);

/* Fills the slot's `learned`, once its masks and document starts are there. */
void loader_sources_learn(const struct leat_loader *l, struct loader_slot *slot);

/* Counts a batch that the consumer gets. */
void loader_sources_count(struct leat_loader *l, const struct loader_slot *slot);

/* ---- loader_stats.c ---- */

/* Counts a next() that slept for `wait_ns`, and returned a batch. */
void loader_stats_count(struct leat_loader *l, const struct loader_slot *slot, uint64_t began_ns, uint64_t wait_ns);

/* Opens the file of statistics that the options name, if any. */
enum leat_status loader_log_open(struct leat_loader *l, struct leat_error *err);

/* Writes a line if it is time. */
void loader_log_look(struct leat_loader *l, uint64_t now_ns);

/* Writes a last line, and closes the file. */
void loader_log_close(struct leat_loader *l);

#endif
