/* plan.h: which tokens each sample shows, and which samples show a token. */
#ifndef LEAT_PUBLIC_PLAN_H
#define LEAT_PUBLIC_PLAN_H

#include "dataset.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The order of samples --------------------------------------------------------------------------------------- */

/*
 * A plan says which tokens sample n shows: a pure function of the plan and n. It stores no permutation, so it opens
 * quickly, any n can be asked for at once, and there is an inverse: which samples show this document? docs/ORDER.md has
 * the rules, and how to compute them elsewhere; each rule has a version that never changes.
 *
 * A *source* is a dataset or a list of them. Each dataset is cut into *blocks* of base_len tokens; the rest at its end
 * is dropped. Each epoch of a source shows all its blocks once, in a new order. A sample is a *window*: a block, or a
 * slice of one if seq_len is shorter. It has seq_len inputs and seq_len + 1 tokens, since the last input's label is the
 * token after it. Sources take turns by their weights, exactly: after k samples each source has had its share of them
 * to within 1.5.
 *
 * Samples are *numbered* n = 0, 1, 2, ... for good. If some are skipped, a sample's *position* p counts only those that
 * are shown. A batch is consecutive positions: batch size and world size are not part of a plan, and may change at any
 * step.
 *
 * This describes windows. In the orders of documents a sample is a whole document, with its begin and end token, cut
 * after seq_len + 1 tokens. Sample n is document P(n mod D) of the D documents of all sources. P is the permutation for
 * the plan's seed, source 2^32 - 1 and epoch n div D; in sequential order P(i) = i. With `epochs`, the plan ends after
 * that many passes. With a split, D counts the documents that start in the used range. Weights and the limits of single
 * sources have no effect; phases are refused.
 *
 * The order `megatron` takes megatron-core's own settings: its split ("969,30,1"; NULL: all of each dataset, as for
 * --train-data-path), "train", "valid" or "test" to use of it, a seed below 2^32, weights for all sources or for none
 * (NULL; the sources are then blended by their lengths), and `samples`. Phases, limits of epochs and base_len are
 * refused. Opening it makes Megatron's indexes, in memory, with doubles as Megatron does: open it in a thread that
 * rounds to nearest, as all do that have not called fesetround().
 *
 *   Threads     an open plan never changes: any number of threads may use it.  Fork: as for datasets.
 */
struct leat_plan;

#define LEAT_MAX_SAMPLES ((uint64_t)1 << 60) /* every sample's number is below it */

enum leat_order {
    LEAT_ORDER_SHUFFLED = 0,            /* windows, in a new order in each epoch */
    LEAT_ORDER_SEQUENTIAL = 1,          /* windows, in the order of the files in each epoch */
    LEAT_ORDER_DOCUMENTS = 2,           /* whole documents, one per row, for fine-tuning; a new order in each epoch */
    LEAT_ORDER_DOCUMENTS_SEQUENTIAL = 3, /* whole documents, in the order of the files in each epoch */
    LEAT_ORDER_FIT = 4, /* rows of whole documents, put together by best fit; others meet in each epoch */
    LEAT_ORDER_MEGATRON = 5 /* megatron-core's: its GPTDataset and BlendedDataset, sample for sample */
};

/* Ends of a plan with limits of epochs. */
enum leat_stop {
    LEAT_STOP_ALL = 0,  /* when all sources with a weight are spent; until then the others share the weight of spent
                         * ones */
    LEAT_STOP_FIRST = 1 /* with the last sample of the first source that is spent; only for windows and
                         * LEAT_ORDER_FIT */
};

/* Returns an order's name in a plan's text ("shuffled"), or NULL for an unknown number. The numbers have no gaps. */
LEAT_API const char *leat_order_name(enum leat_order order);

