/*
 * pack_steps.h: the parts of a run that is deduplicated, split or shuffled come about in steps, one for each time that
 * `leat pack --run DIR --part I` is called: it is packed; when all parts are, one range of hashes is compared; when all
 * are, what stays is written. To shuffle, what stays is counted instead; when all parts are counted, each document is
 * sent to the part that it falls to; when all are, what was sent to this part is written. Without --dedup the first
 * step goes as far as counting or, without --shuffle, to the end.
 */
#ifndef LEAT_TOKENIZE_TOOLS_PACK_STEPS_H
#define LEAT_TOKENIZE_TOOLS_PACK_STEPS_H

#include "cli/progress.h"
#include "pack_options.h"
#include "runs/run_beat.h"
#include "runs/run_folder.h"

struct pack_steps {
    const struct run_folder *folder;
    const struct pack_values *values;
    const struct leat_pack_options *options;
    struct run_beat *beat;
    bool packed; /* in this call */
    struct progress progress;
};

/* Whether the run has steps. */
bool pack_steps_needed(const struct pack_values *values);

/* Makes the folders for them, when the run is planned. */
enum leat_status pack_steps_plan(const struct pack_values *values, const struct run_folder *r, struct leat_error *err);

/* LEAT_E_EXISTS if the part cannot be packed anew, which the user asks for: others may have read it. */
enum leat_status pack_steps_check_force(const struct pack_steps *s, struct leat_error *err);

/* Makes the folder for what is not finished, which the last part removes at its end. LEAT_E_INCOMPATIBLE if what the
 * part needs of others is removed, since it was finished once. */
enum leat_status pack_steps_begin(const struct pack_steps *s, struct leat_error *err);

/* Whether the part is to be packed now; `values` has the name. Else pack_steps_go_on() comes at once. */
bool pack_steps_pack_first(const struct pack_steps *s);

/* Does what comes next, once the part is packed, and ends its sign of life. Returns the exit code. */
int pack_steps_go_on(struct pack_steps *s);

#endif
