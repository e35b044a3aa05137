/* run_shared.h: checks the facts that must be the same for all parts of a run. */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_SHARED_H
#define LEAT_TOKENIZE_TOOLS_RUN_SHARED_H

#include "pack/pack.h"
#include "run_folder.h"

/* This is `judge` of struct pack_in_run, with a run as its context. For a part, it compares with the folder's file.
 * When the run is planned, it writes the file if need be, and sets in the plan what is reported about the inputs. */
enum leat_status run_shared_judge(void *run, const struct leat_pack_options *options, struct input_list *inputs,
                                  const struct input_stop *stop, struct leat_pack_report *report,
                                  struct leat_error *err);

#endif
