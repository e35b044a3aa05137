/* loader.h: the batches of a plan, in memory of the host or of a GPU. */
#ifndef LEAT_PUBLIC_LOADER_H
#define LEAT_PUBLIC_LOADER_H

#include "column.h"
#include "plan.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The loader: batches ---------------------------------------------------------------------------------------- */

/*
 * A loader gives the batches of a plan, one after another, from a ring of slots that a background thread keeps full, or
 * several: usually 8 slots, fewer if memory is short, up to 64 if batches are small. There are no worker processes.
 *
 *   struct leat_plan_source source = LEAT_PLAN_SOURCE_INIT;
 *   struct leat_plan_options p = LEAT_PLAN_OPTIONS_INIT;
 *   struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
 *   struct leat_outputs out = LEAT_OUTPUTS_INIT;
 *
 *   source.name = "corpus"; p.sources = &source; p.source_count = 1; p.seq_len = 2048;
 *   leat_plan_open(&plan, &p, &err);
 *   o.batch = 256; o.ranks.rank = rank; o.ranks.world = world;
 *   leat_loader_open(&loader, plan, &o, &err);
 *   out.inputs = my_inputs; out.labels = my_labels;                           (int64, batch->rows x batch->length each)
 *   while (leat_loader_next(loader, &batch, &err) == LEAT_OK) {               (it ends with LEAT_E_END, or an error)
 *       leat_batch_write(batch, &out, NULL, &err);
 *       leat_batch_release(batch, NULL);
 *       train_step(my_inputs, my_labels);
 *   }
 *
 * Global batch k of B rows shows positions [p + kB, p + (k+1)B) of the plan, where p is the position that the loader
 * starts at. Rank r of w gets its rows [r B/w, (r+1) B/w), or those that it is dealt (`ranks.balance`). Nothing else
 * decides what a batch holds: not the engine, the slots, the threads or the timing. A batch is a slot of the ring: read
 * it, then release it. Several may be held at once, and released in any order. Padding is the end token, or id 0
 * without one.
 *
 * Of a plan with batches by tokens, step k gives each of the w ranks one of the next w batches, and a batch has as many
 * rows as the plan says.
 *
 *   Threads     leat_loader_next(), its variants, leat_loader_change() and leat_loader_close() belong to one thread at
 *               a time. Any thread may write, borrow and release batches, and ask for statistics.
 *   Fork        a loader works only in the process that opened it. In a child every call that returns a status returns
 *               LEAT_E_FORKED, leat_batch_row() returns NULL, and leat_loader_close() only frees.
 *
 * On a GPU
 *
 *   o.device.name = "cuda";                                                   (or "cuda:1", "cuda:GPU-1f2e...")
 *   out.inputs = my_inputs; out.labels = my_labels;                           (memory of the GPU)
 *   ...
 *   leat_batch_write(batch, &out, my_stream, &err);
 *   leat_batch_release(batch, my_stream);
 *   train_step(my_inputs, my_labels, my_stream);                              (may be the launch of a captured graph)
 *
 * Each batch goes to the GPU in one asynchronous copy as its slot is filled, with tokens in their stored width; outputs
 * are made from it there. leat_batch_write() only queues that work on the consumer's stream, after the copy, and
 * returns: no call waits for the GPU, except open and close. The members of struct leat_batch stay on the host.
 *
 *   Device      "cuda": the GPU of the calling thread's current context, or the first one. "cuda:N": number N of those
 *               that the process may use (CUDA_VISIBLE_DEVICES). "cuda:GPU-...", "cuda:MIG-...": by its UUID as
 *               nvidia-smi writes it, or by the UUID's first digits. Uses the primary context, as the CUDA runtime
 *               does. Any number of loaders may run, on one GPU or several. Needs a driver of CUDA 11.4 or later, and a
 *               GPU of 2018 (sm_75) or later.
 *   Streams     `stream` is a CUstream (cudaStream_t) of that context; NULL is the legacy default stream, as everywhere
 *               in CUDA. Work that is queued later on the stream sees the outputs, without waiting. Release a borrowed
 *               batch with the stream that used it; after leat_batch_write() any stream will do.
 *   Memory      outputs are memory of that GPU, aligned to number_bytes; they are written fastest if aligned to 16.
 *   Graphs      each batch is in another slot, so no graph can contain leat_batch_write() or _borrow(): on a stream
 *               that is being captured they return LEAT_E_STATE. Capture the step that reads the buffers; before each
 *               launch, write the next batch to them on the same stream. A running loader disturbs no capture of other
 *               streams, in any mode, but do not open or close one during a capture. Releasing a borrowed batch
 *               with a stream that is being captured ends the loader (LEAT_E_STATE). If the captured stream was not
 *               made as non-blocking, all this holds for the default stream, too.
 *   Ring        in pinned memory, and as large again on the GPU; its size depends on how much of both is free. If there
 *               is less, it has fewer slots; if none can be pinned, it works unpinned, slower. Statistics and notices
 *               say so.
 *   Failures    of the GPU make leat_loader_next() return LEAT_E_DEVICE, from then on. Closing still works, and so does
 *               exiting without closing. After fork, the child must not use CUDA if its parent did: its
 *               leat_loader_open() returns LEAT_E_UNSUPPORTED.
 */
