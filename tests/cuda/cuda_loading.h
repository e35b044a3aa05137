/* cuda_loading.h: what the tests of the CUDA backend share: a plan, a loader on the device, buffers there, and looks at
 * what has come to them. All but the loader's own calls are the test's, and nothing waits between opening and
 * closing. */
#ifndef LEAT_TESTS_CUDA_LOADING_H
#define LEAT_TESTS_CUDA_LOADING_H

#include "loader/loading.h"
#include "support/on_device.h"

#define MUST(call)                                                                                                     \
    do {                                                                                                               \
        cuda_result t_r = (call);                                                                                      \
        if (t_r != CUDA_OK) {                                                                                          \
            T_FAIL("%s: %d", #call, (int)t_r);                                                                         \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

static struct on_device *cuda; /* opened by cuda_start() */

/* False: there is none; its words were printed, and the test is to end with 77. */
static inline bool cuda_start(void)
{
    const char *why;

    cuda = on_device(&why);
    if (!cuda)
        fprintf(stderr, "skipped: %s\n", why);
    return cuda != NULL;
}

static inline void cuda_allow_waiting(int more)
{
    if (cuda->fake)
        cuda->fake->allow_waiting(more);
}

static inline enum leat_status cuda_open(struct leat_loader **l, const struct loading *w, struct leat_loader_options o)
{
    enum leat_status s;

    if (!o.device.name)
        o.device.name = cuda->name;
    if (!o.device.driver)
        o.device.driver = cuda->driver_name;
    cuda_allow_waiting(1);
    s = leat_loader_open(l, w->plan, &o, &t_err);
    cuda_allow_waiting(-1);
    return s;
}

static inline void cuda_close(struct leat_loader *l)
{
    cuda_allow_waiting(1);
    leat_loader_close(l);
    cuda_allow_waiting(-1);
}

static inline cuda_stream cuda_make_stream(void)
{
    cuda_stream s;

    on_device_begin(cuda);
    MUST(cuda->driver.stream_create(&s, CUDA_STREAM_NON_BLOCKING, 0));
    on_device_end(cuda);
    return s;
}

static inline void cuda_drop_stream(cuda_stream s)
{
    on_device_begin(cuda);
    MUST(cuda->driver.stream_destroy(s));
    on_device_end(cuda);
}

static inline void *cuda_allocate(size_t bytes)
{
    cuda_pointer p;

    on_device_begin(cuda);
    MUST(cuda->driver.memory_allocate(&p, bytes));
    on_device_end(cuda);
    return (void *)(uintptr_t)p;
}

static inline void cuda_free(void *p)
{
    on_device_begin(cuda);
    MUST(cuda->driver.memory_free((uintptr_t)p));
    on_device_end(cuda);
}

/* Copies from the device, behind what is on the stream, and waits. */
static inline void cuda_bring(void *to, const void *from, size_t bytes, cuda_stream stream)
{
    on_device_begin(cuda);
    MUST(cuda->extra.copy_to_host(to, (uintptr_t)from, bytes, stream));
    MUST(cuda->driver.stream_synchronize(stream));
    on_device_end(cuda);
}

/* A copy on the device, which the consumer puts on its stream. */
static inline void cuda_copy(void *to, const void *from, size_t bytes, cuda_stream stream)
{
    on_device_begin(cuda);
    MUST(cuda->driver.copy_on_device((uintptr_t)to, (uintptr_t)from, bytes, stream));
    on_device_end(cuda);
}

/* The inputs of `rows` rows of `length` from position `first` on, as 8-byte numbers that were brought from the
 * device. */
static inline void cuda_check_inputs(const struct loading *w, const int64_t *inputs, uint64_t first, uint64_t rows,
                                     uint64_t length)
{
    uint64_t wrong = 0, got;

    for (uint64_t row = 0; row < rows; row++) {
        struct leat_sample x;

        T_OK(leat_plan_samples(w->plan, first + row, 1, &x, &got, &t_err));
        for (uint64_t i = 0; i < length; i++)
            wrong += inputs[row * length + i] != loading_token(w, &x, i);
    }
    T_EQ(wrong, 0);
}

static inline struct loading cuda_plan(const char *name, unsigned width, uint64_t length)
{
    struct loading w = { .width = width, .mean = 60 };

    w.plan = loading_plan(t_text("source %s\nseq-len %llu\nseed 4\n", name, (unsigned long long)length));
    return w;
}

#endif
