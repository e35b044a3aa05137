#!/bin/sh
# test_pack_parquet.sh: leat pack on Parquet files gives what it gives for the same texts as JSON lines: tokens and
# rejects; in folders beside JSON lines, without a suffix, in shares that are merged, stopped and resumed, by 1, 2 and
# 7 threads that read row groups side by side, and by a build with tiny units; documents are found by row and row
# group, and what cannot be packed is refused before any work.
here=$PWD/tests
. tests/cli/cli.sh

files=$here/parquet/files
tiny=$build/tiny/leat
same() { # A B
    cmp "$1.tokens" "$2.tokens" || fail "$1.tokens and $2.tokens differ"
    cmp "$1.leat" "$2.leat" || fail "$1.leat and $2.leat differ"
}
key() { # NAME: its value in the JSON object that was printed
    sed -n "s/.*\"$1\": \([^,}]*\).*/\1/p" "$printed"
}
identity() {
    "$build/leat" info "$1" | sed -n 's/^  identity *//p'
}

# ---- The same as JSON lines -----------------------------------------------------------------------------------------

for name in plain_2 dictionary_2_snappy delta zstd lz4 required split empty duckdb_v2 polars fastparquet long many; do
    cp "$files/$name.jsonl" "$files/$name.parquet" .
    for suffix in jsonl parquet; do
        run "$tiny" pack -t bytes -o "$name-$suffix" --max-rejects 1000 --json "$name.$suffix"
        [ "$(key rejected)" = "$(grep -c '"null"' "$name.jsonl")" ] ||
            fail "$name.$suffix: other rejects: $(cat "$said")"
    done
    [ "$name" != many ] || [ "$(key row_groups)" = 41 ] || fail "not 41 row groups: $(cat "$printed")"
    [ "$(identity "$name-jsonl")" = "$(identity "$name-parquet")" ] || fail "$name: other tokens than of JSON lines"
done

# ---- Where a document is --------------------------------------------------------------------------------------------

# doc-0100 stands in rows 300 to 302, of groups of 37 rows
run leat find many-parquet --id doc-0100
ended 0 ''
for line in 'row       300' 'group     8' 'id        doc-0100'; do
    grep -qxF "$line" "$printed" || fail "leat find does not print \"$line\": $(cat "$printed")"
done
run leat find many-parquet --origin many.parquet:302 --json
case $(cat "$printed") in
*'"offset": 302, "line": 9, "row": 302, "row_group": 8'*) ;;
*) fail "leat find --origin: $(cat "$printed")" ;;
esac
leat trace --source many-parquet --seq-len 64 --order sequential --samples 100:101 --json | sed -n 2p >traced
grep -qF '"offset": 296, "line": 9, "row": 296, "row_group": 8, "id": "doc-0098", "banned": false}' traced ||
    fail "leat trace --json of rows: $(cat traced)"
sed -n 1p many-parquet.rejects.jsonl >first
grep -qF '{"input":"many.parquet","offset":3,"line":1,"reason":"\"text\" is null, not a string"' first ||
    fail "the first null is not rejected as it should be: $(cat first)"

# rejects have the order of their rows, also where texts lie in a dictionary
for leat in "$build/leat" "$tiny"; do
    run "$leat" pack -t bytes -o malformed --force --invalid-utf8 reject --max-rejects 100 "$files/malformed.parquet"
    ended 0 ''
    sed -n 's/.*"offset":\([0-9]*\),.*/\1/p' malformed.rejects.jsonl >rejected
    awk 'BEGIN { for (row = 0; row < 50; row++) if (row % 5 != 3) print row }' | cmp - rejected ||
        fail "$leat rejects malformed.parquet in another order: $(cut -c -100 malformed.rejects.jsonl)"
done

# ---- Units, memory, shares, resuming --------------------------------------------------------------------------------

run leat pack -t bytes -o large --max-rejects 1000 many.parquet
same many-parquet large
mv many-parquet.rejects.jsonl many.rejects
for threads in 1 2 7; do
    run "$tiny" pack -t bytes -o threads --threads $threads --max-rejects 1000 --force many.parquet
    ended 0 ''
    same many-parquet threads
    cmp many.rejects threads.rejects.jsonl || fail "the rejects with $threads threads differ"
done
for parts in 2 23; do
    names=
    part=1
    while [ $part -le $parts ]; do
        "$tiny" pack -t bytes -o "part-$part" --part "$part/$parts" --max-rejects 1000 --force many.parquet \
            >"$printed" 2>"$said" || fail "share $part of $parts: $(cat "$said")"
        names="$names part-$part"
        part=$((part + 1))
    done
    # names are split on purpose
    # shellcheck disable=SC2086
    run leat merge -o merged --force $names
    ended 0 ''
    same many-parquet merged
done
for threads in 1 7; do
    for most in 10 50 90; do
        rm -f resumed.*
        run "$tiny" pack -t bytes -o resumed --threads $threads --max-rejects $most many.parquet
        says 4 'more than allowed'
        run "$tiny" pack -t bytes -o resumed --threads $threads --max-rejects $((most + 70)) --resume many.parquet
        says 4 'more than allowed'
        run "$tiny" pack -t bytes -o resumed --threads $threads --max-rejects 1000 --resume many.parquet
        same many-parquet resumed
        cmp many.rejects resumed.rejects.jsonl || fail 'the rejects of a resumed run differ'
    done
