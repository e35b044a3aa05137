/*
 * gpu.h: what the parts of `leat-bench gpu` share. gpu.c has the command; gpu_ring.c measures the backend alone (copies
 * of filled slots, calls, kernels), gpu_loader.c whole loaders (end to end, steps). gpu_link.c measures
 * with a model of a link in virtual time (gpu_clock.c).
 *
 * The room gpu/ measures what a GPU does with batches. What may enter: cases that need a GPU or its stand-in; what the
 * host does alone is measured in load/.
 */
#ifndef LEAT_BENCH_GPU_H
#define LEAT_BENCH_GPU_H

#include "bench/device/load_device.h"

#define GPU_SIZES 3 /* of batches: 1, 4 and 16 MiB of tokens of two bytes */
#define GPU_WORKS 3 /* steps of 1, 5 and 10 ms */

struct gpu {
    struct load_device d;
    const char *name; /* of a dataset; tokens of two bytes */
    uint64_t runs, steps, seq_len;
    double work_ms;
    double scale;     /* of batches' sizes; below 1 with the stand-in, which is slow */
    const char *link; /* NULL: time is real; else the stand-in's model of a link */
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
    double calls;                            /* of the driver per step, by the library; 0: unknown */
    uint64_t waits;                          /* of them, in all steps, those that wait for the GPU or may */
};

uint64_t gpu_rows(const struct gpu *g, unsigned size); /* of a batch */

/* First of all, since the driver does some things once. */
enum leat_status gpu_measure_opening(struct gpu *g, struct gpu_figures *f, struct leat_error *err);
enum leat_status gpu_measure_ring(struct gpu *g, struct gpu_figures *f, struct leat_error *err);
enum leat_status gpu_measure_loader(struct gpu *g, struct gpu_figures *f, struct leat_error *err);

/* ---- With a link that is simulated (gpu_link.c) ---- */

/* Until gpu_time_end() time is virtual, if g->link names a link. If there is none of that name, returns the names of
 * those that there are; else NULL. Loaders are opened before, and closed after it. */
const char *gpu_time_begin(struct gpu *g);
void gpu_time_end(struct gpu *g);

/* A loader with so many slots: as fast as it goes, and beside steps. Rates in bytes per second, times in seconds. */
struct gpu_fed {
    unsigned size, slots;      /* in: batches of gpu_rows(size) rows */
    bool written, mapped;      /* in: batches are written as inputs and labels; rows stay in their files' maps */
    double work_ms[GPU_WORKS]; /* in */
    double busy;               /* the loader's thread, per batch */
    double gather, end_to_end; /* if the loader's thread only worked; and as batches came */
    double alone[GPU_WORKS], with[GPU_WORKS];
};
enum leat_status gpu_measure_fed(struct gpu *g, struct gpu_fed *f, struct leat_error *err);

/* A ring without a loader: the CPU writes a slot and sends it, round and round. Times in seconds. */
struct gpu_round {
    unsigned size, slots; /* in */
    size_t bytes;
    double write, copy, period; /* a slot written; copied; and both, again and again */
};
enum leat_status gpu_measure_round(struct gpu *g, struct gpu_round *r, struct leat_error *err);

/* Measures all and prints it, each line marked as simulated. */
enum leat_status gpu_link(struct gpu *g, bool json, struct leat_error *err);

double gpu_median(double *values, uint64_t count); /* sorts them */

#endif
