/*
 * run.h: runs in parts: many processes, on machines that share a folder, make one dataset.
 *
 * A run is a folder. leat_run_create() writes the plan there. Any process on any machine that
 * sees the folder opens it (leat_run_open()) and packs a part (leat_run_step()). A step may be killed at any moment:
 * the next one of the same part goes on. leat_run_status() says where all parts stand. When all are done, the folder
 * opens as a dataset, and leat_run_join() makes one of it that stands alone: the bytes that leat_pack() would write.
 *
 *   DIR/leat-run          the plan: lines of a name and a value, and their sum
 *   DIR/leat-run.inputs   what all parts must find the same: inputs with sizes and times, options, tokenizer
 *   DIR/part-07.leat      and .tokens: part 7 of up to 99, finished
 *   DIR/NAME/part-07.leat and .tokens: what the split NAME gets of it
 *   DIR/part-07.rejects.jsonl  what was rejected of it
 *   DIR/part-07.beat      the sign of life of the process that packs it, or how that ended
 *   DIR/part-07.partial.* an unfinished part, and its checkpoint
 *   DIR/KEY.ATTEMPT.leat  and .tokens: an attempt at a part that is pushed
 *   DIR/NAME/KEY.ATTEMPT.leat  and .tokens: what the split NAME gets of it
 *   DIR/leat-run.list     which attempts a commit named
 *   DIR/leat-run.list.RUN  the same before parts were appended
 */
#ifndef LEAT_PUBLIC_RUN_H
#define LEAT_PUBLIC_RUN_H

#include "merge.h"
#include "pack.h"
#include "packer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* An open run. It belongs to one thread at a time; each thread opens its own. */
struct leat_run;

#define LEAT_RUN_MAX_PARTS 1000000

/* ---- Plan a run ------------------------------------------------------------------------------------------------- */

struct leat_run_options {
    size_t size;
    uint32_t parts; /* 1 to LEAT_RUN_MAX_PARTS; part n is the n-th share of the inputs' bytes. 0: parts are pushed */
    uint32_t append;          /* with `parts` 0: if the folder is a finished dataset, the parts follow those that it
                                 has */
    const char *tokenizer;    /* required: as leat_tokenizer_open() takes it. A relative path counts from `from` */
    const char *pattern;      /* its pattern; NULL: none */
    const char *const *inputs; /* required unless `parts` is 0: as leat_pack() takes them, but not standard input, and
                                  no URL with a ?, which may be a key: name those in a list (@LIST) */
    uint64_t input_count;
    const char *from; /* the folder in which relative inputs, and a chat template, lie; NULL: the current one */
    /* Options that all parts share, as leat_pack() takes them; NULL: the defaults. `tokenizer`, `part`, `parts` and
     * `resume` are ignored; `shuffle` and `dedup` are LEAT_E_ARGUMENT, and so is `force` unless `parts` is 0. Options
     * that a step may set are its defaults. `progress`, `notice` and `context` are this call's. */
    const struct leat_pack_options *pack;
};
#define LEAT_RUN_OPTIONS_INIT { sizeof(struct leat_run_options), 0, 0, NULL, NULL, NULL, 0, NULL, NULL }

/*
 * Plans a run in `folder`, which is made if need be (not those above it), and opens it. Packs nothing, but looks up all
 * inputs, and whether their first records have the fields that are wanted.
 *
 * The plan is durable when the call returns, and the folder is a run only then: if the call is killed, repeating it
 * completes the plan. The same call again finds the run that is there, whose parts may be done.
 *
 * On success *out is the caller's until leat_run_close(). Returns LEAT_E_ARGUMENT (what contradicts, or cannot be
 * planned), LEAT_E_EXISTS (the folder is that of another run, or has parts and no plan), LEAT_E_CHECKPOINT (the run
 * there has other inputs, options or another tokenizer; the sentence says which), LEAT_E_BUSY (another process plans it
 * just now), and what leat_tokenizer_open() and leat_pack() return of inputs and options.
 */
LEAT_API enum leat_status leat_run_create(struct leat_run **out, const char *folder,
                                          const struct leat_run_options *options, struct leat_error *err);

/* ---- Open a run ------------------------------------------------------------------------------------------------- */

/*
 * Opens the run of a folder. On success *out is the caller's until leat_run_close(). Returns LEAT_E_NO_FILE (it is not
 * the folder of a run), LEAT_E_UNSUPPORTED (another version of leat planned it), LEAT_E_CHECKSUM (the plan is damaged),
 * _IO, _PERMISSION or _NO_MEMORY.
 */
