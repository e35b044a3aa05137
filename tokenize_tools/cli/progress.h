/*
 * progress.h: shows the progress of long work on stderr: on a terminal a line with a bar, which is redrawn at most
 * ten times a second and cleared at the end; elsewhere a line every 30 seconds, for logs; or nothing. The caller
 * brings the numbers as often as it likes, from one thread at a time.
 */
#ifndef LEAT_CLI_PROGRESS_H
#define LEAT_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum progress_mode {
    PROGRESS_AUTO, /* a bar on a terminal, else lines */
    PROGRESS_NEVER
};

/* The names of the modes, in their order, ended by NULL: an option's choices. */
extern const char *const progress_modes[];

enum progress_unit { PROGRESS_BYTES, PROGRESS_COUNT };

struct progress {
    const char *label;       /* name of the work, one word or two */
    enum progress_unit unit; /* unit of `done` and `total` */
    bool silent;
    bool terminal;
    bool drawn;        /* true while a bar stands on the screen */
    double began;      /* clock */
    double next;       /* time before which nothing is shown again */
    uint64_t at_start; /* `done` of the first update: work that was done before does not count for the rate */
    bool started;
};

/* `label` is kept. */
void progress_begin(struct progress *p, enum progress_mode mode, const char *label, enum progress_unit unit);

/* Shows the numbers. `total` is 0 if it is not known. `detail` (may be NULL) stands at the end of the line. */
void progress_update(struct progress *p, uint64_t done, uint64_t total, const char *detail);

/* Begins other work, with its own label, which is kept: later rates count only the updates that follow. */
void progress_again(struct progress *p, const char *label);

void progress_end(struct progress *p);

/* The present state of the work. */
struct progress_now {
    uint64_t done, total;
    double seconds; /* since it began */
    const char *detail;
};

/* Writes the line for a screen of `columns`, and returns its bytes. It is split off for tests. */
size_t progress_line(const struct progress *p, const struct progress_now *now, unsigned columns, char *out,
                     size_t capacity);

#endif
