#!/bin/sh
# gen_ptx.sh [--hash]: writes src/device/cuda_kernels.ptx, which every build embeds, from cuda_kernels.cu beside it by
# NVIDIA's nvcc ($NVCC, or the one on the path). --hash prints the hash of what it is made from (without comments and
# blanks) and writes nothing; make lint compares it with the one in the file.
#
# The code is for sm_75 (2018), the oldest that nvcc 13 compiles for; the driver compiles it for any newer one. It is
# marked as PTX 6.3, the version that came with sm_75, instead of nvcc's own: a driver refuses PTX that is newer than
# itself, and nothing newer is used. ptxas says here whether that is so. nvcc 13 may write one thing that is newer (8.3)
# before loads of several numbers at once: .pragma "used_bytes_mask", which names the bytes of the load that
# are never used. The load is the same without it, and the line is left out.
cd "$(dirname "$0")/.." || exit 1
out=src/device/cuda_kernels.ptx
architecture=75 version=6.3
sources='include/leat.h src/rows/rows_line.h src/rows/output_*.h src/rows/rows_outputs.h src/rows/rows.h
         src/rows/rows_body.h src/rows/rows_segments.h src/rows/rows_device.h src/device/cuda_kernels.cu'
export LC_ALL=C # one order of files everywhere

hash_of_sources() {
    # leat.h is there for nvcc, and none of it is used
    for file in $sources; do
        [ "$file" = include/leat.h ] || cat "$file"
    done | awk '
    {
        line = $0; out = ""
        while (line != "") {
            if (inside) {
                at = index(line, "*/")
                if (!at) { line = ""; break }
                line = substr(line, at + 2); inside = 0
            } else {
                at = index(line, "/*")
                if (!at) { out = out line; line = ""; break }
                out = out substr(line, 1, at - 1) " "; line = substr(line, at + 2); inside = 1
            }
        }
        gsub(/[ \t\\]+/, "", out)
        printf "%s", out
    }' | sha256sum | cut -d' ' -f1
}

if [ "$1" = --hash ]; then
    hash_of_sources
    exit
fi
nvcc=${NVCC:-nvcc}
command -v "$nvcc" >/dev/null || { echo "gen_ptx.sh: there is no $nvcc: install CUDA, or set NVCC" >&2; exit 77; }
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT

"$nvcc" -ptx -arch=compute_$architecture -std=c++17 -Iinclude -Isrc src/device/cuda_kernels.cu -o "$tmp/nvcc.ptx" ||
    exit 1
{
    echo "// cuda_kernels.ptx: made by scripts/gen_ptx.sh from src/device/cuda_kernels.cu; not to be changed by hand."
    echo "// Sources: $(hash_of_sources)"
    sed -n 's|^// \(Cuda compilation tools.*\)|// \1|p' "$tmp/nvcc.ptx"
    sed -e '/Compiler Build ID/d' -e '/^\/\/[^-]*$/d' -e '/^\/\/$/d' -e "s/^\.version .*/.version $version/" \
        -e '/^[[:space:]]*\.pragma "used_bytes_mask /d' "$tmp/nvcc.ptx" | cat -s
} >"$tmp/new.ptx"
"$(dirname "$(command -v "$nvcc")")/ptxas" -arch=sm_$architecture "$tmp/new.ptx" -o "$tmp/check" || exit 1
cp "$tmp/new.ptx" "${PTX_OUT:-$out}"
