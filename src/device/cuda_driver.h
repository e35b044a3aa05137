/*
 * cuda_driver.h: the functions of NVIDIA's driver that leat uses. They are found at run time, so that a build needs
 * no header or library of CUDA, and a program starts without a GPU. Prototypes and versions are those of cuda.h;
 * where that is installed, tests/cuda/test_prototypes.c compares them.
 *
 * To add one: a row here, and a function in tests/fake_cuda/ that keeps the driver's rules.
 */
#ifndef LEAT_CUDA_DRIVER_H
#define LEAT_CUDA_DRIVER_H

#include <stddef.h>

#include "leat.h"

/* The types in these prototypes; the test puts cuda.h's in their place. */
#ifndef CUDA_DRIVER_TYPES
typedef int cuda_result;
typedef int cuda_device;
typedef int cuda_device_attribute;
typedef int cuda_function_attribute;
typedef int cuda_capture_status;
typedef int cuda_capture_mode;
typedef int cuda_query_result;
typedef unsigned long long cuda_pointer; /* address in a device's memory */
typedef unsigned long long cuda_flags64;
typedef struct {
    char bytes[16];
} cuda_uuid;
typedef struct cuda_context_of_driver *cuda_context;
typedef struct cuda_stream_of_driver *cuda_stream;
typedef struct cuda_event_of_driver *cuda_event;
typedef struct cuda_module_of_driver *cuda_module;
typedef struct cuda_function_of_driver *cuda_function;
#endif

/* Results that the library tells apart. */
#define CUDA_OK                  0
#define CUDA_INVALID_VALUE       1
#define CUDA_OUT_OF_MEMORY       2
#define CUDA_NOT_INITIALIZED     3
#define CUDA_DEINITIALIZED       4
#define CUDA_STUB_LIBRARY        34
#define CUDA_NO_DEVICE           100
#define CUDA_INVALID_DEVICE      101
#define CUDA_INVALID_CONTEXT     201
#define CUDA_NO_BINARY_FOR_GPU   209
#define CUDA_INVALID_PTX         218
#define CUDA_UNSUPPORTED_PTX     222
#define CUDA_INVALID_HANDLE      400
#define CUDA_NOT_FOUND           500
#define CUDA_NOT_READY           600
#define CUDA_CAPTURE_UNSUPPORTED 900
#define CUDA_CAPTURE_INVALIDATED 901
#define CUDA_CAPTURE_IMPLICIT    906
#define CUDA_CAPTURED_EVENT      907

/* Flags and attributes. */
#define CUDA_STREAM_NON_BLOCKING  1u
#define CUDA_EVENT_DISABLE_TIMING 2u
#define CUDA_CAPTURE_NONE         0
#define CUDA_CAPTURE_RELAXED      2
#define CUDA_FUNCTION_REGISTERS   4
#define CUDA_DEVICE_PCI_BUS       33
#define CUDA_DEVICE_PCI_DEVICE    34
#define CUDA_DEVICE_PCI_DOMAIN    50
#define CUDA_LEGACY_STREAM        1u /* makes cuGetProcAddress take a NULL stream as the legacy default stream */

/* All functions. A row has the member, the symbol, the version of its prototype (cuGetProcAddress gives the newest
 * one up to that version) and the parameters. The driver must be at least 11.4, from 2021. */
