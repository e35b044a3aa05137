/*
 * test_count_cuda.c: between opening and closing, a loader and those who take its batches make no call of the driver
 * that waits for the GPU, or that CUDA says may wait: counted on the way to the driver (bench/device/load_device.h),
 * so that it is seen on a real GPU as well; and opening and closing do make such calls, so that the counter is seen to
 * count. The loader's thread runs here.
 */
#include "bench/device/load_device.h"
#include "cuda_loading.h"

#define LENGTH 50u
#define ROWS   6u
#define BYTES  (8 * ROWS * LENGTH)
#define STEPS  300u

static void steps(const struct loading *w, uint32_t threads, bool borrow)
{
    struct leat_loader_options o = LEAT_LOADER_OPTIONS_INIT;
    unsigned long long opened, calls, before = atomic_load(&load_device_calls.waits);
    cuda_stream stream = cuda_make_stream();
    void *buffer = cuda_allocate(BYTES);
    int64_t host[ROWS * LENGTH];
    const struct leat_batch *b;
    struct leat_loader *l;

    o.batch = ROWS;
    o.io.threads = threads;
    o.outputs.borrow = borrow;
    o.outputs.wanted = borrow ? LEAT_OUTPUT_INPUTS : 0;
    T_OK(cuda_open(&l, w, o));
    opened = atomic_load(&load_device_calls.waits);
    calls = atomic_load(&load_device_calls.calls);
    T_CHECK(opened > before);
    for (unsigned k = 0; k < STEPS; k++) {
        struct leat_outputs out = LEAT_OUTPUTS_INIT;

        T_OK(leat_loader_next(l, &b, &t_err));
        if (borrow) {
            T_OK(leat_batch_borrow(b, &out, stream, &t_err));
            cuda_copy(buffer, out.inputs, BYTES, stream);
        } else {
            out.inputs = buffer;
            T_OK(leat_batch_write(b, &out, stream, &t_err));
        }
        leat_batch_release(b, stream);
        if (k % 50 == 49) {
            cuda_bring(host, buffer, BYTES, stream);
            cuda_check_inputs(w, host, k * ROWS, ROWS, LENGTH);
        }
    }
    T_EQ(atomic_load(&load_device_calls.waits), opened);
    T_CHECK(atomic_load(&load_device_calls.calls) >= calls + 5 * STEPS);
    cuda_close(l);
    T_CHECK(atomic_load(&load_device_calls.waits) > opened);
    cuda_free(buffer);
    cuda_drop_stream(stream);
}

int main(void)
{
    char name[600];
    struct loading w;

    if (!cuda_start())
        return 77;
    load_device_count();
    snprintf(name, sizeof name, "%s/d", t_folder());
    loading_write(name, 100000, 2, 60);
    w = cuda_plan(name, 2, LENGTH);
    for (uint32_t threads = 0; threads < 2; threads++)
        for (unsigned borrow = 0; borrow < 2; borrow++)
            steps(&w, threads, borrow);
    leat_plan_close(w.plan);
    return t_end();
}
