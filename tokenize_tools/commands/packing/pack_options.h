/*
 * pack_options.h: the command line of `leat pack`, which `leat-bench pack` takes too. The rows of pack/option_rows.h
 * read it straight into leat_pack()'s options. The room: what belongs to `leat pack` alone and is more than a page:
 * options, progress, dry runs, runs in parts.
 */
#ifndef LEAT_TOKENIZE_TOOLS_PACK_OPTIONS_H
#define LEAT_TOKENIZE_TOOLS_PACK_OPTIONS_H

#include "cli/command.h"
#include "commands/common/outputs.h"
#include "leat_pack.h"

/* The value of --part: I/N; or auto/N, auto+K/N: I is what the environment says, plus K. In a run's folder N is left
 * out, and parts is 0. */
struct pack_part {
    unsigned part, parts, plus;
    bool automatic, given;
};

/* The value of --threads: a number; for leat-bench pack several, with commas between. */
#define PACK_RUNS 16
struct pack_threads {
    unsigned counts[PACK_RUNS], runs;
};

/* The values of the command line, which pack_values_free() frees. */
struct pack_values {
    const char *output, *tokenizer, *pattern, *run;
    const char *end_token, *begin_token; /* texts of --end and --begin; NULL: not given */
    unsigned progress;
    struct pack_threads threads;
    uint64_t parts; /* number of parts of a run's folder */
    struct pack_part part;
    struct arrange_splits splits;
    int argc; /* the command's arguments, for a message with a command that goes on */
    char **argv;
    bool json, dry_run;
    struct leat_pack_options pack; /* options for the library, complete after pack_options_take() */
};

#define PACK_VALUES_INIT                                                                                               \
    {                                                                                                                  \
        .pack = LEAT_PACK_OPTIONS_INIT                                                                                 \
    }

void pack_values_free(struct pack_values *values);

extern const struct option_row pack_options[]; /* declared in commands.h, and in bench/subcommands.h */

/*
 * Opens the tokenizer and completes values->pack, except for the progress. Returns CLI_DONE, and *t is the caller's;
 * otherwise the exit code, after a message. If an end token is neither given nor known, this is CLI_WRONG, with the
 * candidates.
 */
int pack_options_take(const struct command *self, const struct options_parsed *parsed, struct pack_values *values,
                      struct leat_tokenizer **t);

/* Sets part and parts of values->pack from --part, --parts and --run, or from the scheduler's variables. Returns
 * false, after a message, if there is no such part. */
bool pack_options_part(const struct command *self, struct pack_values *values);

/* Reports what the tokenizer's post-processor adds to single texts, and whether documents get that, too, if neither
 * --begin nor --end is given. */
void pack_options_say_around(const struct pack_values *values);

/*
 * renderers.c: the processes that render conversations for --chat: Python, with leat/render.py. The interpreter is
 * that of cli/own_python.h, whose package must be of this version. If there is none, LEAT_E_ARGUMENT says how to get
 * it.
 */
extern const struct leat_renderers pack_renderers;

#endif
