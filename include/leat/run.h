/*
 * leat/run.h: runs in parts: many processes, on machines that share a folder, make one dataset. leat_pack.h includes
 * it; its functions are in libleat_pack, and the rules of leat.h hold: statuses, struct leat_error, structs that begin
 * with their size.
 *
 * A run is a folder. leat_run_create() writes down there what is to be done (the plan). Any process on any machine that
 * sees the folder opens it (leat_run_open()) and packs a part (leat_run_step()). A step may be killed at any moment:
 * the next one of the same part goes on. leat_run_status() says where all parts stand. When all are done, the folder
 * opens as a dataset, and leat_run_join() makes one of it that stands alone: the bytes that leat_pack() would write.
 *
 *   DIR/leat-run          the plan: lines of a name and a value, and their sum
 *   DIR/leat-run.inputs   what all parts must find the same: inputs with sizes and times, options, tokenizer
 *   DIR/leat-run.joining  while the parts are joined in place: the dataset that they become
 *   DIR/part-07.leat      and .tokens: part 7 of up to 99, finished
 *   DIR/NAME/part-07.leat and .tokens: what the split NAME gets of it
 *   DIR/part-07.rejects.jsonl  what was rejected of it
 *   DIR/part-07.beat      the sign of life of the process that packs it, or how that ended
 *   DIR/part-07.partial.* an unfinished part, and its checkpoint
 */
#ifndef LEAT_RUN_H
#define LEAT_RUN_H

#include "leat.h"

#ifdef __cplusplus
extern "C" {
#endif

struct leat_pack_options;
struct leat_pack_report;
struct leat_pack_progress;
struct leat_pack_notice;
struct leat_by_output;
struct leat_merge_options;
struct leat_merge_report;
struct leat_renderers;

/* An open run. It belongs to one thread at a time; each thread opens its own. */
struct leat_run;

#define LEAT_RUN_PARTS 1000000 /* at most */

/* ---- Plan a run ------------------------------------------------------------------------------------------------- */

struct leat_run_options {
    size_t size;
    uint32_t parts; /* 1 to LEAT_RUN_PARTS; part n is the n-th share of the inputs' bytes. 0: parts are pushed */
    uint32_t allow_truncated; /* of every part: see struct leat_run_step_options */
    const char *tokenizer;    /* required: as leat_tokenizer_open() takes it. A relative path counts from `from` */
    const char *pattern;      /* its pattern; NULL: none */
    const char *const *inputs; /* as leat_pack() takes them, but no standard input, and no URL with a ?, which may be a
                                  key: name those in a list (@LIST) */
    uint64_t input_count;
    const char *from; /* the folder in which relative inputs, and a chat template, lie; NULL: the current one */
    /* What all parts share, as leat_pack() takes it; NULL: the defaults. `tokenizer`, `part`, `parts` and `resume` do
     * not count; `shuffle`, `dedup` and `force` are LEAT_E_ARGUMENT. `threads`, `memory`, `write`, the limits of
     * rejects and `chat_seconds` are what parts have that say nothing else. `progress`, `notice` and `context` are this
     * call's. */
    const struct leat_pack_options *pack;
};
#define LEAT_RUN_OPTIONS_INIT { sizeof(struct leat_run_options), 0, 0, NULL, NULL, NULL, 0, NULL, NULL }

/*
 * Plans a run in `folder`, which is made if need be (not those above it), and opens it. Packs nothing, but looks up all
 * inputs, and whether their first records have the fields that are wanted.
 *
 * The plan is durable when the call returns, and the folder is a run only then: of a call that was killed, the same
 * call makes a whole one. The same call again finds the run that is there, whose parts may be done.
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

/* What the plan says. All that it points to is the run's, until that is closed. */
struct leat_run_info {
    size_t size;
    const char *folder; /* from the root on */
    const char *from;   /* where relative inputs begin */
    const char *tokenizer;
    const char *pattern; /* NULL: none */
    const char *const *inputs; /* as they were given */
    uint64_t input_count;
    uint64_t files, bytes; /* what these stand for, and their size */
    uint64_t whole_files;  /* that go whole to one part, as compressed ones do */
    uint64_t empty_parts;  /* that get nothing */
    uint32_t parts;        /* 0: parts are pushed */
    uint32_t allow_truncated;
    const struct leat_pack_options *pack; /* as planned; its `tokenizer` is NULL until a step opens it */
};
#define LEAT_RUN_INFO_INIT { sizeof(struct leat_run_info), NULL, NULL, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, NULL }
LEAT_API void leat_run_info(const struct leat_run *run, struct leat_run_info *info);

#ifdef __cplusplus
}
#endif
#endif
