/* cuda_extra.h: functions of NVIDIA's driver that measurements and tests use but the library does not. They are
 * declared as in src/device/cuda_driver.h. */
#ifndef LEAT_BENCH_CUDA_EXTRA_H
#define LEAT_BENCH_CUDA_EXTRA_H

#include <string.h>

#include "device/cuda_driver.h"

#ifndef CUDA_EXTRA_TYPES
typedef struct cuda_graph_of_driver *cuda_graph;
typedef struct cuda_graph_exec_of_driver *cuda_graph_exec;
#endif

#define CUDA_CAPTURE_GLOBAL       0
#define CUDA_CAPTURE_THREAD_LOCAL 1

#define CUDA_EXTRA_ENTRIES(X)                                                                                          \
    X(copy_to_host, cuMemcpyDtoHAsync, 3020, (void *to, cuda_pointer from, size_t bytes, cuda_stream stream))          \
    X(set_bytes, cuMemsetD8Async, 3020, (cuda_pointer to, unsigned char value, size_t bytes, cuda_stream stream))      \
    X(event_elapsed, cuEventElapsedTime, 2000, (float *ms, cuda_event first, cuda_event last))                         \
    X(capture_begin, cuStreamBeginCapture, 10010, (cuda_stream stream, cuda_capture_mode mode))                        \
    X(capture_end, cuStreamEndCapture, 10000, (cuda_stream stream, cuda_graph * graph))                                \
    X(graph_instantiate, cuGraphInstantiateWithFlags, 11040,                                                           \
      (cuda_graph_exec * exec, cuda_graph graph, unsigned long long flags))                                            \
    X(graph_launch, cuGraphLaunch, 10000, (cuda_graph_exec exec, cuda_stream stream))                                  \
    X(graph_exec_destroy, cuGraphExecDestroy, 10000, (cuda_graph_exec exec))                                           \
    X(graph_destroy, cuGraphDestroy, 10000, (cuda_graph graph))

struct cuda_extra {
#define CUDA_EXTRA_MEMBER(member, symbol, since, parameters) cuda_result(*member) parameters;
    CUDA_EXTRA_ENTRIES(CUDA_EXTRA_MEMBER)
#undef CUDA_EXTRA_MEMBER
};

/* Finds the functions. Returns NULL, or the name of a missing function. */
static inline const char *cuda_extra_find(const struct cuda_driver *d, struct cuda_extra *extra)
{
    void *function;

#define CUDA_EXTRA_FIND(member, symbol, since, parameters)                                                             \
    function = cuda_driver_entry(d, #symbol, since);                                                                   \
    if (!function)                                                                                                     \
        return #symbol;                                                                                                \
    memcpy(&extra->member, &function, sizeof function);
    CUDA_EXTRA_ENTRIES(CUDA_EXTRA_FIND)
#undef CUDA_EXTRA_FIND
    return NULL;
}

#endif
