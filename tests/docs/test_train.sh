#!/bin/sh
# test_train.sh: examples/train_tiny.c learns; and a run that is stopped and resumed prints the same losses, digit for
# digit, as one that ran through.
build=${LEAT_BUILD:-build}
if [ ! -x "$build/examples/train_tiny" ]; then
    echo "skipped: no examples under $build" >&2
    exit 77
fi
tmp=$(mktemp -d "${LEAT_TEST_TMP:-/tmp}/leat-train-XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
set -e
"$build/leat" pack -t bytes -o "$tmp/data" examples/texts examples/corpus/thoreau.md 2>"$tmp/log" || {
    cat "$tmp/log" >&2
    exit 1
}
train() {
    "$build/examples/train_tiny" "$tmp/data" --batch 4 --seq-len 64 --seed 3 "$@"
}
train --steps 24 --checkpoint "$tmp/whole" >"$tmp/through"
{
    train --steps 5 --checkpoint "$tmp/parts"
    train --steps 17 --checkpoint "$tmp/parts" --resume
    train --steps 24 --checkpoint "$tmp/parts" --resume
} >"$tmp/resumed"
cmp "$tmp/through" "$tmp/resumed"
cmp "$tmp/whole" "$tmp/parts"
awk '
{ last = $4 }
NR == 1 { first = $4 }
END { if (NR != 24 || last > 0.8 * first) { print "it does not learn: " first " to " last; exit 1 } }' \
    "$tmp/through" >&2

# another order, and the checkpoint of another plan
train --steps 1 --seed 4 >"$tmp/other"
if cmp -s "$tmp/other" "$tmp/through"; then exit 1; fi
if train --steps 25 --seed 4 --checkpoint "$tmp/parts" --resume 2>"$tmp/refused"; then
    echo "a checkpoint of another seed was taken" >&2
    exit 1
fi
grep -q "seed" "$tmp/refused"
