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
      .notes = "All documents but the last are empty (unless --median is given) and all tokens are 0, so the files "
               "are mostly holes. The number of tokens is rounded to a multiple of 2048.",
      .example = "leat-bench-dev sparse -o huge --documents 1G\nleat-bench dataset --opening huge\n"
                 "leat-bench-dev sparse -o long --documents 100k --median 540\nleat-bench fit long",
      .options = bench_sparse_options,
      .run = bench_sparse },
    { .name = "hostile",
      .purpose = "measures how fast hostile texts become ids",
      .words = "",
      .notes = "Each text is one document: a repeated letter, space or combining mark, random letters, random bytes. "
               "One thread "
               "encodes it, with a new encoder for each run.",
      .example = "leat-bench-dev hostile -t o200k_base\nleat-bench-dev hostile -t gpt2 --size 64MiB --json",
      .options = bench_hostile_options,
      .run = bench_hostile },
    { .name = "scan",
      .purpose = "measures how fast records are found in files: reading, lines, JSON",
      .words = "FILE...",
      .words_help = "FILE is JSON lines, plain or compressed.",
      .min_words = 1,
      .max_words = COMMAND_ANY_WORDS,
      .notes = "Each step is measured alone, in CPU time of one thread, the best of several runs. Reading includes "
               "decompressing and hashing the file, which the first round has read into memory; lines and records are "
               "found in blocks of 1 MiB in the CPU's cache. All text is held in memory.",
      .example = "leat-bench-dev scan corpus.jsonl.zst",
      .options = bench_scan_options,
      .run = bench_scan },
    { .name = "scanners",
      .purpose = "measures how fast texts are cut into pretokens, before these become ids",
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
    { .name = "stages",
      .purpose = "measures the stages of encoding, per pretoken, of text that was met before",
      .words = "FILE...",
      .words_help = "FILE is as for leat-bench encode.",
      .min_words = 1,
      .max_words = COMMAND_ANY_WORDS,
      .notes =
          "For byte-pair tokenizers with pretokens, one thread. \"find, of a batch that was just found\" is looking "
          "up in the CPU's nearer caches; \"their lines and nothing else\" is the waiting without the rest. With "
          "--warm, the texts are new, and the words that the file did not have are merged.",
      .example = "leat-bench-dev stages -t gpt2 corpus.jsonl.zst\n"
                 "leat-bench-dev stages -t gpt2 --warm before.jsonl new.jsonl",
      .options = bench_stages_options,
      .run = bench_stages },
    { .name = NULL },
};

static const struct program leat_bench_dev = {
    .name = "leat-bench-dev",
    .purpose = "makes datasets for measurements and tests, and measures leat's kernels; for leat's own developers.",
    .commands = commands,
    .example = "leat-bench-dev counting -o /data/counting --tokens 1G\nleat-bench dataset /data/counting",
    .notes = "exit codes: 0 done; 1 failed, the message says why; 2 wrong command line; 5 stopped by "
             "SIGTERM or SIGUSR1; 130 interrupted",
};

int main(int argc, char **argv)
{
    cli_start("leat-bench-dev");
    return program_main(&leat_bench_dev, argc, argv);
}
