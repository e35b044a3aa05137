/* main.c: the leat command: its table of commands. cmd_*.c do the work; tokenize_tools/cli/ is for all programs. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/plan_options.h"
#include "commands.h"

#define PATH_BYTES 4096

static int run_bench(const struct command *self, int argc, char **argv);

static const struct option_row no_options[] = { OPTIONS_END };

static const struct command commands[] = {
    { .name = "pack",
      .purpose = "turns corpora of text into a dataset",
      .words = "INPUT...",
      .words_help =
          "INPUT is a file (.jsonl .ndjson .json .txt .md, others with --format), plain or compressed "
          "(.zst .gz .xz .bz2 .lz4 after it), or a Parquet file (.parquet .pq); a folder, with all such files in it, "
          "but for names that begin with . or (except with --format text) _, in the order of their paths; "
          "@FILE with one input per line; s3://, gs:// or https:// for what lies on a server, where a URL that ends "
          "in / stands for all such files below it; or - for standard input. JSON is one object per line, or one array "
          "of objects. Inputs of several splits (train, validation, test), as folders from the Hugging Face Hub have "
          "them, are refused without --split-of.",
      .max_words = COMMAND_ANY_WORDS,
      .notes =
          "The same inputs and options give the same bytes, for any --threads, --memory and machine. A record "
          "that cannot be packed does not stop the rest: it goes to NAME.rejects.jsonl with its reason. After "
          "Ctrl-C or a kill at any moment, --resume continues the run; a run from standard input starts over. SIGTERM "
          "and SIGUSR1 make a checkpoint and end the command with code 5.",
      .example =
          "leat pack -o corpus -t gpt2 data/\nleat pack -o corpus -t o200k_base --text content part-*.jsonl.zst\n"
          "leat pack -o corpus.3 --part 3/8 @inputs.txt\n"
          "leat pack -o pile -t gpt2 s3://corpora/pile/\nleat pack -o corpus -t gpt2 --split-of train texts/\n"
          "leat pack --run run --parts 8 -t gpt2 data/\nleat pack --run run --part 3",
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
      "token's number in the token file) and, if the source has several datasets, the number of the dataset. Row i "
      "of a global batch of B belongs to rank i / (B / W).",
      .example =
          "leat order --source corpus --seq-len 2048 --seed 7 --count 3\nleat order --source web:0.7 --source "
          "code:0.3:4 --seq-len 4Ki --at 1M:1,1 --print-plan >run7.plan\nleat order --plan run7.plan "
          "--from 512 --count 512 --batch 512 --rank 3 --world 8\nleat order --source corpus --fit-report 2Ki,4Ki,8Ki",
      .options = order_options,
      .run = cmd_order },
    { .name = "fit",
      .purpose = "sorts documents by length into a file, for rows of whole documents of very large datasets",
      .words = "NAME...",
      .words_help = COMMANDS_NAME_HELP,
      .min_words = 1,
      .max_words = COMMAND_ANY_WORDS,
      .notes =
          "Writes NAME.fit beside each dataset, 4 bytes per document, and replaces an older one. Plans of the order "
          "fit then open at once, and no longer need 4 bytes of memory per document; a source of more than 2^28 "
          "documents cannot do without. The file changes no sample. Beside a URL no file can be written: leat pull the "
          "dataset first; --report takes URLs.",
      .example = "leat fit corpus\nleat fit shards/\nleat fit --report corpus --seq-len 2048,8192",
      .options = fit_options,
      .run = cmd_fit },
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
    { .name = "show",
      .purpose = "shows what the model sees: tokens, labels, documents of a step, row or text",
      .words = "[NAME | FILE]",
      .words_help = "NAME, for --document and --tokens, is a dataset as for leat cat. FILE is a text that is cut by "
                    "--tokenizer; - or no FILE is standard input.",
      .max_words = 1,
      .notes = PLAN_OPTIONS_NOTES
      " The rows of a plan are those that a loader gives. On a terminal tokens have two alternating shades; elsewhere "
      "a "
      "mark stands before each. Tokenizers on a text stand side by side where the lines have room. Where the label of "
      "a place is not the next token, it stands after an arrow. Control "
      "characters, marks of direction and bytes that are no character are shown as escapes. A token that "
      "begins with a combining or an invisible character is shown after a dotted circle. A character of which several "
      "tokens have a part is shown once, in the first of them; a dashed arrow to the left stands in the others. With "
      "--json, each token has its own text: a part of a character is U+FFFD there, and \"ids\" say what it is.",
      .example =
          "leat show --plan run7.plan --step 41250 --batch 512 --rank 3 --world 8 --row 0\nleat show corpus --document "
          "5\nleat show --tokenizer gpt2 --tokenizer o200k_base < text.txt\nleat show --source corpus --seq-len 2048 "
          "--sample 7 --html sample.html",
      .options = show_options,
      .run = cmd_show },
    { .name = "encode",
      .purpose = "prints the ids of texts",
      .words = "[FILE...]",
      .words_help =
          "FILE is a text, plain or compressed (zstd, gzip, xz, bzip2, lz4); - or no FILE is standard input. JSON "
          "lines (.jsonl .ndjson .json, also with .zst and the like) hold one document per line; every other file is "
          "one "
          "document, and so is standard input without --jsonl.",
      .max_words = COMMAND_ANY_WORDS,
      .notes = "Begin and end tokens are not added, nor what a tokenizer.json's post-processor puts around texts. A "
               "bad record ends the command with its file and line. In JSON, escaped surrogates without a partner "
               "become U+FFFD.",
      .example = "leat encode -t gpt2 README.md\nleat encode -t cl100k_base corpus.jsonl.zst >ids.txt\n"
                 "printf 'Hello, world' | leat encode -t gpt2 | leat decode -t gpt2",
      .options = encode_options,
      .run = cmd_encode },
    { .name = "decode",
      .purpose = "prints the texts of ids, the inverse of encode",
      .words = "[FILE...]",
      .words_help = "FILE holds one line of ids per document, separated by spaces, plain or compressed; - "
                    "or no FILE is standard input.",
      .max_words = COMMAND_ANY_WORDS,
      .notes = "Each text is printed as a JSON string on a line of its own, with --raw as it is. Ids may end inside a "
               "character: malformed UTF-8 comes out as U+FFFD, or unchanged with --raw.",
      .example = "echo 15496 11 995 | leat decode -t gpt2\nleat cat corpus --document 7 --ids | leat decode -t gpt2 "
                 "--raw",
      .options = decode_options,
      .run = cmd_decode },
    { .name = "merge",
      .purpose = "joins datasets without encoding again; shuffles, deduplicates and splits them",
      .words = "PART...",
      .words_help =
          "Each PART is a dataset (NAME, NAME.leat or NAME.tokens) or a folder of them. They are joined in the order "
          "given. The parts of one run (leat pack --part) become the dataset that the whole run would write, in "
          "whatever order they are given; some that follow each other may be merged first, with a warning that names "
          "those that are missing. The folder of a run (leat pack --run) is refused while parts are missing. A pattern "
          "of the shell, c.*, will do: both files of a dataset name it once; what lies beside it is passed over: "
          "rejects, files of a run that has not ended, and c itself, if it is no part of the run of c.1. If a dataset "
          "is left out so, a warning names it. Without a merge, a folder opens as one dataset, too, wherever a dataset "
          "does, and nothing is copied.",
      .min_words = 1,
      .max_words = COMMAND_ANY_WORDS,
      .example =
          "leat merge -o corpus --dedup --shuffle 1 --split valid=0.01 part.0 part.1 part.2\nleat merge -o all part.*\n"
          "leat merge -o all run",
      .options = merge_options,
      .run = cmd_merge },
    { .name = "adopt",
      .purpose = "writes an index beside the tokens of another tool, which stay where they are",
      .words = "NAME",
      .words_help = "NAME is a file of another tool, whose documents are known: PREFIX of Megatron's PREFIX.bin and "
                    "PREFIX.idx, raw:FILE?dtype=u16&end=ID (or u32), llmc:FILE?end=ID, pbin:FILE?end=ID, "
                    "datatrove:FILE.ds. --end can take the place of end=ID.",
      .min_words = 1,
      .max_words = 1,
      .notes =
          "From then on the dataset has the name of the index (PREFIX, or FILE), and everything that leat's own "
          "has: hashes of its pages, which loaders check, documents, a tokenizer. The tokens are read once and not "
          "copied; do not change them. A run that was stopped goes on when it is started again.",
      .example = "leat adopt -t gpt2 pile_text_document\nleat adopt 'raw:val.bin?dtype=u16&end=50256' && leat verify "
                 "val.bin",
      .options = adopt_options,
      .run = cmd_adopt },
    { .name = "import",
      .purpose = "writes a dataset from those of MosaicML's streaming, litdata and Hugging Face datasets",
      .words = "SOURCE...",
      .words_help =
          "SOURCE is a folder of MosaicML's streaming (MDS) or of litdata, with its index.json, plain or compressed; "
          "an Arrow file, whose batches may be compressed, but not the whole file; or a folder that Hugging Face "
          "datasets saved (save_to_disk). Several are joined in order.",
      .min_words = 1,
      .max_words = COMMAND_ANY_WORDS,
      .notes =
          "Each sample, item or row becomes a document, with its file and its number there as origin. Ids are copied "
          "as "
          "they are. The packages that wrote them read them: mosaicml-streaming, litdata, pyarrow. So leat's Python "
          "package does the work: that of the environment in which the command was installed, else that of python3 on "
          "PATH, or of the interpreter that LEAT_PYTHON names. "
          "Files of Megatron, nanoGPT, llm.c, datatrove and Modalities need no import: leat opens them in place, "
          "and leat adopt writes an index for them.",
      .example = "leat import -o web -t gpt2 --end 50256 mds/\nleat import -o code --vocabulary 50307 --dtype uint16 "
                 "--column tokens mds/train\nleat import -o chat saved/ extra.arrow",
      .options = import_options,
      .run = cmd_import },
    { .name = "export",
      .purpose = "writes datasets as files of Megatron, nanoGPT, llm.c or datatrove",
      .words = "NAME...",
      .words_help = COMMANDS_NAME_HELP,
      .min_words = 1,
      .max_words = COMMAND_ANY_WORDS,
      .notes = "Documents are kept where the format records them (megatron, datatrove); elsewhere only their begin and "
               "end tokens show them. Such files hold no hashes, origins or tokenizer: keep the dataset, or be able "
               "to write it again.",
      .example = "leat export --to megatron -o web_text_document corpus\nleat export --to nanogpt -o train.bin corpus",
      .options = export_options,
      .run = cmd_export },
    { .name = "pull",
      .purpose = "copies a dataset from a server to this machine",
      .words = "URL NAME",
      .words_help = "URL is s3://BUCKET/NAME, gs://BUCKET/NAME, https://... or http://..., of the files URL.leat and "
                    "URL.tokens; NAME is the dataset to make.",
      .min_words = 2,
      .max_words = 2,
      .notes = "Keys, region and endpoint come from the variables and files that AWS's tools read: "
               "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE, ~/.aws/credentials, "
               "AWS_REGION, AWS_ENDPOINT_URL. Every page is checked by its hash when it arrives, and NAME exists when "
               "all of it is here. What was stopped goes on when the same command is given again.",
      .example = "leat pull s3://corpora/pile/train train\nAWS_ENDPOINT_URL=https://minio.example.org:9000 leat pull "
                 "s3://corpora/train train",
      .options = pull_options,
      .run = cmd_pull },
    { .name = "push",
      .purpose = "copies a dataset to a bucket of object storage",
      .words = "NAME URL",
      .words_help =
          "NAME is a dataset of leat's own; URL is s3://BUCKET/NAME or gs://BUCKET/NAME, where URL.tokens and "
          "URL.leat are made.",
      .min_words = 2,
      .max_words = 2,
      .notes = "Keys, region and endpoint are those of `leat pull`. Every page is checked by its hash before it is "
               "sent. What was stopped goes on when the same command is given again; until then its parts stay on the "
               "server, where a rule for incomplete uploads should end them some day.",
      .example = "leat push train s3://corpora/pile/train",
      .options = push_options,
      .run = cmd_push },
    { .name = "status",
      .purpose = "shows where a run in many parts stands: parts done, running, dead and missing",
      .words = "DIR",
      .words_help = "DIR is the folder of a run (leat pack --run DIR --parts N).",
      .min_words = 1,
      .max_words = 1,
      .notes = "A part is done, running, dead (its process has given no sign of life for 30 seconds), stopped (by "
               "a signal, at a checkpoint), failed (with the reason), or missing: nobody has begun it. Packing a part "
               "again goes on with it. No part waits for another.",
      .example = "leat status run\nleat status run --left\nleat status run --json | jq .complete",
      .options = status_options,
      .run = cmd_status },
    { .name = "bench",
      .purpose = "measures this machine, and what leat does on it, step by step: the same as leat-bench",
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
    .notes = "exit codes: 0 done; 1 failed, the message says why; 2 wrong command line; 3 a "
             "dataset is damaged; 4 too many records were rejected; 5 stopped by SIGTERM or SIGUSR1, "
             "start it again (leat pack and leat import with --resume); 130 interrupted",
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
