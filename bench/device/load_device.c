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

/* ---- Calls, counted ---- */

struct load_device_calls load_device_calls;
static atomic_bool counting;

#define STEADY 0 /* a call that never waits for the GPU */
#define WAITS  1

/* The driver's functions that are counted. A row has the member of struct cuda_driver, whether the call may wait,
 * its parameters, and its arguments. The other functions are called while a loader is opened, and wait for nothing. */
#define COUNTED(X)                                                                                                     \
    X(context_retain, WAITS, (cuda_context * c, cuda_device d), (c, d))                                                \
    X(context_release, WAITS, (cuda_device d), (d))                                                                    \
    X(module_load, WAITS, (cuda_module * m, const void *image), (m, image))                                            \
    X(module_unload, WAITS, (cuda_module m), (m))                                                                      \
    X(function_attribute, WAITS, (int *v, cuda_function_attribute a, cuda_function f), (v, a, f))                      \
    X(memory_info, WAITS, (size_t * f, size_t * t), (f, t))                                                            \
    X(memory_allocate, WAITS, (cuda_pointer * m, size_t n), (m, n))                                                    \
    X(memory_free, WAITS, (cuda_pointer m), (m))                                                                       \
    X(host_register, WAITS, (void *m, size_t n, unsigned f), (m, n, f))                                                \
    X(host_unregister, WAITS, (void *m), (m))                                                                          \
    X(stream_create, WAITS, (cuda_stream * s, unsigned f, int p), (s, f, p))                                           \
    X(stream_destroy, WAITS, (cuda_stream s), (s))                                                                     \
    X(stream_synchronize, WAITS, (cuda_stream s), (s))                                                                 \
    X(context_synchronize, WAITS, (void), ())                                                                          \
    X(event_synchronize, WAITS, (cuda_event e), (e))                                                                   \
    X(event_query, STEADY, (cuda_event e), (e))                                                                        \
    X(event_record, STEADY, (cuda_event e, cuda_stream s), (e, s))                                                     \
    X(stream_wait, STEADY, (cuda_stream s, cuda_event e, unsigned f), (s, e, f))                                       \
    X(stream_capturing, STEADY, (cuda_stream s, cuda_capture_status * c), (s, c))                                      \
    X(capture_mode, STEADY, (cuda_capture_mode * m), (m))                                                              \
    X(context_current, STEADY, (cuda_context * c), (c))                                                                \
    X(context_set, STEADY, (cuda_context c), (c))                                                                      \
    X(context_push, STEADY, (cuda_context c), (c))                                                                     \
    X(context_pop, STEADY, (cuda_context * c), (c))                                                                    \
    X(copy_to_device, STEADY, (cuda_pointer to, const void *from, size_t n, cuda_stream s), (to, from, n, s))          \
    X(launch, STEADY,                                                                                                  \
      (cuda_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, \
       cuda_stream s, void **p, void **extra),                                                                         \
      (f, gx, gy, gz, bx, by, bz, shared, s, p, extra))

/* A process has one driver, whose functions never change. */
#define DEFINE(member, may_wait, parameters, arguments)                                                                \
    static cuda_result(*real_##member) parameters;                                                                     \
    static cuda_result counted_##member parameters                                                                     \
    {                                                                                                                  \
        atomic_fetch_add_explicit(&load_device_calls.calls, 1, memory_order_relaxed);                                  \
        atomic_fetch_add_explicit(&load_device_calls.waits, may_wait, memory_order_relaxed);                           \
        return real_##member arguments;                                                                                \
    }
COUNTED(DEFINE)
#undef DEFINE

void load_device_count(void)
{
    atomic_store(&counting, true);
}

enum leat_status __real_cuda_driver_open(struct cuda_driver *d, const char *path, struct leat_error *err);
enum leat_status __wrap_cuda_driver_open(struct cuda_driver *d, const char *path, struct leat_error *err);
enum leat_status __wrap_cuda_driver_open(struct cuda_driver *d, const char *path, struct leat_error *err)
{
    enum leat_status s = __real_cuda_driver_open(d, path, err);

    if (s != LEAT_OK || !atomic_load(&counting))
        return s;
#define REPLACE(member, may_wait, parameters, arguments)                                                               \
    if (real_##member != d->member) /* false once this call is counted already */                                      \
        real_##member = d->member;                                                                                     \
    d->member = counted_##member;
    COUNTED(REPLACE)
#undef REPLACE
    return s;
}
