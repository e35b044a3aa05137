/* load_device.c: see load_device.h. */
#include "load_device.h"

#include <string.h>

#include "base/status.h"
#include "device/cuda_device.h"

bool load_device_is_gpu(const char *device)
{
    return device && cuda_device_named(device);
}

enum leat_status load_device_check(const struct load_device *d, cuda_result r, const char *tried,
                                   struct leat_error *err)
{
    return r == CUDA_OK ? LEAT_OK : cuda_driver_failed(&d->driver, r, tried, err);
}

static enum leat_status open_inside(struct load_device *d, struct leat_error *err)
{
    const char *which;
    enum leat_status s = cuda_device_parse(d->name, &which, err);
    const char *missing;
    int ordinal;

    if (s == LEAT_OK)
        s = cuda_driver_open(&d->driver, d->driver_name, err);
    if (s == LEAT_OK && (missing = cuda_extra_find(&d->driver, &d->extra)))
        s = status_set(err, LEAT_E_UNSUPPORTED, "the driver has no %s", missing);
    if (s == LEAT_OK)
        s = cuda_device_find(&d->driver, which, &d->device, &ordinal, err);
    if (s == LEAT_OK)
        s = load_device_check(d, d->driver.context_retain(&d->context, d->device), "opening the GPU's context", err);
    if (s == LEAT_OK)
        s = load_device_check(d, d->driver.context_push(d->context), "entering the GPU's context", err);
    if (s == LEAT_OK)
        s = load_device_check(d, d->driver.stream_create(&d->stream, CUDA_STREAM_NON_BLOCKING, 0), "making a stream",
                              err);
    return s;
}

enum leat_status load_device_open(struct load_device *d, const char *device, const char *driver, struct leat_error *err)
{
    enum leat_status s = LEAT_OK;

    memset(d, 0, sizeof *d);
    d->name = device;
    d->driver_name = driver;
    if (!cuda_device_named(device))
        s = status_set(err, LEAT_E_UNSUPPORTED, "unknown device \"%.100s\": use \"host\" or \"cuda:N\"", device);
    if (s == LEAT_OK)
        s = open_inside(d, err);
    if (s != LEAT_OK)
        load_device_close(d);
    return s;
}

void load_device_close(struct load_device *d)
{
    if (d->stream)
        d->driver.stream_destroy(d->stream);
    if (d->context) {
        cuda_context ours;

        d->driver.context_pop(&ours);
        d->driver.context_release(d->device);
    }
    cuda_driver_close(&d->driver);
    memset(d, 0, sizeof *d);
}

enum leat_status load_device_allocate(struct load_device *d, void **memory, size_t bytes, struct leat_error *err)
{
    cuda_pointer p = 0;
    enum leat_status s =
        load_device_check(d, d->driver.memory_allocate(&p, bytes), "allocating memory of the GPU", err);

    *memory = s == LEAT_OK ? (void *)(uintptr_t)p : NULL;
    return s;
}

void load_device_free(struct load_device *d, void *memory)
{
    if (memory)
        d->driver.memory_free((uintptr_t)memory);
}

enum leat_status load_device_bring(struct load_device *d, void *to, const void *from, size_t bytes,
                                   struct leat_error *err)
{
    enum leat_status s =
        load_device_check(d, d->extra.copy_to_host(to, (uintptr_t)from, bytes, d->stream), "copying from the GPU", err);

    return s == LEAT_OK ? load_device_wait(d, err) : s;
}

enum leat_status load_device_wait(struct load_device *d, struct leat_error *err)
{
    return load_device_check(d, d->driver.stream_synchronize(d->stream), "waiting for the GPU", err);
}
