#!/bin/sh
# gpu.sh BUILD [DEVICE] [DIR]: what `make bench-gpu` runs: leat-bench gpu over a dataset of counting tokens, which is
# written to DIR (default: BUILD/bench). Exit 77 where there is no such device. "simulated": a small one, to see that it
# runs through; "simulated:pcie5": with a model of that link.
#
# Then, but for a link, the same loads with rows in the ring and in their files' maps: a GPU that cannot read these says
# so.
build=$1 device=${2:-cuda} dir=${3:-$1/bench}
bench=$build/leat-bench

mkdir -p "$dir" || exit 1
trap 'rm -f "$dir"/gpu.leat "$dir"/gpu.tokens' EXIT
trap 'exit 130' INT TERM
mapped() { # ROWS STEPS
    for apart in auto mapped; do
        echo "== rows $apart"
        "$bench" load --source "$dir/gpu" --device "$device" --apart $apart --output i64 --seq-len 2048 --batch "$1" \
            --steps "$2" --warm-up "$2" 2>&1
    done
    return 0
}
if [ "$device" = simulated ]; then
    "$bench" counting --force -o "$dir/gpu" --tokens 1M >/dev/null && "$bench" gpu "$dir/gpu" --device simulated \
        --runs 1 --steps 5 --work 1 && mapped 16 5
elif [ "${device#simulated:}" != "$device" ]; then
    # more than the CPU's caches hold
    "$bench" counting --force -o "$dir/gpu" --tokens 128M >/dev/null && "$bench" gpu "$dir/gpu" --device "$device" \
        --steps 50
else
    # large enough for batches of 16 MiB without end
    "$bench" counting --force -o "$dir/gpu" --tokens 1G >/dev/null && "$bench" gpu "$dir/gpu" --device "$device" &&
        mapped 2048 200
fi
