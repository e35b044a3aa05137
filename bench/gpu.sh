#!/bin/sh
# gpu.sh BUILD [DEVICE] [DIR]: what `make bench-gpu` runs: leat-bench gpu over a dataset of counting tokens, which is
# written to DIR (default: BUILD/bench). Exit 77 where there is no such device. "simulated": a small one, to see that it
# runs through; "simulated:pcie5": with a model of that link.
build=$1 device=${2:-cuda} dir=${3:-$1/bench}
bench=$build/leat-bench

mkdir -p "$dir" || exit 1
trap 'rm -f "$dir"/gpu.leat "$dir"/gpu.tokens' EXIT
trap 'exit 130' INT TERM
if [ "$device" = simulated ]; then
    "$bench" counting --force -o "$dir/gpu" --tokens 1M >/dev/null && "$bench" gpu "$dir/gpu" --device simulated \
        --runs 1 --steps 5 --work 1
elif [ "${device#simulated:}" != "$device" ]; then
    # more than the CPU's caches hold
    "$bench" counting --force -o "$dir/gpu" --tokens 128M >/dev/null && "$bench" gpu "$dir/gpu" --device "$device" \
        --steps 50
else
    # large enough for batches of 16 MiB without end
    "$bench" counting --force -o "$dir/gpu" --tokens 1G >/dev/null && "$bench" gpu "$dir/gpu" --device "$device"
fi
