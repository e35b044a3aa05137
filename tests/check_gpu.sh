#!/bin/sh
# check_gpu.sh BUILD: what `make check-gpu` runs: the tests of the loader and of the CUDA backend on a real GPU
# ($LEAT_TEST_DEVICE, or "cuda"; its driver: $LEAT_TEST_DRIVER, or the system's). Exit 77 where there is none.
build=$1
export LEAT_TEST_DEVICE="${LEAT_TEST_DEVICE:-cuda}" LEAT_BUILD="$build"

# the smallest of them says whether there is one
"$build/tests/device/test_loader_outputs" >"$build/check_gpu.out" 2>&1
if [ $? -eq 77 ]; then
    tail -n 1 "$build/check_gpu.out"
    exit 77
fi
# one after another: memory and time of the GPU are looked at
LEAT_TEST_JOBS=1 exec tests/run.sh "$build" "" "$build"/tests/device/test_* "$build"/tests/cuda/test_*
