#!/bin/sh
# test_bench_gpu.sh: leat-bench gpu goes through with the stand-in driver, counts the calls of the driver,
# none of which waits, and ends with 77 where there is no driver; loads through that driver have the checksum of those
# on the host, for all outputs.
build=${LEAT_BUILD:-build}
bench=$build/leat-bench
tmp=$(mktemp -d "${LEAT_TEST_TMP:-/tmp}/leat-gpu-XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
failures=0
fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

driver=$build/fake_cuda/libfake_cuda.so
"$build/leat-bench-dev" counting -o "$tmp/gpu" --tokens 1M >/dev/null || fail "cannot write a dataset"
"$bench" gpu "$tmp/gpu" --driver "$driver" --runs 1 --steps 5 --work 1 --smallest 16KiB >"$tmp/out" ||
    fail "leat-bench gpu fails: $(cat "$tmp/out")"
for words in '^device: Stand-in, driver for CUDA 13.0' 'filled slots ' \
    'driver calls .* us of CPU per batch' 'widening kernel ' 'end to end ' '^a step ' \
    '^driver calls *[1-9][0-9.]* per step; 0 of all of them wait' '^context .* then a loader .* another one'; do
    grep -q "$words" "$tmp/out" || fail "does not print '$words': $(cat "$tmp/out")"
done

checksum() { # WORD...: of a load
    "$bench" load --seq-len 100 --batch 6 --steps 40 --checksum "$@" | sed -n 's/^ *checksum //p'
}
for width in 2 4; do
    "$build/leat-bench-dev" counting -o "$tmp/w$width" --tokens 50K --width $width >/dev/null ||
        fail "cannot write a dataset"
    want=$(checksum --source "$tmp/w$width" --output tokens)
    [ -n "$want" ] || fail "no checksum on the host"
    got=$(checksum --source "$tmp/w$width" --output i32 --engine uring --apart always)
    [ "$got" = "$want" ] || fail "on the host, rows apart: '$got' instead of '$want'"
    for output in tokens i32 i64 packed; do
        # half of the ways for each width; what the widths share, the tests of tests/device/ go through
        case $width in
        2) set -- "--threads 1" "--borrow" ;;
        *) set -- "--threads 0" "--engine uring --apart always" ;;
        esac
        for more in "$@"; do
            # several words
            # shellcheck disable=SC2086
            got=$(checksum --source "$tmp/w$width" --output $output --device cuda --driver "$driver" $more)
            [ "$got" = "$want" ] || fail "the stand-in, $output, $more: '$got', and on the host '$want'"
        done
    done
done

"$bench" gpu "$tmp/w2" --driver /nowhere/libcuda.so.1 >"$tmp/out" 2>&1
[ $? -eq 77 ] || fail "without a driver: not 77"
grep -q '^skipped: no CUDA driver' "$tmp/out" || fail "without a driver: $(cat "$tmp/out")"
[ "$failures" -eq 0 ]
