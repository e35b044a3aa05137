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
#include "leat.h"
#include "loader_stages.h"
#include "ring.h"

#define LOADER_THREADS    64u  /* most threads of a loader */
#define LOADER_RECENT     100u /* number of the last batches whose share of waiting is reported */
#define LOADER_MAX_BATCH  ((uint64_t)1 << 31)
#define LOADER_MAX_SLICES 65536u
#define LOADER_MAX_AHEAD  256u
#define LOADER_POLL_NS    50000u /* time between two looks at slots that a device still uses */

struct loader_slot {
    struct leat_batch batch; /* the first member, since the caller's pointer to it is a pointer to the slot */
    struct leat_loader *loader;
    unsigned number;
    struct loader_places places; /* what each stage has found */
    struct loader_reads reads;
    struct loader_memory memory;
    uint32_t *learned; /* number of labels with loss, for each row that is not padding */
};

/* The stage's state; only the stage writes it, statistics read it. */
struct loader_stage {
    uint64_t position, batch; /* position of the next batch to begin, and its number */
    uint64_t damaged;
    bool ended;     /* no further batch can begin */
    bool finishing; /* the oldest batch that was begun is being finished */
    uint8_t begun[RING_MAX];
    unsigned begun_first, begun_count;
    atomic_uint_fast64_t order_ns, gather_ns, documents_ns, outputs_ns, copy_ns, slot_ns, rows_damaged, sent_bytes;
    atomic_int node;               /* NUMA node of the thread that finishes batches; looked up at each 64th batch */
    atomic_uint_fast64_t batch_ns; /* time that a batch took lately, from its beginning to its end */
    uint64_t begin_ns, waited_ns;  /* time when the last batch was begun; length of the last wait for a free slot */
};

/* The consumer's state; only the consumer writes it, statistics read it. */
struct loader_consumer {
    uint64_t damaged;  /* number of damaged rows up to the last batch; at the beginning, what the state says */
    uint64_t asked_ns; /* time when the last call returned; 0: no call yet */
    uint64_t unfinished_began, unfinished_ns; /* beginning and length of a wait that has not got a batch yet */
    /* Waits and whole times of the last batches in units of 1024 ns; their sums; after how many the consumer worked. */
    uint32_t recent_wait[LOADER_RECENT], recent_all[LOADER_RECENT];
    atomic_uint_fast64_t recent_wait_sum, recent_all_sum, recent_worked;
    struct durations next;
    atomic_uint_fast64_t cursor; /* position after the last batch; at the beginning, the first position */
    atomic_uint_fast64_t batches, rows, tokens, inputs, wait_ns, all_ns, first_ns;
};

/* What was given of each source; only the consumer writes it. */
struct loader_source {
    atomic_uint_fast64_t rows, tokens, loss_tokens;
};
struct loader_sources {
    struct loader_sources *before; /* counts of a former plan, which had fewer sources */
    uint64_t count;
    struct loader_source each[];
};

/* A file of statistics (loader_stats.c); only the consumer writes it. */
struct loader_log {
    int fd; /* -1: there is no file, or it was given up */
    uint64_t every_ns, due_ns;
    uint64_t batches; /* number of batches at the last line */
    atomic_int error; /* errno of the call that ended it */
};

/* The places of a source's stretches: the next one to announce, and the end of those that are due. */
struct loader_near {
    uint64_t next, end;
};

/* What is announced to the caches of servers' datasets, beyond the slots (loader_ahead.c). */
struct loader_ahead {
    bool on;
    struct loader_places places;
    struct loader_reads reads;
    uint64_t position;                 /* position of the next batch to announce */
    uint64_t batches;                  /* number of batches that are announced beyond those that have begun */
    struct loader_near *stretches;     /* of each source; NULL: the plan has no stretches */
    uint64_t ranges[LOADER_ANNOUNCED]; /* ranges around rows that were announced, by a hash of their numbers */
};

/* Why there are no more batches: `status` and `error` are valid once `at` is the number of all batches. */
struct loader_end {
    atomic_uint_fast64_t at;
    enum leat_status status;
    struct leat_error error;
};

struct leat_loader {
    struct loader_shape shape;
    struct loader_device {
        const struct backend_ops *ops;
        struct backend *backend;
        struct backend_memory memory;
        int node; /* NUMA node of the ring and its threads; negative: any */
    } device;
    struct loader_slot *slots;
    struct ring ring;
    struct gather gather;
    /* What the stages keep from batch to batch; only the stage's side uses them. */
    struct loader_steps steps;
    struct loader_ahead ahead;
    uint64_t announced[LOADER_ANNOUNCED]; /* regions whose document starts were announced, by a hash of their numbers */
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

/* ---- loader_process.c: the process that a loader works in ---- */

void loader_process_open(struct leat_loader *l);
void loader_process_close(struct leat_loader *l);

/* Returns true in a child after fork(). */
bool loader_forked(const struct leat_loader *l);

/* Returns LEAT_E_FORKED in a child. */
enum leat_status loader_check_process(const struct leat_loader *l, struct leat_error *err);

/* ---- loader_open.c ---- */

/* Reads from the plan everything that the options decide, except the sizes of slots. */
enum leat_status loader_take_plan(struct loader_shape *shape, struct leat_error *err);

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

/* ---- loader_slot.c: outputs ---- */

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
