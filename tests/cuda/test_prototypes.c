/*
 * test_prototypes.c: the prototypes and versions that src/device/cuda_driver.h has of its own are those of CUDA's
 * headers: the compiler compares each with the typedef of its version, and numbers with their names.
 */
#if defined(__has_include)
#if __has_include(<cudaTypedefs.h>)
#define HAVE_HEADERS 1
#endif
#endif

#include "t.h"

#if defined(HAVE_HEADERS)
#include <cuda.h>
#include <cudaTypedefs.h>

#define CUDA_DRIVER_TYPES
typedef CUresult cuda_result;
typedef CUdevice cuda_device;
typedef CUdevice_attribute cuda_device_attribute;
typedef CUfunction_attribute cuda_function_attribute;
typedef CUstreamCaptureStatus cuda_capture_status;
typedef CUstreamCaptureMode cuda_capture_mode;
typedef CUdriverProcAddressQueryResult cuda_query_result;
typedef CUdeviceptr cuda_pointer;
typedef cuuint64_t cuda_flags64;
typedef CUuuid cuda_uuid;
typedef CUcontext cuda_context;
typedef CUstream cuda_stream;
typedef CUevent cuda_event;
typedef CUmodule cuda_module;
typedef CUfunction cuda_function;
#define CUDA_EXTRA_TYPES
typedef CUgraph cuda_graph;
typedef CUgraphExec cuda_graph_exec;
#include "bench/device/cuda_extra.h"

/* cuMemAlloc is a macro for cuMemAlloc_v2 in cuda.h, and the typedef is called PFN_cuMemAlloc_v3020: take the macros
 * away. */
#undef cuDevicePrimaryCtxRelease
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
#undef cuDeviceGetUuid
#undef cuMemGetInfo
#undef cuMemHostRegister
#undef cuMemAlloc
#undef cuMemFree
#undef cuMemcpyHtoDAsync
#undef cuMemcpyDtoHAsync
#undef cuMemcpyDtoDAsync
#undef cuStreamDestroy
#undef cuEventDestroy
#undef cuStreamBeginCapture
#undef cuCtxGetDevice
#undef cuCtxSynchronize
#undef cuEventElapsedTime

#define SAME(member, symbol, since, parameters)                                                                        \
    _Static_assert(__builtin_types_compatible_p(PFN_##symbol##_v##since, cuda_result(*) parameters),                   \
                   #symbol " has another prototype, or came with another version");
CUDA_DRIVER_ENTRIES(SAME)
CUDA_EXTRA_ENTRIES(SAME)

int main(void)
{
    T_EQ(CUDA_OK, CUDA_SUCCESS);
    T_EQ(CUDA_INVALID_VALUE, CUDA_ERROR_INVALID_VALUE);
    T_EQ(CUDA_OUT_OF_MEMORY, CUDA_ERROR_OUT_OF_MEMORY);
    T_EQ(CUDA_NOT_INITIALIZED, CUDA_ERROR_NOT_INITIALIZED);
    T_EQ(CUDA_DEINITIALIZED, CUDA_ERROR_DEINITIALIZED);
    T_EQ(CUDA_STUB_LIBRARY, CUDA_ERROR_STUB_LIBRARY);
    T_EQ(CUDA_NO_DEVICE, CUDA_ERROR_NO_DEVICE);
    T_EQ(CUDA_INVALID_DEVICE, CUDA_ERROR_INVALID_DEVICE);
    T_EQ(CUDA_INVALID_CONTEXT, CUDA_ERROR_INVALID_CONTEXT);
    T_EQ(CUDA_NO_BINARY_FOR_GPU, CUDA_ERROR_NO_BINARY_FOR_GPU);
    T_EQ(CUDA_INVALID_PTX, CUDA_ERROR_INVALID_PTX);
    T_EQ(CUDA_UNSUPPORTED_PTX, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
    T_EQ(CUDA_INVALID_HANDLE, CUDA_ERROR_INVALID_HANDLE);
    T_EQ(CUDA_NOT_FOUND, CUDA_ERROR_NOT_FOUND);
    T_EQ(CUDA_NOT_READY, CUDA_ERROR_NOT_READY);
    T_EQ(CUDA_CAPTURE_UNSUPPORTED, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    T_EQ(CUDA_CAPTURE_INVALIDATED, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    T_EQ(CUDA_CAPTURE_IMPLICIT, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
    T_EQ(CUDA_CAPTURED_EVENT, CUDA_ERROR_CAPTURED_EVENT);
    T_EQ(CUDA_STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
    T_EQ(CUDA_EVENT_DISABLE_TIMING, CU_EVENT_DISABLE_TIMING);
    T_EQ(CUDA_CAPTURE_NONE, CU_STREAM_CAPTURE_STATUS_NONE);
    T_EQ(CUDA_CAPTURE_RELAXED, CU_STREAM_CAPTURE_MODE_RELAXED);
    T_EQ(CUDA_CAPTURE_GLOBAL, CU_STREAM_CAPTURE_MODE_GLOBAL);
    T_EQ(CUDA_CAPTURE_THREAD_LOCAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
    T_EQ(CUDA_FUNCTION_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS);
    T_EQ(CUDA_LEGACY_STREAM, CU_GET_PROC_ADDRESS_LEGACY_STREAM);
    T_EQ(sizeof(cuda_uuid), 16);
    return t_end();
}
#else
int main(void)
{
    return t_skip("CUDA's headers are not installed");
}
#endif
