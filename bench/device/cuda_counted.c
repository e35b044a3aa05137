/* cuda_counted.c: see cuda_counted.h. */
#include "cuda_counted.h"

#include <stdbool.h>

#include "device/cuda_driver.h"

struct cuda_counted cuda_counted;
static atomic_bool counting;

#define STEADY 0 /* never waits */
#define WAITS  1

/* Member of struct cuda_driver, whether it may wait, parameters, the same as arguments. What is not here is asked when
 * a loader is opened, and waits for nothing. */
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

/* All drivers of a process are one, whose functions are the same each time. */
#define DEFINE(member, may_wait, parameters, arguments)                                                                \
    static cuda_result(*real_##member) parameters;                                                                     \
    static cuda_result counted_##member parameters                                                                     \
    {                                                                                                                  \
        atomic_fetch_add_explicit(&cuda_counted.calls, 1, memory_order_relaxed);                                       \
        atomic_fetch_add_explicit(&cuda_counted.waits, may_wait, memory_order_relaxed);                                \
        return real_##member arguments;                                                                                \
    }
COUNTED(DEFINE)
#undef DEFINE

void cuda_counted_begin(void)
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
    if (real_##member != d->member) /* at the first time only */                                                       \
        real_##member = d->member;                                                                                     \
    d->member = counted_##member;
    COUNTED(REPLACE)
#undef REPLACE
    return s;
}