struct leat_loader;

/* Ways to read tokens from a file. All engines give equal bytes. */
enum leat_engine {
    LEAT_ENGINE_AUTO = 0,   /* chosen per file, and again while running: in memory, would it fit, may it be mapped */
    LEAT_ENGINE_MAP = 1,    /* copied from a map; a file that cannot be mapped (see enum leat_access) is read */
    LEAT_ENGINE_PREAD = 2,  /* a read call per row */
    LEAT_ENGINE_ADVISE = 3, /* a read call per row, after the rows of all free slots were announced to the kernel */
    LEAT_ENGINE_URING = 4   /* io_uring, with many reads in flight; ADVISE if it is forbidden or not built in. On
                             * FUSE and overlayfs, where AUTO never chooses it, it checks pages each time that they
                             * are read, and is ADVISE if there are no hashes or `verify` is 0 */
};

/* Treatment of a row whose tokens cannot be read, or do not match their hash. */
enum leat_on_damage {
    LEAT_ON_DAMAGE_ERROR = 0, /* leat_loader_next() returns an error that names the file, page and documents */
    LEAT_ON_DAMAGE_MASK = 1   /* the row keeps its place: it is padding, without loss, flagged and counted */
};

/*
 * Treatment of the rows of the last global batch if the plan ends inside it. With several ranks, choose PADDED or
 * DROPPED for a plan that ends: all ranks then get equal numbers of batches. With SHORT, the default, some ranks can
 * get one batch less than others, and a program with a collective in each step hangs.
 *
 * With PADDED, a rank's last batch can have no row of the plan; it is then as long as the plan's last row, so that
 * windows have one shape on all ranks. All ranks together have cursor - position rows of the plan. A mean over ranks is
 * the sum of their losses divided by the sum of their labels that count (see loss_mask of struct leat_outputs), not a
 * mean of means.
 */
enum leat_last_batch {
    LEAT_LAST_SHORT = 0,  /* the batch has fewer rows, and a rank without rows gets LEAT_E_END: for a single rank */
    LEAT_LAST_PADDED = 1, /* missing rows are padding, without loss, and flagged: ranks stay in step */
    LEAT_LAST_DROPPED = 2 /* the batch is left out */
};

/* Outputs that can be made of a batch: bits of leat_loader_options.outputs.wanted. */
enum leat_output {
    LEAT_OUTPUT_INPUTS = 1,
    LEAT_OUTPUT_LABELS = 2,
    LEAT_OUTPUT_LOSS_MASK = 4,
    LEAT_OUTPUT_ATTENTION_MASK = 8,
    LEAT_OUTPUT_POSITION_IDS = 16, /* this, DOCUMENT_IDS and CU_SEQLENS need to know where documents start */
    LEAT_OUTPUT_DOCUMENT_IDS = 32,
    LEAT_OUTPUT_CU_SEQLENS = 64,
    LEAT_OUTPUT_LOSS_WEIGHTS = 128,
    LEAT_OUTPUT_SOURCE_IDS = 256,
    LEAT_OUTPUT_AHEAD_LABELS = 512, /* needs `outputs.ahead` */
    LEAT_OUTPUT_PLACES = 1024 /* must be asked for when the loader is opened */
};

/*
 * Choices for rows of a batch that lie apart in memory. The disk then writes rows that are not in memory directly to
 * their slot, with the pages around them, and the CPU copies them neither on the way to the GPU nor for outputs on the
 * host. Such a batch has no `tokens`: leat_batch_row() finds its rows. It takes up to 8 KiB more per row in the ring
 * and on the way to the GPU. Batches of files that are in memory do not change.
 */
enum leat_apart {
    LEAT_APART_AUTO = 0,   /* on a GPU, if rows take 8 KiB or more */
    LEAT_APART_ALWAYS = 1, /* on the host too, and for rows of any size */
    LEAT_APART_NEVER = 2   /* every batch (not of order fit) has `tokens`, rows x width; the CPU copies them */
};

/* The rows of each batch that this process gets. */
struct leat_loader_ranks {
    uint64_t rank, world; /* this process is `rank` of `world`. _INIT: 0 of 1 */
    enum leat_balance balance; /* rows are dealt by what attention costs, for order fit, or by lanes (leat_plan_deal()).
                                * All ranks must choose alike. _INIT: NONE */
    uint32_t reserved_flags;   /* 0 */
    uint64_t reserved[1];      /* 0 */
};

