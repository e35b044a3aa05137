/*
 * run.h: the inside of struct leat_run (leat/run.h). The room knows that many processes work on one dataset: the plan
 * that they share, whose part is which, who lives, what of a damaged folder can be made again. What may enter: what
 * concerns more than one process of a run. How texts become a dataset belongs to pack/, how datasets become one to
 * arrange/; programs say it all in their own words.
 *
 *   run_plan    DIR/leat-run, by one table of options      run_folder  names of files in the folder
 *
 * The *plan* of a run is what leat_run_create() writes down; a plan alone is that of samples. A *step* is one process's
 * work at one part. A *beat* is the sign of life of the process that does it.
 */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_H
#define LEAT_TOKENIZE_TOOLS_RUN_H

#include "leat_pack.h"
#include "run_plan.h"

struct leat_run {
    char *folder;  /* from the root on */
    char *joining; /* the dataset that its parts become in place; NULL: none */
    struct run_plan plan;
    struct leat_tokenizer *tokenizer; /* NULL: not needed yet */
};

/* Opens the plan's tokenizer, once. */
enum leat_status run_take_tokenizer(struct leat_run *run, struct leat_error *err);

/* A path of the plan as this process opens it: relative ones count from the plan's folder. The caller frees it. NULL:
 * no memory. */
char *run_path(const struct run_plan *plan, const char *path);

#endif
