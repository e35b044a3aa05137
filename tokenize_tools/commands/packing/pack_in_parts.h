/* pack_in_parts.h: `leat pack --run DIR`: plans a run in parts, or takes what one of its parts is packed with. */
#ifndef LEAT_TOKENIZE_TOOLS_PACK_IN_PARTS_H
#define LEAT_TOKENIZE_TOOLS_PACK_IN_PARTS_H

#include "pack_options.h"

/* A part that is to be packed; `run` NULL: there is none. Zero at first; freed by pack_in_parts_free(). */
struct pack_in_parts {
    struct leat_run *run;
    struct leat_run_info info;
    struct leat_pack_options step;
    uint32_t part;
    char *output; /* the part's dataset */
};

/*
 * If the values have --run with --part: opens the run, and takes from its plan into the values what the summary of a
 * part asks for. CLI_DONE, or an exit code after a message.
 */
int pack_in_parts_take(struct pack_in_parts *in, const struct command *self, const struct options_parsed *parsed,
                       struct pack_values *values);

/* --dedup or --shuffle with --run: says how all parts are deduplicated and shuffled when they are packed. CLI_WRONG. */
int pack_in_parts_refuse(const struct pack_values *values);

/* Plans a run. Returns the exit code. */
int pack_in_parts_plan(const struct pack_values *values, const struct options_parsed *parsed);

/* Before the values are freed. */
void pack_in_parts_free(struct pack_in_parts *in, struct pack_values *values);

#endif
