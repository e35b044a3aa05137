/*
 * manual.h: a program's manual page and its completions for bash, made from the tables that --help reads.
 */
#ifndef LEAT_CLI_MANUAL_H
#define LEAT_CLI_MANUAL_H

#include "command.h"

/* The page of section 1, in roff. */
void manual_print(const struct program *program);

/* A script for bash. */
void completion_print(const struct program *program);

#endif
