/* common.h: sentences, rows of options and small functions of several commands. The room has what more than one
 * command of leat needs and no other program does (that belongs to cli or base). */
#ifndef LEAT_TOKENIZE_TOOLS_COMMON_H
#define LEAT_TOKENIZE_TOOLS_COMMON_H

#include "base/json.h"
#include "cli/cache_options.h"
#include "cli/command.h"
#include "damage/damage_list.h"
#include "leat_pack.h"
#include "mask/learned.h"

/* The text about NAME in the help of commands that read datasets, and the text that their manual pages add. */
#define COMMANDS_NAME_HELP                                                                                             \
    .words_help = "NAME is a dataset (NAME, NAME.leat or NAME.tokens), a folder of datasets, @FILE with one dataset "  \
                  "per line, files of another tool, or a URL (" CACHE_SCHEMES ").",                                    \
    .words_more =                                                                                                      \
        "Several datasets are joined in order. Files of other tools are read in place: PREFIX of Megatron's "          \
        "PREFIX.bin and PREFIX.idx, raw:FILE?dtype=u16&end=ID (or u32; &tokenizer=SPEC, &mask=FILE), llmc:FILE, "      \
        "pbin:FILE, datatrove:FILE.ds. Datasets on servers, " CACHE_URLS                                               \
        ", are read through a cache in the folder --cache."

/* Built-in tokenizers, and names of patterns, for shell completion. */
extern const char *const commands_tokenizers[];
extern const char *const commands_patterns[];

/* Rows that several tables of options have; the struct of values has fields of their names. */
#define COMMANDS_TOKENIZER(values, text, ...)                                                                          \
    {                                                                                                                  \
        .name = "tokenizer", .letter = 't', .type = OPTION_TEXT, .field = offsetof(values, tokenizer),                 \
        .value = "SPEC", .help = text, .offered = commands_tokenizers, .path = true, __VA_ARGS__                       \
    }
#define COMMANDS_BALANCE(values)                                                                                       \
    {                                                                                                                  \
        .name = "balance", .type = OPTION_CHOICE, .field = offsetof(values, balance), .value = "HOW",                  \
        .standard = "none", .help = "how rows were dealt to ranks: none, attention (order fit), or lanes (--stretch)", \
        .rare = true, .choices = plan_option_balances, .needs = "rank"                                                 \
    }
/* Whose rows: --rank, which needs other options, too, and --world. */
#define COMMANDS_RANKS(values, needed, text)                                                                           \
    { .name = "rank",                                                                                                  \
      .type = OPTION_COUNT,                                                                                            \
      .field = offsetof(values, rank),                                                                                 \
      .value = "R",                                                                                                    \
      .help = text,                                                                                                    \
      .rare = true,                                                                                                    \
      .max = LEAT_MAX_SAMPLES,                                                                                         \
      .needs = needed ",world" },                                                                                      \
    {                                                                                                                  \
        .name = "world", .type = OPTION_COUNT, .field = offsetof(values, world), .value = "W",                         \
        .help = "number of ranks; divides the batch", .rare = true, .min = 1, .max = LEAT_MAX_SAMPLES, .needs = "rank" \
    }
/* Rows of options that choose rows of a step: --balance and --row. */
#define COMMANDS_DEALT(values)                                                                                         \
    COMMANDS_BALANCE(values),                                                                                          \
    {                                                                                                                  \
        .name = "row", .type = OPTION_TEXT, .field = offsetof(values, rows), .value = "N[:M]",                         \
        .help = "only row N, or rows N to M - 1, of the batch (or of the rank's part of it)", .rare = true,            \
        .needs = "step"                                                                                                \
    }
#define COMMANDS_TOKENIZER_SPEC(values, ...)                                                                           \
    COMMANDS_TOKENIZER(values, "the tokenizer: gpt2, o200k_base, ..., a file or folder, or a model's name",            \
                       .more =                                                                                         \
                           "SPEC is bytes or one of tiktoken's names: gpt2, cl100k_base, o200k_base and "              \
                           "others; a path to a tokenizer.json, *.tiktoken, tekken.json, tokenizer.model, "            \
                           "or vocab.json beside merges.txt (each also with .zst), or to a folder that holds "         \
                           "one; or a Hugging Face model, ORG/NAME[@REVISION], fetched unless it is in the cache.",    \
                       __VA_ARGS__)
#define COMMANDS_PATTERN(values, ...)                                                                                  \
    {                                                                                                                  \
        .name = "pattern", .type = OPTION_TEXT, .field = offsetof(values, pattern), .value = "NAME",                   \
        .help = "the pattern of a *.tiktoken file whose name does not say it", .offered = commands_patterns,           \
        .rare = true, .needs = "tokenizer", __VA_ARGS__                                                                \
    }
