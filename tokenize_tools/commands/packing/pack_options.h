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

/* --part I/N; or auto/N, auto+K/N: I is what the environment says, plus K. In a run's folder without N: parts is 0. */
struct pack_part {
    unsigned part, parts, plus;
    bool automatic, given;
};

/* --threads: a number; for leat-bench pack several, with commas between. */
#define PACK_RUNS 16
struct pack_threads {
    unsigned counts[PACK_RUNS], runs;
};

/* What the command line says. Freed by pack_values_free(). */
struct pack_values {
    const char *output, *tokenizer, *pattern, *run;
    const char *end_token, *begin_token; /* as they are given; NULL: not */
    unsigned progress;
    struct pack_threads threads;
    uint64_t parts; /* of a run's folder */
    struct pack_part part;
    struct arrange_splits splits;
    int argc; /* of the command, for one that goes on */
    char **argv;
    bool json, dry_run;
    struct leat_pack_options pack; /* the options themselves, complete after pack_options_take() */
};

#define PACK_VALUES_INIT                                                                                               \
    {                                                                                                                  \
        .pack = LEAT_PACK_OPTIONS_INIT                                                                                 \
    }

void pack_values_free(struct pack_values *values);

extern const struct option_row pack_options[]; /* commands.h has it, and bench/subcommands.h */

/*
 * Opens the tokenizer and completes values->pack, except for the progress. CLI_DONE, and *t is the caller's; else the
 * exit code, after a message. An end token that is neither given nor known is CLI_WRONG, with the candidates.
 */
int pack_options_take(const struct command *self, const struct options_parsed *parsed, struct pack_values *values,
                      struct leat_tokenizer **t);

/* Sets part and parts of values->pack, of --part, --parts and --run, or what the scheduler says. False, after a
 * message, if there is no such part. */
bool pack_options_part(const struct command *self, struct pack_values *values);

/* Says what the tokenizer's post-processor adds to single texts, and whether documents get that too, if neither --begin
 * nor --end does. */
void pack_options_say_around(const struct pack_values *values);

/* renderers.c: the processes that render conversations for --chat: Python, with leat/render.py. The interpreter is that
 * of cli/own_python.h, whose package must be of this version. LEAT_E_ARGUMENT: there is none, with how to get it. */
extern const struct leat_renderers pack_renderers;

#endif
