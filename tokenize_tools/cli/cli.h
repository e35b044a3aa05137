/*
 * cli.h: what every command does the same way: exit codes, messages to stderr, the check that stdout took everything,
 * and interrupts. The commands keep a little state of their own here (the program's name, the interrupt flag); the
 * libraries never see it.
 *
 * The room tokenize_tools/cli/ has what programs share: options, help, JSON, progress, units. It is in no library, and
 * knows no single command.
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
    CLI_DAMAGED = 3,      /* of a dataset that was read */
    CLI_REJECTS = 4,      /* more records were refused than allowed */
    CLI_STOPPED = 5,      /* by SIGTERM or SIGUSR1: the same command, started again, does it */
    CLI_INTERRUPTED = 130 /* by SIGINT */
};

/*
 * First call of main(). Remembers the name for messages (not copied); makes sure that descriptors 0 to 2 are open, so
 * that no data file is taken for stdout; ignores SIGPIPE and SIGXFSZ, so that a closed pipe and a file beyond
 * `ulimit -f` are errors like a full disk; raises the soft limit of open files to the hard one, since each dataset of a
 * list needs two.
 */
void cli_start(const char *program);

/* Returns the name given to cli_start(). */
const char *cli_program(void);

/*
 * What people read, with all that comes from files and command lines shown as base/show.h has it. The first two print a
 * line: "PROGRAM: SENTENCE" to stderr, and a sentence to stdout, of at most 16 KiB; the third some bytes to stdout.
 */
void cli_error(const char *format, ...) CLI_PRINTF(1, 2);
void cli_say(const char *format, ...) CLI_PRINTF(1, 2);
void cli_put(const char *text, uint64_t bytes);

/* Prints a text to stdout for its own sake: the exact bytes to a file or pipe. A terminal gets them as cli_put() does
 * it, but line ends and tabs as they are; there no character should be cut by the end of `text`. */
void cli_put_text(const char *text, size_t bytes);
bool cli_stdout_is_terminal(void);

#define CLI_SHELL_WORD 16384u /* each byte of a path that Linux takes may need four */

/* A word as a shell takes it: itself, or in quotes, in `room` bytes at `out`. One that does not fit is left alone. */
const char *cli_shell_word(const char *word, char *out, size_t room);

/* What the command appends to a library's sentence for its hint, as " (--force)"; "" for none. Static memory. */
const char *cli_hint(const struct leat_error *err);

/* Prints a library call's error, with its hint. Returns CLI_FAILED, CLI_WRONG for a word of the command line that makes
 * no sense (LEAT_E_ARGUMENT), or what cli_interrupted_code() says if that is why the call ended. */
int cli_failed(const struct leat_error *err);

/* The same, but CLI_DAMAGED if a dataset that was read is damaged. */
int cli_failed_or_damaged(const struct leat_error *err);

/* The last call of a command that printed: flushes stdout. Returns `code`, or CLI_FAILED instead of CLI_DONE, with a
 * message, if not everything could be written (a full disk, a closed pipe). */
int cli_finish_stdout(int code);

/* Returns true if writing to stdout has failed already: long outputs stop early. */
bool cli_stdout_failed(void);

/* From here on SIGINT, SIGTERM and SIGUSR1 set a flag, for work that must be ended cleanly. A SIGINT that comes two
 * seconds later, or more, kills; the others come again and again from schedulers, which have SIGKILL. */
void cli_catch_interrupts(void);
bool cli_interrupted(void);

/* Returns the exit code of a command that was interrupted: CLI_INTERRUPTED by a person, CLI_STOPPED by a scheduler. */
int cli_interrupted_code(void);

/* `waiting` of struct leat_open_options: says why a command waits, once a minute at most; a signal that is caught ends
 * the wait. */
uint32_t cli_say_waiting(void *context, const char *why);

/* Seconds of a clock that only goes forward. */
double cli_now(void);

#endif