LEAT_API enum leat_status leat_run_open(struct leat_run **out, const char *folder, struct leat_error *err);

/* Closes and frees. NULL is fine. What is in the folder stays. */
LEAT_API void leat_run_close(struct leat_run *run);

/* The content of a plan. The run owns everything that it points to, until it is closed. */
struct leat_run_info {
    size_t size;
    const char *folder; /* absolute path of the folder */
    const char *from;   /* folder where relative inputs begin */
    const char *tokenizer;
    const char *pattern; /* NULL: none */
    const char *const *inputs; /* inputs as they were given */
    uint64_t input_count;
    uint64_t files, bytes; /* files of these inputs, and their size */
    uint64_t whole_files;  /* files that go whole to one part, as compressed ones do */
    uint64_t empty_parts;  /* that get nothing */
    uint32_t parts;        /* 0: parts are pushed */
    uint32_t reserved; /* 0 */
    const struct leat_pack_options *pack; /* options as planned; `tokenizer` is NULL until a step opens it */
    uint8_t run[16]; /* number of a run whose parts are pushed, which no other run has, as in its pieces; else 0 */
};
#define LEAT_RUN_INFO_INIT                                                                                             \
    { sizeof(struct leat_run_info), NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, NULL, { 0 } }
LEAT_API void leat_run_info(const struct leat_run *run, struct leat_run_info *info);

/* Writes the name of a part's dataset, FOLDER/part-07, as leat_dataset_open() takes it, as far as it fits in
 * `capacity` with a NUL, and returns its whole length without that. `out` may be NULL if `capacity` is 0. */
LEAT_API uint64_t leat_run_part_name(const struct leat_run *run, uint32_t part, char *out, uint64_t capacity);

/* ---- Pack a part ------------------------------------------------------------------------------------------------ */

/*
 * Packs part `part` (from 1), or goes on with it where an earlier step ended or was killed, whichever process and
 * machine that was. If the part is done, it packs nothing and sets report->was_finished. While it works, the part's
 * sign of life is written every five seconds; at the end it says how the step ended, or is removed.
 *
 * `options` (NULL: all is as planned) may set what changes no byte: `threads`, `memory`, `write`, `chat_seconds`,
 * `created`, `allow_truncated` and the limits of rejects, where a share of 1,000,000 millionths allows any number. A
 * member that has its value of LEAT_PACK_OPTIONS_INIT is as planned. `force` starts over, also if the part is done: the
 * old one is replaced when the new one is. `renderers`, which a chat template needs, `progress`, `notice` and `context`
 * are this call's. Everything else is ignored.
 *
 * `report` (may be NULL) is filled on failure too. Returns what leat_pack() returns, and LEAT_E_ARGUMENT (no such part,
 * or the parts are pushed), LEAT_E_BUSY (another process packs this part), LEAT_E_CHECKPOINT (inputs, options or
 * tokenizer are not those of the plan), LEAT_E_TRUNCATED (inputs were cut off or broken: the part is packed as far as
 * they were readable, and fails until a step has `allow_truncated`, or `force` when they are whole). leat_run_advice()
 * says of each what to do.
 */
LEAT_API enum leat_status leat_run_step(struct leat_run *run, uint32_t part,
                                        const struct leat_pack_options *options, struct leat_pack_report *report,
                                        struct leat_error *err);

/* ---- See where a run stands ------------------------------------------------------------------------------------- */

enum leat_run_state {
    LEAT_RUN_DONE = 0,
    LEAT_RUN_RUNNING = 1, /* its sign of life is at most 30 seconds old */
    LEAT_RUN_DEAD = 2,    /* it was killed, or hangs, or its machine is gone */
    LEAT_RUN_STOPPED = 3, /* `progress` stopped it */
    LEAT_RUN_FAILED = 4,  /* `reason` says why */
    LEAT_RUN_MISSING = 5  /* nobody has begun it */
};
#define LEAT_RUN_STATES 6

struct leat_run_part {
    uint32_t state;    /* enum leat_run_state */
    uint32_t advice;   /* hint of the error of a part that failed, for leat_run_advice(); else 0 */
    uint64_t tokens, documents; /* tokens and documents so far; for a part that was killed, at its last checkpoint */
    /* The next seven describe parts that run, or that ended without being done. */
    uint64_t bytes, total_bytes; /* bytes of the part's inputs; total 0: not known */
    uint64_t pid;
    double tokens_per_s; /* while it ran */
    double age;          /* seconds since the last sign of life */
    char host[72];
    char reason[512];
    uint64_t reserved[4]; /* 0 */
};

