/*
 * run_folder.h: the folder of a run whose parts are packed by many processes, on machines that share it.
 *
 *   leat-run          what is to be done: the number of parts, and the command line that planned it
 *   leat-run.inputs   what all parts have in common (run_file of leat_pack_options)
 *   leat-run.joining  while the parts are joined in place: the dataset that they become
 *   part-0007.leat    and .tokens: part 7 of up to 9999, finished
 *   part-0007.beat    the sign of life of the process that packs it, or how that ended
 *   valid/part-0007.leat  and .tokens: what the split "valid" gets of part 7; the part above has the rest
 *
 * The room tokenize_tools/runs/ knows how many processes work on one run: which part is whose, by a scheduler's
 * variables (part_auto), what the folder says, and who lives. What may enter: nothing that packs.
 *
 * The *plan of a run* is what `leat pack --run DIR --parts N` writes down, so that all parts do the same; a plan alone
 * is that of samples. A *beat* is the sign of life of a process that packs a part.
 */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_FOLDER_H
#define LEAT_TOKENIZE_TOOLS_RUN_FOLDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "leat.h"

/* As many parts may there be. */
#define RUN_PARTS 1000000

struct run_folder {
    char *path;     /* from the root on */
    char *from;     /* the folder in which the run was planned: relative inputs start there */
    char *joining;  /* the dataset that its parts become in place (leat merge --in-place); NULL: none */
    unsigned parts; /* 1 to RUN_PARTS */
    uint64_t inputs, bytes;
    char **words; /* the command line, from after "pack" */
    size_t count, room;
};

/* Zero at first; run_folder_free() also after a failure. LEAT_E_NO_FILE: it is not the folder of a run. */
enum leat_status run_folder_read(struct run_folder *r, const char *path, struct leat_error *err);
void run_folder_free(struct run_folder *r);

/* Makes the folder, if need be. The path is the caller's to free; NULL after a failure. */
char *run_folder_make(const char *path, struct leat_error *err);

/* LEAT_E_EXISTS if the folder has a part, but says of no run: what an older run left would count as done. */
enum leat_status run_folder_check_new(const struct run_folder *r, struct leat_error *err);

/* Writes what is to be done, durably; or finds that the folder says so already, else LEAT_E_EXISTS. */
enum leat_status run_folder_write(const struct run_folder *r, struct leat_error *err);

/* PATH/leat-run with a suffix, PATH/part-0007 with a suffix; the caller frees them. NULL: no memory. */
char *run_folder_file(const char *path, const char *suffix);
char *run_folder_part(const struct run_folder *r, unsigned part, const char *suffix);

/* Makes the folder of a split, which opens as a dataset only when all parts are there, as the run's own does. */
enum leat_status run_folder_write_split(const struct run_folder *r, const char *split, struct leat_error *err);

/* Whether it is the folder of a run: leat-run is a file. */
bool run_folder_is(const char *path);

#endif
