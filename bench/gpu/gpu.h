/*
 * gpu.h: what the parts of `leat-bench gpu` share. gpu.c has the command; gpu_ring.c measures the backend alone (copies
 * of filled slots, calls, kernels), gpu_loader.c whole loaders (end to end, steps).
 *
 * The room gpu/ measures what a GPU does with batches. What may enter: cases that need a GPU; what the
 * host does alone is measured in load/.
 */
#ifndef LEAT_BENCH_GPU_H
#define LEAT_BENCH_GPU_H

#include "bench/device/load_device.h"

#define GPU_SIZES 3 /* of batches: each four times the one before */

struct gpu {
    struct load_device d;
    const char *name; /* of a dataset; tokens of two bytes */
    uint64_t runs, steps, seq_len;
    double work_ms;
    uint64_t smallest; /* bytes of the tokens of the smallest batches */
};

/* Medians over the runs; rates in bytes per second, times in seconds. */
struct gpu_figures {
    double context, open, again; /* from nothing to a context; from there to an open loader; and to another one */
    struct {
        size_t bytes;
        double plain, slots; /* a plain loop of copies from pinned memory; filled slots through the backend */
        double cpu;          /* of driver calls a batch: copy, write, one look whether it is done */
        double kernel;       /* outputs and inputs moved by the widening kernel */
        double memory;       /* the same moved by a copy on the device */
        double gather, end_to_end;
    } size[GPU_SIZES];
    double alone, alone_p99, with, with_p99; /* a step, without and with a loader */
    double calls;                            /* of the driver per step, by the library */
    uint64_t waits;                          /* of them, in all steps, those that wait for the GPU or may */
};

uint64_t gpu_rows(const struct gpu *g, unsigned size); /* of a batch */

/* First of all, since the driver does some things once. */
enum leat_status gpu_measure_opening(struct gpu *g, struct gpu_figures *f, struct leat_error *err);
enum leat_status gpu_measure_ring(struct gpu *g, struct gpu_figures *f, struct leat_error *err);
enum leat_status gpu_measure_loader(struct gpu *g, struct gpu_figures *f, struct leat_error *err);

double gpu_median(double *values, uint64_t count); /* sorts them */

#endif
