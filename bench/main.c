/* main.c: the leat-bench command: its table of commands. */
#include "cli/cli.h"
#include "subcommands.h"

static const struct command commands[] = {
    { .name = "limits",
      .purpose = "measures this machine: memory, page cache, disk, hashes, zstd",
      .words = "DIR",
      .words_help =
          "DIR is a folder on the disk to be measured. Its test files have no name and vanish with the command.",
      .min_words = 1,
      .max_words = 1,
      .notes = "The column CPUs is the CPU time of all threads per second.",
      .example = "leat-bench limits /data\nleat-bench limits --size 64GiB --runs 3 --json /data",
      .options = bench_limits_options,
      .run = bench_limits },
    { .name = "encode",
      .purpose = "measures how fast texts become ids",
      .words = "FILE...",
      .words_help = "FILE is JSON lines (.jsonl .ndjson .json, also compressed, such as .jsonl.zst), one document per "
                    "line; any other "
                    "file is one document, plain or compressed.",
      .min_words = 1,
      .max_words = COMMAND_ANY_WORDS,
      .notes = "All documents are read into memory first, then encoded once. Only encoding is timed; loading the "
               "vocabulary is measured separately. The checksum is XXH3-64 of the ids as little-endian "
               "32-bit words, the same for any number of threads.",
      .example = "leat-bench encode -t gpt2 corpus.jsonl.zst\nleat-bench encode -t o200k_base --threads 8 --json "
                 "corpus.jsonl",
      .options = bench_encode_options,
      .run = bench_encode },
    { .name = "compare",
      .purpose = "encodes your text with leat and others, and compares every id",
      .words = "INPUT...",
      .words_help = "INPUT is as for leat pack: .jsonl .csv .txt .parquet, compressed or not, a folder, a URL.",
      .min_words = 1,
      .max_words = COMMAND_ANY_WORDS,
      .notes = "Each measurement is a new process with one thread that encodes a list of strings in Python. Documents "
               "with the text of a special token are left out. Exits with 1 if a library has other ids. "
               "Done by leat's Python package.",
      .example = "leat-bench compare -t gpt2 corpus.jsonl\nleat-bench compare -t Qwen/Qwen3-0.6B --with "
                 "gigatoken corpus.parquet",
      .options = bench_compare_options,
      .run = bench_compare },
    { .name = "pack",
      .purpose = "packs, and shows each step's CPU time and the bottleneck",
      .words = "INPUT...",
      .words_help = "INPUT and options are those of leat pack; --run, --parts and --dry-run are refused.",
      .min_words = 1,
      .max_words = COMMAND_ANY_WORDS,
      .notes = "\"Text, alone\" is the rate of one core that does only this step. Work that only one thread at a time "
               "can do limits how many cores help. --threads 1,2,4 makes three runs.",
      .example = "leat-bench pack --force -o /tmp/corpus -t gpt2 corpus.jsonl.zst\nleat-bench pack --force "
                 "--threads 1,2 -o /tmp/corpus -t bytes corpus.jsonl.zst",
      .options = pack_options,
      .run = bench_pack },
    { .name = "load",
      .purpose = "measures the loader: takes batches of a plan as a training loop does",
      .words = "",
      .notes = "Without --work, batches are taken as fast as they come. The times of \"next\" are per call; with "
               "--output views, per row.",
      .example = "leat-bench load --source corpus --seq-len 2048 --batch 32 --bare\nleat-bench load --source corpus "
                 "--seq-len 512 --batch 8 --output i64 --work 10",
      .options = bench_load_options,
      .run = bench_load },
    { .name = "gpu",
      .purpose = "measures the path to a GPU beside bare loops: copies, kernels, steps",
      .words = "NAME",
      .words_help = "NAME is a dataset with tokens of two bytes, which should fit in memory.",
      .min_words = 1,
      .max_words = 1,
      .notes = "Exits with code 77 without a GPU.",
      .example = "leat-bench gpu corpus\nleat-bench gpu --smallest 64KiB --json corpus",
      .options = bench_gpu_options,
      .run = bench_gpu },
    { .name = "report",
      .purpose = "draws results (--json) and statistics of training runs as a page",
      .words = "FILE...",
      .words_help =
          "FILE holds one JSON object per line: results of limits, encode, pack or load with --json, those of make "
          "bench-peers, or statistics of a loader in training (its stats_file). Files may "
          "come from several machines. Results of other commands are refused.",
      .min_words = 1,
      .max_words = COMMAND_ANY_WORDS,
      .notes = "The page has no script and fetches nothing. Results of the same kind stand beside each other. Python "
               "makes it: python3, or the interpreter that LEAT_PYTHON names.",
      .example = "leat-bench limits --json /data >limits.json\nleat-bench report -o report.html limits.json other.json "
                 "run.jsonl",
      .options = bench_report_options,
      .run = bench_report },
    { .name = NULL },
};

static const struct program leat_bench = {
    .name = "leat-bench",
    .purpose = "measures this machine's limits, and how close leat comes to them.",
    .commands = commands,
    .example = "leat-bench limits /data\n"
               "leat-bench load --source corpus --seq-len 2048 --batch 32",
    .notes = "exit codes: 0 done; 1 failed, the message says why; 2 wrong command line; 3 a "
             "damaged dataset (load); 5 stopped by SIGTERM or SIGUSR1; 130 interrupted",
};

int main(int argc, char **argv)
{
    cli_start("leat-bench");
    return program_main(&leat_bench, argc, argv);
}
