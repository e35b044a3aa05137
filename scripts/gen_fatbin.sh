#!/bin/sh
# gen_fatbin.sh OUT NVCC: machine code of src/device/cuda_kernels.ptx for each GPU of a list that this CUDA knows, and
# the PTX for all others, in one file OUT, which the library embeds. With it a loader opens without the driver
# compiling anything.
out=$1
tools=$(dirname "$(command -v "$2")")
ptx=src/device/cuda_kernels.ptx
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

set --
for sm in 80 86 89 90 100 120; do
    # an older CUDA does not know the newest of them: the PTX serves those
    "$tools/ptxas" -arch=sm_$sm "$ptx" -o "$tmp/$sm.cubin" 2>"$tmp/log" || continue
    set -- "$@" "--image3=kind=elf,sm=$sm,file=$tmp/$sm.cubin"
done
[ $# -gt 0 ] || { cat "$tmp/log" >&2; exit 1; }
"$tools/fatbinary" --create="$out" -64 "$@" "--image3=kind=ptx,sm=75,file=$ptx"
