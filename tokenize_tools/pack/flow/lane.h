/*
 * lane.h: one input (or a few small texts, or some row groups of a Parquet file) on its way through the packer: where
 * its next unit begins, and its units that are not written yet, in order. One thread at a time cuts; flow.c takes care
 * of that.
 */
#ifndef LEAT_PACK_LANE_H
#define LEAT_PACK_LANE_H

#include "corpus/csv/csv_records.h"
#include "corpus/json/json_records.h"
#include "pack_setup.h"
#include "unit.h"

/* Where cutting starts: where a resumed run goes on, or zeros. */
struct lane_start {
    size_t input;
    uint64_t offset;
    struct byte_mark mark;
};

struct csv_header;

struct lane {
    struct pack_setup *setup;
    const struct unit_kind *kind; /* that its inputs are cut into */
    size_t input, input_end;      /* the inputs that it stands for */
    int fd;                       /* of a plain file of lines; -1: none */
    struct byte_stream *stream;
    struct row_input *rows; /* of a Parquet file */
    struct lane *rest;      /* made by a cut: what follows of its input, for other threads; flow.c takes it */
    bool divided;           /* it was looked for */
    bool outgrew;           /* opening the file took too much memory */
    bool opened;
    bool ended;              /* no further unit; only the thread that cuts knows; others look at `whole` */
    uint64_t next;           /* where the next unit begins */
    struct byte_mark mark;   /* a place not after `next` where the stream could begin anew */
    struct byte_mark later;  /* the same, to be used when `next` has passed it; text_offset 0: none */
    uint64_t held;           /* memory that the stream takes */
    uint64_t cut_ns;         /* CPU time of all cuts */
    uint64_t decompress_ns;  /* of it, as the stream counts it */
    struct buffer carry;     /* what was read of the stream beyond the last unit */
    enum json_layout layout; /* of JSON; what is not lines is read by `stream` */
    struct json_records records;
    struct csv_records csv;    /* of CSV, which is read by `stream`, too */
    struct csv_header *header; /* NULL: it has none, or not yet */

    /* flow.c's: */
    bool turn;  /* when this cut began, all inputs before it were written: it may take more memory */
    bool alone; /* it is cut only when it is its turn */
    bool begun; /* a thread has cut */
    bool busy;  /* a thread cuts */
    bool whole; /* everything has been cut */
    struct unit *first, *last;
    size_t waiting;      /* units that no thread has taken to encode */
    struct spans *spans; /* of the stream, a reference: work for threads that do not cut */
    uint64_t spans_held; /* memory of them */
    uint64_t waited_ns;  /* for which threads had nothing else to do than to wait for a cut */
    struct lane *following;
};

/* Returns the lane that begins with input `input` of the setup, from `start` on if that is in it. And a lane without
 * an input, whose units others make. NULL: no memory. */
struct lane *lane_new(struct pack_setup *setup, size_t input, const struct lane_start *start);
struct lane *lane_new_for_puts(struct pack_setup *setup);
void lane_free(struct lane *l); /* with its units */

/* Makes l->rest, which takes `rows` over in any case. */
enum leat_status lane_split(struct lane *l, struct row_input *rows, struct leat_error *err);

/* Puts a unit after the others. */
void lane_append(struct lane *l, struct unit *u);

/* For the kinds of units that read an input: opens it once, and goes to where the units written so far end. A plain
 * file of this machine is then in `fd`, anything else in `stream`. */
enum leat_status lane_open(struct lane *l, struct leat_error *err);

/* Makes the next unit. Failures stay in the unit, and end the lane. False: it is not the lane's turn, and it needs more
 * memory than others leave it; then it is where it was before the call, and holds none. */
bool lane_cut(struct lane *l, struct unit *u);

/* Lets a lane whose inputs are texts begin anew: its unit could not be encoded beside others. */
void lane_restart(struct lane *l);

/* How much memory a stream may take from now on: what all others leave, if all inputs before its own were written. */
void lane_limit(const struct pack_setup *setup, struct byte_stream *stream, bool turn);

#endif
