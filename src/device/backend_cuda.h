/* backend_cuda.h: what the files of the CUDA backend share: its state, its failures, its context, its ring. */
#ifndef LEAT_BACKEND_CUDA_H
#define LEAT_BACKEND_CUDA_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend.h"
#include "cuda_device.h"
#include "cuda_driver.h"

#define CUDA_SLOT_USES 4u /* streams per slot with an event each; further streams wait for the last of them */

struct cuda_slot {
    pthread_mutex_t lock; /* of what follows: users may be in any thread */
    cuda_event ready;     /* the copy is done, and borrowed outputs are filled */
    cuda_event uses[CUDA_SLOT_USES];
    unsigned used;
    bool borrowed;
};

struct backend {
    struct cuda_driver driver;
    cuda_device device;
    int ordinal;
    char name[CUDA_DEVICE_NAME];
    cuda_context context; /* NULL: not retained */
    cuda_module module;
    cuda_function kernels[2][2]; /* for tokens of 2 and 4 bytes, and numbers of 4 and 8 */
    cuda_function mask_kernel;
    cuda_stream stream;
    bool attached; /* the stage has its own thread, in which the context is current */

    struct cuda_slot *slots;
    unsigned slot_count, locks;
    uint8_t *host;
    cuda_pointer memory; /* 0: none */
    size_t host_stride, device_stride, slot_bytes, output_bytes;
    bool registered;

    atomic_bool failed; /* `failure` is filled */
    atomic_flag failing;
    struct leat_error failure;
};

/* A thread's state before one of these calls. */
struct cuda_before {
    bool pushed, relaxed;
    cuda_capture_mode mode;
};

/* LEAT_OK, or fills `err` for a failed call. */
enum leat_status backend_cuda_check(const struct backend *b, cuda_result r, const char *tried, struct leat_error *err);

/* Makes the backend's context current in this thread, until backend_cuda_leave(), in the mode that allows calls which
 * are otherwise forbidden while any stream is being captured. */
cuda_result backend_cuda_enter(const struct backend *b, struct cuda_before *before);
void backend_cuda_leave(const struct backend *b, struct cuda_before *before);

/* Opening and closing: see backend.h. */
enum leat_status backend_cuda_open(struct backend **out, const char *device, const char *driver,
                                   struct leat_error *err);
void backend_cuda_close(struct backend *b);
void backend_cuda_forget(struct backend *b, struct backend_memory *m);
uint64_t backend_cuda_room(struct backend *b);

/* The ring: see backend.h. The last one frees only the slots, without calling the driver. */
enum leat_status backend_cuda_allocate(struct backend *b, struct backend_memory *m, int node, struct leat_error *err);
void backend_cuda_free(struct backend *b, struct backend_memory *m);
void backend_cuda_free_slots(struct backend *b);

#endif
