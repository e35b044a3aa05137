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

/* The place where cutting starts: where a resumed run goes on, or all zeros. */
struct lane_start {
    size_t input;
    uint64_t offset;
    struct byte_mark mark;
};

struct csv_header;

struct lane {
    struct pack_setup *setup;
    const struct unit_kind *kind; /* kind of units that its inputs are cut into */
    size_t input, input_end;      /* the lane's inputs: [input, input_end) */
    int fd;                       /* plain file of lines; -1: none */
    struct byte_stream *stream;
    struct row_input *rows; /* rows of a Parquet file */
    struct lane *rest;      /* lane for the rest of the input, which a cut made for other threads; flow.c takes it */
    bool divided;           /* true once such a rest was looked for */
    bool outgrew;           /* true if opening the file took too much memory */
    bool opened;
    bool ended;              /* true if no unit follows; only the thread that cuts reads it, others read `whole` */
    uint64_t next;           /* place where the next unit begins */
    struct byte_mark mark;   /* a place not after `next` at which the stream could begin anew */
    struct byte_mark later;  /* such a place that is used once `next` has passed it; text_offset 0: none */
    uint64_t held;           /* memory that the stream takes */
    uint64_t cut_ns;         /* CPU time of all cuts */
    uint64_t decompress_ns;  /* CPU time of decompressing during the cuts, as the stream counts it */
    struct buffer carry;     /* bytes of the stream that were read beyond the last unit */
    enum json_layout layout; /* layout of JSON; if its records are not in lines, `stream` reads it */
    struct json_records records;
    struct csv_records csv;    /* records of CSV, which `stream` reads, too */
    struct csv_header *header; /* header of the table; NULL: it has none, or it was not read yet */

    /* flow.c's: */
    bool turn;  /* true if all inputs before it were written when this cut began: it may take more memory */
    bool alone; /* true if it is only cut when it is its turn */
    bool begun; /* true once a thread has cut */
    bool busy;  /* a thread cuts */
    bool whole; /* true once everything has been cut */
    struct unit *first, *last;
    size_t waiting;      /* number of units that no thread has taken to encode */
    struct spans *spans; /* reference to the stream's spans: work for threads that do not cut */
    uint64_t spans_held; /* memory of them */
    uint64_t waited_ns;  /* time that threads had nothing else to do than to wait for a cut */
    struct lane *following;
};

/*
 * The first returns the lane that begins with input `input` of the setup; cutting starts at `start` if that is in
 * this input. The second returns a lane without an input, for units that a program makes. Both return NULL if there
 * is no memory.
 */
struct lane *lane_new(struct pack_setup *setup, size_t input, const struct lane_start *start);
struct lane *lane_new_for_puts(struct pack_setup *setup);
void lane_free(struct lane *l); /* with its units */

/* Makes l->rest from `rows`, which belong to it afterwards, also on failure. */
enum leat_status lane_split(struct lane *l, struct row_input *rows, struct leat_error *err);

/* Appends a unit to the lane. */
void lane_append(struct lane *l, struct unit *u);

/* Opens an input, once, for the kinds of units that read it, and goes to the place where the units that are written
 * end. A plain file of this machine is then in `fd`, any other input in `stream`. */
enum leat_status lane_open(struct lane *l, struct leat_error *err);

/* Makes the next unit. Failures are stored in the unit, and end the lane. Returns false if it is not the lane's turn
 * and it needs more memory than others leave it; then it is where it was before the call, and holds no memory. */
bool lane_cut(struct lane *l, struct unit *u);

/* Makes a lane whose inputs are texts begin anew, since its unit could not be encoded beside others. */
void lane_restart(struct lane *l);

/* Sets how much memory a stream may take from now on; all that others leave, if all inputs before its own were
 * written. */
void lane_limit(const struct pack_setup *setup, struct byte_stream *stream, bool turn);

#endif