struct leat_run_status {
    size_t size;
    uint32_t parts;
    uint32_t complete; /* 1: all parts are done, and the folder is a dataset */
    uint64_t count[LEAT_RUN_STATES]; /* number of parts by state */
    uint64_t tokens, documents;      /* so far */
    double tokens_per_s;             /* sum over all parts that run */
    double share;                    /* share of the work that is done; below 1 until all parts are */
    double seconds_left;             /* seconds until all parts are done at this rate; negative: no part runs */
    /* The run owns the memory of these, until the next call of this function or leat_run_close(). */
    const struct leat_run_part *items; /* part n is items[n - 1] */
    const char *left;       /* the parts that are not done and that no process packs, as `sbatch --array` takes them:
                               "3,7-9"; "": none */
    const char *unfinished; /* numbers of the parts that are not complete, running ones included */
};
#define LEAT_RUN_STATUS_INIT \
    { sizeof(struct leat_run_status), 0, 0, { 0, 0, 0, 0, 0, 0 }, 0, 0, 0, 0, 0, NULL, NULL, NULL }

/* Looks where all parts stand, by what is in the folder; changes no part. Returns LEAT_E_ARGUMENT (the parts are
 * pushed), LEAT_E_NO_FILE, _IO or _NO_MEMORY. */
LEAT_API enum leat_status leat_run_status(struct leat_run *run, struct leat_run_status *status,
                                          struct leat_error *err);

/* ---- Join the parts --------------------------------------------------------------------------------------------- */

/*
 * Joins all parts into the dataset `output`, as leat_merge() does datasets, and shuffles, deduplicates or splits it as
 * the options (NULL: the defaults) say.
 *
 * Returns what leat_merge() returns, and LEAT_E_ARGUMENT (the parts are pushed: leat_merge() takes the folder),
 * LEAT_E_NO_FILE (parts are missing; the sentence says which).
 */
LEAT_API enum leat_status leat_run_join(struct leat_run *run, const char *output,
                                        const struct leat_merge_options *options, struct leat_merge_report *report,
                                        struct leat_error *err);

/* ---- What to do after a failure --------------------------------------------------------------------------------- */

/* Kinds of files that an error of a run is about. */
enum leat_run_file {
    LEAT_RUN_FILE_NONE = 0,      /* none, or one beside the run */
    LEAT_RUN_FILE_PLAN = 1,      /* leat-run */
    LEAT_RUN_FILE_SHARED = 2,    /* leat-run.inputs */
    LEAT_RUN_FILE_BEAT = 3,      /* part-N.beat */
    LEAT_RUN_FILE_UNFINISHED = 4, /* part-N.partial.*: an unfinished part, its checkpoint */
    LEAT_RUN_FILE_PART = 5,      /* part-N.leat, part-N.tokens, also of a split */
    LEAT_RUN_FILE_REJECTS = 6,   /* part-N.rejects.jsonl */
    LEAT_RUN_FILE_INPUT = 7,     /* an input, the tokenizer or the chat template */
    LEAT_RUN_FILE_OUTPUT = 8     /* the dataset that the parts are joined into */
};

/* Ways to mend it. */
enum leat_run_mend {
    LEAT_RUN_MEND_CALL = 0,    /* other arguments */
    LEAT_RUN_MEND_AGAIN = 1,   /* call again: it goes on, and what was in its way may have passed */
    LEAT_RUN_MEND_WAIT = 2,    /* call again, after the process that works on it has ended */
    LEAT_RUN_MEND_FORCE = 3,   /* leat_run_step() with `force`: the part is packed again */
    LEAT_RUN_MEND_LIMIT = 4,   /* call leat_run_step() with a larger limit of rejects, which goes on; if parts are
                                * pushed, leat_run_create() with it, and commit again */
    LEAT_RUN_MEND_ACCEPT = 5,  /* leat_run_step() with `force` when the input is whole, or with `allow_truncated` */
    LEAT_RUN_MEND_RESTORE = 6, /* let whoever has the file as it was restore it; then call again */
    LEAT_RUN_MEND_CREATE = 7,  /* remove the file, and call leat_run_create() with the planned options, which writes
                                * it again */
    LEAT_RUN_MEND_PLAN = 8,    /* leat_run_create() in another folder: this is another run */
    LEAT_RUN_MEND_STEPS = 9    /* leat_run_step() of the parts that are left */
};

