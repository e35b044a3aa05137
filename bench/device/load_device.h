/*
 * load_device.h: a GPU as a consumer has it, for measurements: its memory, a stream and copies to the host; and a
 * count of the calls of NVIDIA's driver that the library makes.
 *
 * The room device/ is the consumer's side of a GPU, for load/, gpu/ and the tests. What may enter: calls of NVIDIA's
 * driver that a training loop makes; the library's own side is src/device/.
 */
#ifndef LEAT_BENCH_LOAD_DEVICE_H
#define LEAT_BENCH_LOAD_DEVICE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cuda_extra.h"

struct load_device {
    const char *name, *driver_name; /* what leat_loader_options has as `device` and `driver` */
    struct cuda_driver driver;
    struct cuda_extra extra;
    cuda_device device;
    cuda_context context; /* The context is current in the thread that opened the device until the device is closed. */
    cuda_stream stream;
};

/* Returns true if `device` names a GPU. NULL means the host. */
bool load_device_is_gpu(const char *device);

/* Opens the device and keeps `device` and `driver` (NULL: the system's driver). Returns LEAT_E_UNSUPPORTED if there
 * is no such device. After a failure it is closed. */
enum leat_status load_device_open(struct load_device *d, const char *device, const char *driver,
                                  struct leat_error *err);
void load_device_close(struct load_device *d);

enum leat_status load_device_allocate(struct load_device *d, void **memory, size_t bytes, struct leat_error *err);
void load_device_free(struct load_device *d, void *memory);

/* Copies to the host once all work on the stream is done, and waits for the copy. */
enum leat_status load_device_bring(struct load_device *d, void *to, const void *from, size_t bytes,
                                   struct leat_error *err);
enum leat_status load_device_wait(struct load_device *d, struct leat_error *err);

enum leat_status load_device_check(const struct load_device *d, cuda_result r, const char *tried,
                                   struct leat_error *err);

/*
 * Counts the calls of the driver that the library makes, and how many of them wait for the GPU or may wait by CUDA's
 * documentation. The counts show what a batch costs, and, with any driver, that nothing waits between opening and
 * closing a loader. A program that counts is linked with --wrap=cuda_driver_open. Only drivers that are opened after
 * load_device_count() are counted.
 */
extern struct load_device_calls {
    atomic_ullong calls, waits; /* `waits` counts some of the calls */
} load_device_calls;
void load_device_count(void);

#endif
