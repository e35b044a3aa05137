/*
 * subcommands.h: the commands of leat-bench. Each is a file of bench/, or a room of its own if it needs several:
 *
 *   limits/     the ceilings of the machine
 *   load/       a loader's speed; gpu/ that of the CUDA backend
 *   measure/    how all of them measure: cases in turn, bare loops to compare with, the line about the machine
 *   data/       what they measure with: datasets and texts that are made, or held in memory
 *   device/     a GPU, or its stand-in, as a consumer has it
 *
 * They may include every room of the libraries, and no library includes them.
 */
#ifndef LEAT_BENCH_SUBCOMMANDS_H
#define LEAT_BENCH_SUBCOMMANDS_H

#include "cli/command.h"

int bench_limits(const struct command *self, int argc, char **argv);
int bench_dataset(const struct command *self, int argc, char **argv);
int bench_counting(const struct command *self, int argc, char **argv);
int bench_sparse(const struct command *self, int argc, char **argv);
int bench_pack(const struct command *self, int argc, char **argv);
int bench_order(const struct command *self, int argc, char **argv);
int bench_encode(const struct command *self, int argc, char **argv);
int bench_hostile(const struct command *self, int argc, char **argv);
int bench_gpu(const struct command *self, int argc, char **argv);
int bench_load(const struct command *self, int argc, char **argv);
int bench_scanners(const struct command *self, int argc, char **argv);
int bench_scan(const struct command *self, int argc, char **argv);

/* A row that several tables of options have; the struct of values has a number of its name. */
#define BENCH_RUNS(values, usual, text)                                                                                \
    {                                                                                                                  \
        .name = "runs", .type = OPTION_COUNT, .field = offsetof(values, runs), .value = "N", .standard = usual,        \
        .help = text, .min = 1, .max = 1000                                                                            \
    }

extern const struct option_row limits_options[];
extern const struct option_row dataset_options[];
extern const struct option_row counting_options[];
extern const struct option_row sparse_options[];
extern const struct option_row order_options[];
extern const struct option_row encode_options[];
extern const struct option_row hostile_options[];
extern const struct option_row pack_options[];
extern const struct option_row scan_options[];
extern const struct option_row gpu_options[];
extern const struct option_row scanners_options[];
extern const struct option_row load_options[];

#endif