/* Only for LEAT_ORDER_FIT. 0: not given. Documents are measured with their begin and end tokens. */
struct leat_plan_fit {
    uint64_t max_per_row; /* documents, or parts of documents, in a row: bounds the number of sequences */
    uint64_t min_length;  /* documents of fewer tokens are left out */
    uint64_t max_length;  /* documents of more tokens are left out */
    uint64_t cut_length;  /* only this many first tokens of longer documents are used */
    uint64_t align;       /* documents begin at multiples of it in a row; divides every seq_len; see struct
                           * leat_piece */
    uint64_t overlap;     /* each row of a document longer than a row, except its first, begins with the last so many
                           * predictions of the row before: context without loss. Below every seq_len */
    uint32_t begin;       /* 1: a row that continues a document begins with the sources' begin token in place of the
                           * document's token there, which is the last label of the row before */
    uint32_t whole;       /* 1: no document is cut: one that a row does not hold, of more than seq_len + 1 tokens, is
                           * left out of rows of that length. Not with cut_length */
    uint64_t reserved[3];     /* 0 */
};

struct leat_plan_source {
    size_t size;
    const char *name;    /* NAME, a folder or @FILE, as for leat_dataset_open(); without a newline */
    const char *weight;  /* a decimal, read exactly ("0.3", "1e-9"); NULL: 1, for megatron none. "0": unused until a
                          * phase sets one */
    uint64_t epochs;     /* at most this many passes; the other sources then share its weight. 0: no limit */
    const struct leat_dataset *dataset; /* an open dataset, which must stay open until the plan is closed; NULL: the
                                         * plan opens `name` */
    struct leat_plan_fit fit; /* its own rules of LEAT_ORDER_FIT, in place of the plan's; 0: the plan's count. Only
                               * max_per_row, min_length, max_length, cut_length and whole: the others are the plan's */
    /* A choice of documents by columns of one value per document (column.h), in every order but megatron:
     * docs/ORDER.md, "Choosing documents". `where` is a condition, "score >= 0.7 and lang = 'en'", in the language of
     * leat_pack_options.keep: the plan shows the documents for which it holds, as if only these were there. `repeat`
     * says how often each epoch has them, 0 to 255: numbers and columns with + - * and brackets, in which a condition
     * counts as 1 or 0, "1 + 3 * (score > 0.95)". Copies stand directly after their document. NULL: all documents,
     * once. Opening the plan makes the choice, in one pass over the columns, and keeps a byte per document. */
    const char *where, *repeat;
};
#define LEAT_PLAN_SOURCE_INIT                                                                                          \
    { sizeof(struct leat_plan_source), NULL, NULL, 0, NULL, { 0, 0, 0, 0, 0, 0, 0, 0, { 0, 0, 0 } }, NULL, NULL }

/* New weights, and a new length if wanted, from sample `begin` on; samples before it do not depend on it. If the phase
 * before shows slices (its seq_len < base_len), it must have a multiple of 16 x base_len / seq_len samples. */
struct leat_plan_phase {
    size_t size;
    uint64_t begin;      /* first sample; greater than that of the phase before */
    const char *weights; /* decimals in the order of the sources, separated by commas; sources left out get 0 */
    uint64_t seq_len;    /* inputs of a sample: a divisor of base_len, or for fit any number; 0: as before */
};
#define LEAT_PLAN_PHASE_INIT { sizeof(struct leat_plan_phase), 0, NULL, 0 }

/* Samples [first, end). */
struct leat_plan_range {
    uint64_t first, end;
};

/* Only for LEAT_ORDER_MEGATRON. */
struct leat_plan_megatron {
    uint64_t samples;                      /* the number of samples to build for; 0: not given */
    const char *mid_level_dataset_surplus; /* a decimal; NULL: 0.005, as in Megatron */
    uint64_t reserved[4];                  /* 0 */
};

/* Only for LEAT_ORDER_DOCUMENTS and _DOCUMENTS_SEQUENTIAL: batches by tokens, of documents of like lengths. A document
 * counts with the tokens of its row, at most seq_len + 1. docs/ORDER.md, "Batches by tokens", has the rule. */
struct leat_plan_documents {
    uint64_t max_tokens;  /* rows times tokens of the longest row of a batch, above seq_len; 0: no batches by tokens */
    uint64_t max_rows;    /* most rows of a batch; 0: no limit of its own */
    uint64_t pool;        /* consecutive samples that are put together by length, at most 2^20; 0: 4096 */
    uint64_t reserved[4]; /* 0 */
};

