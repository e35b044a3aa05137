/*
 * join_plan.h: what can be joined in place, and the file OUTPUT.joining, which says what is to be done and how far that
 * has come: the token files in order, the folders of their runs, and how many bytes are in their new place.
 */
#ifndef LEAT_ARRANGE_JOIN_PLAN_H
#define LEAT_ARRANGE_JOIN_PLAN_H

#include "merge_parts.h"
#include "pace.h"

#define JOINING ".joining"

struct joined_file {
    char *path;         /* of the part's tokens */
    uint64_t at, bytes; /* its place in the new file */
};

struct join {
    char *plan, *tokens, *index; /* OUTPUT.joining, and the dataset of that name */
    char *final_tokens, *final_index;
    struct joined_file *files;
    char **runs; /* folders of the runs whose parts these are */
    size_t count, run_count;
    uint64_t total, done; /* bytes; `done` are durable in their new place */
    uint64_t there;       /* bytes that were in the new file before: those after `done` are written again */
    uint64_t files_hash;  /* of the plan's lines after that with `done` */
    int fd;               /* the plan's */
    struct pace *pace;
};

/* The name of the plan, and of the dataset whose index is written first, OUTPUT.joining; the caller frees it. NULL: no
 * memory. */
char *join_plan_name(const char *output);

/* LEAT_E_UNSUPPORTED, with the reason, if the parts cannot be joined in place. */
enum leat_status join_plan_check(const char *output, const struct merge_parts *parts, struct leat_error *err);

/* When OUTPUT.joining.leat is there: writes down what is to be done. Nothing has been changed before. */
enum leat_status join_plan_write(const char *output, const struct merge_parts *parts, struct leat_error *err);

/* Opens j->plan. On failure too join_plan_free() must follow. */
enum leat_status join_plan_read(struct join *j, struct leat_error *err);

/* Says durably that this many bytes are in their new place, and durable there. */
enum leat_status join_plan_set_done(struct join *j, uint64_t done, struct leat_error *err);

/* The error if the files are not as the plan says. */
enum leat_status join_plan_damaged(const struct join *j, struct leat_error *err);

/* All but the names. */
void join_plan_free(struct join *j);

#endif
