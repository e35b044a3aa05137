#!/bin/sh
# test_pack_parquet_keep.sh: --keep on columns of Parquet files keeps the rows that it keeps of the same JSON lines: for
# numbers of all types and encodings, strings, nulls, and types that can only be there or not. Other types, missing
# columns and too many conditions are refused before any work.
here=$PWD/tests
. tests/cli/cli.sh

tiny=$build/tiny/leat
key() { # NAME: its value in the JSON object that was printed
    sed -n "s/.*\"$1\": \([^,}]*\).*/\1/p" "$printed"
}
facts() { # NAME: of a dataset that was just packed
    "$build/leat" info "$1" | sed -n 's/^  identity *//p'
    key kept_out
}

for name in typed typed_split; do
    cp "$here/parquet/files/$name.jsonl" "$here/parquet/files/$name.parquet" .
    while read -r condition; do
        for suffix in jsonl parquet; do
            rm -f "$suffix.leat" "$suffix.tokens" "$suffix.rejects.jsonl" # which is not replaced by nothing
            run "$tiny" pack -t bytes -o "$suffix" --json --allow-empty --keep "$condition" "$name.$suffix"
            if grep -q '"documents": 0' "$printed"; then
                says 0 'no document is left: --keep left out'
            else
                ended 0 ''
            fi
            facts "$suffix" >"facts-$suffix"
        done
        cmp facts-jsonl facts-parquet || fail "$condition: other rows of $name.parquet than of $name.jsonl"
        cat facts-parquet >>all
    done <<'CONDITIONS'
score = 0.1
score != 0.1
score < 5e-324
score <= 5e-324
score > 0.30000000000000003
score = 1e300
ratio = 0.1
ratio >= 0.75
ratio < -0.00000000000000000001
small = -128
small > -1
big = 18446744073709551615
big >= 9223372036854775808
number = -9223372036854775808
number != 9007199254740992
lang = en
lang != en
lang >= "e"
lang < ""
lang = ""
lang = "7"
lang = 7
lang = "e\"n"
lang = "\u00e9"
number = "7"
lang exists
flag exists
score exists
text = "text 7"
id <= "20"
CONDITIONS
done
[ "$(sort -u all | wc -l)" -gt 40 ] || fail 'the conditions keep the same rows'

run "$tiny" pack -t bytes -o two --json --keep 'score >= 0' --keep 'score < 1' --keep 'flag exists' typed.parquet
ended 0 ''
run "$tiny" pack -t bytes -o lines --json --keep 'score >= 0' --keep 'score < 1' --keep 'flag exists' typed.jsonl
[ "$(facts two)" = "$(facts lines)" ] || fail 'three conditions: other rows than of JSON lines'

# ---- What is refused ------------------------------------------------------------------------------------------------

run leat pack -t bytes -o no --keep 'flag = yes' typed.parquet
says 1 'typed.parquet: the column flag holds neither strings nor numbers, so that its values cannot be compared; only "'
run leat pack -t bytes -o no --keep 'langs = en' typed.parquet
says 1 'typed.parquet has no column langs; its columns are text, id, score'
printf 'a text' >a.txt
run leat pack -t bytes -o no --keep 'lang = en' typed.parquet a.txt
says 2 'a.txt has no fields'
set --
for number in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do
    set -- "$@" --keep "number$number != 5"
done
run leat pack -t bytes -o no "$@" typed.parquet
says 2 'too many conditions for a Parquet file; at most 14'
if [ -e no.leat ] || [ -e no.partial.leat ]; then fail 'what is refused leaves files'; fi
finish
