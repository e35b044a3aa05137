/* pack_in_parts.h: `leat pack --run DIR`: plans a run in parts, or gets the options with which one of its parts is
 * packed. */
#ifndef LEAT_TOKENIZE_TOOLS_PACK_IN_PARTS_H
#define LEAT_TOKENIZE_TOOLS_PACK_IN_PARTS_H

#include "pack_options.h"

/* A part that is to be packed; `run` is NULL if there is none. All members are zero at first; pack_in_parts_free()
 * frees them. */
struct pack_in_parts {
    struct leat_run *run;
    struct leat_run_info info;
    struct leat_pack_options step;
    uint32_t part;
    char *output; /* the part's dataset */
};

/* If the values have --run with --part, opens the run, and copies the options that the summary of a part needs from
 * its plan into the values. Returns CLI_DONE, or an exit code after a message. */
int pack_in_parts_take(struct pack_in_parts *in, const struct command *self, const struct options_parsed *parsed,
                       struct pack_values *values);

/* Refuses --dedup or --shuffle with --run: says how all parts are deduplicated and shuffled when they are packed.
 * Returns CLI_WRONG. */
int pack_in_parts_refuse(const struct pack_values *values);

/* Plans a run. Returns the exit code. */
int pack_in_parts_plan(const struct pack_values *values, const struct options_parsed *parsed);

/* Frees the part; call it before the values are freed. */
void pack_in_parts_free(struct pack_in_parts *in, struct pack_values *values);

#endif
