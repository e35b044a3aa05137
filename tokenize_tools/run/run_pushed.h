/*
 * run_pushed.h: runs whose parts are pushed their documents (leat_run_push(), leat_run_commit(), leat_run_abort()): how
 * one begins, and is opened in a bucket. Their files, beside the plan:
 *
 *   KEY.ATTEMPT.leat  and .tokens, .rejects.jsonl: one attempt at the part KEY, finished; ATTEMPT is 16 random digits
 *   KEY.ATTEMPT.partial.*  while it is made
 *   leat-run.list     the commit: which attempts count (src/list/)
 *   SPLIT/KEY.ATTEMPT.leat  and .tokens: what a split gets of the attempt
 *   SPLIT/leat-run.list  from the begin of the run on: that the list above says which of them count
 *
 * Nothing decides between attempts but the list. Who finishes one looks at plan and list *after* its files have their
 * names; who commits or aborts writes the list, or gives the plan another number, *before* the sweep: so either the
 * sweep finds the files, or their maker finds that they do not count, and removes them. The plan goes last: without it,
 * files that a killed abort left would open as a dataset.
 */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_PUSHED_H
#define LEAT_TOKENIZE_TOOLS_RUN_PUSHED_H

#include "list/folder_list.h"
#include "run.h"
#include "run_place.h"

/* Begins the run, or finds the same one begun and not committed. `plan` has no number of the run yet; `replace`: what
 * is there may be another run, or a finished dataset, which stays until this run is committed. */
enum leat_status run_pushed_create(const char *output, const struct run_plan *plan, bool replace,
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

/* The length of KEY.ATTEMPT in the name of one of its files; 0: the file is another one. */
size_t pushed_attempt_length(const char *file);

/* ---- Where a run stands ---- */

/* The number of the run of a plan. LEAT_E_ARGUMENT if its parts read inputs. */
enum leat_status pushed_number(const struct run_plan *plan, uint8_t run[16], struct leat_error *err);

/* As the files say now, for a process that knows the run's number. Also gives the folder's list, an empty one if there
 * is none, and its bytes; free both, also after a failure. */
enum standing { STANDS, IS_COMMITTED, IS_ABORTED, IS_GONE }; /* IS_ABORTED: perhaps not all of it is removed */
enum leat_status pushed_look(struct run_place *place, const uint8_t run[16], enum standing *standing,
                             struct folder_list *list, struct buffer *text, struct leat_error *err);
enum leat_status pushed_say_gone(const struct run_place *place, struct leat_error *err); /* LEAT_E_STATE */

/* An empty list if there is none; likewise. */
enum leat_status pushed_read_list(struct run_place *place, struct folder_list *list, struct buffer *text,
                                  struct leat_error *err);

/* Writes the plan with a number that no run had; `plan->aborted`: as what is left of that run. *fd is that of
 * pushed_lock(), and becomes this plan's. */
enum leat_status pushed_write_plan(struct run_place *place, const struct run_plan *plan, bool replace, int *fd,
                                   struct leat_error *err);

/* One process at a time commits, aborts or begins in a folder: *fd is the plan, locked; own_file_unlock(). -1 in a
 * bucket, and without a plan. */
enum leat_status pushed_lock(struct run_place *place, int *fd, struct leat_error *err);

/* Removes the attempts that the list does not name, and the folders of splits that neither it nor the plan has (NULL:
 * none); `dead_only`: only unfinished attempts, of processes that have died. */
enum leat_status pushed_sweep(struct run_place *place, const struct folder_list *list, const struct run_plan *plan,
                              bool dead_only, struct leat_error *err);

/* ---- An attempt ---- */

/* What a finished dataset of this machine is, as a list has it. */
enum leat_status pushed_describe(struct leat_run_piece *piece, const char *path, struct leat_error *err);

/* Removes the folder of a split that is no more, if nothing is in it. */
enum leat_status pushed_remove_split(const struct run_place *place, const char *name, struct leat_error *err);

/* Opens the folder of a split (`make`: also one that is missing). *ours: its list says that it is that. */
enum leat_status pushed_open_split(struct run_place *split, const struct run_place *place, const char *name, bool make,
                                   bool *ours, struct leat_error *err);

#endif