/*
 * Fill-in-the-middle: what a row has of a document is changed with the probability `rate`, decided by the seed, the
 * sample's number and the document. Its tokens are cut in three: PRE prefix SUF suffix MID middle, or with the
 * probability `spm`, PRE SUF suffix MID prefix middle. The three ids take the places of its last three tokens, which
 * the row loses, so that its length stays. Begin and end tokens stay where they are; fewer than four tokens beside them
 * are not changed. docs/ORDER.md has the rule; leat_plan_row() shows what becomes of a row. All sources must record
 * where documents begin.
 */
struct leat_plan_fim {
    const char *rate, *spm; /* decimals from 0 to 1 with at most 18 places, read exactly; NULL, both: no row is
                             * changed */
    uint32_t prefix, middle, suffix; /* the ids PRE, MID, SUF: different, and below the vocabulary's size */
    uint32_t reserved_number;        /* 0 */
    uint64_t reserved[4];            /* 0 */
};

/* Only for LEAT_ORDER_SHUFFLED: windows that are shown soon after each other lie close together, for storage that is
 * slow at reading here and there. Each source is cut into stretches, in an order of their own in each epoch, and the
 * windows of some successive stretches are shuffled together. docs/ORDER.md, "Stretches", has the rule. */
struct leat_plan_stretches {
    uint64_t stretch;     /* bytes of a stretch: at least a block of base_len tokens; 0: all windows of a source are
                           * shuffled together */
    uint64_t mix;         /* stretches that are shuffled together, at most those of the largest source; 0: 64 */
    uint64_t lanes;       /* streams of stretches that take turns, at most 65536; 0: 1 */
    uint64_t reserved[4]; /* 0 */
};

struct leat_plan_options {
    size_t size;
    const struct leat_plan_source *sources; /* an array; the first element's size is the size of all */
    uint64_t source_count;                  /* 1 to 65536 */
    const struct leat_open_options *open;   /* for datasets that the plan opens; NULL: the defaults */
    uint64_t seq_len;  /* inputs of a sample, 1 to 2^30 */
    uint64_t base_len; /* tokens of a block, a multiple of every seq_len; 0: seq_len */
    enum leat_order order;
    enum leat_stop stop;
    uint64_t seed;
    uint64_t epochs;   /* at most this many passes over any source; the plan ends when all are used up. 0: no limit */
    const char *split; /* "train=0.99,valid=0.01": consecutive ranges of each dataset; for megatron "969,30,1"; NULL:
                        * none */
    const char *use;   /* the name of the range to use; for megatron "train" if NULL */
    const struct leat_plan_phase *phases; /* an array, as `sources`, in rising order; the first begins after sample 0 */
    uint64_t phase_count;
    const struct leat_plan_range *skips; /* samples to skip, in any order; ranges must not overlap */
    uint64_t skip_count;
    struct leat_plan_fit fit;
    struct leat_plan_megatron megatron;
    struct leat_plan_documents documents;
    struct leat_plan_fim fim;
    /* Documents whose tokens have no loss as labels from some sample on, as lines of a plan's text: "ban
     * 5000:web:3,7,10-19" bans documents 3, 7 and 10 to 19 of the source (all sources) called web, numbered as its
     * dataset numbers them, from sample 5000 on. Blank lines and lines that begin with # are ignored. Samples and their
     * numbers stay. `leat trace --ban` writes such lines. NULL: none */
    const char *bans;
    struct leat_plan_stretches stretches;
};
#define LEAT_PLAN_OPTIONS_INIT                                                                                         \
    { sizeof(struct leat_plan_options), NULL, 0, NULL, 0, 0, LEAT_ORDER_SHUFFLED, LEAT_STOP_ALL, 0, 0, NULL, NULL,     \
      NULL, 0, NULL, 0, { 0, 0, 0, 0, 0, 0, 0, 0, { 0, 0, 0 } }, { 0, NULL, { 0, 0, 0, 0 } },                          \
      { 0, 0, 0, { 0, 0, 0, 0 } }, { NULL, NULL, 0, 0, 0, 0, { 0, 0, 0, 0 } }, NULL, \
      { 0, 0, 0, { 0, 0, 0, 0 } } }

