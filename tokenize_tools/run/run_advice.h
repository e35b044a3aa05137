/* run_advice.h: the table of damage: which file of a run it is, what makes it right, what waits for that. */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_ADVICE_H
#define LEAT_TOKENIZE_TOOLS_RUN_ADVICE_H

#include "leat_pack.h"

/* A row: `hint` of an error. They begin after every enum leat_hint. To add one: a name here, a row in run_advice.c, an
 * error that has it, and its damage in tests/run/test_damage.c. */
enum run_damage {
    RUN_DAMAGE = 1000,
    RUN_NO_PLAN = RUN_DAMAGE, /* leat-run is missing */
    RUN_PLAN_DAMAGED,
    RUN_PLAN_VERSION,   /* another version wrote it */
    RUN_PLAN_OTHER,     /* it is that of another run */
    RUN_PARTS_OTHER,    /* there are parts, and no plan */
    RUN_SHARED_MISSING, /* leat-run.inputs */
    RUN_SHARED_DAMAGED,
    RUN_SHARED_DIFFERS, /* inputs are others now */
    RUN_BUSY,           /* another process packs the part */
    RUN_PART_CUT,       /* its inputs broke off */
    RUN_PART_DAMAGED,   /* its dataset is not whole */
    RUN_UNFINISHED,     /* what an earlier step left cannot be gone on with */
    RUN_REJECTS,
    RUN_REJECTS_OF_ALL, /* of a run whose parts are pushed */
    RUN_LEFT,           /* parts are not done */
    RUN_DAMAGES
};

/* Makes the error one of this row; returns its status. `err` may be NULL. */
enum leat_status run_advise(struct leat_error *err, enum leat_status status, enum run_damage row);

#endif
