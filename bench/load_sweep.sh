#!/bin/sh
# load_sweep.sh BENCH NAME [TOKENS [ROUNDS]]: leat-bench load over dataset NAME for several batches, lengths, engines
# and outputs, each beside the bare loop in the same run, without hashing (which a page costs once), after as many rows
# as fill the page tables of some GiB. Each run takes TOKENS (default 1 G: a tenth of a second or more), and all rows
# are run ROUNDS times in turns (default 5): medians, and of ratios the least and the most. BENCH is build/leat-bench.
set -e
bench=$1 name=$2 tokens=${3:-1000000000} rounds=${4:-5}

# The number after a key of a line of JSON, the first one after a word.
number() { # WORD KEY
    sed -n "s/.*\"$1\".*\"$2\": \([-+.0-9eE]*\).*/\1/p" "$folder/json"
}
first() { # KEY
    sed "s/\"$1\": /\n&/" "$folder/json" | sed -n "s/^\"$1\": \([-+.0-9eE]*\).*/\1/p" | head -n 1
}

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
trap 'exit 130' INT TERM

# A line of figures to `runs`, under the row's number.
row() { # THREADS BATCH LENGTH ENGINE OUTPUT
    steps=$((tokens / $2 / $3 + 1))
    "$bench" load --source "$name" --seq-len "$3" --batch "$2" --engine "$4" --output "$5" --threads "$1" --bare \
        --warm-up $((200000 / $2 + 1)) --steps "$steps" --no-verify --json >"$folder/json"
    printf '%s %s %s %s %s  %s %s %s %s %s %s\n' "$1" "$2" "$3" "$4" "$5" "$(first tokens_per_s)" "$(first gb_per_s)" \
        "$(first cpu_s_per_mtok)" "$(number bare cpu_s_per_mtok)" "$(number bare ratio)" "$(first p99)" >>"$folder/runs"
}
all_rows() {
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
}
round=0
while [ $round -lt "$rounds" ]; do
    all_rows
    round=$((round + 1))
done

printf '%-7s %6s %6s %-7s %-7s %8s %8s %21s %21s %9s\n' threads batch length engine output Mtok/s GB/s "CPU/bare" \
    "time/bare" "p99 us"
awk '
function median(values, spread,    n, list, i, j, t) {
    n = split(values, list, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && list[j - 1] + 0 > list[j] + 0; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
    t = n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
    return spread ? sprintf("%.2f (%.2f to %.2f)", t, list[1], list[n]) : t
}
{
    key = $1 " " $2 " " $3 " " $4 " " $5
    if (!(key in rate)) order[++keys] = key
    rate[key] = rate[key] " " $6 / 1e6; gb[key] = gb[key] " " $7; p99[key] = p99[key] " " $11
    cpu[key] = cpu[key] " " ($9 > 0 ? $8 / $9 : 0); time[key] = time[key] " " $10
}
END {
    for (k = 1; k <= keys; k++) {
        key = order[k]; split(key, f, " ")
        printf "%-7s %6d %6d %-7s %-7s %8.0f %8.2f %21s %21s %9.1f\n", f[1], f[2], f[3], f[4], f[5], median(rate[key]),
            median(gb[key]), median(cpu[key], 1), median(time[key], 1), median(p99[key])
    }
}' "$folder/runs"