/* The places of a row that a rank of context parallelism gets. */
enum leat_slice_layout {
    LEAT_SLICE_CONTIGUOUS = 0, /* the row is cut into `count` equal chunks; rank r gets chunk r */
    /* The row is cut into 2 * count equal chunks; rank r gets chunks r and 2 * count - 1 - r, one after the other:
     * under a causal mask all ranks have as much to do. Megatron's get_batch_on_this_cp_rank() and PyTorch's
     * context_parallel() cut in this way. */
    LEAT_SLICE_ZIGZAG = 1,
    /* Each document of the row, and the padding after the last one, is cut as ZIGZAG cuts a row; the rank gets its
     * chunks of one document after those of the document before. Transformer Engine cuts rows of the format THD in
     * this way. Only for LEAT_ORDER_FIT with an `align` that is a multiple of 2 * count, so that all documents can
     * be cut. */
    LEAT_SLICE_ZIGZAG_DOCUMENTS = 2
};

/*
 * Context parallelism: `count` ranks share each row. They open loaders that differ in nothing but slice.rank (with the
 * same `ranks`), and get the same rows in the same batches. Each rank gets its own places of these rows, L / count of a
 * row of L, and reads, copies and widens only these places and the tokens after them that their labels need. Each place
 * has the numbers that it has in the whole row: positions, documents, masks, weights, labels across the ends of chunks.
 * cu_seqlens are those of the whole rows in every layout, as attention kernels take them.
 *
 * `count` must divide each length of the plan (2 * count, but for CONTIGUOUS); in the orders of documents, a batch is
 * padded to the next length that it divides. Not for `unshifted` outputs: such a model looks for a label at the place
 * after it, which another rank may have.
 */
struct leat_loader_slice {
    uint64_t rank, count; /* this process is `rank` of `count`, at most 65536; 0 or 1: it gets whole rows */
    enum leat_slice_layout layout;
    uint32_t reserved_flags; /* 0 */
    uint64_t reserved[2];    /* 0 */
};

enum leat_numa {
    LEAT_NUMA_DEVICE = -1, /* the node of the GPU, from which copies to it start; for the host: any node */
    LEAT_NUMA_ANY = -2     /* anywhere */
};

/* How tokens come from files, and wait for the consumer. */
struct leat_loader_io {
    enum leat_engine engine;
    enum leat_apart apart;
    uint32_t verify;      /* 1: checks each page when it is first read: its hash, and that its ids are below the
                           * vocabulary size (LEAT_E_TOKEN). _INIT: 1 */
    uint32_t threads;     /* 1: a background thread; more, at most 64: further ones help it where the CPU copies rows;
                           * one waits for files on network file systems; 0: leat_loader_next() does all the work.
                           * _INIT: 1 */
    uint32_t slots;       /* slots of the ring, 2 to 64; 0: the library chooses */
    int32_t numa_node;    /* NUMA node of the ring and its threads, if the system allows it; or one of enum
                           * leat_numa. _INIT: LEAT_NUMA_DEVICE */
    uint64_t memory;      /* limit of the ring in bytes; 0: chosen by how much memory is free */
    uint64_t reserved[4]; /* 0 */
};

struct leat_loader_device {
    const char *name;     /* "host" or NULL; or a GPU: see "On a GPU" */
    const char *driver;   /* path or name of the library to load as CUDA's driver; NULL or "": libcuda.so.1 */
    uint64_t reserved[4]; /* 0 */
};

/* The outputs that are made of batches. */
struct leat_loader_outputs {
    uint64_t cu_seqlens_room; /* this and the next two describe borrowed outputs, as in struct leat_outputs */
    uint32_t number_bytes;    /* _INIT: 8 */
    uint32_t mask_first;
    uint32_t borrow; /* 1: slots have room for these outputs, and the loader's thread fills it */
    /* Bits of enum leat_output: all outputs that need to know where documents start, PLACES, and all that are borrowed.
     * Other outputs may be left out. */
    uint32_t wanted;
    /*
     * 1: label i is token i, for models that shift labels themselves (transformers). Such a model finds the label of a
     * place at the next one, so all tokens of a row are inputs: one more than its predictions, or with order fit, one
     * more for each piece. In order fit, the first token of a piece that is not its row's first has no loss.
     */
    uint32_t unshifted;
    /*
     * How many tokens after its label each place also predicts (multi-token prediction), at most 256; 0: none. They are
     * the output ahead_labels. Windows and the numbers of samples do not change: of windows, these tokens come from
     * beyond the row's end, up to the end of what the plan uses of the dataset; rows of other orders end with their
     * own tokens. Not for `unshifted` outputs.
     */
    uint32_t ahead;
    int32_t ignore_index;    /* the label of a place without loss, below 0; 0: -100 */
    /* 1: these labels have no loss, also in loss_mask and loss_weights. 0: they have loss. */
    uint32_t mask_row_first; /* 1: a row's second token, which its first place predicts */
    uint32_t mask_begin;     /* 1: begin tokens (info.begin_token of the datasets, which must have one) */
    uint32_t reserved[5];    /* 0 */
};

