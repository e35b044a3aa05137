#!/bin/sh
# load_sweep.sh BENCH NAME [STEPS]: leat-bench load over dataset NAME for several batches, lengths, engines and outputs,
# each beside the bare loop in the same run, without hashing (which a page costs once), after as many rows as fill the
# page tables of some GiB; a line each. BENCH is
# build/leat-bench.
set -e
bench=$1 name=$2 steps=${3:-2000}

# The number after a key of a line of JSON, the first one after a word.
number() { # WORD KEY
    sed -n "s/.*\"$1\".*\"$2\": \([-+.0-9eE]*\).*/\1/p" "$json"
}
first() { # KEY
    sed "s/\"$1\": /\n&/" "$json" | sed -n "s/^\"$1\": \([-+.0-9eE]*\).*/\1/p" | head -n 1
}

json=$(mktemp)
trap 'rm -f "$json"' EXIT
trap 'exit 130' INT TERM
printf '%-7s %6s %6s %-7s %-7s %10s %8s %10s %10s %9s\n' threads batch length engine output Mtok/s GB/s "CPU/bare" \
    "time/bare" "p99 us"
row() { # THREADS BATCH LENGTH ENGINE OUTPUT
    "$bench" load --source "$name" --seq-len "$3" --batch "$2" --engine "$4" --output "$5" --threads "$1" --bare \
        --warm-up $((200000 / $2 + 1)) --steps "$steps" --no-verify --json >"$json"
    awk -v t="$1" -v b="$2" -v l="$3" -v e="$4" -v o="$5" -v rate="$(first tokens_per_s)" -v gb="$(first gb_per_s)" \
        -v cpu="$(first cpu_s_per_mtok)" -v bare="$(number bare cpu_s_per_mtok)" -v ratio="$(number bare ratio)" \
        -v p99="$(first p99)" 'BEGIN {
            share = bare > 0 ? cpu / bare : 0
            printf "%-7s %6d %6d %-7s %-7s %10.0f %8.2f %10.2f %10.2f %9.1f\n", t, b, l, e, o, rate / 1e6, gb, share,
                ratio, p99
        }'
}
for threads in 0 1; do
    for output in tokens i64; do
        for shape in "8 512" "32 2048" "8 8192" "256 2048"; do
            row $threads "${shape% *}" "${shape#* }" map $output
        done
    done
done
for engine in pread advise uring; do
    row 1 32 2048 $engine tokens
done
