#!/bin/sh
# test_ptxas.sh: ptxas of NVIDIA's CUDA assembles the PTX that ships for every GPU that it knows, from the oldest that
# we promise (sm_75) to its newest; no register is spilled, and no thread has a stack. From CUDA 12.8 on that includes
# Blackwell: sm_100 and sm_120. Prints the most registers that a kernel takes on each. Nothing runs here. Of the GPUs
# between the oldest and the newest, each run tries every third, from one that is drawn; make check-every tries all.
ptxas=${PTXAS:-ptxas}
if ! command -v "$ptxas" >/dev/null; then
    echo "skipped: no ptxas (it comes with NVIDIA's CUDA)"
    exit 77
fi
work=$LEAT_TEST_TMP
failed=0
fail() {
    echo "$1"
    failed=1
}

names=$("$ptxas" --help | grep -o "'sm_[0-9]*'" | tr -d "'" | sort -u -t_ -k2n)
release=$("$ptxas" --version | sed -n 's/.*release \([0-9]*\)\.\([0-9]*\),.*/\1 \2/p')
version=$((${release% *} * 100 + ${release#* }))
[ "$version" -lt 1208 ] || set -- sm_100 sm_120
for name in sm_75 "$@"; do
    echo "$names" | grep -qx "$name" || fail "ptxas of CUDA $version does not know $name"
done
drawn=${LEAT_TEST_DRAW:-$(date +%s)} newest=${names##*[!a-z0-9_]}
echo "LEAT_TEST_DRAW=$drawn"
for name in $names; do
    [ "${name#sm_}" -ge 75 ] || continue
    drawn=$((drawn + 1))
    [ -n "$LEAT_TEST_EVERY" ] || [ $((drawn % 3)) -eq 0 ] || [ "$name" = sm_75 ] || [ "$name" = "$newest" ] || continue
    if ! "$ptxas" -arch="$name" -v src/device/cuda_kernels.ptx -o "$work/cubin" >"$work/log" 2>&1; then
        cat "$work/log"
        fail "$name: ptxas cannot assemble the PTX"
        continue
    fi
    kernels=$(grep -c 'Compiling entry function' "$work/log")
    whole=$(grep -c ' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' "$work/log")
    most=$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$work/log" | sort -n | tail -n 1)
    [ "$kernels" -eq 6 ] || fail "$name: $kernels kernels instead of 6"
    [ "$whole" -eq "$kernels" ] || fail "$name: $((kernels - whole)) kernels spill registers or have a stack"
    echo "$name: $kernels kernels, at most $most registers"
done
exit $failed
