/*
 * commands.h: the commands of leat. The room: each command is a file with its table of options and its work, and a row
 * of the table in main.c. All are plain clients of leat.h and leat_pack.h.
 *
 * Commands of several files have rooms below: packing/ (pack), info/ and show/; common/ is what several commands need.
 *
 * To add a command: cmd_NAME.c with its options and its run, a line here, a row in main.c, a test and a row in
 * tests/cli/damage.t. Commands use the public headers, cli/, src/base/, and to read texts corpus/.
 */
#ifndef LEAT_TOKENIZE_TOOLS_COMMANDS_H
#define LEAT_TOKENIZE_TOOLS_COMMANDS_H

#include "cli/command.h"
#include "common/common.h"

/* The declarations of a command that the table of main.c needs: its work and its options. */
#define COMMANDS_DECLARE(name)                                                                                         \
    int cmd_##name(const struct command *self, int argc, char **argv);                                                 \
    extern const struct option_row name##_options[];

COMMANDS_DECLARE(pack)
COMMANDS_DECLARE(info)
COMMANDS_DECLARE(verify)
COMMANDS_DECLARE(cat)
COMMANDS_DECLARE(find)
COMMANDS_DECLARE(fit)
COMMANDS_DECLARE(order)
COMMANDS_DECLARE(show)
COMMANDS_DECLARE(trace)
COMMANDS_DECLARE(merge)
COMMANDS_DECLARE(adopt)
COMMANDS_DECLARE(attach)
COMMANDS_DECLARE(import)
COMMANDS_DECLARE(export)
COMMANDS_DECLARE(pull)
COMMANDS_DECLARE(push)
COMMANDS_DECLARE(status)
COMMANDS_DECLARE(encode)
COMMANDS_DECLARE(decode)

/* The report of `leat fit --report` and `leat order --fit-report`, in cmd_fit.c: the properties of rows of whole
 * documents, length by length. */
#define FIT_REPORT_MAX_LENGTHS 16u

struct fit_report_lengths {
    uint64_t lengths[FIT_REPORT_MAX_LENGTHS];
    unsigned count; /* 0: not given */
};

/* Prints how random a plan's batches are (cmd_locality.c). */
enum leat_status locality_report_print(const struct leat_plan *plan, bool json, struct leat_error *err);

/* Reads "L,L,..." for the table of options. */
bool fit_report_parse(void *field, const char *text, const char **why);

/* Returns the longest of them: rules that make sense for no row are refused, whatever the others are. */
uint64_t fit_report_longest(const struct fit_report_lengths *wanted);

/* Prints the report on all sources of a plan together. */
enum leat_status fit_report_print(const struct leat_plan *plan, const struct fit_report_lengths *wanted, bool json,
                                  struct leat_error *err);

#endif
