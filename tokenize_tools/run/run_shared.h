/* run_shared.h: what all parts of a run must find the same. */
#ifndef LEAT_TOKENIZE_TOOLS_RUN_SHARED_H
#define LEAT_TOKENIZE_TOOLS_RUN_SHARED_H

#include "pack/pack.h"
#include "run_folder.h"

/* `judge` of struct pack_in_run, with a run as its context: compares with the folder's file; of no part (the run is
 * planned), writes that if need be, and sets in the plan what is said of the inputs. */
enum leat_status run_shared_judge(void *run, const struct leat_pack_options *options, struct input_list *inputs,
                                  const struct input_stop *stop, struct leat_pack_report *report,
                                  struct leat_error *err);

#endif
