/* by_outputs.h: the datasets that a run made of the values of a field (--by), for the summary and --json. */
#ifndef LEAT_TOKENIZE_TOOLS_BY_OUTPUTS_H
#define LEAT_TOKENIZE_TOOLS_BY_OUTPUTS_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/json.h"
#include "leat_pack.h"

/* All zero at first. */
struct by_outputs {
    struct by_output *items;
    size_t count;
    bool incomplete; /* there was no memory for one */
};

void by_outputs_add(struct by_outputs *list, const struct leat_by_output *output);
void by_outputs_free(struct by_outputs *list);

/* Whether one of them has this name. */
bool by_outputs_has(const struct by_outputs *list, const char *name);

/* Prints a line for each, as the splits have. */
void by_outputs_print(const struct by_outputs *list);

/* Prints the command for a plan of all of them, but for splits, weighted by their tokens. */
void by_outputs_print_sources(const struct by_outputs *list);

/* The exit code of a program that would end with `code`: CLI_FAILED, with a sentence, if not all could be listed. */
int by_outputs_code(const struct by_outputs *list, int code);

/* Writes the member `outputs` of the object that is open. */
void by_outputs_json(struct json *j, const struct by_outputs *list);

#endif
