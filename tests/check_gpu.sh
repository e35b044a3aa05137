#!/bin/sh
# check_gpu.sh BUILD [TEST...]: what `make check-gpu` runs: the tests of the loader and of the CUDA backend, or these
# TESTs, on a real GPU ($LEAT_TEST_DEVICE, or "cuda"; its driver: $LEAT_TEST_DRIVER, or the system's). Exit 77 where
# there is none. One of them, or the first TEST, also runs twice at once and under compute-sanitizer.
#
# One call shows all that is needed to find out why something fails, since machines with a GPU may be lent for minutes:
# first the machine; then all tests, with the output of those that fail; two processes at once on one GPU; then some
# under compute-sanitizer, which may be missing.
build=$1
shift
export LEAT_TEST_DEVICE="${LEAT_TEST_DEVICE:-cuda}" LEAT_BUILD="$build"
steps=${1:-$build/tests/cuda/test_cuda_steps} # several streams, captured graphs, borrowed batches
[ $# -gt 0 ] || set -- "$build"/tests/device/test_* "$build"/tests/cuda/test_*
status=0
has() {
    command -v "$1" >/dev/null
}
fail() {
    echo "FAIL $*"
    status=1
}

# the smallest of them says whether there is one
"$build/tests/device/test_loader_log" >"$build/check_gpu.out" 2>&1
if [ $? -eq 77 ]; then
    tail -n 1 "$build/check_gpu.out"
    exit 77
fi

echo "== machine"
uname -srm
if has nvidia-smi; then
    nvidia-smi --query-gpu=index,name,uuid,driver_version,memory.total,memory.free,mig.mode.current,compute_mode \
        --format=csv
    nvidia-smi -L
    nvidia-smi -q | grep -i -m 3 -E 'CUDA Version|Addressing Mode'
else
    echo "no nvidia-smi: name, driver and modes of the GPU are not shown"
fi
[ ! -r /proc/driver/nvidia/version ] || head -n 1 /proc/driver/nvidia/version
env | grep -E '^(CUDA_|NVIDIA_|LEAT_TEST_)' | sort

echo "== tests"
# one after another: memory and time of the GPU are looked at
LEAT_TEST_JOBS=1 tests/run.sh "$build" "" "$@" || status=1

echo "== two processes at once"
out=$build/check_gpu
"$steps" >"$out.1" 2>&1 &
other=$!
"$steps" >"$out.2" 2>&1 || { fail "the second process"; cat "$out.2"; }
wait "$other" || { fail "the first process"; cat "$out.1"; }

echo "== compute-sanitizer"
if has compute-sanitizer; then
    # some tests provoke errors of the driver on purpose
    for tool in "memcheck --report-api-errors no" racecheck initcheck; do
        # $tool is a tool and its option: words
        # shellcheck disable=SC2086
        if compute-sanitizer --tool $tool --error-exitcode 99 "$steps" >"$out.${tool%% *}" 2>&1; then
            echo "${tool%% *}: $(tail -n 1 "$out.${tool%% *}")"
        else
            fail "compute-sanitizer --tool $tool $steps"
            tail -n 60 "$out.${tool%% *}"
        fi
    done
else
    echo "no compute-sanitizer (it comes with CUDA): memory and races of the kernels are not looked at"
fi
exit $status
