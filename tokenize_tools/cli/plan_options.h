/*
 * plan_options.h: the options of a plan of samples, the same for every command that takes one. A command's struct of
 * values has a struct plan_options as its first member, filled by PLAN_OPTIONS_INIT, and its table of options has
 * PLAN_OPTION_ROWS after its own.
 */
#ifndef LEAT_CLI_PLAN_OPTIONS_H
#define LEAT_CLI_PLAN_OPTIONS_H

#include <stdint.h>

#include "cache_options.h"
#include "command.h"
#include "options.h"

struct plan_options {
    struct option_list sources, fits, at, skips;
    uint64_t seq_len, base_len, seed, epochs, samples;                        /* LEAT_NONE: not given */
    uint64_t max_per_row, min_length, max_length, cut_length, align, overlap; /* likewise */
    uint64_t max_tokens, max_rows, pool, stretch, mix, lanes;                 /* likewise */
    const char *split, *use, *surplus, *fim, *plan, *change, *bans;           /* NULL: not given */
    unsigned order;    /* enum leat_order, or PLAN_ORDER_NOT_GIVEN */
    unsigned stop;     /* enum leat_stop, or PLAN_ORDER_NOT_GIVEN */
    bool begin, whole; /* false: not given */
};

#define PLAN_ORDER_NOT_GIVEN 9u
#define PLAN_OPTIONS_INIT                                                                                              \
    {                                                                                                                  \
        .seq_len = LEAT_NONE, .base_len = LEAT_NONE, .seed = LEAT_NONE, .epochs = LEAT_NONE, .samples = LEAT_NONE,     \
        .max_per_row = LEAT_NONE, .min_length = LEAT_NONE, .max_length = LEAT_NONE, .cut_length = LEAT_NONE,           \
        .align = LEAT_NONE, .overlap = LEAT_NONE, .max_tokens = LEAT_NONE, .max_rows = LEAT_NONE, .pool = LEAT_NONE,   \
        .stretch = LEAT_NONE, .mix = LEAT_NONE, .lanes = LEAT_NONE, .order = PLAN_ORDER_NOT_GIVEN,                     \
        .stop = PLAN_ORDER_NOT_GIVEN                                                                                   \
    }

extern const char *const plan_option_orders[], *const plan_option_stops[];
extern const char *const plan_option_balances[]; /* enum leat_balance */

/* Rows of a table of options. Their fields are offsets in struct plan_options, which begins the struct of values. */
#define PLAN_OPTION(option, kind, member, shown)                                                                       \
    .name = option, .type = kind, .field = offsetof(struct plan_options, member), .value = shown
#define PLAN_OPTION_FIT(option, member, shown)                                                                         \
    PLAN_OPTION(option, OPTION_COUNT, member, shown), .max = LEAT_NONE - 1, .rare = true
