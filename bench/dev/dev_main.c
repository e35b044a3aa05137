/* dev_main.c: leat-bench-dev: its table of commands. */
#include "bench/subcommands.h"

static const struct command commands[] = {
    { .name = "counting",
      .purpose = "writes a dataset of counting tokens, for measurements and tests",
      .words = "",
      .notes = "Token p is a fixed function of p, so any misplaced byte shows. Documents have "
               "pseudo-random lengths, the same every time.",
      .example = "leat-bench-dev counting -o counting --tokens 1G",
      .options = bench_counting_options,
      .run = bench_counting },
    { .name = "sparse",
      .purpose = "writes a huge dataset that is mostly holes, to measure opening",
      .words = "",
      .notes = "All documents but the last are empty and all tokens are 0, so the files are mostly holes. The number "
               "of tokens is rounded to a multiple of 2048.",
      .example = "leat-bench-dev sparse -o huge --documents 1G",
      .options = bench_sparse_options,
      .run = bench_sparse },
    { .name = NULL },
};

static const struct program leat_bench_dev = {
    .name = "leat-bench-dev",
    .purpose = "makes datasets for tests and measurements; for developers.",
    .commands = commands,
    .example = "leat-bench-dev counting -o /data/counting --tokens 1G\nleat-bench load --source /data/counting "
               "--seq-len 2048 --batch 32",
    .notes = "exit codes: 0 done; 1 failed, the message says why; 2 wrong command line; 5 stopped by "
             "SIGTERM or SIGUSR1; 130 interrupted",
};

int main(int argc, char **argv)
{
    cli_start("leat-bench-dev");
    return program_main(&leat_bench_dev, argc, argv);
}
