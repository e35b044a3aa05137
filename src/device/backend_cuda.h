/* backend_cuda.h: what the files of the CUDA backend share: its state, its failures, its context, its ring. */
#ifndef LEAT_BACKEND_CUDA_H
#define LEAT_BACKEND_CUDA_H

#include <pthread.h>
#include <stdatomic.h>

#include "backend.h"
#include "cuda_device.h"
#include "cuda_driver.h"

#define CUDA_SLOT_USES 4u /* streams that use one slot and are told apart; further ones wait for the last of them */

struct cuda_slot {
    pthread_mutex_t lock; /* of what follows: users come from any thread */
    cuda_event ready;     /* the copy is made, and what is borrowed is filled */
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
    cuda_function kernels[2][2]; /* of tokens of 2 and 4 bytes, and numbers of 4 and 8 */
    cuda_stream stream;
    bool attached; /* the stage has a thread of its own, in which the context is current */

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

/* What a thread had before a call of ours. */
struct cuda_before {
    bool pushed, relaxed;
    cuda_capture_mode mode;
};

/* LEAT_OK, or the sentence of a call that failed. */
enum leat_status backend_cuda_check(const struct backend *b, cuda_result r, const char *tried, struct leat_error *err);

/* Makes the backend's context the thread's, until backend_cuda_leave(): for calls that are forbidden while some stream
 * is captured, unless the calling thread says that it knows. */
cuda_result backend_cuda_enter(const struct backend *b, struct cuda_before *before);
void backend_cuda_leave(const struct backend *b, struct cuda_before *before);

/* The ring: see backend.h. And its slots alone, without a call of the driver. */
enum leat_status backend_cuda_allocate(struct backend *b, struct backend_memory *m, int node, struct leat_error *err);
void backend_cuda_free(struct backend *b, struct backend_memory *m);
void backend_cuda_free_slots(struct backend *b);

#endif
