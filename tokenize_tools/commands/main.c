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
          "INPUT is a file (.jsonl .json .csv .tsv .txt .md .parquet, also with .zst .gz .xz .bz2 .lz4), a folder of "
          "such files, @FILE with one input per line, a URL (" CACHE_SCHEMES "), or - for standard input.",
      .words_more =
          "Files are .jsonl, .ndjson, .json, .csv, .tsv, .txt and .md (others with --format), plain or compressed, and "
          "Parquet (.parquet, .pq). JSON is one object per line, or one array of objects; the first line of .csv and "
          ".tsv names the columns. A folder stands for all such files "
          "in it, in the order of their paths, except names that begin with . or (unless --format text) with _. A URL "
          "that ends in / stands for all such files below it. Inputs of several splits (train, validation, test), as "
          "folders from the Hugging Face Hub have them, are refused without --split-of.",
      .max_words = COMMAND_ANY_WORDS,
      .notes = "The same inputs and options give the same bytes. Records that cannot be packed go to "
               "NAME.rejects.jsonl with their reasons. After Ctrl-C or a kill, --resume continues the run.",
      .notes_more = "The bytes do not depend on --threads, --memory or the machine. --resume continues after a kill "
                    "at any moment; a run from standard input starts over. SIGTERM and SIGUSR1 make a checkpoint and "
                    "end the command with code 5.",
      .example =
          "leat pack -o corpus -t gpt2 data/\nleat pack -o corpus -t o200k_base --text content part-*.jsonl.zst\n"
          "leat pack -o corpus.3 --part 3/8 @inputs.txt\n"
          "leat pack -o corpus -t gpt2 --split-of train texts/\n"
          "leat pack --run run --parts 8 -t gpt2 data/\nleat pack --run run --part 3",
      .options = pack_options,
      .run = cmd_pack },
    { .name = "info",
      .purpose = "shows what a dataset holds: tokens, documents, inputs, lengths",
      .words = "NAME",
      COMMANDS_NAME_HELP,
      .min_words = 1,
      .max_words = 1,
      .example = "leat info corpus\nleat info corpus --by score\nleat info corpus --json | jq .tokens",
      .options = info_options,
      .run = cmd_info },
    { .name = "verify",
      .purpose = "checks every checksum and every rule of a dataset",
      .words = "NAME",
      COMMANDS_NAME_HELP,
      .min_words = 1,
      .max_words = 1,
      .notes = "Exit code 3 means damage; the message names the first damaged page and its documents.",
      .example = "leat verify corpus\nleat verify --threads 4 --json shards/",
      .options = verify_options,
      .run = cmd_verify },
    { .name = "cat",
      .purpose = "prints documents or tokens as text or ids",
      .words = "NAME",
      COMMANDS_NAME_HELP,
      .min_words = 1,
      .max_words = 1,
      .notes = "Ranges count from 0 and end before their second number, as in Python: 3:5 is 3 and 4.",
      .notes_more = "Begin and end tokens are shown only with --ids. Text comes out byte for byte; if several "
                    "documents are printed, a newline follows each that does not end in one.",
      .example = "leat cat corpus --document 7\nleat cat corpus --document 0:3 --ids\nleat cat corpus --tokens 0:100",
      .options = cat_options,
      .run = cmd_cat },
    { .name = "find",
      .purpose = "shows where a document came from, or which one came from a place",
      .words = "NAME",
      COMMANDS_NAME_HELP,
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
      .notes = PLAN_OPTIONS_NOTES,
      .notes_more = "A line has: sample, source (its number), window, document (that holds the first token), token "
                    "(the first one's number in the token file) and, if the source has several datasets, the number "
                    "of the dataset. Row i of a global batch of B belongs to rank i / (B / W).",
      .example =
          "leat order --source corpus --seq-len 2048 --seed 7 --count 3\nleat order --source web:7 --source code "
          "--seq-len 4Ki --print-plan >run7.plan\nleat order --plan run7.plan --from 512 --batch 512 --rank 3 "
          "--world 8\nleat order --source corpus --fit-report 2Ki,4Ki,8Ki",
      .options = order_options,
      .run = cmd_order },
    { .name = "fit",
      .purpose = "sorts documents by length, for rows of whole documents",
      .words = "NAME...",
      COMMANDS_NAME_HELP,
      .min_words = 1,
      .max_words = COMMAND_ANY_WORDS,
      .notes = "Writes NAME.fit beside each dataset, 4 bytes per document, and replaces an older one. Plans of the "
               "order fit then open at once.",
      .notes_more = "Such plans no longer need 4 bytes of memory per document; a source of more than 2^28 documents "
                    "needs the file. The file changes no sample. No file can be written beside a URL: leat pull the "
                    "dataset first; --report takes URLs.",
      .example = "leat fit corpus\nleat fit shards/\nleat fit --report corpus --seq-len 2048,8192",
      .options = fit_options,
      .run = cmd_fit },
    { .name = "trace",
      .purpose = "shows which documents a step saw, or which samples show a document",
      .words = "",
      .notes = PLAN_OPTIONS_NOTES,
      .notes_more =
          "With --step and --samples a line has: sample, source, document, the tokens of the document that the sample "
          "shows, INPUT:BYTE (of a Parquet file INPUT:ROW) and, if stored, the document's id. With --document: sample, "
          "source, window, epoch and "
          "position, which counts samples that are not skipped: position / B is the step.",
      .example = "leat trace --plan run7.plan --step 1234 --batch 512\nleat trace --plan run7.plan --samples 100:110 "
                 "--json\nleat trace --plan run7.plan --document web:12345 --until 10M",
      .options = trace_options,
      .run = cmd_trace },
    { .name = "show",
      .purpose = "shows what the model sees: tokens, labels, documents",
      .words = "[NAME | FILE]",
      .words_help = "NAME, for --document and --tokens, is a dataset, or a URL (" CACHE_SCHEMES
                    "). FILE is a text, which --tokenizer cuts; - or no FILE is standard input.",
      .max_words = 1,
      .notes = PLAN_OPTIONS_NOTES,
      .notes_more =
          "The rows of a plan are those that a loader gives. On a terminal, tokens have two alternating colours; "
          "elsewhere a mark stands before each. If several tokenizers cut a text, they stand side by side where the "
          "lines have room. A label that is not the next token stands after an arrow. Control characters, marks of "
          "direction and bytes that are no character are shown as escapes. A token that begins with a combining or an "
          "invisible character is shown after a dotted circle. A character that several tokens share is shown once, in "
          "the first of them; a dashed arrow to the left stands in the others. With --json, each token has its own "
          "text: a part of a character is U+FFFD there, and \"ids\" has the token.",
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
          "FILE is a text or JSON lines (.jsonl .ndjson .json), plain or compressed; - or no FILE is standard input.",
      .words_more =
          "Compressed files are zstd, gzip, xz, bzip2 or lz4. JSON lines, also with .zst and the like, hold one "
          "document per line; every other file is one document, and so is standard input without --jsonl.",
      .max_words = COMMAND_ANY_WORDS,
      .notes = "Begin and end tokens are not added. A bad record ends the command with its file and line.",
      .notes_more = "Nor is what a tokenizer.json's post-processor puts around texts. In JSON, escaped surrogates "
                    "without a partner become U+FFFD.",
      .example = "leat encode -t gpt2 README.md\nleat encode -t cl100k_base corpus.jsonl.zst >ids.txt\n"
                 "printf 'Hello, world' | leat encode -t gpt2 | leat decode -t gpt2",
      .options = encode_options,
      .run = cmd_encode },
    { .name = "decode",
      .purpose = "prints the texts of ids, the inverse of encode",
      .words = "[FILE...]",
      .words_help = "FILE holds one line of ids per document, with spaces between them, plain or compressed; - or no "
                    "FILE is standard input.",
      .max_words = COMMAND_ANY_WORDS,
      .notes = "Each text is printed as a JSON string on a line of its own; with --raw as it is.",
      .notes_more =
          "Ids may end inside a character: malformed UTF-8 becomes U+FFFD in JSON, and stays as it is with --raw.",
      .example = "echo 15496 11 995 | leat decode -t gpt2\nleat cat corpus --document 7 --ids | leat decode -t gpt2 "
                 "--raw",
      .options = decode_options,
      .run = cmd_decode },
    { .name = "merge",
      .purpose = "joins datasets; shuffles, deduplicates and splits them",
      .words = "PART...",
      .words_help = "Each PART is a dataset, a folder of datasets, or a URL (" CACHE_SCHEMES
                    "); they are joined in the order given. The parts of one run (leat pack --part, --run) become the "
                    "dataset that the whole run would write.",
      .words_more = "The parts of a run may be given in any order. Some that follow each other may be merged first; a "
                    "warning then names those that are missing. The folder of a run (leat pack --run) is refused while "
                    "parts are missing. A pattern of the shell, c.*, is fine: both files of a dataset name it once, "
                    "and other files beside it are passed over: rejects, files of a run that has not ended, and c "
                    "itself, if it is no part of the run of c.1. A warning names a dataset that is left out in this "
                    "way. A folder opens as one dataset wherever a dataset does, without a merge and a copy.",
      .min_words = 1,
      .max_words = COMMAND_ANY_WORDS,
      .example =
          "leat merge -o all --dedup --shuffle 1 --split valid=0.01 part.0 part.1 part.2\nleat merge -o corpus part.*\n"
          "leat merge -o all run",
      .options = merge_options,
      .run = cmd_merge },
    { .name = "adopt",
      .purpose = "writes an index beside the tokens of another tool",
      .words = "NAME",
      .words_help =
          "NAME is a file of another tool: PREFIX of Megatron's PREFIX.bin and PREFIX.idx, raw:FILE?dtype=u16&end=ID "
          "(or u32), llmc:FILE?end=ID, pbin:FILE?end=ID, datatrove:FILE.ds. --end can take the place of end=ID.",
      .min_words = 1,
      .max_words = 1,
      .notes = "The dataset then has the name of the index (PREFIX, or FILE). The tokens are read once and not copied; "
               "do not change them.",
      .notes_more = "It has everything that leat's own datasets have: hashes of its pages, which loaders check, "
                    "documents, a tokenizer. After a stop, the same command goes on.",
      .example = "leat adopt -t gpt2 pile_text_document\nleat adopt 'raw:val.bin?dtype=u16&end=50256' && leat verify "
                 "val.bin",
      .options = adopt_options,
      .run = cmd_adopt },
    { .name = "attach",
      .purpose = "adds values beside the tokens or documents of a dataset",
      .words = "NAME FILE...",
      .words_help = "NAME is one dataset of leat's own on this machine. FILE is an array of NumPy (.npy) of the shape "
                    "(n,) or (n, K); several follow each other.",
      .min_words = 2,
      .max_words = COMMAND_ANY_WORDS,
      .notes =
          "Writes NAME.COLUMN.column, the values alone, and NAME.COLUMN.column-index. The dataset's own files stay.",
      .notes_more = "All files together have an entry for each token or document, in their order. Values are stored "
                    "exactly, but floats are rounded to the nearest of a narrower type; a value that the type does not "
                    "hold is an error, and nothing is added. leat info lists the columns, leat verify checks them; "
                    "leat merge, leat export and leat push refuse a dataset with columns.",
      .example = "leat attach corpus --column score:f32:document scores.npy\nleat attach corpus --column "
                 "teacher:u32x8 part0.npy part1.npy",
      .options = attach_options,
      .run = cmd_attach },
    { .name = "import",
      .purpose = "writes a dataset from one of streaming, litdata or Hugging Face",
      .words = "SOURCE...",
      .words_help = "SOURCE is a folder of MosaicML's streaming (MDS) or litdata, an Arrow file, or a folder that "
                    "Hugging Face datasets saved. Several are joined in order.",
      .words_more = "MDS and litdata folders have an index.json, and may be compressed. The batches of an Arrow file "
                    "may be compressed, but not the whole file. Hugging Face datasets save folders by save_to_disk.",
      .min_words = 1,
      .max_words = COMMAND_ANY_WORDS,
      .notes = "Each sample, item or row becomes a document; its ids are copied. leat's Python package does the work, "
               "with mosaicml-streaming, litdata or pyarrow.",
      .notes_more = "A document's origin is its file and its number there. The Python package is that of the "
                    "environment in which the command was installed, else that of python3 on PATH, or of the "
                    "interpreter that LEAT_PYTHON names. Files of Megatron, nanoGPT, llm.c, datatrove and Modalities "
                    "need no import: leat opens them in place, and leat adopt writes an index for them.",
      .example = "leat import -o web -t gpt2 --end 50256 mds/\nleat import -o code --vocabulary 50307 --dtype uint16 "
                 "--column ids mds/train\nleat import -o chat saved/ extra.arrow",
      .options = import_options,
      .run = cmd_import },
    { .name = "export",
      .purpose = "writes datasets, or rows of a plan, as files of other tools",
      .words = "NAME...",
      COMMANDS_NAME_HELP,
      .min_words = 0,
      .max_words = COMMAND_ANY_WORDS,
      .notes = "Such files hold no hashes, origins or tokenizer: keep the dataset, or be able to write it again.",
      .notes_more = "Documents are kept where the format records them (megatron, datatrove); elsewhere only their "
                    "begin and end tokens show them.",
      .example = "leat export --to megatron -o web_text_document corpus\n"
                 "leat export --to packed-parquet -o rows.parquet --plan run.plan",
      .options = export_options,
      .run = cmd_export },
    { .name = "pull",
      .purpose = "copies a dataset from a server to this machine",
      .words = "URL NAME",
      .words_help = "URL is " CACHE_URLS ", of the files URL.leat and URL.tokens; NAME is the dataset to make.",
      .min_words = 2,
      .max_words = 2,
      .notes = "Every page is checked by its hash when it arrives, and NAME exists when all of it is here. After a "
               "stop, the same command goes on.",
      .notes_more =
          "Keys, region and endpoint come from the variables and files that AWS's tools read: AWS_ACCESS_KEY_ID, "
          "AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_PROFILE, ~/.aws/credentials, AWS_REGION, AWS_ENDPOINT_URL. "
          "For az://: AZURE_STORAGE_ACCOUNT with AZURE_STORAGE_KEY, AZURE_STORAGE_SAS_TOKEN or Entra ID's variables, "
          "or AZURE_STORAGE_CONNECTION_STRING, and AZURE_STORAGE_ENDPOINT. For hf://: HF_TOKEN, or what `hf auth "
          "login` writes.",
      .example = "leat pull s3://corpora/pile/train train\nAWS_ENDPOINT_URL=https://minio.org:9000 leat pull "
                 "s3://corpora/train "
                 "train",
      .options = pull_options,
      .run = cmd_pull },
    { .name = "push",
      .purpose = "copies a dataset to a bucket of object storage",
      .words = "NAME URL",
      .words_help =
          "NAME is a dataset of leat's own; URL is s3://BUCKET/NAME, gs://BUCKET/NAME or az://CONTAINER/NAME, where "
          "URL.tokens and URL.leat are made, or hf://datasets/ORG/REPOSITORY[/NAME], which needs huggingface_hub.",
      .min_words = 2,
      .max_words = 2,
      .notes = "Every page is checked by its hash before it is sent. After a stop, the same command goes on.",
      .notes_more =
          "Keys, region and endpoint are those of `leat pull`. The parts of an upload that is never "
          "completed stay on the server until a rule for incomplete uploads removes them (Azure: for a week).",
      .example = "leat push train s3://corpora/pile/train",
      .options = push_options,
      .run = cmd_push },
    { .name = "status",
      .purpose = "shows which parts of a run are done, running, dead or missing",
      .words = "DIR",
      .words_help = "DIR is the folder of a run (leat pack --run DIR --parts N).",
      .min_words = 1,
      .max_words = 1,
      .notes = "A part is done, running, dead, stopped, failed or missing. Packing a part again goes on with it.",
      .notes_more = "dead: its process has given no sign of life for 30 seconds. stopped: by a signal, at a "
                    "checkpoint. failed: with the reason. missing: nobody has started it. No part waits for another.",
      .example = "leat status run\nleat status run --left\nleat status run --json | jq .complete",
      .options = status_options,
      .run = cmd_status },
    { .name = "bench",
      .purpose = "measures this machine, and leat on it: the same as leat-bench",
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

/* Puts the path of the leat-bench next to this binary into `path`. Returns false if there is none. */
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
