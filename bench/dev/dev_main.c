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
    { .name = "scanners",
      .purpose = "measures how fast texts are cut into pretokens",
      .words = "FILE...",
      .words_help = "FILE is as for leat-bench encode.",
      .min_words = 1,
      .max_words = COMMAND_ANY_WORDS,
      .notes = "Measures each family of patterns that has a scanner, and each row of it that this CPU can run, in CPU "
               "time of one thread. Fails if a row cuts differently from the plain one.",
      .example =
          "leat-bench-dev scanners corpus.jsonl.zst\nleat-bench-dev scanners --family gpt2 --runs 9 corpus.jsonl.zst",
      .options = bench_scanners_options,
      .run = bench_scanners },
    { .name = NULL },
};

static const struct program leat_bench_dev = {
    .name = "leat-bench-dev",
    .purpose = "makes datasets for tests, measures scanners; for developers.",
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
