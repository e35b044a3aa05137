/*
 * plan_options.h: the options of a plan of samples, the same for every command that takes one. A command's struct of
 * values has a struct plan_options as its first member, filled by PLAN_OPTIONS_INIT, and its table of options has
 * PLAN_OPTION_ROWS.
 */
#ifndef LEAT_CLI_PLAN_OPTIONS_H
#define LEAT_CLI_PLAN_OPTIONS_H

#include <stdint.h>

#include "cache_options.h"
#include "command.h"
#include "options.h"

struct plan_options {
    struct option_list sources, at, skips;
    uint64_t seq_len, base_len, seed, epochs, samples;                        /* LEAT_NONE: not given */
    uint64_t max_per_row, min_length, max_length, cut_length, align, overlap; /* likewise */
    const char *split, *use, *surplus, *plan;                                 /* NULL: not given */
    unsigned order;          /* enum leat_order, or PLAN_ORDER_NOT_GIVEN */
    enum leat_access access; /* to datasets; no option of its own */
};

#define PLAN_ORDER_NOT_GIVEN 9u
#define PLAN_OPTIONS_INIT                                                                                              \
    {                                                                                                                  \
        .seq_len = LEAT_NONE, .base_len = LEAT_NONE, .seed = LEAT_NONE, .epochs = LEAT_NONE, .samples = LEAT_NONE,     \
        .max_per_row = LEAT_NONE, .min_length = LEAT_NONE, .max_length = LEAT_NONE, .cut_length = LEAT_NONE,           \
        .align = LEAT_NONE, .overlap = LEAT_NONE, .order = PLAN_ORDER_NOT_GIVEN                                        \
    }

extern const char *const plan_option_orders[];

/* Rows of a table of options. Their fields are offsets in struct plan_options, which begins the struct of values. */
#define PLAN_OPTION(option, kind, member, shown)                                                                       \
    .name = option, .type = kind, .field = offsetof(struct plan_options, member), .value = shown
