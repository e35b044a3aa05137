#!/bin/sh
# run.sh BUILD [DIR]: what `make bench` runs first: this machine's limits, then leat's own figures beside bare loops
# over the same bytes. Measures on the disk of DIR (default: BUILD/bench); needs about 7 GiB there while it
# runs. It prints Markdown, each figure under the command that gives it. BENCH_SHORT=1: a short run of all of it, in a
# minute or two, which shows that it runs; its figures mean nothing.
set -e
build=$1
dir=${2:-$build/bench}
here=$(dirname "$0")
bench=$build/leat-bench

mkdir -p "$dir"
trap 'rm -f "$dir"/counting* "$dir"/huge.*' EXIT
trap 'exit 130' INT TERM

short=${BENCH_SHORT:+1}
pick() { # USUALLY SHORT
    if [ -n "$short" ]; then echo "$2"; else echo "$1"; fi
}
need=$(pick 7 1)
free=$(($(df -Pk "$dir" | awk 'NR == 2 { print $4 }') / 1048576))
time=$(pick 'some five minutes' 'a minute or two')
echo "Measuring on the disk of $dir: takes $time and $need GiB of room; $free GiB are free." >&2
[ "$free" -ge "$need" ] || {
    echo "Too little room: name a folder on another disk (bench/run.sh $build FOLDER)." >&2
    exit 1
}

title() { # TEXT COMMAND...: a heading, the command, what it prints
    printf '\n### %s\n\n`' "$1"
    shift
    printf '%s' "$1" | sed 's|.*/||'
    for word in "$@"; do [ "$word" = "$1" ] || printf ' %s' "$word"; done
    printf '%s\n\n%s\n' '`' '```'
    "$@"
    printf '```\n'
}

# words
# shellcheck disable=SC2046
{
    title "What the machine allows" "$bench" limits $(pick '' '--size 256MiB --runs 1') "$dir"
    title "Writing a dataset" "$bench-dev" counting --force -o "$dir/counting" --tokens "$(pick 1G 16M)"
    title "Opening and verifying it" "$bench" dataset $(pick '' '--runs 1') "$dir/counting"
    if command -v python3 >/dev/null; then
        title "Loading batches from it, in memory, beside bare loops" \
            "$here/load.py" sweep "$bench" "$dir/counting" $(pick '' '--rounds 1 --tokens 1000000')
        title "Cold, warming, the first batch, the hand-over, memory" \
            "$here/load.py" storage "$bench" "$dir/counting" $(pick '' '--rounds 1 --seconds 1')
        title "Files of other tools beside leat's own" \
            "$here/load.py" foreign "$bench" "$dir/counting" \
            $(pick '--rounds 7' '--rounds 1 --tokens 1000000 --cold-batches 10')
        title "Slices of rows, labels ahead, changed and dealt rows, beside whole plain rows" \
            "$here/rows.py" "$bench" "$dir/counting" $(pick '' '--rounds 1 --tokens 1000000 --seq-len 1024')
    else
        printf '\nLoading: skipped, no python3.\n'
    fi
    rm -f "$dir"/counting*
    title "Joining, deduplicating, splitting, shuffling" "$bench" merge $(pick '' '--runs 1 --size 16MiB') "$dir"
    "$bench-dev" sparse -o "$dir/huge" --documents "$(pick 1G 1M)" >/dev/null
    title "Opening a dataset of $(pick '1 G' '1 M') documents (mostly holes)" \
        "$bench" dataset --opening "$dir/huge"
    title "What a sample of a plan costs" "$bench" order $(pick '' '--runs 1 --draws 10K')
    title "The start of a command" "$here/encode_start.sh" "$build/leat" "$(pick 11 1)"
    for tokenizer in gpt2 o200k_base; do
        title "Texts made to be slow, $tokenizer" \
            "$bench-dev" hostile -t $tokenizer $(pick '' '--size 256Ki --runs 1')
    done
}
