/*
 * cuda_counted.h: calls of NVIDIA's driver that the library makes, counted, and those of them that wait for the GPU, or
 * that CUDA says may wait: so that what a batch costs, and that nothing waits between opening and closing a loader, is
 * seen with any driver.
 *
 * A program that counts is linked with --wrap=cuda_driver_open: drivers opened after cuda_counted_begin() count.
 */
#ifndef LEAT_BENCH_CUDA_COUNTED_H
#define LEAT_BENCH_CUDA_COUNTED_H

#include <stdatomic.h>

extern struct cuda_counted {
    atomic_ullong calls, waits; /* waits are some of the calls */
} cuda_counted;

void cuda_counted_begin(void);

#endif