#define COMMANDS_PROGRESS(values)                                                                                      \
    {                                                                                                                  \
        .name = "progress", .type = OPTION_CHOICE, .field = offsetof(values, progress), .value = "auto|never",         \
        .standard = "auto", .help = "whether to show a bar, or lines where there is no terminal",                      \
        .more = "auto shows a bar on a terminal, and a line every 30 s elsewhere.", .rare = true,                      \
        .choices = progress_modes                                                                                      \
    }

/* Reads a whole string of an index (an input's path, a document's id) with `read`. Returns memory of the caller's,
 * with a NUL at the end; NULL on failure, with `err` filled. */
typedef enum leat_status commands_string_call(const struct leat_dataset *d, uint64_t number, char *text,
                                              size_t capacity, uint64_t *bytes, struct leat_error *err);
char *commands_string(commands_string_call *call, const struct leat_dataset *d, uint64_t number, uint64_t *bytes,
                      struct leat_error *err);

/* Returns a name as outputs have it: a URL loses its secrets (leat_show_name()). */
#define COMMANDS_NAME 4096u
const char *commands_shown(const char *name, char shown[COMMANDS_NAME]);

/* Opens a dataset by leat_dataset_open(). Reports it when a file server is waited for, now and when the dataset is
 * read. */
enum leat_status commands_open(struct leat_dataset **d, const char *name, struct leat_error *err);

/* Reads tokens by leat_dataset_read_u32(), after checking the pages that have hashes. */
enum leat_status commands_read_checked(const struct leat_dataset *d, uint64_t first, uint64_t count, uint32_t *ids,
                                       struct leat_error *err);

/* Gets the stretches of a sample's row as it is shown (leat_plan_row()); the caller frees *stretches. */
enum leat_status commands_row(const struct leat_plan *plan, const struct leat_sample *sample,
                              struct leat_stretch **stretches, uint64_t *count, struct leat_error *err);

/* The origin of a document, with its strings, which the caller frees; NULL: none is stored. */
struct commands_origin {
    struct leat_origin at;
    char *path, *id;
    uint64_t path_bytes, id_bytes;
    bool table; /* true if the input is a Parquet file by its name: then the offset is a row, and the line a row
                   group */
};
enum leat_status commands_origin(const struct leat_dataset *d, uint64_t document, struct commands_origin *origin,
                                 struct leat_error *err);
void commands_origin_free(struct commands_origin *origin);

/*
 * Gets the creation time for a dataset: SOURCE_DATE_EPOCH of the environment, as in reproducible builds; without it
 * 0 (not recorded), so that the same content has the same bytes. Returns false, with a message, if it is not a
 * number.
 */
bool commands_created(uint64_t *created);

/* Opens the tokenizer of --tokenizer and --pattern. Returns CLI_DONE, and *t is the caller's; otherwise the exit
 * code, after a message, and *t is NULL. */
int commands_tokenizer(const struct command *self, struct leat_tokenizer **t, const char *spec, const char *pattern);

/* Finds the token of --`option`: by its number, or, if there is a tokenizer, as it is written; "none" is LEAT_NONE.
 * Returns false, with a message, if it is neither. */
bool commands_token(const struct command *self, const struct leat_tokenizer *t, const char *option, const char *text,
                    uint64_t *token);

/* Prints the message of an error of a run in the folder `name` (leat/run.h), with the command that goes on. Returns the
 * exit code. */
int commands_run_failed(const char *name, const struct leat_error *err);

/* The progress function of a call that counts bytes; `context` is a struct progress. Ctrl-C stops the call. */
uint32_t commands_on_progress(void *context, uint64_t done, uint64_t total);

/* Prints ids to standard output, with a space before each but the first; before that one, too, if `spaced` is true. */
void commands_print_ids(const uint32_t *ids, size_t count, bool spaced);

/* Print how much of so many tokens training learns, of conversations or not, on a line that begins with `before`; and
 * write it as a member. `value` is that of the metadata LEARNED_KEY; "" says nothing, or null. */
void commands_say_learned(const char *before, const char *value, uint64_t tokens, bool chat);
void commands_learned_json(struct json *j, const char *value);

/* ---- Damaged inputs ---------------------------------------------------------------------------------------------- */

/* The inputs that were cut off or broken, as `leat pack` and `leat info` show them, for people and as JSON. */

#define DAMAGE_LINE  700 /* bytes of a line */
#define DAMAGE_SHOWN 20  /* the most lines that are shown; JSON has all */

/* The text for an input that was read to its end. */
#define DAMAGE_MISSING "what should follow is missing"

/* Writes "2 inputs were cut off or broken, and packed as far as they were readable". */
void damage_say_all(const struct damage_list *l, char *text, size_t room);

/* Writes "a.gz, at byte 1,200: it ends in the middle of a gzip member; what should follow is missing"; for an input
 * that an older version did not name, its sentence. */
void damage_say_one(const struct damage *d, char *text, size_t room);

/* The member `damaged`. */
void damage_json(const struct damage_list *l, struct json *j);

#endif
