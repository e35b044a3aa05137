/* run_advice.c: see run_advice.h. */
#include "run_advice.h"

#include <stdbool.h>

#include "base/options.h"

struct damage_row {
    enum leat_run_file file;
    enum leat_run_mend mend;
    enum leat_run_waits waits;
    enum leat_hint hint;
};

#define FILE(name)  LEAT_RUN_FILE_##name
#define MEND(name)  LEAT_RUN_MEND_##name
#define WAITS(name) LEAT_RUN_WAITS_##name
#define AT(name)    [RUN_##name - RUN_DAMAGE]

static const struct damage_row damages[] = {
    AT(NO_PLAN) = { FILE(PLAN), MEND(CREATE), WAITS(ALL), LEAT_HINT_NONE },
    AT(PLAN_DAMAGED) = { FILE(PLAN), MEND(RESTORE), WAITS(ALL), LEAT_HINT_NONE },
    AT(PLAN_VERSION) = { FILE(PLAN), MEND(PLAN), WAITS(ALL), LEAT_HINT_NONE },
    AT(PLAN_OTHER) = { FILE(PLAN), MEND(PLAN), WAITS(ALL), LEAT_HINT_NONE },
    AT(PARTS_OTHER) = { FILE(PART), MEND(PLAN), WAITS(ALL), LEAT_HINT_NONE },
    AT(SHARED_MISSING) = { FILE(SHARED), MEND(CREATE), WAITS(ALL), LEAT_HINT_NONE },
    AT(SHARED_DAMAGED) = { FILE(SHARED), MEND(CREATE), WAITS(ALL), LEAT_HINT_NONE },
    AT(SHARED_DIFFERS) = { FILE(INPUT), MEND(RESTORE), WAITS(PART), LEAT_HINT_NONE },
    AT(BUSY) = { FILE(BEAT), MEND(WAIT), WAITS(PART), LEAT_HINT_NONE },
    AT(PART_CUT) = { FILE(INPUT), MEND(ACCEPT), WAITS(PART), LEAT_HINT_NONE },
    AT(PART_DAMAGED) = { FILE(PART), MEND(FORCE), WAITS(PART), LEAT_HINT_REPLACE },
    AT(UNFINISHED) = { FILE(UNFINISHED), MEND(FORCE), WAITS(PART), LEAT_HINT_REPLACE },
    AT(REJECTS) = { FILE(REJECTS), MEND(LIMIT), WAITS(PART), LEAT_HINT_NONE },
    AT(REJECTS_OF_ALL) = { FILE(REJECTS), MEND(LIMIT), WAITS(ALL), LEAT_HINT_NONE },
    AT(LEFT) = { FILE(PART), MEND(STEPS), WAITS(ALL), LEAT_HINT_NONE },
};

/* Returns the advice for errors by their status, if they belong to no row. */
static struct damage_row by_status(const struct leat_error *err)
{
    enum leat_hint hint = (enum leat_hint)err->hint;

    switch (err->status) {
    case LEAT_E_ARGUMENT:
        return (struct damage_row) { FILE(NONE), MEND(CALL), WAITS(NOTHING), hint };
    case LEAT_E_EXISTS:
        return (struct damage_row) { FILE(OUTPUT), MEND(CALL), WAITS(NOTHING), hint };
    case LEAT_E_STATE: /* the run was aborted, replaced or committed */
        return (struct damage_row) { FILE(PLAN), MEND(CALL), WAITS(ALL), hint };
    case LEAT_E_REJECTS: /* a part that is pushed has too many rejects */
        return damages[RUN_REJECTS_OF_ALL - RUN_DAMAGE];
    case LEAT_E_BUSY:
        return (struct damage_row) { FILE(NONE), MEND(WAIT), WAITS(PART), hint };
    case LEAT_E_IO:
    case LEAT_E_NO_SPACE:
    case LEAT_E_NO_MEMORY:
    case LEAT_E_PERMISSION:
    case LEAT_E_STOPPED:
    case LEAT_E_NO_FILE: /* the disk may not be there yet */
        return (struct damage_row) { FILE(NONE), MEND(AGAIN), WAITS(PART), hint };
    default:
        return (struct damage_row) { FILE(INPUT), MEND(RESTORE), WAITS(PART), hint };
    }
}

void leat_run_advice(const struct leat_error *err, struct leat_run_advice *advice)
{
    bool is_row = err->hint >= RUN_DAMAGE && err->hint < RUN_DAMAGES;
    struct damage_row row = is_row ? damages[err->hint - RUN_DAMAGE] : by_status(err);
    struct leat_run_advice all = { sizeof all, row.file, row.mend, row.waits, row.hint };

    options_fill(advice, &all, sizeof all);
}

enum leat_status run_advise(struct leat_error *err, enum leat_status status, enum run_damage row)
{
    if (err)
        err->hint = row;
    return status;
}
