#!/bin/sh
# check_parts.sh: 2,000 parts of tiny inputs, packed two at a time: status, the folder as a dataset, and the bytes of
# one run. Then the same parts merged once more, deduplicated and shuffled.
build=${LEAT_BUILD:-build}
case $build in /*) ;; *) build=$PWD/$build ;; esac
PATH=$build:$PATH
tmp=$(mktemp -d "${LEAT_TEST_TMP:-/tmp}/leat-parts-XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' INT TERM
cd "$tmp" || exit 1
mkdir in
awk 'BEGIN { for (i = 0; i < 2500; i++) printf "{\"text\":\"line %d\"}\n", i > sprintf("in/%02d.jsonl", i / 100) }'
leat pack -o one -t bytes in >/dev/null && leat pack --run run --parts 2000 -t bytes --threads 1 in >/dev/null || exit 1
seq 2000 | xargs -P 2 -I '{}' leat pack --run run --part '{}' >/dev/null || exit 1
[ -z "$(leat status run --left)" ] || { leat status run; exit 1; }
leat verify run >/dev/null && leat merge -o all run >/dev/null || exit 1
cmp all.tokens one.tokens && cmp all.leat one.leat || exit 1
leat pack -o two -t bytes --dedup --shuffle 5 in >/dev/null || exit 1
leat merge -o mixed run --dedup --shuffle 5 >/dev/null && cmp mixed.tokens two.tokens && cmp mixed.leat two.leat
