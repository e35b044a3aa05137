/*
 * link.h: the stand-in's model of time, off unless fake_control's `link_begin` names a link. Time is virtual then:
 *
 *   device     Nothing is moved and no kernel runs; each piece of work takes a time by its bytes (link_model.c). There
 *              is an engine for copies to the device, one for copies from it, and one for kernels and copies on it. An
 *              engine does one piece of work at a time, whichever can start first; a stream keeps its order; a wait
 *              ends when its event has happened. All devices are one.
 *   host       Each thread has a clock (link_host.c): its CPU time, and what it sleeps, and what calls of the driver
 *              cost by the model instead of what the stand-in needs for them. Threads take turns at calls of the
 *              driver, at gates and at clocks: only the one whose clock is furthest behind goes on. So neither other
 *              programs nor the number of CPUs decide anything; only CPU time is measured, and that only until
 *              link_count_cpu(false): then all times are the model's, and the same in each run.
 */
#ifndef LEAT_TESTS_LINK_H
#define LEAT_TESTS_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include "device/cuda_driver.h"
#include "loader/gate.h"

enum link_engine { LINK_IN, LINK_OUT, LINK_COMPUTE, LINK_ENGINES, LINK_RECORD = LINK_ENGINES, LINK_WAIT };

struct link_model {
    const char *name;
    double bytes_per_ns[LINK_ENGINES]; /* on the device: of bytes read and written */
    double mapped_per_ns;              /* of the host's memory that kernels read by themselves; 0: no figure is known */
    uint64_t start_ns;                 /* from the end of a call until its work can start */
    uint64_t gap_ns[LINK_ENGINES];     /* that each piece of work takes, however small */
    uint64_t work_ns, call_ns;         /* CPU time of a call that puts work on a stream, and of any other */
    uint64_t wake_ns, open_ns;         /* from gate_open() until a sleeper runs; what that costs who opens it */
};

/* NULL: no such name; link_model(i)->name for i = 0, 1, ... are those that there are. */
const struct link_model *link_find(const char *name);
const struct link_model *link_model(unsigned number);
const char *link_names(void); /* of all */
/* NULL: kernels that read rows in files' maps are modelled; else why not. */
const char *link_maps(const struct link_model *model);

/* ---- The device (link_model.c); with the stand-in's lock ---- */

struct link_work {
    enum link_engine engine;
    unsigned stream;   /* its number */
    uint64_t put, ns;  /* when it was put there; how long it takes once it has started */
    cuda_event event;  /* of records and waits */
    uint64_t turn;     /* which record of the event */
    uint64_t known_ns; /* of a wait: when that has happened; UINT64_MAX: not known yet */
};

void link_reset(void);
void link_put(const struct link_work *work);
/* Does what starts by `now`, in the order of starts; when the next piece starts (UINT64_MAX: none is known).
 * `passed` is told of records and waits. */
uint64_t link_advance(uint64_t now, void (*passed)(const struct link_work *work, uint64_t at));
/* Whether all of a stream's work has started; then `end` is when it ends. */
bool link_ends(unsigned stream, uint64_t *end);

/* ---- The host (link_host.c) ---- */

/* NULL: time is real. */
const struct link_model *link_on(void);
void link_count_cpu(bool count);
bool link_was_on(void);                           /* ever: what then lies in memory is nobody's business */
void link_switch(const struct link_model *model); /* NULL: off; sleepers return */

/* This thread has come to a point where threads take turns; `more_ns` is added to its clock before. Returns that. */
uint64_t link_turn(uint64_t more_ns);
/* The same without a turn, in the middle of a call of the driver. What the CPU did since link_turn() was the stand-in's
 * work, and does not count. */
uint64_t link_charge(uint64_t ns);
uint64_t link_now(void);             /* of this thread, without a turn */
uint64_t link_until(uint64_t at_ns); /* sleeps until then */

/* As in gate.h, in virtual time. */
void link_gate_sleep(struct gate *g, unsigned ticket, uint64_t max_ns);
void link_gate_open(struct gate *g);
void link_gate_look(const atomic_uint_fast64_t *word, uint64_t old, uint64_t began, uint64_t max_ns);

#endif
