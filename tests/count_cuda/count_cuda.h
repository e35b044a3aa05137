/*
 * count_cuda.h: a `driver` for loaders (libcount_cuda.so) that hands each call on to the real one
 * (libcuda.so.1, or $LEAT_COUNTED_DRIVER) and counts those that a loader makes between opening and closing, and those
 * that wait for the GPU, or that CUDA says may wait. So what the stand-in driver forbids is seen on a GPU, too.
 */
#ifndef LEAT_TESTS_COUNT_CUDA_H
#define LEAT_TESTS_COUNT_CUDA_H

#include <stdatomic.h>

struct count_cuda {
    atomic_ullong calls; /* all that are counted */
    atomic_ullong waits; /* of them */
};

/* Exported by the library, under this name. */
extern struct count_cuda count_cuda;

#endif
