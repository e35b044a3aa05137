/* run_advice.h: the table of damage: which file of a run is damaged, what repairs it, and what waits for that. */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_ADVICE_H
#define LEAT_TOKENIZE_TOOLS_RUN_ADVICE_H

#include "leat_pack.h"

/* The rows of the table; their numbers are the `hint` of errors, and begin after those of enum leat_hint. To add
 * one: a name here, a row in run_advice.c, an error that has it, and its damage in tests/run/test_damage.c. */
enum run_damage {
    RUN_DAMAGE = 1000,
    RUN_NO_PLAN = RUN_DAMAGE, /* leat-run is missing */
    RUN_PLAN_DAMAGED,
    RUN_PLAN_VERSION,   /* another version wrote the plan */
    RUN_PLAN_OTHER,     /* the plan belongs to another run */
    RUN_PARTS_OTHER,    /* there are parts, but no plan */
    RUN_SHARED_MISSING, /* leat-run.inputs */
    RUN_SHARED_DAMAGED,
    RUN_SHARED_DIFFERS, /* the inputs have changed */
    RUN_BUSY,           /* another process packs the part */
    RUN_PART_CUT,       /* the part's inputs broke off */
    RUN_PART_DAMAGED,   /* the part's dataset is not whole */
    RUN_UNFINISHED,     /* the files of an earlier step cannot be continued */
    RUN_REJECTS,
    RUN_REJECTS_OF_ALL, /* a run whose parts are pushed has too many rejects */
    RUN_LEFT,           /* some parts are not done */
    RUN_DAMAGES
};

/* Makes the error one of this row, and returns its status. `err` may be NULL. */
enum leat_status run_advise(struct leat_error *err, enum leat_status status, enum run_damage row);

#endif
