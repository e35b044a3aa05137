/* run_folder.h: names the files in a run's folder, and makes the folder and its plan. */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_FOLDER_H
#define LEAT_TOKENIZE_TOOLS_RUN_FOLDER_H

#include "run.h"

/* Return FOLDER/leat-run and FOLDER/part-0007 with a suffix, which the caller frees; NULL if there is no memory. */
char *run_file(const char *folder, const char *suffix);
char *run_part_file(const struct leat_run *run, uint32_t part, const char *suffix);

/* Returns true if leat-run with a suffix is a file; with "", whether it is the folder of a run. */
bool run_exists(const char *folder, const char *suffix);

/* Makes the folder if need be. Returns its absolute path, which the caller frees; NULL after a failure. */
char *run_make_folder(const char *folder, struct leat_error *err);

/* Returns LEAT_E_EXISTS if the folder has a part, but no run: what an older run left would count as done. */
enum leat_status run_check_new(const char *folder, struct leat_error *err);

/* Writes the plan durably. If the folder has a plan, it must be the same; else LEAT_E_EXISTS is returned. */
enum leat_status run_publish(const char *folder, const struct run_plan *plan, struct leat_error *err);

/* Makes the folder of a split, and writes the plan there, too: it opens as a dataset only when all parts are there,
 * as the run's own folder does. Returns LEAT_E_EXISTS if it is a link, which may lead to another run. */
enum leat_status run_publish_split(const struct leat_run *run, const char *split, struct leat_error *err);

#endif
