#!/bin/sh
# test_bench_gpu.sh: what `make bench-gpu` runs goes through with the stand-in driver, and ends with 77 where there is
# no driver; loads on the simulated device have the checksum of those on the host, for all outputs. With
# --device simulated:LINK it shows what a ring of one slot costs, and marks all of its output (JSON: test_json.py).
build=${LEAT_BUILD:-build}
bench=$build/leat-bench
tmp=$(mktemp -d "${LEAT_TEST_TMP:-/tmp}/leat-gpu-XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
failures=0
fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

bench/gpu.sh "$build" simulated "$tmp" >"$tmp/out" || fail "bench/gpu.sh fails: $(cat "$tmp/out")"
for words in '^device: Stand-in, driver for CUDA 13.0' '^== rows mapped' 'its figures do not' 'filled slots ' \
    'driver calls .* us of CPU a batch' 'widening kernel ' 'end to end ' '^a step ' \
    '^driver calls .* a step; 0 of all of them wait' '^context .* then a loader .* another one'; do
    grep -q "$words" "$tmp/out" || fail "does not print '$words': $(cat "$tmp/out")"
done

# with a link: each line is marked; a ring of one slot stalls, and one of eight does not; unknown links are refused
"$bench" counting -o "$tmp/gpu" --tokens 10M >/dev/null || fail "cannot write a dataset"
"$bench" gpu "$tmp/gpu" --device simulated:pcie4 --steps 10 >"$tmp/out" 2>&1 ||
    fail "simulated:pcie4: $(cat "$tmp/out")"
grep -qv '^simulated pcie4: ' "$tmp/out" && fail "a line without its mark: $(cat "$tmp/out")"
for words in 'nothing was measured on a GPU' 'a ring that the CPU fills' 'a loader, as fast as it goes' 'a step of ' \
    'stalls: batches of .* a shorter step waits for the '; do
    grep -q "$words" "$tmp/out" || fail "does not print '$words': $(cat "$tmp/out")"
done
# one slot is written or copied, never both: at best the longer part of their sum; eight get half of the rest, or more,
# unless other programs take the CPU meanwhile: in one of three tries they do not
stalls() {
    awk '/batches of 16.0 MiB: written/ {
        one = $15; eight = $18; alone = 100 * ($9 > $13 ? $9 : $13) / ($9 + $13)
    }
    END { exit !(alone >= 50 && one < alone + 10 && eight > one + (100 - alone) / 2) }' "$tmp/out"
}
for try in 1 2 3; do
    stalls && break
    [ $try = 3 ] && fail "a ring of one slot does not stall: $(cat "$tmp/out")"
    "$bench" gpu "$tmp/gpu" --device simulated:pcie4 --steps 10 >"$tmp/out" 2>&1
done
grep -q "rows in files' maps .* are not simulated over this link: .* HMM" "$tmp/out" ||
    fail "rows in maps over PCIe are not refused: $(cat "$tmp/out")"
"$bench" gpu "$tmp/gpu" --device simulated:c2c --steps 2 >"$tmp/out" 2>&1 || fail "simulated:c2c: $(cat "$tmp/out")"
for rows in ring maps; do
    line="^simulated c2c:   batches of .*: $rows: the loader's [a-z]* works .* a batch every .* adds to a step"
    [ "$(grep -c "$line" "$tmp/out")" -eq 3 ] || fail "c2c shows no rows in $rows: $(cat "$tmp/out")"
done
"$bench" gpu "$tmp/gpu" --device simulated:pcie7 >"$tmp/out" 2>&1 && fail "pcie7 is not refused"
grep -q 'unknown link "pcie7"; links that can be simulated: pcie4, pcie5, c2c' "$tmp/out" ||
    fail "pcie7: $(cat "$tmp/out")"

checksum() { # WORD...: of a load
    "$bench" load --seq-len 100 --batch 6 --steps 40 --checksum "$@" | sed -n 's/^ *checksum //p'
}
for width in 2 4; do
    "$bench" counting -o "$tmp/w$width" --tokens 50K --width $width >/dev/null || fail "cannot write a dataset"
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
            got=$(checksum --source "$tmp/w$width" --output $output --device simulated $more)
            [ "$got" = "$want" ] || fail "simulated, $output, $more: '$got', and on the host '$want'"
        done
    done
done

"$bench" gpu "$tmp/w2" --driver /nowhere/libcuda.so.1 >"$tmp/out" 2>&1
[ $? -eq 77 ] || fail "without a driver: not 77"
grep -q '^skipped: no CUDA driver' "$tmp/out" || fail "without a driver: $(cat "$tmp/out")"
[ "$failures" -eq 0 ]