/*
 * Opens a plan and its datasets, which must agree in vocabulary, tokenizer and, unless the order takes documents from
 * the index (LEAT_ORDER_FIT, _DOCUMENTS, _DOCUMENTS_SEQUENTIAL), begin and end token (LEAT_E_INCOMPATIBLE).
 * On success the caller owns *out until leat_plan_close(). Of the options, keeps only each source's `dataset`. Writes
 * no file. Takes as long as opening the datasets, and some 20 us for each phase of 20 sources.
 * Returns LEAT_E_ARGUMENT with the remedy (a source without a whole block, a phase that begins inside a block, weights
 * whose sum as integers exceeds 2^48, ...), _NO_MEMORY, _INCOMPATIBLE, or as leat_dataset_open().
 */
LEAT_API enum leat_status leat_plan_open(struct leat_plan **out, const struct leat_plan_options *options,
                                         struct leat_error *err);

/*
 * Opens a plan from its text (docs/ORDER.md, "Plan text"), as leat_plan_text() gives it. `label` names it in messages:
 * "run7.plan, line 3: ...". If it is NULL, messages begin with the line's key ("source: ..."), and the text must not
 * have the first line "leat plan 1". err->offset is where a wrong line starts in `text`. `open` may be NULL.
 */
LEAT_API enum leat_status leat_plan_parse(struct leat_plan **out, const char *text, uint64_t bytes, const char *label,
                                          const struct leat_open_options *open, struct leat_error *err);

/* Opens a plan from a file with its text, as `leat order --print-plan` writes it. Names of datasets in it count from
 * the current folder. Returns as leat_plan_parse(), LEAT_E_NO_FILE, LEAT_E_IO or, for more than 64 MiB,
 * LEAT_E_ARGUMENT. */
LEAT_API enum leat_status leat_plan_load(struct leat_plan **out, const char *path, const struct leat_open_options *open,
                                         struct leat_error *err);

/*
 * Opens a plan with the sources, seed, split and limits of epochs of `plan` in another order, such as whole documents
 * instead of windows, with rows of seq_len inputs (0: as in its first phase). Drops stretches, phases, skips, and bans
 * that do not start at sample 0, since the last three go by sample numbers. `plan` must stay open until *out is closed.
 * Returns as leat_plan_open().
 */
LEAT_API enum leat_status leat_plan_reorder(struct leat_plan **out, const struct leat_plan *plan, enum leat_order order,
                                            uint64_t seq_len, struct leat_error *err);

/*
 * Opens the plan of `plan`, an order of documents without skips or bans, but those from sample 0 on, in batches by
 * tokens (struct leat_plan_documents). Sample numbers are others. `plan` must stay open until *out is closed.
 * Returns as leat_plan_open().
 */
LEAT_API enum leat_status leat_plan_by_tokens(struct leat_plan **out, const struct leat_plan *plan, uint64_t max_tokens,
                                              uint64_t max_rows, uint64_t pool, struct leat_error *err);

/* Opens a plan that is `plan` with further bans, as in leat_plan_options.bans: for a document that is banned already,
 * the least start counts. `plan` must stay open until *out is closed. Returns as leat_plan_open(). */
LEAT_API enum leat_status leat_plan_ban(struct leat_plan **out, const struct leat_plan *plan, const char *bans,
                                        struct leat_error *err);

/* Changes of a plan from a sample on. */
struct leat_plan_change {
    size_t size;
    uint64_t at;         /* the first sample of the change */
    const char *weights; /* decimals in the order of the sources, separated by commas: "0.5,,0.2". An empty field, or a
                          * source left out: as before. NULL: all as before. "0" stops a source */
    const struct leat_plan_source *sources; /* sources to add after those that the plan has, an array as in
                                             * leat_plan_options; their weights hold from `at` on */
    uint64_t source_count;
    uint64_t seq_len;    /* see struct leat_plan_phase; 0: as before */
};
#define LEAT_PLAN_CHANGE_INIT { sizeof(struct leat_plan_change), 0, NULL, NULL, 0, 0 }

