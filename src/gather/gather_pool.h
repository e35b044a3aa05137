/*
 * gather_pool.h: further threads that copy pieces of the jobs that were begun, oldest job first. They only do earlier
 * what gather_finish() would do: they leave to it what fails, so that errors, and the order in which things happen, are
 * those of one thread. They take pieces that the CPU copies, from maps and by plain reads. Where a disk works on many
 * reads by itself (io_uring, advice), or a server brings pages, one thread asks for them.
 *
 * The thread that begins and finishes jobs does not belong to the pool, but copies chunks before it waits for them.
 */
#ifndef LEAT_GATHER_POOL_H
#define LEAT_GATHER_POOL_H

#include "gather_engine.h"

struct gather_pool;

/* Starts `threads` threads, on the CPUs of a NUMA node (-1: on any). Returns 0, or an errno; call gather_pool_close()
 * even then, unless *out is NULL. */
int gather_pool_open(struct gather_pool **out, struct gather *g, unsigned threads, int node);

/* Ends the threads; pieces that were not taken stay so. May be called again, and with NULL, as the next two may. */
void gather_pool_stop(struct gather_pool *p);

/* Forgets the threads in a child after fork(), which does not have them. */
void gather_pool_forget(struct gather_pool *p);
void gather_pool_close(struct gather_pool *p);

/* Sets whether sleeping threads are woken for what is offered. */
void gather_pool_set_urgent(struct gather_pool *p, bool urgent);

/* Returns true if more should be offered, because the threads will soon have taken what is left. */
bool gather_pool_wants(const struct gather_pool *p);

/* Offers the `shared` pieces of a job, which have `bytes` bytes in all. Sets job->offered, unless they are too few. */
void gather_pool_offer(struct gather_pool *p, struct gather_job *job, uint64_t bytes);

/* Waits until all offered pieces of a job are copied, or left to gather_finish(); copies some meanwhile. */
void gather_pool_await(struct gather_pool *p, struct gather_job *job);

/* Waits for all jobs offered: then only the caller uses files, until it offers another job. */
void gather_pool_await_all(struct gather_pool *p);

/* Waits for a job, whose memory may then have another use. Jobs end in the order in which they were offered. */
void gather_pool_end(struct gather_pool *p, struct gather_job *job);

/* Returns the worker of a thread by number, for its counters; NULL past the last. */
const struct gather_worker *gather_pool_worker(const struct gather_pool *p, unsigned number);

#endif
