#!/bin/sh
# run.sh BUILD [DIR]: what `make bench` runs first: this machine's limits, then leat's own figures beside bare loops
# over the same bytes, on the disk of DIR (default: BUILD/bench), with about 7 GiB there while it runs. It prints
# Markdown, each figure under the command that gives it. BENCH_SHORT=1: a short run, which shows that it runs.
set -e
dir=${2:-$1/bench}
bench=$1/leat-bench

mkdir -p "$dir"
trap 'rm -f "$dir"/counting*' EXIT
trap 'exit 130' INT TERM

pick() { # USUALLY SHORT
    if [ -n "$BENCH_SHORT" ]; then echo "$2"; else echo "$1"; fi
}
title() { # TEXT COMMAND...: a heading, the command, what it prints
    tick=$(printf '\140')
    printf '\n### %s\n\n' "$1"
    shift
    echo "$tick$(echo "$*" | sed 's|[^ ]*/\(leat\|load\)|\1|')$tick"
    printf '\n%s\n' "$tick$tick$tick"
    "$@"
    echo "$tick$tick$tick"
}

# words
# shellcheck disable=SC2046
{
    title "What the machine allows" "$bench" limits $(pick '' '--size 256MiB --runs 1') "$dir"
    title "Writing a dataset" "$bench-dev" counting --force -o "$dir/counting" --tokens "$(pick 1G 16M)"
    title "Loading batches from it, in memory, beside bare loops" \
        bench/load.py sweep "$bench" "$dir/counting" $(pick '' '--rounds 1 --tokens 1000000')
    title "Cold, warming, the first batch, the hand-over, memory" \
        bench/load.py storage "$bench" "$dir/counting" $(pick '' '--rounds 1 --seconds 1')
}
