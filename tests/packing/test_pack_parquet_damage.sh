#!/bin/sh
# test_pack_parquet_damage.sh: where a Parquet file is damaged, the rest of the row group is a line of the rejects,
# which says which rows are lost, and all of them count as rejected; all other rows are packed, as from JSON lines
# without these, and the run ends with code 1, or 0 with --allow-truncated. A file that is cut off has no footer: it
# is one reject, and the next input is packed. With more threads, in shares and after a stop the bytes are the same.
here=$PWD/tests
. tests/cli/cli.sh

tiny=$build/tiny/leat
pack() { # NAME ...
    name=$1
    shift
    run "$tiny" pack -t bytes -o "$name" --max-rejects 1000 "$@"
}
same() { # A B
    for end in tokens leat rejects.jsonl; do
        cmp "$1.$end" "$2.$end" || fail "$1.$end and $2.$end differ"
    done
}
identity() {
    "$build/leat" info "$1" | sed -n 's/^  identity *//p'
}

cp "$here/parquet/files/many.parquet" "$here/parquet/files/many.jsonl" "$here/parquet/files/lz4.parquet" \
    "$here/parquet/files/lz4.jsonl" .
cp many.parquet many-sound.parquet
for at in 3000 9001 15003; do
    printf '\377\000\377' | dd of=many.parquet bs=1 seek=$at conv=notrunc 2>/dev/null
done
pack damaged many.parquet
says 1 'leat: 1 input was cut off or broken, and packed as far as it was readable: many.parquet, at byte '
number='\([0-9]*\)'
sed -n "s/^.*\"offset\":$number,\"line\":$number,\"reason\":\".* rows $number to $number are lost\".*/\1 \2 \3 \4/p" \
    damaged.rejects.jsonl >lost
[ "$(wc -l <lost)" -gt 1 ] || fail "not two row groups are damaged: $(cat lost)"
: >deletes
while read -r offset line first last; do
    [ "$offset" -eq "$first" ] || fail "rows $first to $last are lost, of a reject at row $offset"
    [ $((last / 37 + 1)) -eq "$line" ] || fail "row $last is not in row group $line"
    [ $(((last + 1) % 37)) -eq 0 ] || fail "row $last does not end a row group"
    echo "$((first + 1)),$((last + 1))d" >>deletes
done <lost
sed -f deletes many.jsonl >rest.jsonl
rejects=$(($(wc -l <many.jsonl) - $(wc -l <rest.jsonl) + $(wc -l <damaged.rejects.jsonl) - $(wc -l <lost)))
grep -q "^$rejects records were rejected" "$printed" || fail "not $rejects records are rejected: $(cat "$printed")"
run "$tiny" pack -t bytes -o few --max-rejects $((rejects - 1)) --allow-truncated many.parquet
says 4 "$rejects of $(wc -l <many.jsonl) records were rejected, more than allowed"
run "$tiny" pack -t bytes -o rest --max-rejects 1000 rest.jsonl
[ "$(identity rest)" = "$(identity damaged)" ] || fail 'other rows are packed than those that are not lost'
pack allowed --allow-truncated --threads 7 many.parquet
says 0 'leat: warning: 1 input was cut off or broken'
same damaged allowed

names=
for part in 1 2 3 4 5; do
    pack "part-$part" --part "$part/5" --allow-truncated many.parquet
    [ "$code" -eq 0 ] || fail "share $part: $(cat "$said")"
    names="$names part-$part"
done
# names are split on purpose
# shellcheck disable=SC2086
run leat merge -o merged $names
ended 0 ''
cmp damaged.tokens merged.tokens || fail 'shares that are merged have other tokens'
run "$tiny" pack -t bytes -o resumed --max-rejects 50 many.parquet
says 4 'more than allowed'
pack resumed --resume many.parquet
says 1 'leat: 1 input was cut off or broken'
same damaged resumed

# ---- A file without a footer, and one with a broken one -------------------------------------------------------------

head -c 900 many.parquet >cut.parquet
: >empty.parquet
cp lz4.parquet broken.parquet
printf '\377\377\377\377' | dd of=broken.parquet bs=1 seek=$(($(wc -c <broken.parquet) - 100)) conv=notrunc 2>/dev/null
pack lines lz4.jsonl
for file in cut empty broken; do
    pack after --force "$file.parquet" lz4.parquet
    says 1 "leat: 1 input was cut off or broken, and nothing of it could be read: $file.parquet, at byte 0: "
    grep -q "^{\"input\":\"$file.parquet\",\"offset\":0,\"line\":1,\"reason\":\"$file.parquet" after.rejects.jsonl ||
        fail "$file.parquet is no reject: $(cat after.rejects.jsonl)"
    [ "$(identity lines)" = "$(identity after)" ] || fail "other tokens after $file.parquet"
done
for part in 1 2 3; do
    pack "cut-$part" --part $part/3 cut.parquet lz4.parquet
done
[ "$(cat cut-?.rejects.jsonl | grep -c '"cut.parquet"')" = 1 ] || fail 'a cut-off file is not one reject in shares'
finish