done

# ---- A later input whose pages, or row groups, need more than their share: it waits for its turn --------------------

cp "$here/parquet/files/outgrows.parquet" "$here/parquet/files/groups.parquet" .
awk 'BEGIN { for (i = 0; i < 60000; i++) print "{\"text\": \"a record of a long input, number " i "\"}" }' >first.jsonl
awk 'BEGIN { for (i = 0; i < 30; i++) {
                 printf "{\"text\": \"text %d ", i
                 for (times = i == 13 || i == 25 ? 60000 : i; times > 0; times--) printf "ab "
                 print "\"}" }
             for (i = 0; i < 700; i++) print "{\"text\": \"text " i "\"}" }' >later.jsonl
run leat pack -t bytes -o in-lines first.jsonl later.jsonl
for threads in 2 5; do
    run "$tiny" pack -t bytes -o outgrows --force --threads $threads first.jsonl outgrows.parquet groups.parquet
    ended 0 ''
    [ "$(identity outgrows)" = "$(identity in-lines)" ] || fail "outgrows.parquet, $threads threads: another identity"
done

# ---- Folders, names, formats ----------------------------------------------------------------------------------------

mkdir mixed
cp lz4.parquet mixed/a.parquet
cp plain_2.jsonl mixed/b.jsonl
cp zstd.parquet mixed/c # by its first bytes
cat lz4.jsonl plain_2.jsonl zstd.jsonl >mixed.jsonl
run leat pack -t bytes -o mixed-folder --max-rejects 100 --json mixed
[ "$(key inputs)" = 3 ] || fail "not three inputs: $(cat "$printed")"
run leat pack -t bytes -o mixed-lines --max-rejects 100 mixed.jsonl
[ "$(identity mixed-folder)" = "$(identity mixed-lines)" ] || fail 'a folder gives other tokens than JSON lines'
run leat pack -t bytes -o by-bytes --max-rejects 100 mixed/c
[ "$(identity by-bytes)" = "$(identity zstd-parquet)" ] || fail 'a file without a suffix gives other tokens'

# ---- What is refused ------------------------------------------------------------------------------------------------

sed 's/"text"/"body"/' mixed.jsonl >body.jsonl
refuse 1 'mixed/a.parquet no body' leat pack -t bytes -o no --text body body.jsonl mixed/a.parquet
refuse 1 'mixed/a.parquet no url' leat pack -t bytes -o no --id url mixed/a.parquet
mkdir -p hive/lang=en/n=1
cp mixed/a.parquet hive/lang=en/n=1
for option in --keep --by; do
    for folder in hive hive/lang=en "$PWD/hive/lang=en/n=1"; do
        value=lang
        [ $option = --by ] || value="lang == 'en'"
        run leat pack -t bytes -o no $option "$value" "$folder"
        says 1 '/a.parquet has no column lang; its columns are text, n, id; it is only in the name of a folder, which '
        says 1 'leat does not read: write it into the files, or pack each folder by itself'
    done
done
run leat pack -t bytes -o no --keep "lan == 'en'" hive
says 1 'has no column lan; its columns are text, n, id'
grep -q 'name of a folder' "$said" && fail 'no folder is called lan=...'
run leat pack -t bytes -o no --text n mixed/a.parquet
says 1 'the column n does not hold texts'
run leat pack -t bytes -o no --format parquet mixed.jsonl
says 1 'mixed.jsonl is no Parquet file: it does not begin with PAR1'
gzip -c mixed/a.parquet >a.parquet.gz
run leat pack -t bytes -o no a.parquet.gz
says 1 'a.parquet.gz is compressed with gzip, and no Parquet file: decompress it first'
run leat pack -t bytes -o no --format jsonl mixed/a.parquet
says 1 'is a Parquet file: pack it as Parquet'
leat pack --help | tr -s ' \n' ' ' >help.txt
grep -qF '.parquet' help.txt || fail "the help does not name Parquet: $(cat help.txt)"
leat --manual pack | grep -qF 'Parquet (.parquet, .pq)' || fail "the manual page does not name Parquet's suffixes"
! grep -q 'cannot be read, such as Parquet' help.txt || fail 'the help says that Parquet cannot be read'
run leat pack -t bytes -o no --format parquet - </dev/null
says 2 'cannot be read from standard input'
leat pack -t bytes -o no - <mixed/a.parquet 2>"$said" && fail 'Parquet from standard input is packed'
grep -qF 'standard input is a Parquet file, which is read from its end: save it, and name the file' "$said" ||
    fail "Parquet from standard input: $(cat "$said")"
[ "$(printf 'PAR1 x' | leat encode -t bytes)" = "$(printf '80 65 82 49 32 120')" ] ||
    fail 'a text that begins with PAR1 is refused'
if [ -e no.leat ] || [ -e no.partial.leat ]; then fail 'what is refused leaves files'; fi
finish
