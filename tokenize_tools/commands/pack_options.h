/*
 * pack_options.h: the command line of `leat pack`, which `leat-bench pack` takes too: its table, and the way from its
 * values to leat_pack()'s options.
 */
#ifndef LEAT_TOKENIZE_TOOLS_PACK_OPTIONS_H
#define LEAT_TOKENIZE_TOOLS_PACK_OPTIONS_H

#include "arrange_values.h"
#include "cli/command.h"
#include "cli/progress.h"
#include "leat_pack.h"
#include "pack_notices.h"

/* --max-rejects: a number, or a share. */
struct pack_bound {
    uint64_t count, ppm; /* LEAT_NONE: none */
};

/* --part I/N. */
struct pack_part {
    unsigned part, parts;
};

/* Freed by pack_values_free(). */
struct pack_values {
    const char *output, *tokenizer, *pattern, *text, *id, *end, *begin;
    unsigned format, invalid, progress;
    uint64_t threads, memory;
    struct pack_bound max_rejects;
    struct pack_part part;
    struct arrange_seed shuffle;
    struct arrange_splits splits;
    bool special, dedup, allow_truncated, allow_binary, skip_unknown, resume, force, json;
};

#define PACK_VALUES_INIT                                                                                               \
    {                                                                                                                  \
        .tokenizer = "gpt2", .text = "text", .id = "id", .max_rejects = { LEAT_NONE, 10000 }                           \
    }

void pack_values_free(struct pack_values *values);

extern const struct option_row pack_options[];

/*
 * Opens the tokenizer and fills `options` but for the progress. CLI_DONE, and *t is the caller's; else the exit code,
 * after a message. An end token that is neither given nor known is CLI_WRONG, with the candidates.
 */
int pack_options_take(const struct command *self, const struct pack_values *values, struct leat_tokenizer **t,
                      struct leat_pack_options *options);

/* Says on stderr which inputs were cut off or broken, if any were. */
void pack_options_say_damage(const struct pack_values *v, const struct leat_pack_report *report);

/* The exit code of a failed run, after its message and how to go on. */
int pack_options_failed(const struct pack_values *values, const struct leat_pack_report *report,
                        const struct leat_error *err);

/* A bar or lines, and notices: the functions and their context for leat_pack_options. */
struct pack_bar {
    struct progress progress;
    struct pack_notices notices;
    double began;
    bool started;
    uint64_t tokens_before, text_before; /* of a run that is resumed */
};
void pack_bar_begin(struct pack_bar *bar, const struct pack_values *values, struct leat_pack_options *options);
void pack_bar_end(struct pack_bar *bar); /* the notices stay, until: */
void pack_bar_free(struct pack_bar *bar);

/* Bytes of text that the run packed itself, without those of one that it went on with. */
uint64_t pack_bar_text(const struct pack_bar *bar, const struct leat_pack_report *report);

#endif
