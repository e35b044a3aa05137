/*
 * run_plan.h: DIR/leat-run, what is to be done: "leat run 2", then lines of a name and a value, with \n and \\ in the
 * values, and the sum of all of them. One table (run_plan.c) writes the lines and reads them.
 */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_PLAN_H
#define LEAT_TOKENIZE_TOOLS_RUN_PLAN_H

#include <stdbool.h>

#include "base/buffer.h"
#include "leat_pack.h"

struct run_plan {
    uint32_t parts;
    uint64_t files, bytes, whole_files, empty_parts; /* of the inputs */
    const char *from, *tokenizer, *pattern;
    const char *run;     /* whose parts are pushed: 32 digits that no other run has; else NULL */
    const char *aborted; /* likewise, of the run that is being aborted: nobody takes part in this one */
    const char *base;    /* likewise, of the list that this run's parts follow, and how many it has; NULL: none */
    const char *const *inputs;
    uint64_t input_count;
    struct leat_pack_options pack; /* what all parts share */

    /* of a plan that was read: where all of the above lies */
    struct buffer text;
    const char **lists;
    struct leat_split *splits;
};
#define RUN_PLAN_INIT                                                                                                  \
    {                                                                                                                  \
        .pack = LEAT_PACK_OPTIONS_INIT                                                                                 \
    }

/* The bytes of the file. */
enum leat_status run_plan_make(struct buffer *text, const struct run_plan *plan, struct leat_error *err);

/* Reads the file `name`. run_plan_free() also after a failure. */
enum leat_status run_plan_read(struct run_plan *plan, const char *name, struct leat_error *err);
void run_plan_free(struct run_plan *plan);

/* Returns a path of the plan as this process opens it: relative ones count from the plan's folder. The caller frees it.
 * NULL: no memory. */
char *run_plan_path(const struct run_plan *plan, const char *path);

/* Adds the sum of a text as its last line; cuts it off a text that ends in its own, else false. */
enum leat_status run_sum_add(struct buffer *text, struct leat_error *err);
bool run_sum_take(struct buffer *text);
/* The same of the bytes of the file, which are in plan->text, with a zero after them; the rest is RUN_PLAN_INIT. */
enum leat_status run_plan_take(struct run_plan *plan, const char *name, struct leat_error *err);

#endif
