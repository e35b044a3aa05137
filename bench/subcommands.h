/*
 * subcommands.h: the commands of leat-bench and leat-bench-dev, and what they all do the same way.
 *
 * This room has a file per command that measures; a command that needs several files has a room of its own:
 *
 *   limits/     the ceilings of the machine
 *   load/       a loader's speed
 *
 * report.c starts report.py, which makes a page of results; compare.c starts a module of the Python package; peers/ has
 * scripts that measure other tools beside leat.
 * The commands of dev/ are for leat's own developers, in a program of their own, which `make` builds and does not
 * install: they make datasets for measurements and tests. All share measure/ (how they measure), data/ (what they
 * measure with) and device/ (a GPU, as a consumer has it), whose headers contest.h, counting.h and load_device.h say
 * what may enter there. The commands here may include every room of the libraries; no library includes them.
 */
#ifndef LEAT_BENCH_SUBCOMMANDS_H
#define LEAT_BENCH_SUBCOMMANDS_H

#include "cli/command.h"

int bench_limits(const struct command *self, int argc, char **argv);
int bench_pack(const struct command *self, int argc, char **argv);
int bench_encode(const struct command *self, int argc, char **argv);
int bench_gpu(const struct command *self, int argc, char **argv);
int bench_load(const struct command *self, int argc, char **argv);
int bench_compare(const struct command *self, int argc, char **argv);
int bench_report(const struct command *self, int argc, char **argv);

int bench_counting(const struct command *self, int argc, char **argv);
int bench_sparse(const struct command *self, int argc, char **argv);

/* The members that each row of options sets; the struct of values has the member. */
#define BENCH_OPTION(values, option, kind, member, shown, text)                                                        \
    .name = option, .type = kind, .field = offsetof(struct values, member), .value = shown, .help = text

/* Rows that several tables have. The struct of values has members of their names. */
#define BENCH_RUNS(values, usual, text)                                                                                \
    {                                                                                                                  \
        BENCH_OPTION(values, "runs", OPTION_COUNT, runs, "N", text), .standard = usual, .min = 1, .max = 1000          \
    }
#define BENCH_FIELD(values)                                                                                            \
    {                                                                                                                  \
        BENCH_OPTION(values, "text", OPTION_TEXT, field, "FIELD", "the member of a JSON record that holds the text"),  \
            .standard = "text"                                                                                         \
    }
#define BENCH_JSON(values)                                                                                             \
    {                                                                                                                  \
        BENCH_OPTION(values, "json", OPTION_FLAG, json, NULL, "print one JSON object")                                 \
    }

/* Returns the exit code of a command whose work ended with the status `s`, and frees its options. */
static inline int bench_end(struct options_parsed *parsed, enum leat_status s, const struct leat_error *err)
{
    int code = cli_finish_stdout(s == LEAT_OK ? CLI_DONE : cli_failed(err));

    options_free(parsed);
    return code;
}

extern const struct option_row bench_limits_options[];
extern const struct option_row bench_encode_options[];
extern const struct option_row bench_compare_options[];
extern const struct option_row pack_options[];
extern const struct option_row bench_gpu_options[];
extern const struct option_row bench_load_options[];
extern const struct option_row bench_report_options[];
extern const struct option_row bench_counting_options[];
extern const struct option_row bench_sparse_options[];

#endif