/* The tokens whose entries of a column a batch has at its places. */
enum leat_loader_at {
    LEAT_AT_INPUTS = 0, /* the tokens that are inputs */
    LEAT_AT_LABELS = 1  /* the tokens that are labels, with loss or without */
};

/*
 * A column of tokens (leat/column.h) that is read with each batch. All datasets of the plan must have it, with one type
 * and width. An array has an entry for each place of each row, in the column's type as numbers of this machine. It goes
 * to the device in the copy of its batch. Pages are checked as those of tokens are, and a row whose values are damaged
 * is treated as one whose tokens are (`on_damage`).
 */
struct leat_loader_column {
    size_t size;
    const char *name;
    double fill;    /* each number of an entry where there is no token: padding, tokens that no dataset has, damaged
                     * rows; the column's type must hold it */
    uint32_t at;    /* enum leat_loader_at */
    uint32_t widen; /* 1: f16 and bf16 become f32 */
};
#define LEAT_LOADER_COLUMN_INIT { sizeof(struct leat_loader_column), NULL, 0.0, 0, 0 }

struct leat_loader_options {
    size_t size;
    uint64_t batch;           /* rows of a global batch, of all ranks: a multiple of `ranks.world`; required, but 0 for
                               * a plan with batches by tokens (struct leat_plan_documents) */
    uint64_t position;        /* position to start at */
    const char *state;        /* text of a state to start at instead (leat_batch_state()); NULL: none */
    uint64_t state_bytes;     /* length of `state`; 0: a NUL ends it */
    enum leat_last_batch last; /* treatment of the last batch of a plan that ends; with several ranks not SHORT.
                                * _INIT: SHORT */
    enum leat_on_damage on_damage; /* treatment of rows that are damaged on disk. _INIT: ERROR */
    struct leat_loader_ranks ranks;
    struct leat_loader_io io;
    struct leat_loader_device device;
    struct leat_loader_outputs outputs;
    /*
     * A file to which leat_loader_next() appends the statistics as a line of JSON, each `stats_ms` milliseconds (0:
     * 60,000), and leat_loader_close() once more. NULL or "": none. Its names are those of Python's Loader.stats() for
     * struct leat_loader_stats: times in seconds, with `time` (seconds since 1970) and `rank`. `sources` has what
     * leat_loader_sources() says of each source, or, of more than 64, of those 64 of which most tokens were given;
     * `other_sources` then has the sums of the others. Ranks need a file each.
     * A file that holds something else is refused, and so is a pipe that no process reads from. If it can no longer
     * be written, training goes on, and a notice says so (leat_loader_notice()).
     */
    const char *stats_file;
    uint64_t stats_ms;
    /*
     * Factors of loss_weights, one for each source of the plan in their order, such as the share that a source should
     * have in the loss / the share that it has in the mixture: 0, or 1e-30 to 1e30, each rounded to a float. The weight
     * of a label is the float that it has without them times its source's, rounded to a float, the same on the host and
     * a GPU. Labels and loss_mask do not change. Not kept; NULL: all are 1. Sources without one (there may be fewer
     * than sources) have 1.
     */
    const double *source_weights;
    uint64_t source_weight_count;
    struct leat_loader_slice slice;
    const struct leat_loader_column *columns; /* at most 64, with different names; not kept */
    uint64_t column_count;
};
#define LEAT_LOADER_OPTIONS_INIT                                                                                       \
    { sizeof(struct leat_loader_options), 0, 0, NULL, 0, LEAT_LAST_SHORT, LEAT_ON_DAMAGE_ERROR,                        \
      { 0, 1, LEAT_BALANCE_NONE, 0, { 0 } },                                                                           \
      { LEAT_ENGINE_AUTO, LEAT_APART_AUTO, 1, 1, 0, -1, 0, { 0, 0, 0, 0 } },                                           \
      { NULL, NULL, { 0, 0, 0, 0 } }, { 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, { 0, 0, 0, 0, 0 } }, NULL, 0, NULL, 0,           \
      { 0, 0, LEAT_SLICE_CONTIGUOUS, 0, { 0, 0 } }, NULL, 0 }

