/*
 * arrange_values.h: the options --shuffle, --dedup and --split, which several commands take, and what they become for
 * leat_merge().
 */
#ifndef LEAT_TOKENIZE_TOOLS_ARRANGE_VALUES_H
#define LEAT_TOKENIZE_TOOLS_ARRANGE_VALUES_H

#include <stdbool.h>

#include "cli/json.h"
#include "cli/options.h"
#include "leat_pack.h"

#define ARRANGE_SPLITS 64u

/* Zero at first. */
struct arrange_seed {
    bool given;
    uint64_t value;
};

/* Zero at first; freed by arrange_splits_free(). */
struct arrange_splits {
    struct leat_split items[ARRANGE_SPLITS];
    size_t count;
    char *text;   /* that the items point into */
    bool folders; /* of OUTPUT FOLDER/FILE, a split's dataset is FOLDER/NAME/FILE; else OUTPUT.NAME */
};

/* For rows of type OPTION_CUSTOM, with these structs as their fields. */
bool arrange_seed_parse(void *field, const char *text, const char **why);
bool arrange_splits_parse(void *field, const char *text, const char **why);
void arrange_splits_free(struct arrange_splits *splits);

#define ARRANGE_SHUFFLE_HELP "shuffle all documents, in the order that this seed gives"
#define ARRANGE_DEDUP_HELP   "keep only the first of documents with the same text"
#define ARRANGE_SPLIT_HELP                                                                                             \
    "also write datasets OUT.NAME, with documents chosen by a hash of their text; OUT gets the rest: "                 \
    "valid=0.01,test=0.01"

/* What was done: to the JSON object that is open, or as lines for people. */
void arrange_report_json(struct json *j, const char *output, const struct arrange_splits *splits,
                         const struct leat_merge_report *report);
void arrange_report_print(const char *output, const struct arrange_splits *splits, bool dedup,
                          const struct leat_merge_report *report);

#endif
