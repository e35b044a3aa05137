/*
 * cli.h: the things that every command does in the same way: exit codes, messages to stderr, the check that stdout
 * took everything, and interrupts. The commands keep a little state of their own here (the program's name, the
 * interrupt flag); the libraries never see it.
 *
 * The room tokenize_tools/cli/ has what programs share: options, help, JSON, progress, units. It is in no library,
 * and knows no single command.
 */
#ifndef LEAT_CLI_CLI_H
#define LEAT_CLI_CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "leat.h"

#if defined(__GNUC__)
#define CLI_PRINTF(at, first) __attribute__((format(printf, at, first)))
#else
#define CLI_PRINTF(at, first)
#endif

enum cli_exit {
    CLI_DONE = 0,
    CLI_FAILED = 1,       /* the work failed; the message says why */
    CLI_WRONG = 2,        /* the command line was wrong */
    CLI_DAMAGED = 3,      /* a dataset that was read is damaged */
    CLI_REJECTS = 4,      /* more records were refused than allowed */
    CLI_STOPPED = 5,      /* SIGTERM or SIGUSR1 stopped it; the same command, started again, continues */
    CLI_INTERRUPTED = 130 /* by SIGINT */
};

/*
 * Begins a program; main() calls it first. Remembers the name for messages (not copied); makes sure that descriptors
 * 0 to 2 are open, so that no data file is taken for stdout; ignores SIGPIPE and SIGXFSZ, so that a closed pipe and
 * a file beyond `ulimit -f` are errors like a full disk; raises the soft limit of open files to the hard one, since
 * each dataset of a list needs two.
 */
void cli_start(const char *program);

/* Returns the name given to cli_start(). */
const char *cli_program(void);

/*
 * Print text for people. Everything that comes from files and command lines is shown as base/show.h says. The first
 * two print a line of at most 16 KiB: "PROGRAM: SENTENCE" to stderr, and a sentence to stdout. The third prints some
 * bytes to stdout.
 */
void cli_error(const char *format, ...) CLI_PRINTF(1, 2);
void cli_say(const char *format, ...) CLI_PRINTF(1, 2);
void cli_put(const char *text, uint64_t bytes);

/*
 * Prints a text that is itself the output to stdout: its exact bytes to a file or pipe. A terminal gets them as
 * cli_put() prints them, but line ends and tabs as they are; for a terminal, the end of `text` should not cut a
 * character.
 */
void cli_put_text(const char *text, size_t bytes);
bool cli_stdout_is_terminal(void);

#define CLI_SHELL_WORD 16384u /* size of a path that Linux takes if each byte needs four */

/* Returns a word as a shell takes it: itself, or in quotes, in `room` bytes at `out`. A word that does not fit is
 * returned unchanged. */
const char *cli_shell_word(const char *word, char *out, size_t room);

/* Returns the text that the command appends to a library's sentence for its hint, such as " (--force)"; "" for none.
 * The memory is static. */
const char *cli_hint(const struct leat_error *err);

/* Prints a library call's error, with its hint. Returns CLI_FAILED; CLI_WRONG if a word of the command line is
 * invalid (LEAT_E_ARGUMENT); or what cli_interrupted_code() returns if that is why the call ended. */
int cli_failed(const struct leat_error *err);

/* Does what cli_failed() does, but returns CLI_DAMAGED if a dataset that was read is damaged. */
int cli_failed_or_damaged(const struct leat_error *err);

/* Flushes stdout, as the last call of a command that printed. Returns `code`; but CLI_FAILED instead of CLI_DONE,
 * with a message, if not everything could be written (a full disk, a closed pipe). */
int cli_finish_stdout(int code);

/* Returns true if writing to stdout has failed already: long outputs stop early. */
bool cli_stdout_failed(void);

/*
 * Makes SIGINT, SIGTERM and SIGUSR1 set a flag from now on, for work that must be ended cleanly. A SIGINT that comes
 * two seconds later, or more, kills the process; the other signals come again and again from schedulers, which have
 * SIGKILL.
 */
void cli_catch_interrupts(void);
bool cli_interrupted(void);

/* Returns the exit code of a command that was interrupted: CLI_INTERRUPTED by a person, CLI_STOPPED by a scheduler. */
int cli_interrupted_code(void);

/* Reports why a command waits, once a minute at most; a signal that is caught ends the wait. This is `waiting` of
 * struct leat_open_options. */
uint32_t cli_say_waiting(void *context, const char *why);

/* Returns the seconds of a clock that only goes forward. */
double cli_now(void);

#endif