/*
 * Opens a plan that gives the samples below `at` of `plan`, and from there on changes: other weights, further sources,
 * another length. Each source continues where it stopped: nothing of it is repeated or lost. Phases that begin after
 * `at` are dropped; skips stay. Several changes are made one after the other. A state of `plan` at a position before
 * the change is one of *out.
 *
 * *out does not need `plan`, which may be closed, once no loader has it: it shares the datasets that this one opened;
 * those that the caller gave as `dataset` must stay open for both. `open` is for those that are added by name
 * (NULL: the defaults). Takes as long as leat_plan_open() of all sources and phases, without opening shared datasets.
 * Returns LEAT_E_ARGUMENT, as leat_plan_open(), also for a sample that cuts a block (the sentence names the nearest
 * that does not) and for an order without phases.
 */
LEAT_API enum leat_status leat_plan_change(struct leat_plan **out, const struct leat_plan *plan,
                                           const struct leat_plan_change *changes, uint64_t count,
                                           const struct leat_open_options *open, struct leat_error *err);

/* Changes a plan by the text of changes (docs/ORDER.md, "Changes"). `label` as in leat_plan_parse(): without one, the
 * text must not have the first line "leat changes 1". */
LEAT_API enum leat_status leat_plan_change_parse(struct leat_plan **out, const struct leat_plan *plan, const char *text,
                                                 uint64_t bytes, const char *label,
                                                 const struct leat_open_options *open, struct leat_error *err);

/* Returns the first sample from `number` on, below 2^60, at which a change may begin: `number`, unless phases show
 * slices. */
LEAT_API uint64_t leat_plan_change_place(const struct leat_plan *plan, uint64_t number);

/* Closes and frees, with the datasets that the plan opened itself and no other plan shares. NULL is fine. */
LEAT_API void leat_plan_close(struct leat_plan *plan);

/*
 * Copies at most capacity - 1 bytes of the plan's text, and a NUL, to `text`. Sets *bytes to its whole length, so that
 * a second call can make room. Equal plans have equal texts, however they were made.
 */
LEAT_API enum leat_status leat_plan_text(const struct leat_plan *plan, char *text, uint64_t capacity, uint64_t *bytes,
                                         struct leat_error *err);

struct leat_plan_info {
    size_t size;
    uint64_t sources;
    uint64_t phases;
    uint64_t samples;      /* samples are numbered from 0 to below it; LEAT_NONE: no end below LEAT_MAX_SAMPLES */
    uint64_t positions;    /* number of samples that are not skipped; LEAT_NONE: the plan has no end, not even skips
                            * that reach up to LEAT_MAX_SAMPLES */
    uint64_t seed;
    uint64_t seq_len;      /* length of the first phase */
    uint64_t max_seq_len;  /* the longest of any phase */
    uint64_t base_len;
    uint32_t permutation_version, blend_version, split_version; /* versions of the rules in docs/ORDER.md */
    uint32_t token_width;  /* bytes per token of the sources: 2 or 4 */
    enum leat_order order;
    uint32_t masks;        /* 1: labels may have no loss, see leat_plan_mask(); 0: all of them have it */
    uint64_t align, overlap; /* options of LEAT_ORDER_FIT; 0: none */
    uint64_t max_tokens, max_rows, pool; /* options of batches by tokens; 0: none */
    uint64_t stretch, mix, lanes;        /* options of stretches; 0: none */
};
#define LEAT_PLAN_INFO_INIT                                                                                            \
    { sizeof(struct leat_plan_info), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, LEAT_ORDER_SHUFFLED, 0, 0, 0, 0, 0, 0, 0, 0, \
      0 }

LEAT_API void leat_plan_info(const struct leat_plan *plan, struct leat_plan_info *info);

struct leat_plan_source_info {
    size_t size;
    const char *name;                   /* valid until the plan is closed, as is `dataset` */
    const struct leat_dataset *dataset; /* dataset to read the samples' tokens from */
    uint64_t blocks;                    /* blocks, each shown once per epoch; for documents: number of documents; for
                                         * megatron: samples that were built, of all epochs */
    uint64_t tokens;                    /* tokens in the used range, or of the documents that are chosen in it, with
                                         * their copies; without a split: all tokens */
    uint64_t dropped;                   /* tokens at ends of datasets that no sample shows as an input */
    uint64_t weight;                    /* weight in the first phase, as an integer: weights have no common factor;
                                         * for megatron: number of the plan's samples that are this source's */
    uint64_t epochs;                    /* limit of passes; 0: none */
    /* For LEAT_ORDER_FIT, in rows of the first phase's length; LEAT_NONE for other orders: */
    uint64_t documents;                 /* documents that rows have */
    uint64_t left_out;                  /* documents too short or too long for the rules, not among these */
    uint64_t cut;                       /* documents that do not lie in one row */
};
#define LEAT_PLAN_SOURCE_INFO_INIT                                                                                     \
    { sizeof(struct leat_plan_source_info), NULL, NULL, 0, 0, 0, 0, 0, LEAT_NONE, LEAT_NONE, LEAT_NONE }

