/*
 * flow.h: the threads of the packer, and what each does next. All threads are alike, and there are three kinds of work:
 * *writing* the units whose turn it is, *encoding* a unit, and *cutting* the next unit off a lane: an input, or row
 * groups of one (one thread per lane, but several lanes at once). A free thread takes the first of these that is to be
 * done, so that no step needs threads of its own, and none waits while there is work.
 *
 * Units are written in the order of the inputs, whoever encodes them; but only their places are given in turn, by one
 * thread at a time. A bound on memory holds new ones back.
 *
 * This room knows how stretches of inputs become ids, side by side. From top to bottom:
 *
 *   flow           the threads
 *   lane           an input on its way, or a part of it, cut into units
 *   unit_kinds     what units there are, a row each (unit_block.c, unit_range.c, ...)
 *   steps          what kinds have in common: find records, check UTF-8, encode; long_*.c: what does not fit in memory
 *   pack_worker    a thread that encodes units; pack_setup: what all threads read
 *
 * What may enter: what works on units. A run, its output and its checkpoints belong to pack/.
 *
 * A *step* of packing is reading, scanning, encoding or writing a unit; any thread takes any step. (A step of a
 * training run is a global batch.) A *chunk* is a stretch of a text, a file or a document that arrives or is processed
 * at once.
 */
#ifndef LEAT_PACK_FLOW_H
#define LEAT_PACK_FLOW_H

#include "lane.h"

struct flow;

/* The output takes the units (pack_output.c). pack_output_place() decides where a unit goes whose turn it is: one
 * thread at a time calls it, in order. It returns LEAT_E_REJECTS if more records were rejected than may be.
 * pack_output_put() then brings the unit there: several threads call it, in any order. */
struct pack_output;
enum leat_status pack_output_place(struct pack_output *o, struct unit *u, struct leat_error *err);
enum leat_status pack_output_put(struct pack_output *o, struct unit *u, struct leat_error *err);

/* Starts the threads. `start` is NULL to begin with the first input. `setup` must outlive the flow. */
enum leat_status flow_open(struct flow **out, struct pack_setup *setup, const struct lane_start *start,
                           struct pack_output *output, struct leat_error *err);

/* Ends the threads and frees the flow; units that were not written are dropped. NULL is fine. */
void flow_free(struct flow *f);

/* ---- For a program that makes the units itself: the setup has no inputs ---- */

/* Sets *out to an empty unit, as soon as there is room for one. The caller puts or drops it. Returns the failure of
 * the flow if it has one. */
enum leat_status flow_take(struct flow *f, struct unit **out, struct leat_error *err);
void flow_put(struct flow *f, struct unit *u);
void flow_drop(struct flow *f, struct unit *u);

/* Waits until all units put so far are written. */
enum leat_status flow_drain(struct flow *f, struct leat_error *err);

/* ---- For files, which the flow cuts into units itself ---- */

/* Waits until all is written, there is a failure, or the milliseconds have passed: *ended is false in the last case.
 * Returns the failure. */
enum leat_status flow_wait(struct flow *f, unsigned milliseconds, bool *ended, struct leat_error *err);

/* Ends cutting. Units that have been cut are still encoded and written. The rest of a stream is not read, since it
 * may be silent: if that was next in order, the flow fails with LEAT_E_STOPPED. */
void flow_stop(struct flow *f);

/* The time that cutting an input took. */
struct flow_cut {
    size_t input;
    uint64_t cut_ns, decompress_ns; /* CPU time of cutting, and the part of it in which the input's thread
                                       decompressed */
    uint64_t waited_ns;             /* time that all threads together waited for it */
};

/* Facts about the threads, for the line that says which step limits the run. */
struct flow_facts {
    unsigned encoding, cutting, writing, waiting; /* number of threads that do each of these; placing and putting
                                                     count as writing */
    struct flow_cut longest_cut;                  /* the longest of the inputs that are written */
    uint64_t ahead_ns;                            /* CPU time of decompressing ahead of cuts */
    uint64_t units;                               /* that were placed */
    uint64_t lock_ns;                             /* time that all threads together waited for the lock */
};
void flow_facts(struct flow *f, struct flow_facts *facts);

/* Returns true if a thread waits for a file server that fails, and sets the reason: at most once a minute. */
#define FLOW_WAITS 1200
bool flow_waits(struct flow *f, char why[FLOW_WAITS]);

#endif
