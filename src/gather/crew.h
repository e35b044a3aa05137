/*
 * crew.h: further threads that read pieces of the jobs that were begun, oldest job first. They only make earlier what
 * gather_finish() would do: what fails, they leave to it, so that errors, and the order in which things happen, are
 * those of one thread. They take pieces that the CPU copies, from maps and by plain reads; where a disk works on many
 * reads by itself (io_uring, advice), or a server brings pages, one thread asks for them.
 *
 * The thread that begins and finishes jobs is not one of the crew, but works like them before it waits for them.
 */
#ifndef LEAT_CREW_H
#define LEAT_CREW_H

#include "gather_engine.h"

struct crew;

/* Starts `threads` threads, on the CPUs of a NUMA node (-1: on any). Returns 0, or an errno; crew_close() is due even
 * then, unless *out is NULL. */
int crew_open(struct crew **out, struct gather *g, unsigned threads, int node);

/* Ends the threads; pieces that were not taken stay so. Again is fine, and so is NULL, also for the next two. */
void crew_stop(struct crew *c);

/* In a child after fork, which has no such threads: nothing is to be waited for. */
void crew_forget(struct crew *c);
void crew_close(struct crew *c);

/* Whether sleeping threads are woken for what is offered: the user of the room has little left. */
void crew_hurry(struct crew *c, bool hurry);

/* Whether it should be offered more: it has less to do than its threads will have taken soon. */
bool crew_wants(const struct crew *c);

/* Offers the pieces of a job that are `shared`, of so many bytes in all. Sets job->offered, unless they are too few. */
void crew_offer(struct crew *c, struct gather_job *job, uint64_t bytes);

/* Waits until all that was offered of a job is made, or left to gather_finish(); works meanwhile. For all jobs offered:
 * then nothing but the caller looks at files, until it offers another one. */
void crew_await(struct crew *c, struct gather_job *job);
void crew_await_all(struct crew *c);

/* The job's memory may be used for something else; jobs end in the order in which they were offered. */
void crew_end(struct crew *c, struct gather_job *job);

/* What each of the threads did, by number; NULL: there are no more. */
const struct gather_hand *crew_hand(const struct crew *c, unsigned number);

#endif