/* Describes source `number`. Returns LEAT_E_RANGE unless `number` is below info.sources. */
LEAT_API enum leat_status leat_plan_source_info(const struct leat_plan *plan, uint64_t number,
                                                struct leat_plan_source_info *info, struct leat_error *err);

/* One sample: a row of `length` inputs. Source, part, token and offset are those of its first piece. */
struct leat_sample {
    uint64_t number; /* n */
    uint64_t epoch;  /* epoch of the source; for documents: of the plan; for megatron: 0, or the last one's if
                      * Megatron shuffles that by itself */
    uint64_t block;  /* block of the source; for documents: the document's number in the source; for fit: the row's;
                      * for megatron: that of Megatron's sample index */
    uint64_t window; /* window of the source, in windows of this length: block * slices + slice; for documents: number
                      * among those that the source chooses, or block; for megatron: block */
    uint64_t token;  /* the first token's number in the source's dataset, as for leat_dataset_read() */
    uint64_t offset; /* the first token's number in its part */
    uint32_t source;
    uint32_t part;   /* number of the dataset in the source's list */
    uint32_t length; /* inputs; for fit: without the padding after them, with that of `align` between them */
    uint32_t slice;  /* number of the slice in the block; for documents: 0; by tokens: number of the row in its batch */
    uint32_t tokens; /* tokens of the row: length + 1, since the last input's label is the token after it; 0 for a
                      * document without tokens; for fit: length + pieces, since each piece has its last label */
    uint32_t pieces; /* pieces of the row; see leat_plan_pieces() */
};

/*
 * A piece of a row: `count` consecutive tokens of one dataset, from place `at` of the row on. It covers the places up
 * to the next piece, or to the row's end. The label of a place is the next token in the same piece, or, at its
 * end, the first token of the next piece. So a piece that covers c places has c tokens if the next piece supplies its
 * last label, and c + 1 if it has that label itself, as the last piece of a row does.
 *
 * In plans of order fit with `align`, a piece of c tokens has c - 1 predictions and covers that many places, and
 * also the places up to the next multiple of `align`: a gap, which has no loss. A gap belongs to its piece:
 * positions go on in it, and its document, its sequence in cu_seqlens and its attention mask are the piece's. Its first
 * input is the piece's last token; padding follows. In plans with `overlap`, the first `overlap` predictions of a piece
 * that does not begin where its document does are context without loss.
 */
struct leat_piece {
    uint64_t token;    /* the first token's number in the source's dataset */
    uint64_t offset;   /* the first token's number in its part */
    uint64_t document; /* document of these tokens, by its number in the source's dataset; LEAT_NONE: not looked up,
                        * as for windows */
    uint32_t source;
    uint32_t part;     /* number of the dataset in the source's list */
    uint32_t count;    /* tokens; 0 for a document without tokens */
    uint32_t at;       /* place in the row, from 0 */
};

/*
 * Computes the samples of positions [first, first + count). Sets *got (not NULL) to how many there are: fewer than
 * `count` only if the plan ends. For windows, takes 10 to 60 ns each and reads no file; many at once are faster.
 */
LEAT_API enum leat_status leat_plan_samples(const struct leat_plan *plan, uint64_t first, uint64_t count,
                                            struct leat_sample *samples, uint64_t *got, struct leat_error *err);

/* Computes sample n, skipped or not. Returns LEAT_E_RANGE if the plan ends before it. */
LEAT_API enum leat_status leat_plan_sample(const struct leat_plan *plan, uint64_t number, struct leat_sample *sample,
                                           struct leat_error *err);