/*
 * Opens a loader and starts its threads. The plan must stay open until leat_loader_close(), or until
 * leat_loader_change() has replaced it; `options` is not kept. With
 * an order of documents, a rank's rows of each batch are sorted, longest first, and padded to the longest.
 * Other rows are as long as their phase; if one of another length begins inside a global batch, a rank's batch has the
 * length of its longest row, and ranks can differ.
 *
 * Returns LEAT_E_ARGUMENT (invalid numbers), _CHECKPOINT (a state of another plan), _NO_MEMORY (no room for two slots),
 * _UNSUPPORTED (no such device here), _IO, _DEVICE, or what reading an index returns.
 */
LEAT_API enum leat_status leat_loader_open(struct leat_loader **out, const struct leat_plan *plan,
                                           const struct leat_loader_options *options, struct leat_error *err);

/* Returns the most inputs that a row of this loader can have, for arrays that take any batch: the plan's max_seq_len;
 * more with `unshifted`; of a slice, its part of that. */
LEAT_API uint64_t leat_loader_max_length(const struct leat_loader *loader);

/* Reports the type (enum leat_column_type) of the numbers of column `number` of the options, as batches have it, and
 * how many numbers an entry has. Returns 0 if there is no such column. */
LEAT_API uint32_t leat_loader_column_type(const struct leat_loader *loader, uint64_t number, uint32_t *type,
                                          uint32_t *width);

/*
 * Goes on with another plan, such as one of leat_plan_change(), after the last batch that was taken: what the ring
 * holds beyond that is made again, so the batches from here on are those of a loader that was opened with the new plan
 * there.
 * Batches that are held stay valid. The plan must stay open until the next change or leat_loader_close(); the one
 * before is no longer needed when the call returns. In a run of several ranks, all of them must change to the same plan
 * after the same batch: the caller sees to that (Python's Loader.change() compares them).
 *
 * Returns LEAT_E_CHECKPOINT if the plan gave other samples up to here (`err` names the first difference, as
 * leat_plan_state_load()), LEAT_E_INCOMPATIBLE for another order or other tokens, LEAT_E_UNSUPPORTED if its rows need
 * more room than the slots have (longer ones, or the first ones with a mask): open a loader with it at the state of the
 * last batch instead; or what opening its files returns. Then the loader goes on with the plan that it has; except that
 * a thread which cannot be started again ends it, with the same error.
 *
 * Belongs to the thread of leat_loader_next(). Other threads may write, borrow and release batches meanwhile, but not
 * ask for statistics or states.
 */
LEAT_API enum leat_status leat_loader_change(struct leat_loader *loader, const struct leat_plan *plan,
                                             struct leat_error *err);

/* Stops and frees at any moment, with all batches that are still held. NULL is fine. No other thread may be inside a
 * call. */
LEAT_API void leat_loader_close(struct leat_loader *loader);

/* Flags of a row. */
#define LEAT_ROW_DAMAGED 1u /* masked, see LEAT_ON_DAMAGE_MASK */
#define LEAT_ROW_PADDED  2u /* after the plan's end, see LEAT_LAST_PADDED */

/* A batch. The library owns it; it may be read until it is released. New fields are added at the end. */
struct leat_batch {
    uint64_t number;            /* counts the batches that this loader has given, from 0 */
    uint64_t position;          /* position of the global batch's first row */
    uint64_t cursor;            /* position after this batch, where a run that resumes after it starts */
    uint64_t damaged;           /* rows of this rank that were masked so far, including those before a resume */
    uint32_t rows;              /* rows of this rank */
    uint32_t length;            /* inputs of the longest row, or of a slice of it; at most leat_loader_max_length() */
    uint32_t width;             /* tokens from one row's start to the next in `tokens`: at least length + 1 */
    uint32_t token_width;       /* 2 or 4 */
    uint32_t sequences;         /* stretches of one document, or of padding, in all rows; 0: no output that needs
                                 * documents was asked for */
    uint32_t max_seqlen;        /* tokens of the longest stretch; for variable-length attention */
    const void *tokens;         /* rows x width, stored width, little-endian; after a row's length + 1 tokens: padding.
                                 * NULL: rows lie apart (enum leat_apart), are of order fit or slices, have tokens for
                                 * `ahead`, or are of a plan that changes them (leat_plan_row()) */
    const uint32_t *lengths;    /* inputs of each row or slice; with `unshifted`, its last label is one of them */
    const uint8_t *flags;       /* LEAT_ROW_... bits of each row */
    const struct leat_sample *samples; /* origin of each row; all zero for a padded row */
    uint64_t damaged_rows;      /* in this batch */
    uint32_t whole_length;      /* length of whole rows: `length` times the count of slices; cu_seqlens count in whole
                                 * rows */
    uint32_t ahead;             /* how many labels ahead each place has */
};

