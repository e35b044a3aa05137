/*
 * cuda_kernels.cu: the kernels of the CUDA backend: rows_device.h, once per width of tokens and of numbers. Compiled
 * by scripts/gen_ptx.sh to cuda_kernels.ptx, which is checked in, so that a build needs no CUDA. A kernel's name is
 * leat_rows_TOKENWIDTH_NUMBERBYTES, leat_rows_mask or leat_rows_segments; the stand-in driver of the tests runs the same bodies by these
 * names.
 */
#include <stddef.h>
#include <stdint.h>

#define ROWS_BODY static __device__ __forceinline__
#include "rows/rows_device.h"

#define KERNEL(token_width, number_bytes)                                                                              \
    extern "C" __global__ void __launch_bounds__(ROWS_BLOCK)                                                           \
        leat_rows_##token_width##_##number_bytes(const struct rows_job job, const struct rows_grid grid)               \
    {                                                                                                                  \
        rows_do_thread(&job, grid, blockIdx.x, gridDim.x, threadIdx.x, token_width, number_bytes);                     \
    }

KERNEL(2, 8)
KERNEL(2, 4)
KERNEL(4, 8)
KERNEL(4, 4)

/* The second pass reads no tokens, and asks the job how wide its numbers are. */
extern "C" __global__ void __launch_bounds__(ROWS_BLOCK)
    leat_rows_mask(const struct rows_job job, const struct rows_grid grid)
{
    rows_do_thread(&job, grid, blockIdx.x, gridDim.x, threadIdx.x, 0, ROWS_PASS_MASK);
}

/* The kernel of rows in segments: one pass, which asks the job for both widths. */
extern "C" __global__ void __launch_bounds__(ROWS_BLOCK)
    leat_rows_segments(const struct rows_job job, const struct rows_grid grid)
{
    rows_do_thread(&job, grid, blockIdx.x, gridDim.x, threadIdx.x, 0, ROWS_PASS_SEGMENTS);
}
