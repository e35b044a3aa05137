/* run_status.h: error messages about the process that packs a part. */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_STATUS_H
#define LEAT_TOKENIZE_TOOLS_RUN_STATUS_H

#include "run.h"

/* Returns LEAT_E_BUSY with a message that another process packs the part: which one, and since when it is silent. */
enum leat_status run_say_busy(const struct leat_run *run, uint32_t part, struct leat_error *err);

#endif
