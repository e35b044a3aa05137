/*
 * fake_control.h: how tests steer the stand-in driver: by a table of functions that the library of tests/fake_cuda/
 * exports besides the driver's own.
 *
 * The stand-in runs on the CPU what a GPU would, later than it was asked for: each stream has a thread, which takes its
 * work in order, with random pauses. It keeps stricter rules than the real driver. Where one is broken it says which,
 * and aborts, unless rules are being counted:
 *
 *   memory     copies read memory that is registered, and that does not change until they are done; all memory of the
 *              device that copies and kernels touch is allocated; the host cannot touch it (it is mapped without
 *              access). Kernels read memory of the host only as rows that lie apart, not in what is registered.
 *   order      work that touches the same memory of the device, some of it writing, is ordered by streams and events:
 *              told
 *              by clocks, not by what happens to run first.
 *   waiting    calls that wait for the device, or that CUDA says may wait, come only where they are allowed.
 *   capture    calls that would spoil a capture of another thread come only in threads that are relaxed about it.
 *   objects    nothing is used after it was destroyed, nor destroyed twice; at the end of the process nothing is left.
 *   fork       no call in a child of a process that used it.
 *   kernels    the PTX runs, on a machine of its own (ptx.h), and writes the bytes that its body in C writes.
 */
#ifndef LEAT_TESTS_FAKE_CONTROL_H
#define LEAT_TESTS_FAKE_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fake_options {
    uint64_t seed;     /* of the pauses */
    unsigned pause_us; /* the longest; 0: none */
    bool strict;       /* rules of memory, waiting and leftovers are kept; the others always */
    size_t pinned;     /* bytes that can be registered; 0: any number */
    size_t memory;     /* of each device; 0: 4 GiB */
    bool pageable;     /* copies from memory that is not registered are no offence */
    int devices;       /* 0 to 4: of 4 that there are; the fourth is a MIG instance */
    int version;       /* 0: 13000 */
};
#define FAKE_OPTIONS_INIT                                                                                              \
    {                                                                                                                  \
        .devices = 2, .strict = true                                                                                   \
    }

struct fake_control {
    void (*configure)(const struct fake_options *options);

    /* Calls of this thread are the test's own: not counted, not failed, free to wait. Nested: +1, -1. */
    void (*exempt)(int more);
    /* Calls of this thread may wait: around opening and closing. */
    void (*allow_waiting)(int more);

    /* Call `n` from now on (1 is the next) fails with `result`; also all after it, if `all`. 0: none does. Returns how
     * many calls were counted since the last time it was told. */
    uint64_t (*fail_call)(uint64_t n, int result, bool all);
    const char *(*failed_call)(void); /* the first that did; NULL: none */
    /* The n-th piece of work from now on fails when it runs: from then on its context is broken. */
    void (*fail_work)(uint64_t n, int result);
    void (*shut_down)(void); /* as at the end of a process: all calls fail */

    uint64_t (*calls)(const char *symbol); /* that were counted since fail_call(); NULL: all */
    unsigned (*depth)(void);               /* of this thread's stack of contexts */
    unsigned (*live)(void);                /* allocations, registrations, streams, events, modules, contexts */
    /* Counts broken rules from now on, instead of aborting; returns how many there were. */
    unsigned (*offences)(bool count);
    const char *(*offence)(void);  /* the last one */
    uint64_t (*kernels_run)(void); /* whose PTX ran */
};

const struct fake_control *fake_control(void);

#endif
