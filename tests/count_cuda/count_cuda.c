/* count_cuda.c: see count_cuda.h. */
#include "count_cuda.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "device/cuda_driver.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED struct count_cuda count_cuda;

#define STEADY 0 /* never waits */
#define WAITS  1

/* Symbol, whether it may wait, parameters, the same as arguments. What is not here is handed on uncounted. */
#define COUNTED(X)                                                                                                     \
    X(cuDevicePrimaryCtxRetain, WAITS, (cuda_context * c, cuda_device d), (c, d))                                      \
    X(cuDevicePrimaryCtxRelease, WAITS, (cuda_device d), (d))                                                          \
    X(cuModuleLoadData, WAITS, (cuda_module * m, const void *image), (m, image))                                       \
    X(cuModuleUnload, WAITS, (cuda_module m), (m))                                                                     \
    X(cuFuncGetAttribute, WAITS, (int *v, cuda_function_attribute a, cuda_function f), (v, a, f))                      \
    X(cuMemGetInfo, WAITS, (size_t * f, size_t * t), (f, t))                                                           \
    X(cuMemAlloc, WAITS, (cuda_pointer * m, size_t n), (m, n))                                                         \
    X(cuMemFree, WAITS, (cuda_pointer m), (m))                                                                         \
    X(cuMemHostRegister, WAITS, (void *m, size_t n, unsigned f), (m, n, f))                                            \
    X(cuMemHostUnregister, WAITS, (void *m), (m))                                                                      \
    X(cuStreamCreateWithPriority, WAITS, (cuda_stream * s, unsigned f, int p), (s, f, p))                              \
    X(cuStreamDestroy, WAITS, (cuda_stream s), (s))                                                                    \
    X(cuStreamSynchronize, WAITS, (cuda_stream s), (s))                                                                \
    X(cuCtxSynchronize, WAITS, (void), ())                                                                             \
    X(cuEventSynchronize, WAITS, (cuda_event e), (e))                                                                  \
    X(cuEventQuery, STEADY, (cuda_event e), (e))                                                                       \
    X(cuEventRecord, STEADY, (cuda_event e, cuda_stream s), (e, s))                                                    \
    X(cuStreamWaitEvent, STEADY, (cuda_stream s, cuda_event e, unsigned f), (s, e, f))                                 \
    X(cuStreamIsCapturing, STEADY, (cuda_stream s, cuda_capture_status * c), (s, c))                                   \
    X(cuThreadExchangeStreamCaptureMode, STEADY, (cuda_capture_mode * m), (m))                                         \
    X(cuCtxGetCurrent, STEADY, (cuda_context * c), (c))                                                                \
    X(cuCtxSetCurrent, STEADY, (cuda_context c), (c))                                                                  \
    X(cuCtxPushCurrent, STEADY, (cuda_context c), (c))                                                                 \
    X(cuCtxPopCurrent, STEADY, (cuda_context * c), (c))                                                                \
    X(cuMemcpyHtoDAsync, STEADY, (cuda_pointer to, const void *from, size_t n, cuda_stream s), (to, from, n, s))       \
    X(cuLaunchKernel, STEADY,                                                                                          \
      (cuda_function f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, \
       cuda_stream s, void **p, void **extra),                                                                         \
      (f, gx, gy, gz, bx, by, bz, shared, s, p, extra))

/* Functions are found before they are called, and by one thread. */
#define DEFINE(symbol, may_wait, parameters, arguments)                                                                \
    static cuda_result(*real_##symbol) parameters;                                                                     \
    static cuda_result counted_##symbol parameters                                                                     \
    {                                                                                                                  \
        atomic_fetch_add(&count_cuda.calls, 1);                                                                        \
        atomic_fetch_add(&count_cuda.waits, may_wait);                                                                 \
        return real_##symbol arguments;                                                                                \
    }
COUNTED(DEFINE)
#undef DEFINE

static void *driver(void)
{
    const char *name = getenv("LEAT_COUNTED_DRIVER");

    return dlopen(name ? name : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
}

/* In place of what was found for a symbol: what counts, if there is that. */
static void replace(const char *symbol, void **function)
{
#define REPLACE(name, may_wait, parameters, arguments)                                                                 \
    if (strcmp(symbol, #name) == 0) {                                                                                  \
        cuda_result(*ours) parameters = counted_##name;                                                                \
                                                                                                                       \
        memcpy(&real_##name, function, sizeof *function);                                                              \
        memcpy(function, &ours, sizeof *function);                                                                     \
    }
    COUNTED(REPLACE)
#undef REPLACE
}

EXPORTED cuda_result cuGetProcAddress_v2(const char *symbol, void **function, int version, cuda_flags64 flags,
                                         cuda_query_result *found);
cuda_result cuGetProcAddress_v2(const char *symbol, void **function, int version, cuda_flags64 flags,
                                cuda_query_result *found)
{
    cuda_result (*find)(const char *, void **, int, cuda_flags64, cuda_query_result *) = NULL;
    void *library = driver(), *entry = library ? dlsym(library, "cuGetProcAddress_v2") : NULL;
    cuda_result r;

    memcpy(&find, &entry, sizeof find);
    if (!find)
        return CUDA_NOT_FOUND;
    r = find(symbol, function, version, flags, found);
    if (r == CUDA_OK && *function)
        replace(symbol, function);
    return r;
}