/* Work that has to wait until the error is mended. */
enum leat_run_waits { LEAT_RUN_WAITS_NOTHING = 0, LEAT_RUN_WAITS_PART = 1, LEAT_RUN_WAITS_ALL = 2 };

struct leat_run_advice {
    size_t size;
    uint32_t file;  /* enum leat_run_file */
    uint32_t mend;  /* enum leat_run_mend */
    uint32_t waits; /* enum leat_run_waits: the part, or all that is left to do */
    uint32_t hint;  /* the enum leat_hint that stands for `mend` in other calls; 0: none */
};
#define LEAT_RUN_ADVICE_INIT { sizeof(struct leat_run_advice), 0, 0, 0, 0 }

/*
 * Says what an error of this header's functions means, and what to do: which kind of file is damaged, missing or in the
 * way, what makes that right, and what waits for it. The error's `hint` names a row of a table; for other hints the
 * status decides. `err` may also hold nothing but the `advice` of a part as its hint.
 */
LEAT_API void leat_run_advice(const struct leat_error *err, struct leat_run_advice *advice);

/* ---- Push documents to a run ------------------------------------------------------------------------------------ */

/*
 * A run with `parts` 0 in its options packs no inputs: each process that has documents pushes them to a part, which it
 * names by a key of its own, and gets a piece. Pieces are small and go to the process that commits the run: this names
 * the parts in their order, and makes the folder a dataset in one step. An engine of tasks does so (Ray, Spark).
 *
 *   leat_run_create(&run, folder, &options, &err);           once; `pack`.force replaces what is there
 *
 *   leat_run_open(&run, folder, &err);                       in each task
 *   leat_run_push(&packer, run, "7", NULL, &err);
 *   leat_packer_add_texts(packer, &texts, &err);             any number
 *   leat_run_finish(packer, &piece, 1, NULL, &err);
 *
 *   leat_run_commit(run, pieces, count, &err);               once
 *
 * Several attempts at one part may live at once, each with files of its own: retries, and tasks that their engine
 * believes dead. Only attempts that the commit names count; equal documents give equal bytes, whichever attempt that
 * is. Until the commit the folder is no dataset; then it opens as one (leat_dataset_open()), without a second copy of
 * any token. The folder may be s3://BUCKET/FOLDER, gs://BUCKET/FOLDER or az://CONTAINER/FOLDER: a part
 * is sent when it is finished.
 *
 * With `splits` the hash of a document's text says which split it goes to, as everywhere. The same commit makes FOLDER
 * the dataset of the rest and FOLDER/NAME that of each split, all of them or none; the lists in these folders refer to
 * FOLDER's, so a split does not open without the folder above it. An attempt is divided when it is finished, and takes
 * its space twice until then. It has a piece for each dataset.
 *
 * leat_run_create() of such a run finds the same one that was begun and not committed, and removes what dead processes
 * left in it. LEAT_E_EXISTS without `force`: the folder is a finished dataset (and `append` is 0), or has a run with
 * other options. With `force` a new run takes the place of any other; a finished dataset stays until the new run is
 * committed.
 *
 * With `append` the run begins beside the finished dataset, if there is one, and its commit makes a new list: the parts
 * that are there, then its own. LEAT_E_INCOMPATIBLE if tokenizer, end or begin token, or the names of splits, are not
 * the dataset's; fractions are those of each run. No part of the dataset, or of its splits, is changed or removed,
 * whether the run is committed, aborted or dies, and a key may come again. The list before stays as leat-run.list.RUN,
 * RUN being the number in it: leat_dataset_open() takes this name, and finds the dataset of the rest as it was, with
 * its identity; the folder has a new one. A split opens only as it is now. A finished dataset never changes. Of two
 * that append at once with the same options, both have the same run, and the first commit decides; one whose dataset
 * another run has replaced is LEAT_E_STATE.
 *
 * The limits of rejects are the whole run's: its commit sums all parts. A part ends early only if it alone has more
 * rejects than their number. Two runs that differ in nothing else are the same run, which has the limits
 * that were given last.
 */

#define LEAT_RUN_MAX_KEY 128 /* characters of a part's name */

