/*
 * backend_cuda_open.c: opens a GPU: its context, the kernels, a stream; and closes it.
 */
#include <stdlib.h>

#include "backend_cuda.h"
#include "base/status.h"
#include "cuda_image.h"

static cuda_result find_kernel(struct backend *b, cuda_function *kernel, const char *name)
{
    int registers;
    cuda_result r = b->driver.module_function(kernel, b->module, name);

    /* newer drivers load a kernel on first use, which waits for the GPU: ask for it now */
    return r == CUDA_OK ? b->driver.function_attribute(&registers, CUDA_FUNCTION_REGISTERS, *kernel) : r;
}

static enum leat_status load_kernels(struct backend *b, struct leat_error *err)
{
    static const char *const names[2][2] = { { "leat_rows_2_4", "leat_rows_2_8" },
                                             { "leat_rows_4_4", "leat_rows_4_8" } };
    const void *machine_code = cuda_image_fatbin();
    cuda_result r = CUDA_NO_BINARY_FOR_GPU;

    if (machine_code)
        r = b->driver.module_load(&b->module, machine_code);
    if (r != CUDA_OK)
        r = b->driver.module_load(&b->module, cuda_image_ptx);
    for (unsigned i = 0; r == CUDA_OK && i < 4; i++)
        r = find_kernel(b, &b->kernels[i / 2][i % 2], names[i / 2][i % 2]);
    if (r == CUDA_OK)
        r = find_kernel(b, &b->mask_kernel, "leat_rows_mask");
    return backend_cuda_check(b, r, "loading the kernels", err);
}

static enum leat_status open_inside(struct backend *b, struct leat_error *err)
{
    int least = 0, greatest = 0;
    enum leat_status s = load_kernels(b, err);
    cuda_result r;

    if (s != LEAT_OK)
        return s;
    r = b->driver.context_priorities(&least, &greatest);
    if (r == CUDA_OK) /* a stream that the default stream does not wait for */
        r = b->driver.stream_create(&b->stream, CUDA_STREAM_NON_BLOCKING, greatest);
    return backend_cuda_check(b, r, "making a stream", err);
}

static enum leat_status open_device(struct backend *b, const char *device, const char *driver, struct leat_error *err)
{
    const char *which;
    struct cuda_before before;
    enum leat_status s = cuda_device_parse(device, &which, err);

    if (s == LEAT_OK)
        s = cuda_driver_open(&b->driver, driver, err);
    if (s == LEAT_OK)
        s = cuda_device_find(&b->driver, which, &b->device, &b->ordinal, err);
    if (s == LEAT_OK)
        s = backend_cuda_check(b, b->driver.device_name(b->name, (int)sizeof b->name, b->device),
                               "querying a GPU's name", err);
    if (s == LEAT_OK)
        s = backend_cuda_check(b, b->driver.context_retain(&b->context, b->device), "opening the GPU's context", err);
    if (s == LEAT_OK)
        s = backend_cuda_check(b, backend_cuda_enter(b, &before), "entering the GPU's context", err);
    if (s != LEAT_OK)
        return s;
    s = open_inside(b, err);
    backend_cuda_leave(b, &before);
    return s;
}

/* Releases everything; if the driver was shut down before, nothing is left to release. */
void backend_cuda_close(struct backend *b)
{
    struct cuda_before before;

    if (b->context && backend_cuda_enter(b, &before) == CUDA_OK) {
        if (b->stream)
            b->driver.stream_destroy(b->stream);
        if (b->module)
            b->driver.module_unload(b->module);
        backend_cuda_leave(b, &before);
    }
    if (b->context)
        b->driver.context_release(b->device);
    cuda_driver_close(&b->driver);
    free(b);
}

enum leat_status backend_cuda_open(struct backend **out, const char *device, const char *driver, struct leat_error *err)
{
    struct backend *b = calloc(1, sizeof *b);
    enum leat_status s;

    *out = NULL;
    if (!b)
        return status_no_memory(err, sizeof *b);
    atomic_flag_clear(&b->failing);
    s = open_device(b, device, driver, err);
    if (s == LEAT_OK)
        *out = b;
    else
        backend_cuda_close(b);
    return s;
}

uint64_t backend_cuda_room(struct backend *b)
{
    size_t free_bytes = 0, total = 0;
    struct cuda_before before;

    if (backend_cuda_enter(b, &before) != CUDA_OK)
        return 0;
    if (b->driver.memory_info(&free_bytes, &total) != CUDA_OK)
        free_bytes = 0;
    backend_cuda_leave(b, &before);
    return free_bytes;
}

/* A forked process must not call the driver, and does not have the ring. */
void backend_cuda_forget(struct backend *b, struct backend_memory *m)
{
    m->host = NULL;
    backend_cuda_free_slots(b);
    cuda_driver_close(&b->driver);
    free(b);
}