#define PLAN_OPTION_ROWS                                                                                               \
    { PLAN_OPTION("source", OPTION_LIST, sources, "NAME[:WEIGHT[:EPOCHS]]"),                                           \
      .help = "a dataset, a folder of datasets or @FILE with one dataset per line; its weight, a decimal "             \
              "(default 1); and the limit of passes over it, or none. Read from the right: for a dataset called a:2, " \
              "write a:2:1:none. Give it once per source",                                                             \
      .path = true },                                                                                                  \
        { PLAN_OPTION("seq-len", OPTION_COUNT, seq_len, "L"), .help = "tokens per sample", .min = 1,                   \
          .max = 1u << 30 },                                                                                           \
        { PLAN_OPTION("base-len", OPTION_COUNT, base_len, "LB"), .standard = "the sequence length",                    \
          .help = "tokens per block, a common multiple of all lengths if --at changes them", .min = 1,                 \
          .max = 1u << 30 },                                                                                           \
        { PLAN_OPTION("seed", OPTION_COUNT, seed, "S"), .standard = "0; order megatron: 1234",                         \
          .help = "each seed gives another order", .max = LEAT_NONE - 1 },                                             \
        { PLAN_OPTION("split", OPTION_TEXT, split, "NAME=FRACTION,..."), .once = true,                                 \
          .help = "cut each dataset into contiguous ranges at starts of documents, as in train=0.99,valid=0.01; "      \
                  "order megatron: Megatron's, as in 969,30,1" },                                                      \
        { PLAN_OPTION("use", OPTION_TEXT, use, "NAME"), .help = "the range of the split that is used" },               \
        { PLAN_OPTION("at", OPTION_LIST, at, "N:WEIGHTS[:len=L]"),                                                     \
          .help = "other weights from sample N on, in the order of the sources, as in 100000:0.5,0.3,0.2; and "        \
                  "another length. Give it once per change" },                                                         \
        { PLAN_OPTION("skip", OPTION_LIST, skips, "A:B"),                                                              \
          .help = "leave out samples A to B - 1; may be given several times" },                                        \
        { PLAN_OPTION("order", OPTION_CHOICE, order, "ORDER"), .standard = "shuffled",                                 \
          .help = "shuffled or sequential: windows of L tokens, shuffled or as the files have them; documents or "     \
                  "documents-sequential: one whole document per row, of at most L tokens and one more; fit: whole "    \
                  "documents put together to rows of L, others in each epoch, longer ones cut; megatron: "             \
                  "megatron-core's samples, each of them, by its own --seed, --split, --use train, valid or test, "    \
                  "and --samples",                                                                                     \
          .choices = plan_option_orders },                                                                             \
        { PLAN_OPTION("epochs", OPTION_COUNT, epochs, "E"), .standard = "no end",                                      \
          .help = "end after at most this many passes over each source", .min = 1, .max = LEAT_NONE - 1 },             \
        { PLAN_OPTION("max-per-row", OPTION_COUNT, max_per_row, "K"),                                                  \
          .help = "for --order fit: at most so many documents, or parts of longer ones, in a row",                     \
          .max = LEAT_NONE - 1 },                                                                                      \
        { PLAN_OPTION("min-length", OPTION_COUNT, min_length, "N"),                                                    \
          .help = "for --order fit: leave out documents of fewer tokens", .max = LEAT_NONE - 1 },                      \
        { PLAN_OPTION("max-length", OPTION_COUNT, max_length, "N"),                                                    \
          .help = "for --order fit: leave out documents of more tokens", .max = LEAT_NONE - 1 },                       \
        { PLAN_OPTION("cut-length", OPTION_COUNT, cut_length, "N"),                                                    \
          .help = "for --order fit: use only the first N tokens of longer documents", .max = LEAT_NONE - 1 },          \
        { PLAN_OPTION("align", OPTION_COUNT, align, "N"),                                                              \
          .help = "for --order fit: documents begin at multiples of N in a row, with padding between them; N divides " \
                  "the length",                                                                                        \
          .max = LEAT_NONE - 1 },                                                                                      \
        { PLAN_OPTION("overlap", OPTION_COUNT, overlap, "K"),                                                          \
          .help = "for --order fit: a further row of a long document begins with the last K predictions of the row "   \
                  "before, as context without loss",                                                                   \
          .max = LEAT_NONE - 1 },                                                                                      \
        { PLAN_OPTION("mid-level-dataset-surplus", OPTION_TEXT, surplus, "X"), .standard = "0.005",                    \
          .help = "order megatron: its option of that name" },                                                         \
        { PLAN_OPTION("plan", OPTION_TEXT, plan, "FILE"),                                                              \
          .help = "read all of these from a plan's text, as leat order --print-plan writes it; only --skip and, "      \
                  "if the plan has no end, --epochs may be added",                                                     \
          .path = true },                                                                                              \
        CACHE_OPTION_ROWS

/* One more, but for `leat trace`, whose --samples A:B says which samples: it reads this of a plan's text only. */
#define PLAN_OPTION_SAMPLES                                                                                            \
    {                                                                                                                  \
        PLAN_OPTION("samples", OPTION_COUNT, samples, "N"),                                                            \
            .help = "order megatron: the number of samples to build for, Megatron's train-samples; needed with "       \
                    "weights",                                                                                         \
            .min = 1, .max = LEAT_NONE - 1                                                                             \
    }

/* What the help of each command with these options says about them. */
#define PLAN_OPTIONS_NOTES                                                                                             \
    "A plan (sources, weights, lengths, a seed) fixes which tokens sample n has. docs/ORDER.md has the rules."

/*
 * Opens the plan. True: *plan is the caller's, until leat_plan_close(). False: the error has been printed, and *code is
 * the exit code.
 */
bool plan_options_open(const struct command *c, const struct plan_options *o, struct leat_plan **plan, int *code);
/* The name of an option that was given, for commands that also do without a plan; NULL: none. */
const char *plan_options_given(const struct plan_options *o);
void plan_options_free(struct plan_options *o);

/* Sets the positions [*first, *end) of step `number`: after the rows of all steps before it. False, after a message:
 * the schedule is none, or the step lies too far. */
bool plan_steps_find(const struct command *self, const char *schedule, uint64_t number, uint64_t *first, uint64_t *end);

#endif
