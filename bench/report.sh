#!/bin/sh
# report.sh BUILD DIR PAGE [TEXT...]: what `make report` runs: measures this machine and leat on the disk of DIR, keeps
# the results there as JSON (for leat-bench report, beside those of other machines), and writes the page. TEXTs, files
# of JSON lines, are encoded and packed too. The page also shows what `make bench-peers` has kept in DIR.
# BENCH_SHORT=1: a short run, whose figures mean nothing.
set -e
bench=$1/leat-bench
dir=$2
page=$3
shift 3
mkdir -p "$dir"
trap 'rm -f "$dir"/counting.* "$dir"/packed.*' EXIT
trap 'exit 130' INT TERM

pick() { # USUALLY SHORT
    if [ -n "$BENCH_SHORT" ]; then echo "$2"; else echo "$1"; fi
}
measure() { # NAME COMMAND...: keeps its JSON
    echo "leat-bench $2 ..." >&2
    name=$1 program=$bench
    shift
    [ "$1" != hostile ] || program=$bench-dev
    "$program" "$@" --json >"$dir/$name.json"
    files="$files$dir/$name.json
"
}

files=
# words
# shellcheck disable=SC2046,SC2086
{
    measure limits limits $(pick '' '--size 16MiB --runs 1') "$dir"
    measure order order $(pick '' '--runs 1 --draws 1K')
    "$bench-dev" counting --force -o "$dir/counting" --tokens "$(pick 1G 1M)" >/dev/null
    measure dataset dataset $(pick '' '--runs 1') "$dir/counting"
    for engine in map pread uring; do
        measure "load-$engine" load --source "$dir/counting" --seq-len 2048 --batch 32 --output i64 --bare \
            --engine $engine --steps "$(pick 2000 20)"
    done
    [ $# -eq 0 ] || measure encode encode -t gpt2 "$@"
    [ $# -eq 0 ] || measure pack pack --force -o "$dir/packed" -t gpt2 --threads "$(pick 1,2,4,8 1,2)" "$@"
    measure hostile hostile -t gpt2 $(pick '' '--size 16Ki --runs 1')
    for kept in "$dir"/peers-*.json; do
        [ ! -e "$kept" ] || files="$files$kept
"
    done
    IFS='
'
    "$bench" report -o "$page" $files
}
