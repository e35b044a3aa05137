/* run_status.h: sentences on who is at a run. */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_STATUS_H
#define LEAT_TOKENIZE_TOOLS_RUN_STATUS_H

#include "run.h"

/* LEAT_E_BUSY: another process packs the part; which one, and since when it is silent. */
enum leat_status run_say_busy(const struct leat_run *run, uint32_t part, struct leat_error *err);

#endif