struct leat_run_push_options {
    size_t size;
    uint32_t threads; /* 0: as planned */
    uint32_t reserved; /* 0 */
    uint64_t memory;  /* memory of the packer, as in struct leat_pack_options */
    const char *scratch; /* folder of this machine, for a run in a bucket; the part is made below it, in leat-parts-
                          * USER/, which only its user can look into */
    const struct leat_renderers *renderers; /* renderers, for a run with `chat`; must outlive the packer */
};
#define LEAT_RUN_PUSH_OPTIONS_INIT { sizeof(struct leat_run_push_options), 0, 0, 0, NULL, NULL }

/*
 * Starts an attempt at the part `key`: letters, digits and -_.=, without a dot at the start. *out takes documents as
 * any packer does, and ends with leat_run_finish(); leat_packer_abandon() and leat_packer_suspend() leave nothing of
 * it. It has no checkpoints. The run must stay open until then. LEAT_E_STATE: the run was aborted or committed, or
 * another has taken its place. Other statuses as leat_packer_open().
 */
LEAT_API enum leat_status leat_run_push(struct leat_packer **out, struct leat_run *run, const char *key,
                                        const struct leat_run_push_options *options, struct leat_error *err);

/* The result of an attempt, in plain bytes: a program may copy them to any process of the same kind of machine. */
struct leat_run_piece {
    uint8_t run[16];
    uint8_t checksum[16];    /* checksum of everything in both files */
    uint8_t identity[16];    /* identity of the content, as in struct leat_info */
    uint8_t fingerprint[16]; /* fingerprint of the tokenizer */
    uint64_t attempt;
    uint64_t index_bytes, token_bytes;
    uint64_t documents, tokens;
    uint64_t text_bytes, rejects, kept_out; /* see struct leat_pack_report */
    char key[136];
    char split[72]; /* name of the split that the piece is of; "": the dataset of the rest, or there are no splits */
};

/*
 * Finishes the attempt and fills its `count` pieces: one, and then one for each split of the run, in their order, which
 * have no `text_bytes` and `rejects`: the first has all. `report` (may be NULL) is of all documents, and is filled on
 * failure too. Frees the packer on success, not on failure: after a server error, call it again. LEAT_E_STATE: the run
 * was aborted, or committed without this attempt; abandoning the packer removes its files. leat_packer_finish() and
 * leat_packer_checkpoint() of such a packer are LEAT_E_ARGUMENT.
 */
LEAT_API enum leat_status leat_run_finish(struct leat_packer *p, struct leat_run_piece *pieces, uint64_t count,
                                          struct leat_pack_report *report, struct leat_error *err);

/* Write a piece as one line of text, for processes of other machines and other programs, and read it back.
 * LEAT_E_ARGUMENT if the text is not a piece. */
#define LEAT_RUN_PIECE_BYTES 512
LEAT_API void leat_run_piece_text(const struct leat_run_piece *piece, char text[LEAT_RUN_PIECE_BYTES]);
LEAT_API enum leat_status leat_run_piece_read(struct leat_run_piece *piece, const char *text, struct leat_error *err);

/*
 * Makes the folder the dataset of these parts, in this order, and sweeps all other attempts; one that still lives fails
 * when it is finished. Killed at any moment, it has done this or nothing, and the same call completes it: with the same
 * pieces it succeeds again, with others it is LEAT_E_EXISTS. The pieces of a part follow each other as its attempt has
 * made them. Returns LEAT_E_ARGUMENT (no pieces, not all of an attempt, or a part comes twice), LEAT_E_EMPTY
 * (conditions of `keep` have left no document for any of the datasets, and the plan does not allow that),
 * LEAT_E_INCOMPATIBLE (a piece of another run, or parts with different tokenizers), LEAT_E_MISMATCH (the files of a
 * part are missing or changed), LEAT_E_REJECTS (more records were rejected than the run allows: abort it, or begin it
 * again with a larger limit, and commit the same pieces), LEAT_E_STATE (the run was aborted, another has taken its
 * place, or the dataset to which it appends is another one now), LEAT_E_BUSY.
 */
LEAT_API enum leat_status leat_run_commit(struct leat_run *run, const struct leat_run_piece *pieces, uint64_t count,
                                          struct leat_error *err);

/* Ends a run that is not committed and removes all of it; the folder, too, if nothing else is in it. An attempt that
 * still lives fails when it is finished. Calling it again succeeds. LEAT_E_STATE: the run is committed. */
LEAT_API enum leat_status leat_run_abort(struct leat_run *run, struct leat_error *err);

#ifdef __cplusplus
}
#endif
#endif
