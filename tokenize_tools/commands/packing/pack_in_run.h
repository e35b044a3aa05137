/* pack_in_run.h: `leat pack --run DIR`: plans a run in parts, or packs one of them. */
#ifndef LEAT_TOKENIZE_TOOLS_PACK_IN_RUN_H
#define LEAT_TOKENIZE_TOOLS_PACK_IN_RUN_H

#include "pack_options.h"
#include "runs/run_folder.h"

/* Where a run's names are kept, and the command line with what the plan adds; zero at first. */
struct pack_in_run {
    struct run_folder folder;
    char *inputs, *output; /* files of the folder */
    char **words;          /* the command line that was parsed */
};

/*
 * If the values have --run with --part: reads the plan, parses its command line and this one together, and moves to the
 * folder in which it was planned. CLI_DONE, or an exit code after a message.
 */
int pack_in_run_part(struct pack_in_run *in, const struct command *self, int argc, char **argv,
                     struct pack_values *values, struct options_parsed *parsed);

/* --dedup or --shuffle with --run: says how all parts are deduplicated and shuffled when they are packed. CLI_WRONG. */
int pack_in_run_refuse(const struct pack_values *values);

/* Names what the library gets of a run's folder, once the part is known. */
int pack_in_run_names(struct pack_in_run *in, struct pack_values *values, struct leat_pack_options *options);

/* Plans a run. Returns the exit code. */
int pack_in_run_plan(struct pack_in_run *in, const struct pack_values *values, struct leat_pack_options *options,
                     const struct options_parsed *parsed, int argc, char **argv);

void pack_in_run_free(struct pack_in_run *in);

#endif