#define PLAN_OPTION_ROWS                                                                                               \
    { PLAN_OPTION("plan", OPTION_TEXT, plan, "FILE"), .group = "The plan",                                             \
      .help = "read the plan from its text, as leat order --print-plan writes it",                                     \
      .more =                                                                                                          \
          "Of the options below, only --change, --skip, --bans and, if the plan has no end, --epochs may be added.",   \
      .path = true },                                                                                                  \
        { PLAN_OPTION("change", OPTION_TEXT, change, "FILE"), .rare = true,                                            \
          .help = "change the plan as this file says, such as a mixture's log",                                        \
          .more = "Its first line is: leat changes 1. A line at N:WEIGHTS[:len=L] changes the plan from sample N on; " \
                  "weights stand in the order of the sources, and an empty one stays as it is. Lines source "          \
                  "NAME[:W[:E]] before it add sources.",                                                               \
          .path = true },                                                                                              \
        { PLAN_OPTION("source", OPTION_LIST, sources, "NAME[:W[:E]]"),                                                 \
          .help = "a dataset, its weight, its limit of epochs; repeatable",                                            \
          .more = "NAME is a dataset, a folder of datasets, @FILE with one dataset per line, or a URL (" CACHE_SCHEMES \
                  "); W, the weight, is a decimal (1 if not given); E is the most passes over it, or "                 \
                  "none. It is read from the right: for a dataset called a:2, write a:2:1:none.",                      \
          .path = true },                                                                                              \
        { PLAN_OPTION("seq-len", OPTION_COUNT, seq_len, "L"),                                                          \
          .help = "tokens per sample",                                                                                 \
          .length = true,                                                                                              \
          .more = "8Ki is 8192, 8K is 8000.",                                                                          \
          .min = 1,                                                                                                    \
          .max = 1u << 30 },                                                                                           \
        { PLAN_OPTION("seed", OPTION_COUNT, seed, "S"), .standard = "0; order megatron: 1234",                         \
          .help = "each seed gives another order", .max = LEAT_NONE - 1 },                                             \
        { PLAN_OPTION("order", OPTION_CHOICE, order, "ORDER"), .standard = "shuffled",                                 \
          .help = "shuffled, sequential, documents[-sequential], fit, megatron",                                       \
          .more = "shuffled and sequential: windows of L tokens, shuffled or as the files have them. documents and "   \
                  "documents-sequential: one whole document per row, of at most L tokens and one more. fit: whole "    \
                  "documents put together to rows of L, in other ways in each epoch; longer ones are cut. megatron: "  \
                  "megatron-core's samples, each of them, by its own --seed, --split, --use train, valid or test, "    \
                  "and --samples.",                                                                                    \
          .choices = plan_option_orders },                                                                             \
        { PLAN_OPTION("base-len", OPTION_COUNT, base_len, "LB"),                                                       \
          .standard = "the sequence length",                                                                           \
          .help = "tokens per block: a common multiple of all lengths",                                                \
          .more = "It is needed if --at changes them.",                                                                \
          .length = true,                                                                                              \
          .rare = true,                                                                                                \
          .min = 1,                                                                                                    \
          .max = 1u << 30 },                                                                                           \
        { PLAN_OPTION("split", OPTION_TEXT, split, "NAME=SHARE,..."), .once = true, .rare = true,                      \
          .help = "cut each dataset into ranges of documents: train=0.99,valid=0.01",                                  \
          .more = "The ranges are contiguous. With the order megatron: Megatron's split, as in 969,30,1." },           \
        { PLAN_OPTION("use", OPTION_TEXT, use, "NAME"), .help = "the range of --split that is used", .rare = true },   \
        { PLAN_OPTION("at", OPTION_LIST, at, "N:WEIGHTS[:len=L]"), .rare = true,                                       \
          .help = "from sample N on, other weights, or another length; repeatable",                                    \
          .more = "The weights stand in the order of the sources: 100000:0.5,0.3,0.2." },                              \
        { PLAN_OPTION("skip", OPTION_LIST, skips, "A:B"), .rare = true,                                                \
          .help = "leave out samples A to B - 1; repeatable" },                                                        \
        { PLAN_OPTION("fim", OPTION_TEXT, fim, "RATE,SPM,PRE,MID,SUF"), .once = true, .rare = true,                    \
          .help = "fill-in-the-middle: cut documents in three",                                                        \
          .more = "RATE is the share that is cut, SPM that of these with the suffix first. PRE, MID and SUF are the "  \
                  "tokens around "                                                                                     \
                  "the parts: ids, or names such as <|fim_prefix|> that the tokenizer of the first source has." },     \
        { PLAN_OPTION("bans", OPTION_TEXT, bans, "FILE"), .rare = true, .path = true,                                  \
          .help = "no loss for the documents in FILE, which leat trace --ban writes",                                  \
          .more =                                                                                                      \
              "Its lines are those of a plan: ban 5000:web:3,7,10-19 bans documents of the source web from sample "    \
              "5000 on." },                                                                                            \
        { PLAN_OPTION("epochs", OPTION_COUNT, epochs, "E"),                                                            \
          .standard = "no end",                                                                                        \
          .rare = true,                                                                                                \
          .help = "end after at most this many passes over each source",                                               \
          .min = 1,                                                                                                    \
          .max = LEAT_NONE - 1 },                                                                                      \
        { PLAN_OPTION("stop", OPTION_CHOICE, stop, "all|first"), .standard = "all", .rare = true,                      \
          .help = "end when all sources have had their epochs, or the first", .choices = plan_option_stops },          \
        { PLAN_OPTION_FIT("max-per-row", max_per_row, "K"), .group = "Order fit",                                      \
          .help = "at most so many documents, or parts of longer ones, in a row" },                                    \
        { PLAN_OPTION_FIT("min-length", min_length, "N"), .help = "leave out documents of fewer tokens" },             \
        { PLAN_OPTION_FIT("max-length", max_length, "N"), .help = "leave out documents of more tokens" },              \
        { PLAN_OPTION_FIT("cut-length", cut_length, "N"), .help = "use only the first N tokens of longer documents" }, \
        { PLAN_OPTION_FIT("align", align, "N"), .help = "documents start at multiples of N in a row",                  \
          .more = "There is padding between them. N divides the length." },                                            \
        { PLAN_OPTION_FIT("overlap", overlap, "K"),                                                                    \
          .help = "a document goes on in a further row after its last K predictions",                                  \
          .more = "These are context, and have no loss there." },                                                      \
        { PLAN_OPTION("begin", OPTION_FLAG, begin, NULL), .rare = true,                                                \
          .help = "what continues a document in a further row begins with the begin token",                            \
          .more = "It takes the place of the token there, which the row before has as its last label." },              \
        { PLAN_OPTION("whole", OPTION_FLAG, whole, NULL), .rare = true,                                                \
          .help = "cut no document: leave out those that a row does not hold" },                                       \
        { PLAN_OPTION("fit", OPTION_LIST, fits, "N:RULE=VALUE,..."), .rare = true,                                     \
          .help = "rules of source N alone (the first is 0); repeatable",                                              \
          .more = "RULE is max-per-row, min-length, max-length, cut-length or whole, and takes the place of the "      \
                  "option of that name: --fit 1:whole,max-length=8Ki." },                                              \
        { PLAN_OPTION_FIT("max-tokens", max_tokens, "N"), .group = "Order documents",                                  \
          .help = "batches of documents of like lengths, of at most N tokens with padding",                            \
          .more = "That is rows times tokens of the longest row." },                                                   \
        { PLAN_OPTION_FIT("max-rows", max_rows, "R"), .help = "at most so many rows in a batch of --max-tokens" },     \
        { PLAN_OPTION_FIT("pool", pool, "P"), .standard = "4096",                                                      \
          .help = "how many samples are put together by length" },                                                     \
        { PLAN_OPTION("stretch", OPTION_SIZE, stretch, "SIZE"),                                                        \
          .rare = true,                                                                                                \
          .group = "Order shuffled",                                                                                   \
          .help = "read stretches of so many bytes: for servers and slow disks",                                       \
          .more = "Stretches are shuffled, and the windows of --mix of them are shuffled together: 8MiB and a mix of " \
                  "64 read 512 MiB in large pieces. docs/object-storage.md says what it costs in randomness.",         \
          .min = 1,                                                                                                    \
          .max = LEAT_NONE - 1 },                                                                                      \
        { PLAN_OPTION("mix", OPTION_COUNT, mix, "N"),         .rare = true, .standard = "64",                          \
          .help = "how many stretches are shuffled together", .min = 1,     .max = LEAT_NONE - 1 },                    \
        { PLAN_OPTION("lanes", OPTION_COUNT, lanes, "C"),                                                              \
          .rare = true,                                                                                                \
          .standard = "1",                                                                                             \
          .help = "streams of stretches that take turns, a node's or more for each node",                              \
          .min = 1,                                                                                                    \
          .max = 65536 },                                                                                              \
    {                                                                                                                  \
        PLAN_OPTION("mid-level-dataset-surplus", OPTION_TEXT, surplus, "X"),                                           \
            .standard = "0.005", .help = "Megatron's option of that name", .group = "Order megatron", .rare = true     \
    }