/*
 * Computes the pieces of `count` samples, as leat_plan_samples() or leat_plan_sample() gave them. The pieces of one
 * sample follow those of the other, each in the order of its row: pieces[] must have room for all, the sum of the
 * samples' `pieces`. Give the samples unchanged: order fit refuses those whose number of pieces does not match
 * (LEAT_E_ARGUMENT), and checks no more. Says nothing of what the plan changes in rows: leat_plan_row() does.
 */
LEAT_API enum leat_status leat_plan_pieces(const struct leat_plan *plan, const struct leat_sample *samples,
                                           uint64_t count, struct leat_piece *pieces, struct leat_error *err);

/*
 * A stretch of a row as it is shown: `count` consecutive tokens of a dataset, or a literal token, which no dataset has.
 * They follow each other in the order of the row; `inputs` of them are inputs, and stand at the places from `at` on.
 * The tokens after these are labels only: the last of a row, and in order fit the last of each piece.
 */
struct leat_stretch {
    uint64_t token;    /* the first token's number in the source's dataset; for a literal token, its id */
    uint64_t offset;   /* the first token's number in its part; 0 for a literal token */
    uint64_t document; /* see struct leat_piece; for a literal token, the document that it stands in */
    uint32_t source;
    uint32_t part;     /* number of the dataset in the source's list */
    uint32_t count;    /* tokens */
    uint32_t at;       /* place in the row, from 0 */
    uint32_t inputs;
    uint32_t literal;  /* 1: a literal token */
    uint32_t begins;   /* 1: the part of a document that the row has begins with the first of these tokens */
    uint32_t reserved; /* 0 */
};

/*
 * Computes the stretches of a sample, as leat_plan_samples() or leat_plan_sample() gave it: its pieces, or where the
 * plan changes rows (`begin` of struct leat_plan_fit, struct leat_plan_fim) what they become. Writes at most `room` of
 * them, and sets *count to how many there are, so that a second call can make room.
 */
LEAT_API enum leat_status leat_plan_row(const struct leat_plan *plan, const struct leat_sample *sample,
                                        struct leat_stretch *stretches, uint64_t room, uint64_t *count,
                                        struct leat_error *err);

/*
 * Writes how much tokens [first, first + count) of a piece of sample `number` count as labels to mask[0..count): as
 * leat_dataset_mask(), but 0 for labels of context (struct leat_piece) and for tokens of documents that are banned
 * there. `piece` is one that leat_plan_pieces() gave. Returns as leat_dataset_mask().
 */
LEAT_API enum leat_status leat_plan_mask(const struct leat_plan *plan, uint64_t number, const struct leat_piece *piece,
                                         uint64_t first, uint64_t count, uint8_t *mask, struct leat_error *err);

/* Returns 1 if a document of a source is banned in sample `number` (leat_plan_options.bans), else 0. */
LEAT_API uint32_t leat_plan_banned(const struct leat_plan *plan, uint64_t source, uint64_t document, uint64_t number);

/* Returns the number of the sample at a position; and back: for a skipped sample, the position of the next one that is
 * shown, with *skipped (may be NULL) set to 1, else to 0. Both count on after the plan's end. */
LEAT_API uint64_t leat_plan_number(const struct leat_plan *plan, uint64_t position);
LEAT_API uint64_t leat_plan_position(const struct leat_plan *plan, uint64_t number, uint32_t *skipped);

/* Computes the rows of a global batch that belong to a rank: [*first, *first + *count). Returns LEAT_E_ARGUMENT unless
 * `batch` is a multiple of `world` and `rank` is below it. The order of samples does not depend on any of them. */
LEAT_API enum leat_status leat_plan_rank_rows(uint64_t batch, uint64_t rank, uint64_t world, uint64_t *first,
                                              uint64_t *count, struct leat_error *err);

/* How the rows of a global batch are dealt to ranks. */
enum leat_balance {
    LEAT_BALANCE_NONE = 0,     /* one after another: leat_plan_rank_rows() */
    LEAT_BALANCE_ATTENTION = 1, /* rows are dealt so that attention costs all ranks nearly as much, */
    LEAT_BALANCE_LANES = 2      /* or so that each rank has those of its lanes of stretches: leat_plan_deal() */
};

