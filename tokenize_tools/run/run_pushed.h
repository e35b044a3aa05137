/*
 * run_pushed.h: runs whose parts are pushed their documents (leat_run_push(), leat_run_commit(), leat_run_abort()): how
 * one begins, and is opened in a bucket. Their files, beside the plan:
 *
 *   KEY.ATTEMPT.leat  and .tokens, .rejects.jsonl: one attempt at the part KEY, finished; ATTEMPT is 16 random digits
 *   KEY.ATTEMPT.partial.*  while it is made
 *   leat-run.list     the commit: which attempts count (src/list/)
 *   leat-run.list.RUN  what it was before parts were appended to it; RUN is the number in it
 *   SPLIT/KEY.ATTEMPT.leat  and .tokens: what a split gets of the attempt
 *   SPLIT/leat-run.list  from the begin of the run on: that the list above says which of them count
 *
 * Nothing decides between attempts but the list. Who finishes one looks at plan and list *after* its files have their
 * names; who commits or aborts writes the list, or gives the plan another number, *before* the sweep: so either the
 * sweep finds the files, or their maker finds that they do not count, and removes them. The plan goes last: without it,
 * files that a killed abort left would open as a dataset. What the list names belongs to a finished dataset, whichever
 * run the plan is of.
 */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_PUSHED_H
#define LEAT_TOKENIZE_TOOLS_RUN_PUSHED_H

#include "list/folder_list.h"
#include "run.h"
#include "run_place.h"

/* Begins the run, or finds the same one begun and not committed. `plan` has no number of the run yet. What is there may
 * be: */
enum run_beginning {
    BEGIN_NEW,     /* that run at most */
    BEGIN_REPLACE, /* or another run, or a finished dataset, which stays until this run is committed */
    BEGIN_APPEND   /* or a finished dataset, which this run's parts will follow */
};
enum leat_status run_pushed_create(const char *output, const struct run_plan *plan, enum run_beginning how,
                                   struct leat_error *err);

/* Whether its parts can be split so. */
enum leat_status pushed_check_splits(const struct leat_pack_options *o, struct leat_error *err);

/* Reads the plan of a run, whose folder may be a bucket's. */
enum leat_status run_pushed_read(struct leat_run *run, const char *folder, struct leat_error *err);

/* ---- Names ---- */

#define PUSHED_PLAN   "leat-run"
#define PUSHED_DIGITS 16u /* of an attempt */
#define PUSHED_SPLIT  64u
#define PUSHED_WHOLE  ".partial.whole" /* after an attempt's name: what is divided among its splits; .lock: it lives */
#define PUSHED_NAME   (PUSHED_SPLIT + LEAT_RUN_MAX_KEY + PUSHED_DIGITS + 3u) /* room for SPLIT/KEY.ATTEMPT */

enum leat_status pushed_check_key(const char *key, struct leat_error *err);
void pushed_attempt_name(char name[PUSHED_NAME], const char *split, const char *key, uint64_t attempt); /* "": none */

/* Returns the length of KEY.ATTEMPT in the name of one of its files; 0: the file is another one. */
size_t pushed_attempt_length(const char *file);

/* ---- Where a run stands ---- */

/* The number of the run of a plan. LEAT_E_ARGUMENT if its parts read inputs. */
enum leat_status pushed_number(const struct run_plan *plan, uint8_t run[16], struct leat_error *err);

/* As the files say now, for a process that knows the run's number. Also gives the folder's list, an empty one if there
 * is none, and its bytes; free both, also after a failure. */
enum standing {
    STANDS,
    IS_COMMITTED,
    IS_FOLLOWED, /* committed, and the plan is another run's since then, or gone */
    IS_ABORTED,  /* perhaps not all of it is removed */
    IS_GONE
};
enum leat_status pushed_look(struct run_place *place, const uint8_t run[16], enum standing *standing,
                             struct folder_list *list, struct buffer *text, struct leat_error *err);
enum leat_status pushed_say_gone(const struct run_place *place, struct leat_error *err); /* LEAT_E_STATE */

bool pushed_has_split(const struct folder_list *list, const char *name); /* whether it names parts of the split */

/* Reads the plan; LEAT_E_NO_FILE if there is none. run_plan_free() also after a failure. */
enum leat_status pushed_read_plan(struct run_place *place, struct run_plan *plan, struct leat_error *err);

/* Writes the plan, with a number that no run had if it has none; `plan->aborted`: as what is left of that run.
 * `replace`: in place of the plan that run_place_read() has read last. *fd is that of pushed_lock(), and becomes this
 * plan's. */
enum leat_status pushed_write_plan(struct run_place *place, const struct run_plan *plan, bool replace, int *fd,
                                   struct leat_error *err);

/* One process at a time commits, aborts or begins in a folder: *fd is the plan, locked; own_file_unlock(). -1 in a
 * bucket, and without a plan. */
enum leat_status pushed_lock(struct run_place *place, int *fd, struct leat_error *err);

/* Removes the attempts that the list does not name, earlier lists that it did not grow from, and the folders of splits
 * that neither it nor the plan has (NULL: none); `dead_only`: only unfinished attempts, of processes that have died,
 * which no one knows of a bucket. */
enum leat_status pushed_sweep(struct run_place *place, const struct folder_list *list, const struct run_plan *plan,
                              bool dead_only, struct leat_error *err);

/* ---- Appending (run_append.c) ---- */

#define PUSHED_BASE 56u /* room for the `base` of a plan */

void pushed_base_text(char text[PUSHED_BASE], const struct folder_list *list);

/* How many parts of the list come before those of the run. LEAT_E_STATE: it is not the one any more that the plan
 * means; `committed`: it is the one that the run has made of that. */
enum leat_status pushed_base(const struct run_place *place, const struct run_plan *plan, const struct folder_list *list,
                             bool committed, size_t *before, struct leat_error *err);

/* LEAT_E_INCOMPATIBLE if parts of these options, which have a tokenizer, cannot follow the list's. */
enum leat_status pushed_check_base(const struct run_place *place, const struct folder_list *list,
                                   const struct leat_pack_options *pack, struct leat_error *err);

/* Likewise, of a finished attempt; then gives the list, with its bytes, its second name. */
enum leat_status pushed_keep_list(struct run_place *place, const struct folder_list *list, const struct buffer *text,
                                  const char *part, struct leat_error *err);

/* Removes a file if it is an earlier list that this one did not grow from, or what is left of writing a list. */
enum leat_status pushed_sweep_list(struct run_place *place, const struct folder_list *list, const char *file,
                                   struct leat_error *err);

/* ---- An attempt ---- */

/* What a finished dataset of this machine is, as a list has it. */
enum leat_status pushed_describe(struct leat_run_piece *piece, const char *path, struct leat_error *err);

/* Removes the folder of a split that is no more, if nothing is in it. */
enum leat_status pushed_remove_split(const struct run_place *place, const char *name, struct leat_error *err);

/* Opens the folder of a split (`make`: also one that is missing). *ours: its list says that it is that. */
enum leat_status pushed_open_split(struct run_place *split, const struct run_place *place, const char *name, bool make,
                                   bool *ours, struct leat_error *err);

/* LEAT_E_EXISTS if the folder of one of these splits, in a place of this machine, is none of the run: a link. */
enum leat_status pushed_check_folders(const struct run_place *place, const struct leat_split *splits, uint64_t count,
                                      struct leat_error *err);

#endif
