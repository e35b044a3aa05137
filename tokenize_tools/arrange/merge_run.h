/* merge_run.h: a merge while it goes on, for leat_merge() and for the steps of a part (part_shuffle.c). */
#ifndef LEAT_ARRANGE_MERGE_RUN_H
#define LEAT_ARRANGE_MERGE_RUN_H

#include "document_reader.h"
#include "duplicates.h"
#include "merge_options.h"
#include "merge_parts.h"
#include "outputs.h"
#include "pace.h"
#include "shuffle.h"
#include "splits/split_fractions.h"

struct merge {
    struct leat_merge_options options;
    char *temporary; /* temporary files lie beside this path */
    struct merge_parts parts;
    const char *const *same;   /* files of leat_part_duplicates(); NULL: duplicates are looked for here */
    uint64_t same_count, part; /* part: of a run, from 1; 0: this is no step of one */
    const char *field;         /* that the documents are divided by, or carry the values of; NULL: none */
    struct outputs outputs;
    struct split_fractions splits;
    struct duplicates duplicates;
    struct shuffle shuffle;
    struct document_reader reader;
    struct pace pace;
    /* Gets each document that stays, and the number of its output; it reads the tokens, or does not. */
    enum leat_status (*take)(struct merge *m, const struct document *d, size_t output, struct leat_error *err);
    void *context; /* take's */
};

/* Reads the options and the report. On failure too merge_end() must follow, if m->temporary is set. */
enum leat_status merge_begin(struct merge *m, struct leat_merge_report *full, const char *output,
                             const struct leat_merge_options *options, const struct leat_merge_report *report,
                             struct leat_error *err);
void merge_end(struct merge *m);

enum leat_status merge_open_parts(struct merge *m, const char *const *names, size_t count, struct leat_error *err);

/* The same for one dataset, whose documents are not to be divided by values. */
enum leat_status merge_open_part(struct merge *m, const char *dataset, struct leat_error *err);

/* Opens the outputs of a part: `count` names. */
enum leat_status merge_open_outputs(struct merge *m, const char *const *names, size_t count, struct leat_error *err);

/* If duplicates are to go: finds out which. */
enum leat_status merge_take_duplicates(struct merge *m, uint64_t memory, struct leat_error *err);

/* Takes all documents that stay, in order. */
enum leat_status merge_documents(struct merge *m, struct leat_error *err);

/* What the documents do not carry; the inputs are joined before. */
enum leat_status merge_set_metadata(struct merge *m, struct leat_error *err);

#endif
