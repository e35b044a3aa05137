/*
 * run.h: the inside of struct leat_run (leat/run.h). The room knows that many processes work on one dataset: the plan
 * that they share, whose part is which, who lives, what of a damaged folder can be made again. What may enter: what
 * concerns more than one process of a run. How texts become a dataset belongs to pack/, how datasets become one to
 * arrange/; programs say it all in their own words.
 *
 *   run         create, open, close                      run_plan    DIR/leat-run, by one table of options
 *   run_step    one part's work                          run_folder  names of files in the folder
 *   run_status  where the parts stand                    run_shared  what all parts must find the same
 *   run_join    the parts to one dataset                 run_beat    signs of life
 *   run_advice  the table of damage
 *
 *   run_pushed  a run whose parts are pushed: begin it    run_place   its folder, or place in a bucket
 *   run_attempt one attempt at a part, and its piece      run_commit  which attempts count; abort
 *   run_append  parts that follow those of a dataset
 *
 * The *plan* of a run is what leat_run_create() writes down; a plan alone is that of samples. A *step* is one process's
 * work at one part. A *beat* is the sign of life of the process that does it.
 */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_H
#define LEAT_TOKENIZE_TOOLS_RUN_H

#include "leat_pack.h"
#include "run_plan.h"

struct leat_run {
    char *name;   /* name of the folder as it was given */
    char *folder; /* absolute path of the folder */
    struct run_plan plan;
    struct leat_tokenizer *tokenizer; /* the plan's tokenizer; NULL: not needed yet */
    struct leat_run_part *items;      /* the list that leat_run_status() has returned last */
    char *left, *unfinished;
};

/* Frees the list that leat_run_status() has returned. */
void run_free_status(struct leat_run *run);

struct pack_in_run;

/* Does what pack_inputs() does for the plan's inputs, with the plan's chat template. */
enum leat_status run_pack(struct leat_run *run, const char *output, struct leat_pack_options *options,
                          const struct pack_in_run *in_run, struct leat_pack_report *report, struct leat_error *err);

/* Opens the plan's tokenizer, once. */
enum leat_status run_take_tokenizer(struct leat_run *run, struct leat_error *err);

#endif
