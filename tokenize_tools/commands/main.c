/* main.c: the leat command: its table of commands. cmd_*.c do the work; tokenize_tools/cli/ is for all programs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/plan_options.h"
#include "commands.h"
#include "pack_options.h"

#define PATH_BYTES 4096

static int run_bench(const struct command *self, int argc, char **argv);

static const struct option_row no_options[] = { OPTIONS_END };

static const struct command commands[] = {
    { .name = "pack",
      .purpose = "turns corpora of text into a dataset",
      .words = "INPUT...",
      .words_help =
          "INPUT is a file (.jsonl .ndjson .json .txt .md, others with --format), plain or with .zst or .gz; a "
          "folder, with all such files in it, in the order of their paths; @FILE with one input per line; or - "
          "for standard input.",
      .min_words = 1,
      .max_words = COMMAND_ANY_WORDS,
      .notes = "The same inputs and options give the same bytes, for any --threads, --memory and machine. A record "
               "that cannot be packed does not stop the rest: it goes to NAME.rejects.jsonl with its reason. After "
               "Ctrl-C or a kill at any moment, --resume continues the run; a run from standard input starts over.",
      .example =
          "leat pack -o corpus -t gpt2 data/\nleat pack -o corpus -t o200k_base --text content part-*.jsonl.zst\n"
          "leat pack -o corpus.3 --part 3/8 @inputs.txt",
      .options = pack_options,
      .run = cmd_pack },
    { .name = "info",
      .purpose = "shows what a dataset holds: tokens, documents, inputs, document lengths",
      .words = "NAME",
      .words_help = COMMANDS_NAME_HELP,
      .min_words = 1,
      .max_words = 1,
      .example = "leat info corpus\nleat info corpus --json | jq .tokens",
      .options = info_options,
      .run = cmd_info },
    { .name = "verify",
      .purpose = "checks every checksum and every rule of a dataset",
      .words = "NAME",
      .words_help = COMMANDS_NAME_HELP,
      .min_words = 1,
      .max_words = 1,
      .notes = "Exit code 3 means damage; the message names the first damaged page and the documents in it.",
      .example = "leat verify corpus\nleat verify --threads 4 --json shards/",
      .options = verify_options,
      .run = cmd_verify },
    { .name = "cat",
      .purpose = "prints documents or tokens, as text or as ids",
      .words = "NAME",
      .words_help = COMMANDS_NAME_HELP,
      .min_words = 1,
      .max_words = 1,
      .notes = "Ranges count from 0 and end before their second number, as in Python: 3:5 is 3 and 4. Begin and end "
               "tokens are shown with --ids only. Text comes out byte for byte; if several documents are printed, "
               "each that does not end in a newline gets one.",
      .example = "leat cat corpus --document 7\nleat cat corpus --document 0:3 --ids\nleat cat corpus --tokens 0:100",
      .options = cat_options,
      .run = cmd_cat },
    { .name = "find",
      .purpose = "shows where a document came from, or which document came from a place",
      .words = "NAME",
      .words_help = COMMANDS_NAME_HELP,
      .min_words = 1,
      .max_words = 1,
      .notes = "Give exactly one of --document, --token, --origin and --id.",
      .example = "leat find corpus --token 123456\nleat find corpus --origin data/a.jsonl:10240\nleat find corpus "
                 "--origin '#3:10240' --json",
      .options = find_options,
      .run = cmd_find },
    { .name = "order",
      .purpose = "prints which tokens the samples of a plan have",
      .words = "",
      .notes = PLAN_OPTIONS_NOTES
      " A line has: sample, source (its number), window, document (that holds the first token), offset (the first "
      "token's position in the token file) and, if the source has several datasets, the number of the dataset. Row i "
      "of a global batch of B belongs to rank i / (B / W).",
      .example = "leat order --source corpus --seq-len 2048 --seed 7 --count 3\nleat order --source web:0.7 --source "
                 "code:0.3:4 --seq-len 4Ki --at 1M:1,1 --print-plan >run7.plan\nleat order --plan run7.plan "
                 "--from 512 --count 512 --batch 512 --rank 3 --world 8",
      .options = order_options,
      .run = cmd_order },
    { .name = "trace",
      .purpose = "shows which documents a training step saw, or which samples show a document",
      .words = "",
      .notes = PLAN_OPTIONS_NOTES
      " With --step and --samples a line has: sample, source, document, the tokens of it "
      "that the sample shows, INPUT:OFFSET and, if stored, the document's id. With --document: sample, source, "
      "window, epoch and position, which counts samples that are not skipped: position / B is the step.",
      .example = "leat trace --plan run7.plan --step 1234 --batch 512\nleat trace --plan run7.plan --samples 100:110 "
                 "--json\nleat trace --plan run7.plan --document web:12345 --until 10M",
      .options = trace_options,
      .run = cmd_trace },
    { .name = "encode",
      .purpose = "prints the ids of texts",
      .words = "[FILE...]",
      .words_help =
          "FILE is a text, plain or compressed with zstd or gzip; - or no FILE is standard input. JSON "
          "lines (.jsonl .ndjson .json, also with .zst or .gz) hold one document per line; every other file is one "
          "document, and so is standard input without --jsonl.",
      .max_words = COMMAND_ANY_WORDS,
      .notes = "Begin and end tokens are not added. A bad record ends the command with its file and line. In JSON, "
               "escaped surrogates without a partner become U+FFFD.",
      .example = "leat encode -t gpt2 README.md\nleat encode -t cl100k_base corpus.jsonl.zst >ids.txt\n"
                 "printf 'Hello, world' | leat encode -t gpt2 | leat decode -t gpt2",
      .options = encode_options,
      .run = cmd_encode },
    { .name = "decode",
      .purpose = "prints the texts of ids, the inverse of encode",
      .words = "[FILE...]",
      .words_help =
          "FILE holds one line of ids per document, separated by spaces, plain or compressed with zstd or gzip; - "
          "or no FILE is standard input.",
      .max_words = COMMAND_ANY_WORDS,
      .notes = "Ids may end inside a character: malformed UTF-8 comes out as U+FFFD, or unchanged with --raw.",
      .example = "echo 15496 11 995 | leat decode -t gpt2\nleat cat corpus --document 7 --ids | leat decode -t gpt2 "
                 "--raw",
      .options = decode_options,
      .run = cmd_decode },
    { .name = "merge",
      .purpose = "joins datasets without encoding again; shuffles, deduplicates and splits them",
      .words = "PART...",
      .words_help =
          "Each PART is a dataset (NAME, NAME.leat or NAME.tokens). They are joined in the order given. The parts of "
          "one run (leat pack --part) become the dataset that the whole run would write.",
      .min_words = 1,
      .max_words = COMMAND_ANY_WORDS,
      .example = "leat merge -o corpus --dedup --shuffle 1 --split valid=0.01 part.0 part.1 part.2",
      .options = merge_options,
      .run = cmd_merge },
    { .name = "bench",
      .purpose = "measures this machine and the stages of leat on it: the same as leat-bench",
      .words = "COMMAND ...",
      .max_words = COMMAND_ANY_WORDS,
      .example = "leat bench limits /data",
      .options = no_options,
      .program = "leat-bench",
      .run = run_bench },
    { .name = NULL },
};

static const struct program leat = {
    .name = "leat",
    .purpose = "carries LLM training tokens from text to the GPU.",
    .commands = commands,
    .example = "leat pack -o corpus -t gpt2 data/\nleat info corpus\nleat verify corpus\nleat cat corpus --document 0",
    .notes = "exit codes: 0 done; 1 failed, the message says why; 2 wrong command line; 3 verify "
             "found damage; 4 too many records were rejected; 130 interrupted",
};

/* Puts the path of the leat-bench next to this binary into `path`. False if there is none. */
static bool beside_this_binary(char *path, size_t capacity)
{
    static const char name[] = "leat-bench";
    ssize_t length = readlink("/proc/self/exe", path, capacity);
    char *end;

    if (length <= 0 || (size_t)length >= capacity)
        return false;
    path[length] = '\0';
    end = strrchr(path, '/');
    if (!end || (size_t)(end + 1 - path) + sizeof name > capacity)
        return false;
    memcpy(end + 1, name, sizeof name);
    return access(path, X_OK) == 0;
}

static int run_bench(const struct command *self, int argc, char **argv)
{
    char path[PATH_BYTES];

    (void)self;
    (void)argc;
    argv[0] = (char[]) { "leat-bench" };
    if (beside_this_binary(path, sizeof path))
        execv(path, argv);
    else
        execvp(argv[0], argv);
    cli_error("cannot run leat-bench: %s; it must be next to leat or in PATH", strerror(errno));
    return CLI_FAILED;
}

int main(int argc, char **argv)
{
    cli_start("leat");
    return program_main(&leat, argc, argv);
}
