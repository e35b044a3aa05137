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

/* Begins the run, or finds the same run begun and not committed. `plan` has no number of the run yet. The kinds of
 * beginning say what else may be there: */
enum run_beginning {
    BEGIN_NEW,     /* only that run */
    BEGIN_REPLACE, /* or another run, or a finished dataset, which stays until this run is committed */
    BEGIN_APPEND   /* or a finished dataset, which this run's parts will follow */
};
enum leat_status run_pushed_create(const char *output, const struct run_plan *plan, enum run_beginning how,
                                   struct leat_error *err);

/* Checks that the run's parts can be split by these options. */
enum leat_status pushed_check_splits(const struct leat_pack_options *o, struct leat_error *err);

/* Reads the plan of a run, whose folder may be a bucket's. */
enum leat_status run_pushed_read(struct leat_run *run, const char *folder, struct leat_error *err);

/* ---- Names ---- */

#define PUSHED_PLAN   "leat-run"
#define PUSHED_DIGITS 16u /* of an attempt */
#define PUSHED_SPLIT  64u
#define PUSHED_WHOLE                                                                                                   \
    ".partial.whole" /* suffixes after an attempt's name: the dataset that is divided among its
                                          splits; .lock: a file that is locked while it lives */
#define PUSHED_NAME (PUSHED_SPLIT + LEAT_RUN_MAX_KEY + PUSHED_DIGITS + 3u) /* room for SPLIT/KEY.ATTEMPT */

enum leat_status pushed_check_key(const char *key, struct leat_error *err);
void pushed_attempt_name(char name[PUSHED_NAME], const char *split, const char *key, uint64_t attempt); /* "": none */

/* Returns the length of KEY.ATTEMPT in the name of one of its files; 0 if the file is another one. */
size_t pushed_attempt_length(const char *file);

/* ---- Where a run stands ---- */

/* Gets the number of the run of a plan. Returns LEAT_E_ARGUMENT if its parts read inputs. */
enum leat_status pushed_number(const struct run_plan *plan, uint8_t run[16], struct leat_error *err);

/* Finds where a run stands by its files, for a process that knows the run's number. Also returns the folder's list
 * and its bytes; the list is empty if there is none. The caller frees both, also after a failure. */
enum standing {
    STANDS,
    IS_COMMITTED,
    IS_FOLLOWED, /* committed, and since then the plan is another run's, or gone */
    IS_ABORTED,  /* aborted, though some files may still be there */
    IS_GONE
};
enum leat_status pushed_look(struct run_place *place, const uint8_t run[16], enum standing *standing,
                             struct folder_list *list, struct buffer *text, struct leat_error *err);
enum leat_status pushed_say_gone(const struct run_place *place, struct leat_error *err); /* LEAT_E_STATE */

bool pushed_has_split(const struct folder_list *list, const char *name); /* true if the list names parts of the split */

/* Reads the plan. Returns LEAT_E_NO_FILE if there is none. run_plan_free() must follow, on failure too. */
enum leat_status pushed_read_plan(struct run_place *place, struct run_plan *plan, struct leat_error *err);

/*
 * Writes the plan, with a number that no run had if it has none; with `plan->aborted`, as what is left of that run.
 * With `replace`, it takes the place of the plan that run_place_read() has read last. *fd is that of pushed_lock(),
 * and becomes this plan's.
 */
enum leat_status pushed_write_plan(struct run_place *place, const struct run_plan *plan, bool replace, int *fd,
                                   struct leat_error *err);

/* Locks the plan, so that one process at a time commits, aborts or begins in a folder. *fd becomes the plan, which
 * own_file_unlock() unlocks; -1 in a bucket, and without a plan. */
enum leat_status pushed_lock(struct run_place *place, int *fd, struct leat_error *err);

/*
 * Removes attempts that the list does not name, earlier lists that it did not grow from, and the folders of splits
 * that neither it nor the plan has (NULL: none). With `dead_only`, it only removes unfinished attempts of processes
 * that have died; in a bucket nobody knows of these.
 */
enum leat_status pushed_sweep(struct run_place *place, const struct folder_list *list, const struct run_plan *plan,
                              bool dead_only, struct leat_error *err);

/* ---- Appending (run_append.c) ---- */

#define PUSHED_BASE 56u /* room for the `base` of a plan */

void pushed_base_text(char text[PUSHED_BASE], const struct folder_list *list);

/* Gets the number of parts of the list that come before those of the run. Returns LEAT_E_STATE if the list is not
 * the one that the plan means; `committed` says that it is the one that the run has made of that. */
enum leat_status pushed_base(const struct run_place *place, const struct run_plan *plan, const struct folder_list *list,
                             bool committed, size_t *before, struct leat_error *err);

/* Returns LEAT_E_INCOMPATIBLE if parts of these options, which have a tokenizer, cannot follow the list's. */
enum leat_status pushed_check_base(const struct run_place *place, const struct folder_list *list,
                                   const struct leat_pack_options *pack, struct leat_error *err);

/* Checks the same of a finished attempt; then gives the list, which has these bytes, its second name. */
enum leat_status pushed_keep_list(struct run_place *place, const struct folder_list *list, const struct buffer *text,
                                  const char *part, struct leat_error *err);

/* Removes a file if it is an earlier list that this one did not grow from, or is left over from writing a list. */
enum leat_status pushed_sweep_list(struct run_place *place, const struct folder_list *list, const char *file,
                                   struct leat_error *err);

/* ---- An attempt ---- */

/* Describes a finished dataset of this machine as a list has it. */
enum leat_status pushed_describe(struct leat_run_piece *piece, const char *path, struct leat_error *err);

/* Removes the folder of a split that does not exist any more, if nothing is in it. */
enum leat_status pushed_remove_split(const struct run_place *place, const char *name, struct leat_error *err);

/* Opens the folder of a split; with `make` also makes a missing one. Sets *ours if its list says that it belongs to
 * the split. */
enum leat_status pushed_open_split(struct run_place *split, const struct run_place *place, const char *name, bool make,
                                   bool *ours, struct leat_error *err);

/* Returns LEAT_E_EXISTS if the folder of one of these splits, in a place of this machine, is a link and thus not of
 * the run. */
enum leat_status pushed_check_folders(const struct run_place *place, const struct leat_split *splits, uint64_t count,
                                      struct leat_error *err);

#endif
