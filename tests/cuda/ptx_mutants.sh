#!/bin/sh
# ptx_mutants.sh PROGRAM FOLDER N SEED: runs ptx_mutants.c, and says of each change that no job sees whether ptxas makes
# the same machine code of it: then it is another way to write the same.
program=$1
folder=$2
mkdir -p "$folder" && rm -f "$folder"/*.ptx || exit 1
"$program" "$folder" "$3" "$4" || exit 1
command -v ptxas >/dev/null || { echo "no ptxas: whether what is left is the same machine code is not known"; exit 0; }
assemble() {
    ptxas -arch=sm_90 "$1" -o "$2" 2>/dev/null
}
assemble src/device/cuda_kernels.ptx "$folder/right.cubin" || exit 1
for file in "$folder"/*.ptx; do
    [ -e "$file" ] || continue
    number=$(basename "$file" .ptx)
    if ! assemble "$file" "$folder/one.cubin"; then
        echo "$number: ptxas refuses it"
    elif cmp -s "$folder/one.cubin" "$folder/right.cubin"; then
        echo "$number: the same machine code"
    else
        echo "$number: SURVIVES"
    fi
done
