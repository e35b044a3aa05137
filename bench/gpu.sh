#!/bin/sh
# gpu.sh BUILD [DEVICE] [DIR]: what `make bench-gpu` runs: leat-bench gpu over a dataset of counting tokens, which is
# written to DIR (default: BUILD/bench); then the same loads with rows in the ring and in their files' maps: a GPU that
# cannot read these says so. Exit 77 without such a device. BENCH_SHORT=1: a short run, which shows that it runs;
# BENCH_DRIVER=FILE: with this library as CUDA's driver.
build=$1 device=${2:-cuda} dir=${3:-$1/bench}
bench=$build/leat-bench

mkdir -p "$dir" || exit 1
trap 'rm -f "$dir"/gpu.leat "$dir"/gpu.tokens' EXIT
trap 'exit 130' INT TERM
# enough for batches of 16 MiB
tokens=1G small='' rows=2048 steps=200
[ -z "$BENCH_SHORT" ] || tokens=1M small='--runs 1 --steps 5 --work 1 --smallest 16KiB' rows=16 steps=5
set -- --device "$device" ${BENCH_DRIVER:+--driver "$BENCH_DRIVER"}

"$build/leat-bench-dev" counting --force -o "$dir/gpu" --tokens "$tokens" >/dev/null || exit 1
# words
# shellcheck disable=SC2086
"$bench" gpu "$dir/gpu" "$@" $small || exit
for apart in auto mapped; do
    echo "== rows $apart"
    "$bench" load --source "$dir/gpu" "$@" --apart $apart --output i64 --seq-len 2048 --batch "$rows" \
        --steps "$steps" --warm-up "$steps" 2>&1
done
exit 0
