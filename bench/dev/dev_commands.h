/*
 * dev_commands.h: the commands of leat-bench-dev, which `make` builds and does not install.
 *
 * The room dev/ has a file per command for leat's own developers: what makes datasets for measurements and tests, and
 * what measures a part of leat that nobody uses alone.
 */
#ifndef LEAT_BENCH_DEV_COMMANDS_H
#define LEAT_BENCH_DEV_COMMANDS_H

#include "bench/subcommands.h"

int bench_counting(const struct command *self, int argc, char **argv);
int bench_sparse(const struct command *self, int argc, char **argv);
int bench_hostile(const struct command *self, int argc, char **argv);
int bench_scan(const struct command *self, int argc, char **argv);
int bench_scanners(const struct command *self, int argc, char **argv);

extern const struct option_row counting_options[];
extern const struct option_row sparse_options[];
extern const struct option_row hostile_options[];
extern const struct option_row scan_options[];
extern const struct option_row scanners_options[];

#endif
