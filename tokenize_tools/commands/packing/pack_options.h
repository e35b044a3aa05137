/*
 * pack_options.h: the command line of `leat pack`, which `leat-bench pack` takes too: its table, and the conversion of
 * its values to leat_pack()'s options. The room: what belongs to `leat pack` alone and is more than a page: options,
 * progress, dry runs, runs in parts.
 */
#ifndef LEAT_TOKENIZE_TOOLS_PACK_OPTIONS_H
#define LEAT_TOKENIZE_TOOLS_PACK_OPTIONS_H

#include "cli/command.h"
#include "commands/common/outputs.h"
#include "leat_pack.h"

/* --max-rejects: a number, or a share. */
struct pack_bound {
    uint64_t count, ppm; /* LEAT_NONE: none */
};

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

/* Freed by pack_values_free(). */
struct pack_values {
    const char *output, *tokenizer, *pattern, *text, *id, *end, *begin, *by, *run, *mask_field, *chat, *messages,
        *tools, *split_of, *chat_date;
    unsigned format, invalid, progress, write;
    struct pack_threads threads;
    uint64_t memory, chat_seconds, parts; /* parts: of a run's folder */
    struct pack_bound max_rejects;
    struct pack_part part;
    struct arrange_seed shuffle;
    struct arrange_splits splits;
    struct option_list keep, include, exclude;
    int argc; /* of the command, for one that goes on */
    char **argv;
    bool special, dedup, allow_truncated, allow_binary, allow_empty, skip_unknown, follow_links, resume, force, json,
        dry_run, skip_slow_chats;
};

#define PACK_VALUES_INIT                                                                                               \
    {                                                                                                                  \
        .tokenizer = "gpt2", .text = "text", .id = "id", .max_rejects = { LEAT_NONE, 10000 }                           \
    }

void pack_values_free(struct pack_values *values);

extern const struct option_row pack_options[]; /* commands.h has it, and bench/subcommands.h */

/*
 * Opens the tokenizer and fills `options`, except the progress. CLI_DONE, and *t is the caller's; else the exit code,
 * after a message. An end token that is neither given nor known is CLI_WRONG, with the candidates.
 */
int pack_options_take(const struct command *self, const struct pack_values *values, struct leat_tokenizer **t,
                      struct leat_pack_options *options);

/* Sets part and parts, of --part, --parts and --run, or what the scheduler says. False, after a message, if there is no
 * such part. */
bool pack_options_part(const struct command *self, const struct pack_values *values, struct leat_pack_options *options);

/* Says what the tokenizer's post-processor adds to single texts, and whether documents get that too, if neither --begin
 * nor --end does. */
void pack_options_say_around(const struct pack_values *values, const struct leat_pack_options *options);

/* renderers.c: the processes that render conversations for --chat: Python, with leat/render.py. The interpreter is that
 * of cli/own_python.h, whose package must be of this version. LEAT_E_ARGUMENT: there is none, with how to get it. */
extern const struct leat_renderers pack_renderers;

#endif
