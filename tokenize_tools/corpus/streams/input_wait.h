/*
 * input_wait.h: reading from what may be silent for long, as a pipe or a terminal, so that the reader can be stopped
 * all the same.
 */
#ifndef LEAT_TOKENIZE_TOOLS_INPUT_WAIT_H
#define LEAT_TOKENIZE_TOOLS_INPUT_WAIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "corpus/fetch/fetch.h"
#include "leat.h"

/*
 * Reads what is there, at most `room` bytes, and waits while nothing is; *got is 0 at the end (and after a failure).
 * `at`: from this place of a regular file; NULL: what the descriptor gives next, which may be nothing for a while.
 * LEAT_E_STOPPED if `stop` (NULL: never) says so.
 */
enum leat_status input_wait_read(int fd, const uint64_t *at, const struct input_stop *stop, const char *name, void *out,
                                 size_t room, size_t *got, struct leat_error *err);

/* Asks another stop (its `asked` NULL: never), ten times per second at most: where reading begins before the one who
 * is asked has something to see, and mostly takes no time. */
struct seldom_stop {
    const struct input_stop *of;
    uint64_t asked_ns;
};

/* `s` and `of` must outlive what it returns. */
struct input_stop seldom_stop(struct seldom_stop *s, const struct input_stop *of);

#endif
