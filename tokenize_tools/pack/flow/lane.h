/*
 * lane.h: one input (or a few small texts) on its way through the packer: where its next unit begins, and its units
 * that are not written yet, in order. One thread at a time cuts; flow.c takes care of that.
 */
#ifndef LEAT_PACK_LANE_H
#define LEAT_PACK_LANE_H

#include "pack_setup.h"
#include "unit.h"

/* Where cutting starts: where a resumed run goes on, or zeros. */
struct lane_start {
    size_t input;
    uint64_t offset;
    struct byte_mark mark;
};

struct lane {
    struct pack_setup *setup;
    const struct unit_kind *kind; /* that its inputs are cut into */
    size_t input, input_end;      /* the inputs that it stands for */
    int fd;                       /* of a plain file of lines; -1: none */
    struct byte_stream *stream;
    bool opened;
    bool ended;             /* no further unit; only the thread that cuts knows; others look at `whole` */
    uint64_t next;          /* where the next unit begins */
    struct byte_mark mark;  /* a place not after `next` where the stream could begin anew */
    struct byte_mark later; /* the same, to be used when `next` has passed it; text_offset 0: none */
    uint64_t held;          /* memory that the stream takes */
    struct buffer carry;    /* what was read of the stream beyond the last unit */

    /* flow.c's: */
    bool busy;  /* a thread cuts */
    bool whole; /* everything has been cut */
    struct unit *first, *last;
    size_t waiting; /* units that no thread has taken to encode */
    struct lane *following;
};

/* The lane that begins with input `input` of the setup, from `start` on if that is in it. And a lane without an input,
 * whose units others make. NULL: no memory. */
struct lane *lane_new(struct pack_setup *setup, size_t input, const struct lane_start *start);
struct lane *lane_new_for_puts(struct pack_setup *setup);
void lane_free(struct lane *l); /* with its units */

/* Puts a unit after the others. */
void lane_append(struct lane *l, struct unit *u);

/* For the kinds of units that read an input: opens it once, and goes to where the units written so far end. A plain
 * file is then in `fd`, anything else in `stream`. */
enum leat_status lane_open(struct lane *l, struct leat_error *err);

/* Makes the next unit. Failures stay in the unit, and end the lane. */
void lane_cut(struct lane *l, struct unit *u);

#endif
