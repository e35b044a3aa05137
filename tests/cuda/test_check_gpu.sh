#!/bin/sh
# test_check_gpu.sh: `make check-gpu` says everything in one call, with the stand-in driver in place of a GPU's: tests,
# two processes at once, and compute-sanitizer and nsys, which stand-ins play here; without them it says so and passes;
# where one of them finds something it fails and shows what; and without a driver it ends with 77.
build=${LEAT_BUILD:-build}
tmp=$(mktemp -d "${LEAT_TEST_TMP:-/tmp}/leat-check-gpu-XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
failures=0
fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}
export LEAT_TEST_DRIVER="$build/fake_cuda/libfake_cuda.so" LEAT_TEST_PTX=1000000
# the system's programs, without the tools that a machine with a GPU has among them
mkdir "$tmp/usual"
ln -s /usr/bin/* /bin/* "$tmp/usual" 2>/dev/null # where they are one folder, each is there already
rm -f "$tmp/usual/nvidia-smi" "$tmp/usual/compute-sanitizer" "$tmp/usual/nsys"
check() { # of one test only
    PATH=$tmp/bin:$tmp/usual tests/check_gpu.sh "$build" "$build/tests/cuda/test_count_cuda" >"$tmp/out" 2>&1
}
tool() { # NAME CODE: says something, and runs nothing
    printf '#!/bin/sh\necho "%s was called: $*, gather"\nexit %s\n' "$1" "$2" >"$tmp/bin/$1"
    chmod +x "$tmp/bin/$1"
}
mkdir "$tmp/bin"

check || fail "without tools: $(cat "$tmp/out")"
for words in '^== machine' 'no nvidia-smi: ' '^pass cuda/test_count_cuda' '^== two processes at once' \
    '^no compute-sanitizer ' '^no nsys '; do
    grep -q "$words" "$tmp/out" || fail "does not print '$words': $(cat "$tmp/out")"
done
grep -q '^FAIL' "$tmp/out" && fail "without tools: $(cat "$tmp/out")"

tool compute-sanitizer 0
tool nsys 0
check || fail "with tools: $(cat "$tmp/out")"
for words in '^memcheck: compute-sanitizer was called: --tool memcheck .*test_count_cuda' '^racecheck: ' \
    '^initcheck: ' '^nsys was called: stats '; do
    grep -q "$words" "$tmp/out" || fail "does not print '$words': $(cat "$tmp/out")"
done
tool compute-sanitizer 99
tool nsys 1
check && fail "passes although its tools fail: $(cat "$tmp/out")"
for words in '^FAIL compute-sanitizer --tool racecheck' 'compute-sanitizer was called: --tool initcheck' \
    '^FAIL nsys profile' '^nsys was called: profile'; do
    grep -q "$words" "$tmp/out" || fail "does not print '$words': $(cat "$tmp/out")"
done

LEAT_TEST_DRIVER=/nowhere/libcuda.so.1 check
[ $? -eq 77 ] || fail "without a driver: not 77"
grep -q 'no CUDA driver' "$tmp/out" || fail "without a driver: $(cat "$tmp/out")"
[ "$failures" -eq 0 ]
