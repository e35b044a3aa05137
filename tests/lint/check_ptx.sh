#!/bin/sh
# check_ptx.sh: src/device/cuda_kernels.ptx was made from the sources that are here; and where the nvcc that made it
# is at hand, it makes the same again.
. tests/lint/common.sh

command -v sha256sum >/dev/null || skip "needs sha256sum"
ptx=src/device/cuda_kernels.ptx
want=$(sed -n 's|^// Sources: ||p' $ptx)
[ "$(scripts/gen_ptx.sh --hash)" = "$want" ] || {
    echo "$ptx: made from other sources: run scripts/gen_ptx.sh (it needs CUDA's nvcc)"
    exit 0
}
nvcc=${NVCC:-nvcc}
command -v "$nvcc" >/dev/null || exit 0
release=$("$nvcc" --version | grep '^Cuda compilation tools')
grep -qF "$release" $ptx || exit 0
new=$(mktemp) || exit 1
trap 'rm -f "$new"' EXIT
PTX_OUT=$new scripts/gen_ptx.sh || echo "$ptx: cannot be made again"
cmp -s "$new" $ptx || echo "$ptx: nvcc makes something else of the same sources"
exit 0
