/* command.h: a program of several commands, as data: names, purposes and options. Dispatch, --help, manual pages and
 * shell completion all read these structs. */
#ifndef LEAT_TOKENIZE_TOOLS_COMMAND_H
#define LEAT_TOKENIZE_TOOLS_COMMAND_H

#include <stdbool.h>
#include <stddef.h>

#include "cli.h"
#include "options.h"

#define COMMAND_ANY_WORDS ((size_t)-1)

struct command {
    const char *name;       /* name of the command; NULL ends the table */
    const char *purpose;    /* one line, without a full stop */
    const char *words;      /* the words after the options, as the usage line shows them: "NAME" */
    const char *words_help; /* a paragraph about these words: "NAME is ..."; NULL: none */
    const char *words_more; /* more about them in the manual page; NULL: none */
    size_t min_words, max_words;
    const char *notes;      /* a further paragraph of --help; NULL: none */
    const char *notes_more; /* a further paragraph of the manual page; NULL: none */
    const char *example;    /* whole lines, without a newline at the end */
    const struct option_row *options;
    const char *program; /* another program, which gets the words as its command line; NULL: none */
    /* Runs the command; argv[0] is its name. Returns an exit code. */
    int (*run)(const struct command *self, int argc, char **argv);
};

struct program {
    const char *name;
    const char *purpose;
    const struct command *commands;
    const char *notes;
    const char *example;
};

/* The main() of a program: finds the command and runs it. Answers --help, --version, `help COMMAND`, --manual,
 * --completion, and mistakes. */
int program_main(const struct program *program, int argc, char **argv);

/* Reads a command's arguments into `values`, which has the defaults. Returns false if the command ends now with
 * *code, since help was asked for or a mistake was reported. If it returns true, the caller frees `parsed`. */
bool command_parse(const struct command *c, int argc, char **argv, void *values, struct options_parsed *parsed,
                   int *code);

/* Reports what is wrong with the command line, points to --help, and returns CLI_WRONG. */
int command_wrong(const struct command *c, const char *format, ...) CLI_PRINTF(2, 3);

/* Prints a page of section 1, in roff, of the program, or of one of its commands if that is not NULL. */
void manual_print(const struct program *program, const struct command *c);

/* Prints a script that completes command lines in a shell, "bash" or "zsh"; returns false for any other shell. */
bool completion_print(const struct program *program, const char *shell);

/* Prints the version of a program, and for each library that a build can have (scripts/libraries.mk) a line that
 * says whether it is in. The second function prints one JSON object. */
void with_print(const char *program);
void with_print_json(const char *program);

#endif