/*
 * Deals the rows of the global batch at `position` to ranks, as docs/ORDER.md ("Dealing rows to ranks", version 1, and
 * "Dealing rows by lanes", version 1) says: sets ranks[i], of `batch` numbers, to the rank that shows row i, the sample
 * at position + i. Each rank gets batch / world rows. Reads no file.
 *
 * By ATTENTION, the ranks' sums of costs[] (`batch` numbers, or NULL) differ by at most 2 % where the documents of the
 * batch allow it. The cost of a row is the sum of the squares of its documents' lengths, with the gap of `align`, and
 * of the padding after the last one; rows after the plan's end have cost 0. Only for LEAT_ORDER_FIT.
 *
 * By LANES, of a plan in stretches with as many lanes as `world` or a multiple, a rank gets the rows of its lanes as
 * far as its share goes; costs[] are 0.
 *
 * Returns LEAT_E_ARGUMENT for another order, as leat_plan_rank_rows() does, if batch * max_seq_len^2 exceeds 2^62, or
 * for LEAT_BALANCE_NONE.
 */
LEAT_API enum leat_status leat_plan_deal(const struct leat_plan *plan, enum leat_balance how, uint64_t position,
                                         uint64_t batch, uint64_t world, uint32_t *ranks, uint64_t *costs,
                                         struct leat_error *err);

/* ---- The way back: which samples show this ---- */

/* Called with each sample found. A nonzero result ends the search, and the call returns LEAT_OK. */
typedef uint32_t leat_plan_found(void *context, const struct leat_sample *sample);

/* The samples to look for: those that show a token of [first, first + count) of a source's dataset as an input. */
struct leat_trace {
    size_t size;
    uint64_t source, first, count;
    uint64_t epochs;      /* in epochs [0, epochs); LEAT_NONE: in all. _INIT: LEAT_NONE */
    uint64_t from, until; /* numbered [from, until); LEAT_NONE: to the end of the plan. _INIT: 0 and LEAT_NONE */
};
#define LEAT_TRACE_INIT { sizeof(struct leat_trace), 0, 0, 0, LEAT_NONE, 0, LEAT_NONE }

/*
 * Calls `found` with these samples, in no particular order. If the plan has no end, `epochs` or `until` must be a limit
 * (else LEAT_E_ARGUMENT). Very many samples are found stretch by stretch, in bounded memory: epochs before `from` are
 * not searched. A sample in which the plan leaves all of these tokens out (as leat_plan_row() says) does not show them.
 * Includes skipped samples: leat_plan_position() says which they are. For windows, takes some 200 ns per
 * block of these tokens and epoch, or 50 ns per sample below `until`, whichever is less, and reads no file.
 * leat_dataset_documents_in(sample->token, sample->length) of the source's dataset finds a sample's documents. Returns
 * LEAT_E_RANGE for an unknown source or tokens outside it.
 */
LEAT_API enum leat_status leat_plan_trace(const struct leat_plan *plan, const struct leat_trace *trace,
                                          leat_plan_found *found, void *context, struct leat_error *err);

/* ---- Where a run stands ---- */

#define LEAT_PLAN_STATE_BYTES 4096 /* room for any state, with its NUL */

struct leat_plan_state {
    size_t size;
    uint64_t position; /* samples shown so far; also the position of the next one */
    uint64_t damaged;  /* samples shown with damaged tokens, which were masked; the caller counts them */
    uint64_t skipped;  /* samples skipped so far; set by leat_plan_state_load() */
};
#define LEAT_PLAN_STATE_INIT { sizeof(struct leat_plan_state), 0, 0, 0 }

/* Writes the state as text, to save with a checkpoint: the position, and fingerprints of all that led there. */
LEAT_API enum leat_status leat_plan_state_save(const struct leat_plan *plan, const struct leat_plan_state *state,
                                               char text[LEAT_PLAN_STATE_BYTES], struct leat_error *err);

/*
 * Reads a state's text and checks that this plan has the same past: the same rules, seed, base length, sources and
 * phases up to the position, and the same skips and bans before it. Later ones may differ. Returns
 * LEAT_E_CHECKPOINT if not; `err` names the first difference, or what is wrong with the text.
 */
LEAT_API enum leat_status leat_plan_state_load(const struct leat_plan *plan, const char *text, uint64_t bytes,
                                               struct leat_plan_state *state, struct leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
