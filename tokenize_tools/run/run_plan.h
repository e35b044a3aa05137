/* run_plan.h: DIR/leat-run, the plan of a run: "leat run 2", then lines of a name and a value, with \n and \\ in the
 * values, and the sum of all of them. One table (run_plan.c) writes the lines and reads them. */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_PLAN_H
#define LEAT_TOKENIZE_TOOLS_RUN_PLAN_H

#include <stdbool.h>

#include "base/buffer.h"
#include "leat_pack.h"

struct run_plan {
    uint32_t parts;
    uint64_t files, bytes, whole_files, empty_parts; /* of the inputs */
    const char *from, *tokenizer, *pattern;
    const char *run;     /* number of a run whose parts are pushed, 32 digits that no other run has; else NULL */
    const char *aborted; /* number of the run that is being aborted, in which nobody takes part any more; else NULL */
    const char *base;    /* number of the run whose list this run's parts follow, and of the list's parts; NULL: none */
    const char *const *inputs;
    uint64_t input_count;
    struct leat_pack_options pack; /* options that all parts share */

    /* memory of all of the above in a plan that was read */
    struct buffer text;
    const char **lists;
    struct leat_split *splits;
};
#define RUN_PLAN_INIT                                                                                                  \
    {                                                                                                                  \
        .pack = LEAT_PACK_OPTIONS_INIT                                                                                 \
    }

/* Makes the bytes of the file. */
enum leat_status run_plan_make(struct buffer *text, const struct run_plan *plan, struct leat_error *err);

/* Reads the file `name`. run_plan_free() must follow, on failure too. */
enum leat_status run_plan_read(struct run_plan *plan, const char *name, struct leat_error *err);
void run_plan_free(struct run_plan *plan);

/* Returns a path of the plan for this process to open: relative paths start at the plan's folder. The caller frees
 * it; NULL if there is no memory. */
char *run_plan_path(const struct run_plan *plan, const char *path);

/* Add the sum of a text as its last line; and cut it off, returning false if the text does not end in its own sum. */
enum leat_status run_sum_add(struct buffer *text, struct leat_error *err);
bool run_sum_take(struct buffer *text);
/* Reads the plan from the bytes of the file, which are in plan->text, with a zero after them; the rest is
 * RUN_PLAN_INIT. */
enum leat_status run_plan_take(struct run_plan *plan, const char *name, struct leat_error *err);

#endif
