/*
 * command.h: a program of several commands, as data: what each is called, what it is for, what it takes. Dispatch,
 * --help, manual pages and shell completion all read these structs.
 */
#ifndef LEAT_TOKENIZE_TOOLS_COMMAND_H
#define LEAT_TOKENIZE_TOOLS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "cli.h"
#include "options.h"

#define COMMAND_ANY_WORDS ((size_t)-1)

struct command {
    const char *name;       /* NULL ends the table */
    const char *purpose;    /* one line, without a stop */
    const char *words;      /* the words after the options, as the usage line shows them: "NAME" */
    const char *words_help; /* what these are, a paragraph: "NAME is ..."; NULL: nothing to say */
    const char *words_more; /* what else, in the manual page; NULL: nothing */
    size_t min_words, max_words;
    const char *notes;      /* a further paragraph of --help; NULL: none */
    const char *notes_more; /* another one of the manual page; NULL: none */
    const char *example;    /* whole lines; no newline at the end */
    const struct option_row *options;
    const char *program; /* another one, to which the words go as its command line; NULL: none */
    /* argv[0] is the command's name. Returns an exit code. */
    int (*run)(const struct command *self, int argc, char **argv);
};

struct program {
    const char *name;
    const char *purpose;
    const struct command *commands;
    const char *notes;
    const char *example;
};

/* The main() of a program: finds the command and runs it; answers --help, --version, `help COMMAND`, --manual,
 * --completion, and mistakes. */
int program_main(const struct program *program, int argc, char **argv);

/*
 * Reads a command's arguments into `values` (filled with the defaults). False: the command ends now with *code, since
 * help was asked for or something is wrong, which has been said. True: the caller frees `parsed`.
 */
bool command_parse(const struct command *c, int argc, char **argv, void *values, struct options_parsed *parsed,
                   int *code);

/* Says what is wrong with the command line, points to --help, and returns CLI_WRONG. */
int command_wrong(const struct command *c, const char *format, ...) CLI_PRINTF(2, 3);

/* A page of section 1, in roff: of the program, or (not NULL) of one of its commands. */
void manual_print(const struct program *program, const struct command *c);

/* Prints a script that completes command lines in a shell, "bash" or "zsh"; returns false for another one. */
bool completion_print(const struct program *program, const char *shell);

/* Prints the version of a program and a line per library that a build can have (scripts/libraries.mk), whether it is
 * in; or all of it as one JSON object. */
void with_print(const char *program);
void with_print_json(const char *program);

#endif
