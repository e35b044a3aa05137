/*
 * outputs.h: the datasets that `leat pack` and `leat merge` write: the options --shuffle, --dedup and --split and what
 * they become for leat_merge(); what a run made of the values of a field (--by); and what an earlier run left beside
 * them.
 */
#ifndef LEAT_COMMANDS_OUTPUTS_H
#define LEAT_COMMANDS_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "cli/options.h"
#include "leat_pack.h"

/* ---- Shuffled, deduplicated, split ------------------------------------------------------------------------------- */

#define ARRANGE_SPLITS 64u

/* Zero at first. */
struct arrange_seed {
    bool given;
    uint64_t value;
};

/* Splits of --split. All members are zero at first; arrange_splits_free() frees them. */
struct arrange_splits {
    struct leat_split items[ARRANGE_SPLITS];
    size_t count;
    char *text;   /* text that the items point into */
    bool folders; /* true if a split's dataset is FOLDER/NAME/FILE for OUTPUT FOLDER/FILE; false if it is OUTPUT.NAME */
};

/* Functions for rows of type OPTION_CUSTOM, with these structs as their fields. */
bool arrange_seed_parse(void *field, const char *text, const char **why);
bool arrange_splits_parse(void *field, const char *text, const char **why);
void arrange_splits_free(struct arrange_splits *splits);

#define OUTPUTS_SHUFFLE_HELP "shuffle all documents, in the order that this seed gives"
#define OUTPUTS_DEDUP_HELP   "keep only the first of documents with the same text"
#define OUTPUTS_SPLIT_HELP   "also write datasets OUT.NAME with a part of the documents: valid=0.01,test=0.01"
#define OUTPUTS_SPLIT_MORE   "Documents are chosen by a hash of their text; OUT gets the rest."

/* Write what was done: to the JSON object that is open, or as lines for people. */
void arrange_report_json(struct json *j, const char *output, const struct arrange_splits *splits,
                         const struct leat_merge_report *report);
void arrange_report_print(const char *output, const struct arrange_splits *splits, bool dedup,
                          const struct leat_merge_report *report);

/* ---- The datasets of --by ---------------------------------------------------------------------------------------- */

/* The outputs of --by. All members are zero at first. */
struct by_outputs {
    struct by_output *items;
    size_t count, room;
    bool incomplete; /* true if there was no memory for one of them */
};

void by_outputs_add(struct by_outputs *list, const struct leat_by_output *output);
void by_outputs_free(struct by_outputs *list);

/* Prints a line for each, as the splits have. */
void by_outputs_print(const struct by_outputs *list);

/* Prints the command for a plan of all outputs but the splits, weighted by their tokens. */
void by_outputs_print_sources(const struct by_outputs *list);

/* Returns the exit code of a program that would end with `code`; CLI_FAILED, with a message, if not all outputs
 * could be listed. */
int by_outputs_code(const struct by_outputs *list, int code);

/* Writes the member `outputs` of the object that is open. */
void by_outputs_json(struct json *j, const struct by_outputs *list);

/* ---- What an earlier run left ------------------------------------------------------------------------------------ */

/*
 * Warnings of datasets of splits and values that an earlier run of the same name made, and one with --force has not
 * replaced. They are not removed, since they may still be needed; but validation data of the old dataset may be
 * among the training data of the new one.
 */

/* Warns of datasets OUT.NAME whose metadata say that they are, or were made of, the split NAME or documents of a
 * value. Those that the run has written (its splits, or with `by` its outputs) are left out. */
void leftovers_warn(const char *output, const struct arrange_splits *splits, const struct by_outputs *outputs, bool by);

/*
 * Names unfinished files of a run that failed, or of an earlier one that was killed, after the message of `err`:
 * those of OUT + a pattern of the list (NULL at its end), with the command that removes them. `then` says what the
 * same command makes of them. Prints nothing if there is none, or if the message is about them.
 */
void leftovers_say(const char *output, const char *const *patterns, const char *then, const struct leat_error *err);

#endif