/*
 * Takes the next batch, waiting until it is ready. Returns LEAT_E_END after the last one; LEAT_E_STATE if the caller
 * holds all slots (more `slots` let it hold more); or, from then on, why no further batch is possible: _IO, _TRUNCATED,
 * _CHECKSUM, _DOCUMENTS (`err` names file, place and documents), _DEVICE.
 */
LEAT_API enum leat_status leat_loader_next(struct leat_loader *loader, const struct leat_batch **batch,
                                           struct leat_error *err);

/* Waits for at most `max_ns` nanoseconds, with 0 not at all, and then returns LEAT_E_AGAIN: for programs that must
 * check something else, such as signals, while they wait. With `threads` 0 it does the work itself, and waits for the
 * disk. */
LEAT_API enum leat_status leat_loader_next_within(struct leat_loader *loader, uint64_t max_ns,
                                                  const struct leat_batch **batch, struct leat_error *err);

/* Sets *fd to a descriptor for poll() and event loops. When it is readable, a batch may be ready: read 8 bytes from it,
 * and call leat_loader_next_within() with 0 until it returns LEAT_E_AGAIN. The loader closes it. LEAT_E_UNSUPPORTED:
 * `threads` is 0, or the system has no such descriptors. */
LEAT_API enum leat_status leat_loader_event_fd(struct leat_loader *loader, int *fd, struct leat_error *err);

/* Returns a row's tokens on the host, little-endian, in the stored width and aligned to it: length + 1 of them (with
 * `unshifted`: length), or one end token if it has none; of order fit: those of its pieces, one after another; of a
 * slice, with `ahead` or of a plan that changes rows: those of each of its stretches, each with the tokens that its
 * labels need after it. NULL: no such row. Valid until the batch is released. */
LEAT_API const void *leat_batch_row(const struct leat_batch *batch, uint32_t row);

/*
 * Memory of the caller, on the loader's device, for the outputs of a batch. NULL: not wanted. A row has `length`
 * numbers: inputs first, then padding. Numbers are signed, of number_bytes.
 */
struct leat_outputs {
    size_t size;
    uint32_t number_bytes; /* 8 or 4: of inputs, labels, position_ids, document_ids, source_ids. _INIT: 8 */
    uint32_t unshifted;    /* the value that the loader's options had. 0: label i is token i + 1. 1: label i is token
                            * i */
    uint32_t mask_first;   /* 1: a document's first token has no loss as a label (needs document starts) */
    uint32_t reserved;     /* 0 */
    uint64_t rows;         /* rows that fit, at least batch->rows; those after it are padding. 0: batch->rows */
    uint64_t length;       /* numbers per row, at least batch->length. 0: batch->length */
    void *inputs;
    void *labels;          /* -100, or the loader's ignore_index, if there is no loss */
    uint8_t *loss_mask;    /* 1: this label counts; 0: padding, a damaged row, mask_first, or left out by
                            * the dataset's mask, the plan (leat_plan_mask()) or the loader's options; the label is
                            * then -100, or the loader's ignore_index */
    uint8_t *attention_mask; /* 0: padding after a shorter row; else 1, also for rows of only padding */
    void *position_ids;    /* place of a token in its document, counted from the start of the document or of the row */
    void *document_ids;    /* 0 for the tokens of the row's first document, 1 for the next, ... */
    int32_t *cu_seqlens;   /* 0, then the end of each stretch of one document or of padding, counted through all
                            * rows; numbers that are left repeat the last one, which is rows * length. Slices have
                            * those of the whole rows, of length * count */
    uint64_t cu_seqlens_room; /* room in numbers: batch->sequences + 1, and one for each row that only `rows` or
                               * `length` pads */
    float *loss_weights;   /* how much each label counts: 0 where loss_mask is 0; else 1, or the byte that the dataset's
                            * mask has for it / 255; times the weight of its source (leat_loader_options.
                            * source_weights). A weighted mean divides by their sum */
    void *source_ids;      /* the number of the row's source in the plan, as in samples[]; -1: padding */
    /*
     * [ahead, rows, length] numbers, of a loader with `ahead`: number j of a place is the token j + 1 places after its
     * label. It is a label without loss where that token does not count as a label, and where no token follows: at
     * the end of what the plan uses of the dataset, of a document of order fit, of the row in the orders of documents
     * and megatron; with mask_first, of the place's document.
     */
    void *ahead_labels;
    int64_t *places;     /* the number of the token that the input is, in its source's dataset, whose parts are counted
                          * through; -1: padding, a token that no dataset has, a damaged row */
    void *const *columns; /* memory for each column of the loader's options, in their order: [rows, length, width]
                           * numbers; NULL, or NULL in it: not wanted */
};
#define LEAT_OUTPUTS_INIT                                                                                              \
    { sizeof(struct leat_outputs), 8, 0, 0, 0, 0, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL, \
      NULL, NULL }

