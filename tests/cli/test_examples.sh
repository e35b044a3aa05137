#!/bin/sh
# test_examples.sh: the examples that --help prints run as they stand; those that measure, in small; those that need a
# server fail without one. Long lines would wrap on a terminal: none has more than 80 columns.
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
awk 'BEGIN { for (i = 0; i < 13000; i++) printf "{\"text\":\"%0100d\"}\n", i }' >web.jsonl
leat pack -t bytes -o web web.jsonl >/dev/null 2>"$said" || fail "leat pack: $(cat "$said")"
copy_dataset whole code
leat pack --run run --parts 8 -t gpt2 data/ >/dev/null 2>"$said" || fail "leat pack: $(cat "$said")"
for i in 1 2 3 4 5 6 7 8; do
    leat pack --run run --part $i >/dev/null 2>"$said" || fail "leat pack: $(cat "$said")"
done
leat export --to megatron -o pile_text_document whole >/dev/null 2>"$said" || fail "leat export: $(cat "$said")"
leat export --to raw --dtype u16 -o val.bin whole >/dev/null 2>"$said" || fail "leat export: $(cat "$said")"
echo "Water finds its way." >text.txt
echo '{"memory": [], "page_cache": [], "disk": []}' >other.json
cat >run.jsonl <<'END'
{"batches": 9, "tokens": 99, "waiting_share_all": 0.1, "order": 0.1, "storage": 0.2, "slot": 1, "consumer": 2}
END
zeros() { # FILE ENTRIES WIDTH: an array of bytes, as NumPy writes it
    header="{'descr': '|u1', 'fortran_order': False, 'shape': ($2, $3), }"
    # shellcheck disable=SC2059 # the length of the header is a byte of the format
    { printf "\\223NUMPY\\1\\0\\$(printf %o ${#header})\\0%s" "$header" && head -c $(($2 * $3)) /dev/zero; } >"$1"
}
tokens=$(($(wc -c <whole.tokens) / 2))
zeros scores.npy 1600 1
zeros part0.npy 1000 8
zeros part1.npy $((tokens - 1000)) 8
mkdir pile texts
printf '{"text":"a"}\n' >texts/train-1.jsonl
printf '{"text":"b"}\n' >texts/test-1.jsonl
for name in 'Wikipedia (en)' arXiv; do printf '{"text":"a","meta":{"pile_set_name":"%s"}}\n' "$name"; done >pile/a.jsonl

examples() { # PROGRAM [COMMAND]: of its help
    "$@" --help | awk '/^example:/ { on = 1; next } NF == 0 { on = 0 } on'
}
# Measurements are made of less, and runs of a GPU end with 77 where there is none. Of the machine: test_bench.sh.
small() {
    sed -e 's|/data|data|g' -e 's/ 1G$/ 1M/' -e 's/256M/1M/' -e 's/64GiB/16MiB/' -e 's/64MiB/1KiB/' \
        -e '/limits.* data$/d' \
        -e 's/leat-bench limits --json data >/cp other.json /' \
        -e 's/--documents 1M/--documents 20k/' \
        -e 's/--runs 3 /--runs 1 /' -e 's/--work 10/--work 1/' | awk '!seen[$0]++'
}
commands() {
    "$1" --help | awk '/^commands:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }'
}

try_examples() { # of stdin; each finds corpus as it was, and not what it is to write
    while read -r line; do
        output=$(echo "$line" | sed -n 's/.* -o \([^ ]*\).*/\1/p')
        rm -f corpus.leat corpus.tokens corpus.*.column*
        rm -f "$output.leat" "$output.tokens" "$output".*.leat "$output".*.tokens
        [ "$output" = corpus ] || copy_dataset whole corpus
        case $line in
        # by Python: python/tests/pack/, python/tests/test_compare.py, python/tests/test_row_files.py
        'leat import '* | 'leat-bench compare '* | 'leat export --to packed-parquet '*) continue ;;
        *'--by score') leat attach corpus --column score:f32:document scores.npy >/dev/null 2>"$said" ||
            fail "leat attach: $(cat "$said")" ;;
        *'| jq '*) command -v jq >/dev/null || continue ;;
        esac
        case $line in
        *s3://*) # no server answers; a mistake in the command line would be code 2. tests/remote/ has servers
            AWS_ENDPOINT_URL=http://127.0.0.1:1 AWS_MAX_ATTEMPTS=1 sh -c "$line" >"$printed" 2>"$said" </dev/null
            code=$?
            [ "$code" -eq 1 ] || fail "$line: exit code $code: $(cat "$said")"
            continue
            ;;
        esac
        sh -c "$line" >"$printed" 2>"$said" </dev/null
        code=$?
        [ "$code" -eq 0 ] || { [ "$code" -eq 77 ] && [ "${line#leat-bench gpu}" != "$line" ]; } ||
            fail "$line: exit code $code: $(cat "$said")"
    done
}
programs='leat leat-bench'
grep -q __asan_ "$(command -v leat)" && programs=leat # what only measures, measures nothing there
for program in $programs; do
    { examples "$program" && for command in $(commands "$program"); do
        [ "$command" = bench ] || examples "$program" "$command"
    done; } >lines.txt
    [ "$(wc -l <lines.txt)" -gt 12 ] || fail "$program: only $(wc -l <lines.txt) examples"
    if [ "$program" = leat ]; then cat lines.txt; else small <lines.txt; fi >run.txt
    try_examples <run.txt
    for command in '' $(commands "$program"); do
        # shellcheck disable=SC2086 # none, or one
        "$program" $command --help | awk 'length > 80' | grep . && fail "$program $command --help: a line is too long"
    done
done
finish
