/*
 * commands.h: the commands of leat. The room: each command is a file with its table of options and its work, and a row
 * of the table in main.c. All are plain clients of leat.h and leat_pack.h.
 *
 * To add a command: cmd_NAME.c with its options and its run, a row in main.c, a test. Commands use the public headers,
 * cli/, src/base/, and to read texts corpus/.
 */
#ifndef LEAT_TOKENIZE_TOOLS_COMMANDS_H
#define LEAT_TOKENIZE_TOOLS_COMMANDS_H

#include "cli/command.h"
#include "common/common.h"

int cmd_pack(const struct command *self, int argc, char **argv);
int cmd_info(const struct command *self, int argc, char **argv);
int cmd_verify(const struct command *self, int argc, char **argv);
int cmd_cat(const struct command *self, int argc, char **argv);
int cmd_find(const struct command *self, int argc, char **argv);
int cmd_fit(const struct command *self, int argc, char **argv);
int cmd_order(const struct command *self, int argc, char **argv);
int cmd_show(const struct command *self, int argc, char **argv);
int cmd_trace(const struct command *self, int argc, char **argv);
int cmd_merge(const struct command *self, int argc, char **argv);
int cmd_adopt(const struct command *self, int argc, char **argv);
int cmd_import(const struct command *self, int argc, char **argv);
int cmd_export(const struct command *self, int argc, char **argv);
int cmd_pull(const struct command *self, int argc, char **argv);
int cmd_push(const struct command *self, int argc, char **argv);
int cmd_status(const struct command *self, int argc, char **argv);
int cmd_encode(const struct command *self, int argc, char **argv);
int cmd_decode(const struct command *self, int argc, char **argv);

extern const struct option_row pack_options[];
extern const struct option_row info_options[];
extern const struct option_row verify_options[];
extern const struct option_row cat_options[];
extern const struct option_row find_options[];
extern const struct option_row fit_options[];
extern const struct option_row order_options[];
extern const struct option_row show_options[];
extern const struct option_row trace_options[];
extern const struct option_row merge_options[];
extern const struct option_row adopt_options[];
extern const struct option_row import_options[];
extern const struct option_row export_options[];
extern const struct option_row pull_options[];
extern const struct option_row push_options[];
extern const struct option_row status_options[];
extern const struct option_row encode_options[];
extern const struct option_row decode_options[];

/* The report of `leat fit --report` and `leat order --fit-report`, in cmd_fit.c: what rows of whole documents are like,
 * length by length. */
#define FIT_REPORT_MAX_LENGTHS 16u

struct fit_report_lengths {
    uint64_t lengths[FIT_REPORT_MAX_LENGTHS];
    unsigned count; /* 0: not given */
};

/* Reads "L,L,..." for the table of options. */
bool fit_report_parse(void *field, const char *text, const char **why);

/* Prints the report on all sources of a plan together. */
enum leat_status fit_report_print(const struct leat_plan *plan, const struct fit_report_lengths *wanted, bool json,
                                  struct leat_error *err);

#endif
