/* ranges_counted.h: what tests/cuda/ranges_counted.c counts, exported as `ranges_counted` besides NVTX's own entry. */
#ifndef LEAT_TESTS_RANGES_COUNTED_H
#define LEAT_TESTS_RANGES_COUNTED_H

#include <stdatomic.h>

#define RANGES_NAMES 8u

struct ranges_counted {
    atomic_uint domains, domains_gone; /* of the name "leat" */
    atomic_uint others;                /* domains of other names, and calls for a domain that is not there */
    atomic_uint pushes, pops;
    atomic_uint unbalanced;  /* pops of a thread that has no range open */
    atomic_int open;         /* ranges of all threads */
    atomic_uint names_count; /* different names of ranges */
    char names[RANGES_NAMES][32];
};

extern struct ranges_counted ranges_counted;

#endif
