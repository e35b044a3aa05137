/*
 * commands.h: the commands of leat. Each lives in a file of its own, which holds its table of options, its row of the
 * table of commands, and its work; all are plain clients of leat.h and leat_pack.h.
 */
#ifndef LEAT_TOKENIZE_TOOLS_COMMANDS_H
#define LEAT_TOKENIZE_TOOLS_COMMANDS_H

#include "cli/command.h"

/* Descriptions, without which the words of each command's help would be said several times. */
#define COMMANDS_NAME_HELP                                                                                             \
    "NAME is a dataset (NAME, NAME.leat or NAME.tokens), a folder of datasets, or @FILE with one dataset a line; "     \
    "several are joined in order."

int cmd_info(const struct command *self, int argc, char **argv);
int cmd_verify(const struct command *self, int argc, char **argv);
int cmd_cat(const struct command *self, int argc, char **argv);
int cmd_find(const struct command *self, int argc, char **argv);
int cmd_merge(const struct command *self, int argc, char **argv);

extern const struct option_row info_options[];
extern const struct option_row verify_options[];
extern const struct option_row cat_options[];
extern const struct option_row find_options[];
extern const struct option_row merge_options[];

/*
 * The string of an index that `read` copies (an input's path, a document's id), whole: one allocation, the caller's,
 * with a NUL behind it. NULL on failure, with `err` filled.
 */
typedef enum leat_status commands_string_call(const struct leat_dataset *d, uint64_t number, char *text,
                                              size_t capacity, uint64_t *bytes, struct leat_error *err);
char *commands_string(commands_string_call *call, const struct leat_dataset *d, uint64_t number, uint64_t *bytes,
                      struct leat_error *err);

/*
 * The time that a dataset says it was created: SOURCE_DATE_EPOCH of the environment, as reproducible builds have it; 0
 * (not recorded) without it, so that the same content has the same bytes. False, with a message, if it is no number.
 */
bool commands_created(uint64_t *created);

/* Prints a string of an index to a terminal or pipe: bytes that would move the cursor or end the line become '?'. */
void commands_print_safe(const char *text, uint64_t bytes);

#endif
