/* fake.h: what the parts of the stand-in driver share. See fake_control.h for what it does. */
#ifndef LEAT_TESTS_FAKE_H
#define LEAT_TESTS_FAKE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/device/cuda_extra.h"
#include "fake_control.h"
#include "rows/rows_device.h"

#define FAKE_DEVICES 4
#define FAKE_CLOCKS  64u

/* One lock for everything; copies and kernels run without it. `fake_changed` is told when work is done. */
extern pthread_mutex_t fake_lock;
extern pthread_cond_t fake_changed;
extern struct fake_options fake_options;

/* ---- Rules and calls (fake_entry.c) ---- */

enum fake_kind {
    FAKE_ANY = 0,
    FAKE_WAITS = 1,   /* waits for the device, or may */
    FAKE_UNSAFE = 2,  /* not while a stream is captured */
    FAKE_ENDS = 4,    /* the end of something: carried out also where it is to fail */
    FAKE_CONTEXT = 8, /* needs a current context */
    FAKE_EARLY = 16   /* before anything else */
};

/* At the begin of each call, without the lock: what it is to return instead of doing something. */
cuda_result fake_enter(const char *symbol, unsigned kind);

/* A rule is broken. */
void fake_offence(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool fake_is_exempt(void);
bool fake_is_down(void);
bool fake_has_failed(void); /* a call or a piece of work, as it was told to; with the lock */
bool fake_is_relaxed(void);

/* ---- Devices and contexts (fake_context.c) ---- */

struct cuda_context_of_driver {
    int device;
    unsigned retained;
    _Atomic cuda_result broken; /* from then on all calls return it; read without the lock, too */
    cuda_stream usual;          /* the default stream; NULL: not used yet */
    size_t allocated;
};
extern struct cuda_context_of_driver fake_contexts[FAKE_DEVICES];
cuda_context fake_current(void);

/* ---- Time as an order (fake_memory.c) ---- */

/* How much of each stream's work lies before something. */
struct fake_clock {
    uint64_t at[FAKE_CLOCKS];
};
void fake_clock_join(struct fake_clock *to, const struct fake_clock *from);
extern struct fake_clock fake_host_clock; /* what the host has seen done */

/* ---- Memory (fake_memory.c) ---- */

/* The memory behind [address, address + bytes) of a context's device, if all of it is allocated; else an offence and
 * NULL. `clock` (not NULL): work of stream `index` that has come so far touches it. */
void *fake_memory_at(cuda_context context, cuda_pointer address, size_t bytes, bool write,
                     const struct fake_clock *clock, unsigned index, const char *what);
bool fake_is_registered(const void *memory, size_t bytes);
uint64_t fake_hash(const void *memory, size_t bytes);
unsigned fake_memory_live(void);
/* With its context; returns how many there were. With the lock, of which streams let go meanwhile. */
unsigned fake_memory_drop(cuda_context context);

/* ---- Streams (fake_stream.c, fake_event.c, fake_graph.c) ---- */

enum fake_work_kind { FAKE_COPY_IN, FAKE_COPY_OUT, FAKE_COPY, FAKE_SET, FAKE_KERNEL, FAKE_RECORD, FAKE_WAIT };

struct fake_work {
    enum fake_work_kind kind;
    cuda_pointer to, from; /* of the device, or 0 */
    void *host;            /* of FAKE_COPY_OUT */
    const void *source;    /* of FAKE_COPY_IN */
    void *staged;          /* what a copy from memory that is not registered took at once; freed */
    size_t bytes;
    uint64_t hash; /* of the source, when it was asked for; 0: not looked at */
    unsigned char value;
    cuda_event event;
    uint64_t turn; /* of the event */
    struct rows_job job;
    struct rows_grid grid;
    unsigned blocks, widths; /* widths: of tokens and numbers, as in the kernel's name */
    const struct ptx_kernel *kernel;
    _Alignas(8) uint8_t parameters[512]; /* as its PTX takes them, one after the other */
    struct fake_work *next;
};

/* Puts a copy of `work` on the stream (NULL: the default one), or into the graph that is captured from it. With the
 * lock. */
cuda_result fake_put(cuda_stream stream, const struct fake_work *work);
bool fake_capture_forbids(void);
unsigned fake_streams_live(void);
void fake_streams_await(cuda_context context); /* until they are idle; of which the host learns nothing */
unsigned fake_streams_drop(cuda_context context);

/* ---- Kernels (fake_kernel.c) ---- */

/* All memory that a job touches: to other pointers (alias), checked; with the lock. `table` (not with a clock): memory
 * that belongs to the job, to be freed, or left alone. */
bool fake_kernel_translate(cuda_context context, struct rows_job *job, const struct fake_clock *clock, unsigned index,
                           uint64_t **table);
void fake_kernel_run(const struct fake_work *work, const struct rows_job *translated);
/* What it may read: of the slot, and of a row that lies apart, whose address the device knows. */
size_t fake_kernel_slot_bytes(const struct fake_work *work);
size_t fake_kernel_row(const struct fake_work *work, const struct rows_job *translated, uint32_t row,
                       uint64_t *address);
unsigned fake_modules_live(void);
unsigned fake_modules_drop(cuda_context context);

/* ---- Their PTX (fake_ptx.c) ---- */

/* The kernels of a text; an offence and NULL if it cannot be read. With the lock. */
const struct ptx_kernel *fake_ptx_read(const char *text);
/* Runs the PTX and the body in C, and compares. */
void fake_ptx_run(const struct fake_work *work, const struct rows_job *translated);
uint64_t fake_ptx_kernels_run(void);

/* Every call, with the signature that the library expects. */
#define FAKE_DECLARE(member, symbol, since, parameters) cuda_result fake_##member parameters;
CUDA_DRIVER_ENTRIES(FAKE_DECLARE)
CUDA_EXTRA_ENTRIES(FAKE_DECLARE)
#undef FAKE_DECLARE

#endif
