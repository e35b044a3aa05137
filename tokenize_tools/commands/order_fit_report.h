/* order_fit_report.h: `leat order --fit-report`: what rows of whole documents are like, length by length. */
#ifndef LEAT_TOKENIZE_TOOLS_ORDER_FIT_REPORT_H
#define LEAT_TOKENIZE_TOOLS_ORDER_FIT_REPORT_H

#include <stdbool.h>

#include "leat.h"

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
