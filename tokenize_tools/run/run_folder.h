/* run_folder.h: the names of files in a run's folder, and how the folder and its plan come to be. */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_FOLDER_H
#define LEAT_TOKENIZE_TOOLS_RUN_FOLDER_H

#include "run.h"

/* FOLDER/leat-run with a suffix, FOLDER/part-0007 with a suffix; the caller frees them. NULL: no memory. */
char *run_file(const char *folder, const char *suffix);
char *run_part_file(const struct leat_run *run, uint32_t part, const char *suffix);

/* Returns true if leat-run with a suffix is a file; "": whether it is the folder of a run. */
bool run_exists(const char *folder, const char *suffix);

/* Makes the folder, if need be. The path from the root on is the caller's to free; NULL after a failure. */
char *run_make_folder(const char *folder, struct leat_error *err);

/* LEAT_E_EXISTS if the folder has a part, but says nothing of a run: what an older run left would count as done. */
enum leat_status run_check_new(const char *folder, struct leat_error *err);

/* Writes what is to be done, durably; or finds that the folder says so already, else LEAT_E_EXISTS. */
enum leat_status run_publish(const char *folder, const struct run_plan *plan, struct leat_error *err);

/* Makes the folder of a split, and writes the plan there, too: it opens as a dataset only when all parts are there, as
 * the run's own does. LEAT_E_EXISTS if it is a link, which may lead to another run. */
enum leat_status run_publish_split(const struct leat_run *run, const char *split, struct leat_error *err);

#endif
