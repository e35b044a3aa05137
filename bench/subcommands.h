/*
 * subcommands.h: the commands of leat-bench.
 *
 * This room has a file per command that measures; a command that needs several files has a room of its own:
 *
 *   limits/     the ceilings of the machine
 *   load/       a loader's speed; gpu/ that of the CUDA backend
 *   report/     results as a page
 *
 * The commands of dev/ are for leat's own developers, in a program of their own.
 * They share measure/ (how they measure), data/ (what they measure with) and device/ (a GPU, as a consumer has it),
 * whose headers contest.h, texts.h and load_device.h say what may enter there. The commands here may include every room
 * of the libraries; no library includes them.
 */
#ifndef LEAT_BENCH_SUBCOMMANDS_H
#define LEAT_BENCH_SUBCOMMANDS_H

#include "cli/command.h"

int bench_limits(const struct command *self, int argc, char **argv);
int bench_dataset(const struct command *self, int argc, char **argv);
int bench_merge(const struct command *self, int argc, char **argv);
int bench_pack(const struct command *self, int argc, char **argv);
int bench_order(const struct command *self, int argc, char **argv);
int bench_fit(const struct command *self, int argc, char **argv);
int bench_encode(const struct command *self, int argc, char **argv);
int bench_gpu(const struct command *self, int argc, char **argv);
int bench_load(const struct command *self, int argc, char **argv);
int bench_report(const struct command *self, int argc, char **argv);

/* A row that several tables of options have; the struct of values has a number of its name. */
#define BENCH_RUNS(values, usual, text)                                                                                \
    {                                                                                                                  \
        .name = "runs", .type = OPTION_COUNT, .field = offsetof(values, runs), .value = "N", .standard = usual,        \
        .help = text, .min = 1, .max = 1000                                                                            \
    }

extern const struct option_row limits_options[];
extern const struct option_row dataset_options[];
extern const struct option_row order_options[];
extern const struct option_row fit_options[];
extern const struct option_row encode_options[];
extern const struct option_row pack_options[];
extern const struct option_row merge_options[];
extern const struct option_row gpu_options[];
extern const struct option_row load_options[];
extern const struct option_row report_options[];

#endif