/* A further row for all commands but `leat trace`, whose --samples A:B says which samples: it takes this number from
 * a plan's text only. */
#define PLAN_OPTION_SAMPLES                                                                                            \
    {                                                                                                                  \
        PLAN_OPTION("samples", OPTION_COUNT, samples, "N"),                                                            \
            .rare = true, .help = "the number of samples to build for, Megatron's train-samples",                      \
            .more = "It is needed with weights.", .min = 1, .max = LEAT_NONE - 1                                       \
    }

/* The labels that a loader gives no loss (struct leat_loader_outputs): rows for a struct of values with a `no_loss`. */
struct no_loss {
    bool first, row_first, begin;
};
#define NO_LOSS_ROW(values, option, member)                                                                            \
    .name = option, .type = OPTION_FLAG, .field = offsetof(struct values, no_loss.member), .rare = true
#define NO_LOSS_ROWS(values)                                                                                           \
    { NO_LOSS_ROW(values, "mask-first", first), .help = "no loss for a document's first token as a label",             \
      .more = "A loader with mask_first does the same, and so on." },                                                  \
        { NO_LOSS_ROW(values, "mask-row-first", row_first), .help = "no loss for a row's first label" },               \
    {                                                                                                                  \
        NO_LOSS_ROW(values, "mask-begin", begin), .help = "no loss for begin tokens as labels"                         \
    }
const char *no_loss_given(const struct no_loss *n); /* returns the name of an option that was given; NULL: none */
void no_loss_set(const struct no_loss *n, struct leat_loader_outputs *o);

/* The text about these options in the help of each command that has them. */
#define PLAN_OPTIONS_NOTES                                                                                             \
    "A plan (sources, weights, lengths, a seed) fixes which tokens sample n has. docs/ORDER.md has the rules."

/* Opens the plan. If it returns true, *plan is the caller's, until leat_plan_close(). If false, the error has been
 * printed, and *code is the exit code. */
bool plan_options_open(const struct command *c, const struct plan_options *o, struct leat_plan **plan, int *code);
/* Returns the name of an option that was given, for commands that can do without a plan; NULL: none. */
const char *plan_options_given(const struct plan_options *o);
void plan_options_free(struct plan_options *o);

/* Reads a file of bans: each line is a ban, as in a plan's text, or blank, or a comment. Returns LEAT_E_ARGUMENT for
 * any other line. *text is the caller's to free, and NULL on failure. */
enum leat_status plan_options_read_bans(const char *path, char **text, size_t *bytes, struct leat_error *err);

/* Says in one sentence what a command line lacks for a plan, beginning with `before` ("", or an item of the caller's);
 * false: something is missing. */
bool plan_options_complete(const struct command *c, const char *before, const struct plan_options *o);

/* Returns true if the plan's batches have a number of rows, which `option` needs (NULL: not given); otherwise
 * reports that they go by tokens. */
bool plan_has_rows(const struct command *self, const struct leat_plan *plan, const char *option);

/* Sets the positions [*first, *end) of step `number`, after the rows of all steps before it. Returns false, after a
 * message, if the schedule is invalid, or the step lies too far. */
bool plan_steps_find(const struct command *self, const char *schedule, uint64_t number, uint64_t *first, uint64_t *end);

#endif