/*
 * Writes outputs of a batch. On a GPU, work queued later on `stream` (NULL: the default stream) sees them. On
 * the host, `stream` is ignored, and they are there when the call returns. Returns LEAT_E_ARGUMENT (a length below the
 * batch's; document starts are needed and were not asked for; ...), LEAT_E_STATE (the stream is being captured),
 * LEAT_E_RANGE (cu_seqlens_room is too small; `err` says what is needed), LEAT_E_DEVICE.
 */
LEAT_API enum leat_status leat_batch_write(const struct leat_batch *batch, const struct leat_outputs *outputs,
                                           void *stream, struct leat_error *err);

/* Points *outputs at what leat_loader_options.outputs.borrow asked for; valid until the batch is released. Sets all of
 * it except its size. On a GPU, work queued later on `stream` sees the outputs; call it once for each stream. */
LEAT_API enum leat_status leat_batch_borrow(const struct leat_batch *batch, struct leat_outputs *outputs, void *stream,
                                            struct leat_error *err);

/* Gives the slot back. On a GPU, work already queued on `stream` (NULL: the default stream) may still use what was
 * borrowed; work on other streams may not, unless `stream` waits for it. Never waits, never fails. */
LEAT_API void leat_batch_release(const struct leat_batch *batch, void *stream);

/* Writes the state of a run that has consumed this batch and all before it, to save with a checkpoint, as
 * leat_plan_state_save() does. All ranks write equal states, except for the count of damaged rows. */
LEAT_API enum leat_status leat_batch_state(const struct leat_batch *batch, char text[LEAT_PLAN_STATE_BYTES],
                                           struct leat_error *err);

/* ---- What a loader has done ---- */

/* Durations in nanoseconds; quantiles are accurate to within 1/16. */
struct leat_times {
    uint64_t count, mean, p50, p99, p999, max;
    uint64_t reserved[2]; /* 0 */
};

/* Times of the loader's thread (with `threads` 0: of the calls) and of the consumer's waiting. */
struct leat_loader_time {
    uint64_t order_ns, gather_ns;
    uint64_t storage_ns;      /* time that it waited for a disk or a server; 0 if all came before it was needed,
                               * however many requests that took */
    uint64_t documents_ns, outputs_ns, copy_ns, slot_ns;
    uint64_t consumer_ns;     /* how long the consumer waited in leat_loader_next() */
    uint64_t first_batch_ns;  /* time from open to the first batch */
    double waiting_share;     /* share of the consumer's time, over the last 100 batches */
    double waiting_share_all; /* share of the consumer's time, since the first batch */
    uint64_t crew_ns;         /* work of the further threads, summed */
    uint64_t reserved[3];
};

/* Bytes read from files. */
struct leat_loader_reads {
    uint64_t bytes;           /* bytes of tokens and of columns, gathered from files */
    uint64_t copied_bytes;    /* part of `bytes` that the CPU copied to slots, here or in the kernel; the disk wrote
                               * the rest there itself (enum leat_apart) */
    uint64_t read_bytes;      /* requested from files, including what was read around rows */
    uint64_t reads, hits;     /* rows read; rows that needed no disk, as far as is known */
    uint64_t pages_verified;
    uint64_t warmed_bytes;    /* bytes read ahead in sequence, in the background */
    uint32_t warming;         /* 1: files are being read ahead now */
    uint32_t reads_in_flight; /* most reads in flight at any moment */
    uint32_t unregistered;    /* 1: io_uring could not register memory (ulimit -l is too low): somewhat slower */
    uint32_t threads;         /* threads of the loader */
    uint32_t retries;         /* tries of calls that failed on a mount (leat_open_options.retry_seconds), by everybody
                               * who has the plan's datasets open */
    uint32_t reserved[7];
    char engine[64];          /* engines in use: "map", or with the number of files "map 3, uring 1" */
};

struct leat_loader_ring {
    uint64_t bytes;
    uint32_t slots;
    uint32_t slots_wanted; /* slots wanted on a GPU: greater than `slots` if there was no memory for more */
    uint32_t huge_pages;   /* 1: huge pages were requested for the ring */
    uint32_t unpinned;     /* 1, on a GPU: the ring's memory could not be pinned */
    int32_t numa_node;     /* node asked for the ring and its threads; negative: any */
    int32_t memory_node;   /* node of the ring's first page; negative: not known */
    int32_t thread_node;   /* node where the thread that makes batches ran, looked at now and then; negative: not
                            * known */
    uint32_t reserved_node;
};