#define CUDA_DRIVER_MIN 11040
#define CUDA_DRIVER_ENTRIES(X)                                                                                         \
    X(init, cuInit, 2000, (unsigned flags))                                                                            \
    X(driver_version, cuDriverGetVersion, 2020, (int *version))                                                        \
    X(error_name, cuGetErrorName, 6000, (cuda_result error, const char **text))                                        \
    X(error_string, cuGetErrorString, 6000, (cuda_result error, const char **text))                                    \
    X(device_get, cuDeviceGet, 2000, (cuda_device * device, int ordinal))                                              \
    X(device_count, cuDeviceGetCount, 2000, (int *count))                                                              \
    X(device_name, cuDeviceGetName, 2000, (char *name, int length, cuda_device device))                                \
    X(device_uuid, cuDeviceGetUuid, 11040, (cuda_uuid * uuid, cuda_device device))                                     \
    X(device_attribute, cuDeviceGetAttribute, 2000, (int *value, cuda_device_attribute what, cuda_device device))      \
    X(context_retain, cuDevicePrimaryCtxRetain, 7000, (cuda_context * context, cuda_device device))                    \
    X(context_release, cuDevicePrimaryCtxRelease, 11000, (cuda_device device))                                         \
    X(context_current, cuCtxGetCurrent, 4000, (cuda_context * context))                                                \
    X(context_set, cuCtxSetCurrent, 4000, (cuda_context context))                                                      \
    X(context_push, cuCtxPushCurrent, 4000, (cuda_context context))                                                    \
    X(context_pop, cuCtxPopCurrent, 4000, (cuda_context * context))                                                    \
    X(context_device, cuCtxGetDevice, 2000, (cuda_device * device))                                                    \
    X(context_priorities, cuCtxGetStreamPriorityRange, 5050, (int *least, int *greatest))                              \
    X(context_synchronize, cuCtxSynchronize, 2000, (void))                                                             \
    X(memory_info, cuMemGetInfo, 3020, (size_t * free, size_t * total))                                                \
    X(host_register, cuMemHostRegister, 6050, (void *memory, size_t bytes, unsigned flags))                            \
    X(host_unregister, cuMemHostUnregister, 4000, (void *memory))                                                      \
    X(memory_allocate, cuMemAlloc, 3020, (cuda_pointer * memory, size_t bytes))                                        \
    X(memory_free, cuMemFree, 3020, (cuda_pointer memory))                                                             \
    X(copy_to_device, cuMemcpyHtoDAsync, 3020, (cuda_pointer to, const void *from, size_t bytes, cuda_stream stream))  \
    X(copy_on_device, cuMemcpyDtoDAsync, 3020, (cuda_pointer to, cuda_pointer from, size_t bytes, cuda_stream stream)) \
    X(stream_create, cuStreamCreateWithPriority, 5050, (cuda_stream * stream, unsigned flags, int priority))           \
    X(stream_destroy, cuStreamDestroy, 4000, (cuda_stream stream))                                                     \
    X(stream_wait, cuStreamWaitEvent, 3020, (cuda_stream stream, cuda_event event, unsigned flags))                    \
    X(stream_synchronize, cuStreamSynchronize, 2000, (cuda_stream stream))                                             \
    X(stream_capturing, cuStreamIsCapturing, 10000, (cuda_stream stream, cuda_capture_status * status))                \
    X(capture_mode, cuThreadExchangeStreamCaptureMode, 10010, (cuda_capture_mode * mode))                              \
    X(event_create, cuEventCreate, 2000, (cuda_event * event, unsigned flags))                                         \
    X(event_record, cuEventRecord, 2000, (cuda_event event, cuda_stream stream))                                       \
    X(event_query, cuEventQuery, 2000, (cuda_event event))                                                             \
    X(event_synchronize, cuEventSynchronize, 2000, (cuda_event event))                                                 \
    X(event_destroy, cuEventDestroy, 4000, (cuda_event event))                                                         \
    X(module_load, cuModuleLoadData, 2000, (cuda_module * module, const void *image))                                  \
    X(module_function, cuModuleGetFunction, 2000, (cuda_function * function, cuda_module module, const char *name))    \
    X(function_attribute, cuFuncGetAttribute, 2020,                                                                    \
      (int *value, cuda_function_attribute what, cuda_function function))                                              \
    X(module_unload, cuModuleUnload, 2000, (cuda_module module))                                                       \
    X(launch, cuLaunchKernel, 4000,                                                                                    \
      (cuda_function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,  \
       unsigned block_z, unsigned shared_bytes, cuda_stream stream, void **parameters, void **extra))

struct cuda_driver {
    void *library;
    int version; /* version of CUDA: 12040 is 12.4 */
#define CUDA_DRIVER_MEMBER(member, symbol, since, parameters) cuda_result(*member) parameters;
    CUDA_DRIVER_ENTRIES(CUDA_DRIVER_MEMBER)
#undef CUDA_DRIVER_MEMBER
};

/* Loads the driver ("libcuda.so.1", or the file `path` if it is not NULL) and initializes it. On failure *d is closed.
 * Returns LEAT_E_UNSUPPORTED if it is missing or too old, finds no GPU, or was used by the process that forked this
 * one.
 */
enum leat_status cuda_driver_open(struct cuda_driver *d, const char *path, struct leat_error *err);
void cuda_driver_close(struct cuda_driver *d);

/* Returns another function of the driver, as of version `since`; NULL if the driver lacks it. */
void *cuda_driver_entry(const struct cuda_driver *d, const char *symbol, int since);

/* Fills `err` with what was tried, the failure's name and the driver's text. Returns the status that fits. */
enum leat_status cuda_driver_failed(const struct cuda_driver *d, cuda_result result, const char *tried,
                                    struct leat_error *err);

#endif
