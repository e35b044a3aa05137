#!/bin/sh
# test_examples.sh: the examples that --help prints run as they stand; those that measure, in small. Long lines would
# wrap on a terminal: none has more than 100 columns.
root=$PWD
. tests/cli/cli.sh

# What the examples speak of: data/ with four files, web and code, parts of a run, a list, a text.
mkdir -p data shards data/tmp
for name in a b c d; do
    awk -v name=$name 'BEGIN { srand(name == "a"); for (i = 0; i < 400; i++)
        printf "{\"id\":\"%s%d\",\"text\":\"number %d: %0400d\"}\n", name, i, i, rand() * 1e9 }' >data/$name.jsonl
done
cp "$root/README.md" README.md
for i in 1 2 3; do printf '{"content":"part %d"}\n' $i | zstd -q >part-$i.jsonl.zst; done || {
    echo "skipped: no zstd" >&2
    exit 77
}
cp data/a.jsonl corpus.jsonl
zstd -q corpus.jsonl
find data -type f | sort >inputs.txt
leat pack -t bytes -o whole data >/dev/null 2>"$said" || fail "leat pack: $(cat "$said")"
copy_dataset whole shards/one
for i in 1 2 3; do leat pack -t bytes -o part.$((i - 1)) --part $i/3 data >/dev/null 2>"$said"; done
awk 'BEGIN { for (i = 0; i < 13000; i++) print "{\"text\":\"page\"}" }' >web.jsonl
leat pack -t bytes -o web web.jsonl >/dev/null 2>"$said" || fail "leat pack: $(cat "$said")"
copy_dataset whole code

examples() { # PROGRAM [COMMAND]: of its help
    "$@" --help | awk '/^example:/ { on = 1; next } NF == 0 { on = 0 } on'
}
# Measurements are made of less, and runs of a GPU end with 77 where there is none.
small() {
    sed -e 's|/data|data|g' -e 's/ 1G$/ 1M/' -e 's/256M/1M/' -e 's/64GiB/16MiB/' -e 's/64MiB/1KiB/' \
        -e 's/limits data/limits --size 16MiB --runs 1 data/' -e 's/hostile -t o200k_base/& --size 1KiB --runs 1/' \
        -e 's/scanners corpus/scanners --runs 1 corpus/' -e 's/order$/order --runs 1 --draws 1K/' \
        -e 's/order --runs 9/& --draws 1K/'
}
commands() {
    "$1" --help | awk '/^commands:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }'
}

try_examples() { # of stdin; each finds corpus as it was, and not what it is to write
    while read -r line; do
        output=$(echo "$line" | sed -n 's/.* -o \([^ ]*\).*/\1/p')
        rm -f corpus.leat corpus.tokens "$output.leat" "$output.tokens"
        [ "$output" = corpus ] || copy_dataset whole corpus
        case $line in
        *'| jq '*) command -v jq >/dev/null || continue ;;
        esac
        sh -c "$line" >"$printed" 2>"$said" </dev/null
        code=$?
        [ "$code" -eq 0 ] || { [ "$code" -eq 77 ] && [ "${line#leat-bench gpu}" != "$line" ]; } ||
            fail "$line: exit code $code: $(cat "$said")"
    done
}
for program in leat leat-bench; do
    { examples $program && for command in $(commands $program); do
        [ "$command" = bench ] || examples $program "$command"
    done; } >lines.txt
    [ "$(wc -l <lines.txt)" -gt 19 ] || fail "$program: only $(wc -l <lines.txt) examples"
    if [ $program = leat ]; then cat lines.txt; else small <lines.txt; fi >run.txt
    try_examples <run.txt
    for command in '' $(commands $program); do
        # shellcheck disable=SC2086 # none, or one
        $program $command --help | awk 'length > 100' | grep . && fail "$program $command --help: a line is too long"
    done
done
finish