/* All but the name: 0 on the host. */
struct leat_loader_on_device {
    char name[64];       /* "host, avx2", "cuda:0, NVIDIA H100 80GB HBM3" */
    uint64_t ring_bytes; /* bytes of the ring on the GPU, with the borrowed outputs */
    double memory_used;  /* share of the GPU's memory in use, by any program, when the ring was made; above 0.8: a
                          * notice */
    uint64_t sent_bytes; /* bytes of slots copied to it */
    uint64_t reserved[3];
};

/* Figures of datasets on a server that were not complete in the cache when they were opened, else 0. */
struct leat_loader_remote {
    uint64_t requests, retries, bytes;
    double share;           /* share of the pages needed that did not lie in the cache */
    uint64_t cached_bytes;  /* bytes of the token files in the cache, as far as this process has filled it */
    uint64_t cache_bytes;   /* bytes of all token files of these datasets */
    uint64_t evicted_bytes; /* bytes that this process removed from the cache, to keep within its limit */
    uint32_t caching;       /* 1: a process of this node fetches the rest in the background now */
    uint32_t cache_failed;  /* 1: the rest of a dataset cannot be kept, and is fetched no more; a notice says why */
    uint64_t reserved[4];
};

/* The distance between the ranks' sums of squared lengths (leat_plan_deal()) in a global batch, as (greatest - least) /
 * greatest; 0 but for LEAT_BALANCE_ATTENTION. Batches count as soon as their rows are known, before they are given. */
struct leat_loader_balance {
    uint64_t dealt;          /* batches; those that a change of the plan makes again count again */
    double spread;           /* spread of the last batch */
    double spread_mean;
    double spread_by_chance; /* mean spread if each rank got consecutive rows */
    uint64_t reserved[4];
};

struct leat_loader_stats {
    size_t size;
    uint64_t batches, rows, tokens; /* what the consumer was given */
    uint64_t rows_damaged;
    struct leat_times next;         /* how long leat_loader_next() took */
    struct leat_loader_time time;
    struct leat_loader_reads io;
    struct leat_loader_ring ring;
    struct leat_loader_on_device device;
    struct leat_loader_remote remote;
    struct leat_loader_balance balance;
    double padding_share;           /* share of the places of the batches given that have no prediction */
};
#define LEAT_LOADER_STATS_INIT                                                                                         \
    { sizeof(struct leat_loader_stats), 0, 0, 0, 0, { 0, 0, 0, 0, 0, 0, { 0, 0 } },                                  \
      { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0, { 0, 0, 0 } },                                                         \
      { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, { 0, 0, 0, 0, 0, 0, 0 }, { 0 } }, { 0, 0, 0, 0, 0, 0, 0, 0, 0 },          \
      { { 0 }, 0, 0.0, 0, { 0, 0, 0 } }, { 0, 0, 0, 0.0, 0, 0, 0, 0, 0, { 0, 0, 0, 0 } },                              \
      { 0, 0.0, 0.0, 0.0, { 0, 0, 0, 0 } }, 0.0 }

LEAT_API void leat_loader_stats(const struct leat_loader *loader, struct leat_loader_stats *stats);

/* The part of a source in the rows of this rank that the consumer was given, without rows masked because of damage. */
struct leat_loader_source {
    uint64_t rows;
    uint64_t tokens;      /* inputs of these rows, without padding after them */
    uint64_t loss_tokens; /* predictions with loss: labels that count, in which the label at the first place of an
                           * unshifted row is no prediction. With `mask_first` of the options */
    double share;         /* share of the samples by the plan's weights at the last batch that was given, even if the
                           * source is spent and others take its place; for megatron, by its samples in the whole
                           * plan; 0 in orders of documents, which have no weights */
};

/* Describes the sources [first, first + count) of the plan, which this loader has counted since it was opened. Returns
 * how many there are: fewer than `count` if the plan has no more. Any thread may ask, at any time. */
LEAT_API uint64_t leat_loader_sources(const struct leat_loader *loader, uint64_t first, uint64_t count,
                                      struct leat_loader_source *sources);

/* Writes the main statistics as one line for a log, without a newline, cut to `capacity` - 1 bytes. */
LEAT_API void leat_loader_stats_line(const struct leat_loader *loader, char *text, uint64_t capacity);

/*
 * Reports what a person should know: that the consumer waits for batches, why, and what helps (unless it takes them on
 * the host and does nothing else); that a file system fails and is tried again; that io_uring is forbidden; that a file
 * is no longer mapped; that memory is short on the GPU, or cannot be pinned. Returns 1 and a sentence, once for each,
 * or 0 if there is nothing new: call it now and then.
 */
LEAT_API uint32_t leat_loader_notice(struct leat_loader *loader, char *text, uint64_t capacity);

#ifdef __cplusplus
}
#endif
#endif
