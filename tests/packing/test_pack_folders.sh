#!/bin/sh
# test_pack_folders.sh: folders as they come from a hub, and files that are no text: nothing is left out without a word,
# and nothing but text becomes tokens, unless that is asked for.
here=$PWD
. tests/cli/cli.sh

key() { # the value of a member of the object that was printed last
    sed -n "s/.*\"$1\": \(\[[^]]*\]\|[^,}]*\).*/\1/p" "$printed"
}

mkdir -p hub/data
printf '{"text":"a"}\n' >hub/a.jsonl
printf '{"text":"b"}\n' >hub/B.JSONL
printf '{"text":"c"}\n' | gzip >hub/C.JsonLines.GZ
printf '# A card\n' >hub/README.md
printf 'free\n' >hub/LICENSE-MIT.txt
printf '*.parquet lfs\n' >hub/.gitattributes
printf 'print()\n' >hub/load.py
printf 'words\n' >hub/readme_of_words.txt
run leat pack -t bytes -o plain --json hub
says 0 'skipped 4 files in folders: hub/LICENSE-MIT.txt, hub/README.md, hub/load.py, hub/readme_of_words.txt'
[ "$(key documents)" = 3 ] || fail "not three documents: $(cat "$printed")"
[ "$(key skipped)" = 4 ] || fail "not 4 skipped: $(cat "$printed")"
[ "$(key skipped_files)" = '["hub/LICENSE-MIT.txt", "hub/README.md", "hub/load.py", "hub/readme_of_words.txt"]' ] ||
    fail "other files skipped: $(key skipped_files)"

# a companion that is named is packed, and so is one of a folder of texts
run leat pack -t bytes -o card --json hub/README.md
[ "$(key documents)" = 1 ] || fail "README.md, named, is not packed: $(cat "$said")"
run leat pack -t bytes -o all --format text --json hub
[ "$(key documents)" = 7 ] || fail "--format text does not take every file: $(cat "$printed" "$said")"

# what may be a corpus, by its name or its bytes
corpus() { # FILE WHAT
    run leat pack -t bytes -o refused hub
    says 1 "the folder hub has 1 file that may hold texts but cannot be read; $1 is $2"
    says 1 '(--skip-unknown)'
    run leat pack -t bytes --force -o skipped --skip-unknown --json hub
    says 0 "skipped 5 files"
    case $(key skipped_files) in
    *"\"$1\""*) ;;
    *) fail "$1 is not among the skipped: $(key skipped_files)" ;;
    esac
    rm "$1"
}
printf 'ARROW1\0\0' >hub/data/train.arrow
corpus hub/data/train.arrow 'an Arrow file: convert it to JSON lines'
printf 'ARROW1\0\0' >hub/data/train-00000
corpus hub/data/train-00000 'an Arrow file'
cp "$here/tests/packing/ids.arrow" hub/data/saved.arrow
corpus hub/data/saved.arrow 'an Arrow file with a column of ids, input_ids: import these (leat import), from the folder'
printf '{"text":"d"}\n' >hub/part-00000
corpus hub/part-00000 'JSON lines by its first bytes, but not by its name'
for suffix in br Z 7z zip; do
    printf 'x' >"hub/d.jsonl.$suffix"
    corpus "hub/d.jsonl.$suffix" ''
done
printf 'd' >hub/e.dat # nothing of the kind
run leat pack -t bytes --force -o skipped --json hub
says 0 'skipped 5 files'
[ "$(key documents)" = 3 ] || fail "not three documents: $(cat "$printed")"

# ---- Names that begin with _, as Spark, Hive and others write them ---------------------------------------------------

mkdir -p spark/_temporary/0/_attempt_1 'spark/lang=en' 'spark/_lang=de'
printf '{"text":"a"}\n' >spark/part-0.jsonl
printf '{"text":"b"}\n' >'spark/lang=en/part-0.jsonl'
printf '{"text":"c"}\n' >'spark/_lang=de/part-0.jsonl' # Spark reads partitions that are called so
: >spark/_SUCCESS
printf 'PAR1....PAR1' >spark/_metadata
printf 'PAR1....PAR1' >'spark/lang=en/_common_metadata'
: >spark/_empty.jsonl
printf '{"version":3}\n' >spark/_committed_17
printf 'crc' >spark/.part-0.jsonl.crc
printf 'ARROW1\0\0' >spark/_statistics.arrow # not an error: it is passed over anyway
printf '{"text":"half"}\n' | tee spark/_temporary/0/_attempt_1/part-0.jsonl >spark/_foo.jsonl
ln -s nowhere spark/_dangling
for format in auto jsonl; do
    run leat pack -t bytes --force -o spark.out --json --format "$format" spark
    says 0 'skipped 4 names in folders, for beginning with _ (what you name is packed): spark/_dangling, '
    says 0 ', spark/_foo.jsonl, spark/_statistics.arrow, spark/_temporary/'
    [ "$(key documents)/$(key skipped)" = 3/4 ] || fail "not three documents, four skipped: $(cat "$printed" "$said")"
done
mkdir -p code/__tests__ # of texts, _ says nothing
printf 'pass\n' | tee code/__init__.py code/_util.py code/__tests__/a.py >code/a.py
run leat pack -t bytes --force -o spark.out --json --format text code
[ "$(key documents)/$(key skipped)" = 4/0 ] || fail "--format text does not take all code: $(cat "$printed" "$said")"
run leat pack -t bytes --force -o spark.out --json 'spark/_[f]*' spark/_temporary/0/_attempt_1
[ "$(key documents)/$(key skipped)" = 2/0 ] || fail "what is named is passed over: $(cat "$printed" "$said")"
echo spark/_foo.jsonl >marked.list
run leat pack -t bytes --force -o spark.out --json @marked.list
[ "$(key documents)" = 1 ] || fail "what is listed is passed over: $(cat "$said")"
mkdir marked
mv spark/_foo.jsonl marked
run leat pack -t bytes -o spark.none marked
says 1 'the folder marked has no file to pack but names that begin with _, which are passed over in folders, such as'
says 1 ' such as marked/_foo.jsonl; name these to pack them'

# tables, of which some files are out of date
table() { # FOLDER WHAT
    for more in --json --skip-unknown '--format=jsonl' '--format=text'; do
        run leat pack -t bytes -o table "$more" "$1"
        says 1 "the folder $2, and some of its files may hold rows that were deleted or changed since; "
        says 1 ', and pack that list (@LIST)'
    done
    run leat pack -t bytes --force -o table "$1"/*.jsonl
    ended 0 ''
}
for kind in _delta_log .hoodie; do
    mkdir -p "lake/$kind/$kind"
    printf '{"text":"a"}\n' >"lake/$kind/a.jsonl"
done
table lake/_delta_log 'lake/_delta_log is a Delta Lake table'
table lake/.hoodie 'lake/.hoodie is a Hudi table'
run leat pack -t bytes -o table lake # found below, but hidden is hidden
says 1 'the folder lake is a '
mv lake/_delta_log delta
mkdir above
mv delta above
table above/delta 'above/delta is a Delta Lake table'
run leat pack -t bytes -o table above
says 1 'the folder above/delta is a Delta Lake table'
uuid=1a2b3c4d-0000-4000-8000-123456789abc
for name in v12.metadata.json "00000-$uuid.metadata.json" "00001-$uuid.gz.metadata.json" v3.gz.metadata.json \
    v4.metadata.json.gz "00002-$uuid.metadata.json.gz"; do
    mkdir -p "ice-$name/metadata" "ice-$name/data"
    printf '{"text":"a"}\n' | tee "ice-$name/data/a.jsonl" >"ice-$name/a.jsonl"
    printf '{}\n' >"ice-$name/metadata/$name"
    table "ice-$name" "ice-$name is an Iceberg table"
done
mkdir ice
mv "ice-$name/metadata" ice
run sh -c 'cd ice && leat pack -t bytes -o table metadata'
says 1 'the folder . is an Iceberg table'
mkdir -p own/metadata # not called as Iceberg does
printf '{"text":"a"}\n' | tee own/metadata/v.metadata.json own/metadata/0-a.metadata.json >own/v1.metadata.json
run leat pack -t bytes -o own --json own
[ "$(key documents)" = 3 ] || fail "files that are called nearly like Iceberg's are not packed: $(cat "$said")"

# what is neither a file nor a folder is not left out without a word
mkdir special
printf '{"text":"a"}\n' >special/a.jsonl
mkfifo special/pipe.jsonl
run leat pack -t bytes -o special --json special
says 0 'skipped 1 file in folders: special/pipe.jsonl'
[ "$(key skipped)" = 1 ] || fail "the pipe is not counted: $(cat "$printed")"

rm special/a.jsonl
for format in auto jsonl; do
    run leat pack -t bytes -o no --format $format special
    says 1 'the folder special has no file to pack; special/pipe.jsonl is neither a file nor a folder; for a pipe, use'
done

# pictures and programs among texts, whatever they are called, are left out
mkdir pictures
printf '{"text":"a"}\n' >pictures/a.jsonl
printf '\211PNG\r\n\032\n' | tee pictures/b.png >pictures/c.dat
printf 'GIF89a' >pictures/d
printf '\177ELF' >pictures/e.so
run leat pack -t bytes -o pictures --json pictures
says 0 'skipped 4 files'
[ "$(key documents)/$(key skipped)" = 1/4 ] || fail "not one document, four skipped: $(cat "$printed")"
ln -s a.jsonl/b pictures/g
run leat pack -t bytes -o no pictures
says 1 'cannot follow the symbolic link pictures/g: Not a directory'

# ---- Files that are no text -----------------------------------------------------------------------------------------

refused() { # FILE SENTENCE
    run leat pack -t bytes -o no "$1"
    says 1 "$2"
    run leat pack -t bytes -o no --format text "$1"
    says 1 "$2"
    says 1 '(--allow-binary packs it all the same)'
    run leat pack -t bytes --force -o forced --format text --allow-binary --json "$1"
    [ "$(key documents)" = 1 ] || fail "$1 is not packed with --allow-binary: $(cat "$said")"
    [ ! -e no.leat ] || fail "$1 became a dataset"
}
printf 'ARROW1\0\0' >x.arrow
refused x.arrow 'x.arrow is an Arrow file: convert it to JSON lines (.jsonl)'
refuse 1 'x.arrow' leat pack -t bytes -o no x.arrow
printf '\377\376h\0i\0' >marked.txt
refused marked.txt 'marked.txt is text in UTF-16: convert it to UTF-8 first'
printf 'h\0e\0l\0l\0o\0' >unmarked.txt
refused unmarked.txt 'unmarked.txt is text in UTF-16: convert it to UTF-8 first'
printf 'PK\3\4' >x.txt
refused x.txt 'x.txt is a zip archive: unpack it first (unzip)'
awk 'BEGIN { for (i = 0; i < 100; i++) printf "caf\351 " }' >latin1.txt
refused latin1.txt 'text in another encoding than UTF-8: if it is text, convert it to UTF-8 first, with iconv'

# compressed, but not called so: it can be read if somebody says as what
gzip -c hub/a.jsonl >a.data
run leat pack -t bytes -o no a.data
says 1 'a.data is compressed with gzip: let its name end in .jsonl.gz or .txt.gz, or choose the format (--format NAME)'
run leat pack -t bytes -o named --format jsonl --json a.data
[ "$(key documents)" = 1 ] || fail "gzip under another name is not read: $(cat "$said")"

# in a folder, such a text is a reject, whatever its length and the memory
mkdir texts
awk 'BEGIN { for (i = 0; i < 3; i++) printf "fine text\n" }' >texts/a.txt
awk 'BEGIN { for (i = 0; i < 4096; i++) printf "x"; for (i = 0; i < 300000; i++) printf "caf\351 " }' >texts/b.txt
printf 'PAR1....PAR1' >texts/c.txt
run leat pack -t bytes -o texts-none --memory 1 texts
little=$(sed -n 's/.*allow at least \([0-9]*\) MiB.*/\1/p' "$said") # a sanitizer takes much
little=$((little + 8))Mi
for memory in $little 4Gi; do
    run leat pack -t bytes -o "texts-$memory" --memory "$memory" --max-rejects 2 --json texts
    [ "$(key documents)/$(key rejected)" = 1/2 ] || fail "other documents and rejects: $(cat "$printed" "$said")"
    rejects=texts-$memory.rejects.jsonl
    grep -q '"texts/b.txt".*parts of [0-9]* bytes are not valid UTF-8' "$rejects" ||
        fail "the text in another encoding is not rejected: $(cat "$rejects")"
    grep -q '"texts/c.txt".*a Parquet file' "$rejects" || fail "Parquet in a text is not rejected"
done
cmp "texts-$little.rejects.jsonl" texts-4Gi.rejects.jsonl || fail 'what is rejected depends on the memory'

# ---- What is counted ------------------------------------------------------------------------------------------------

printf '{"text":"a\377b\376"}\n{"text":"fine"}\n{"text":"\377","score":NaN}\n{"text":"x","a":[-Infinity]}\n' >m.jsonl
printf '{"text":"\303"}\n' >n.jsonl
run leat pack -t bytes -o counted m.jsonl n.jsonl
ended 0 ''
grep -qF '4 malformed parts of text in 2 inputs became U+FFFD: m.jsonl (3), n.jsonl (1); convert' "$printed" ||
    fail "the summary does not count what was replaced: $(cat "$printed")"
grep -qF 'Packed 2 records with NaN or Infinity, which are not JSON.' "$printed" ||
    fail "the summary does not count NaN: $(cat "$printed")"
run leat pack -t bytes --force -o counted --json m.jsonl n.jsonl
[ "$(key replaced)/$(key not_json)" = 4/2 ] || fail "other counts: $(cat "$printed")"
grep -qF '"replaced_in": [{"input": "m.jsonl", "count": 3}, {"input": "n.jsonl", "count": 1}]' "$printed" ||
    fail "not by input: $(cat "$printed")"

# An input of few records, each of which is rejected, once stood in the counts alone. Not such: one with a document, one
# with a record that --keep leaves out, one without records, one that is cut off, and a piece of one in a part of a run.
mkdir whole
seq 40 | sed 's/.*/{"text":"t&","n":1}/' >whole/a.jsonl
printf '{"body":"x"}\n{"body":"y"}\n' >whole/b.jsonl
printf '{"body":"x"}\n{"text":"y","n":1}\n' >whole/c.jsonl
printf '\0\0\0\0\0\1' >whole/d.txt
printf 'text\n' >whole/e.csv
printf '{"text":3,"n":1}\n' | gzip -c >whole/f.jsonl.gz
gzip -c whole/f.jsonl.gz | head -c 20 >whole/g.jsonl.gz
join_lines >whole.said <<'END'
leat: warning: 3 inputs gave no document, since each of their records was rejected:
leat:   whole/b.jsonl (2 records): the record has no "text"
leat:   whole/d.txt (1 record): the input is binary data, or text in another encoding than UTF-8: if it is text, @
convert it to UTF-8 first, with iconv for example; else leave it out
leat:   whole/f.jsonl.gz (1 record): "text" is a number, not a string
END
rejects_named() { # CODE: all are named, once
    sed -n '/warning: 3/,/f.jsonl/p' "$said" | diff whole.said - || fail "$ran: other rejected inputs: $(cat "$said")"
    [ "$code" -eq "$1" ] || fail "$ran: exit code $code, not $1"
}
run leat pack -t bytes -o whole-named --max-rejects 9 --allow-truncated whole
rejects_named 0
says 0 'start over with --force: leat pack --force -t bytes -o whole-named --max-rejects 9 --allow-truncated whole'
run leat pack -t bytes -o whole-named --force --max-rejects 9 --allow-truncated --shuffle 1 whole
rejects_named 0
run leat pack -t bytes -o few whole
rejects_named 4
run leat pack -t bytes -o unnamed --dry-run --max-rejects 9 --allow-truncated whole
rejects_named 0
leat pack -t bytes --run named-run --parts 1 --max-rejects 9 --allow-truncated whole >"$printed" || fail "no plan"
run leat pack --run named-run --part 1
rejects_named 0
says 0 'leat: when they are mended, plan the run again'
# a long reason was cut after 159 bytes, in the middle of a character
long=$(printf 'x%090d' 0 | sed 's/0/ж/g')
printf '{"%s":"a"}\n' "$long" >long-a.jsonl
echo '{}' >long-b.jsonl
run leat pack -t bytes -o long --json --max-rejects 9 --text "$long" long-a.jsonl long-b.jsonl
grep -qF "\"reason\": \"the record has no \\\"$long\\\"\"" "$printed" || fail "$ran: $(cat "$printed")"
for more in --force --dry-run; do
    run leat pack -t bytes -o "all$more" --json $more --max-rejects 9 --allow-truncated whole
    grep -qF '"rejected_inputs": [{"input": "whole/b.jsonl", "records": 2, "reason": "the record has no \"text\""}, {' \
        "$printed" || fail "$ran: $(cat "$printed")"
done
printf '{"text":3,"n":2}\n{"text":"a","n":1}\n' >kept.jsonl
run leat pack -t bytes -o kept --max-rejects 9 --keep 'n = 2' --allow-empty kept.jsonl
[ "$code/$(grep -c 'each of' "$said")" = 0/0 ] || fail "$ran: what was kept out counts as rejected: $(cat "$said")"
yes bad | head -n 40 >pieces.jsonl # of parts that have a piece each, none knows
run leat pack -t bytes -o pieces --part 1/2 --max-rejects 99 pieces.jsonl
ended 0 ''
mkdir bad
for i in $(seq 11 35); do
    printf '{"text":%s}\n' "$i" >"bad/$i.jsonl"
done
run leat pack -t bytes -o many --max-rejects 99 bad whole/a.jsonl
says 0 'leat:   bad/30.jsonl (1 record): "text" is a number'
says 0 'leat:   and 5 more (many.rejects.jsonl has their records)'

# ---- Words that are no files ----------------------------------------------------------------------------------------

for url in adl://store/a ftp://host/b.jsonl; do # of those that it reads: tests/remote/
    run leat pack -t bytes -o no "$url"
    says 1 "$url is a URL, and leat reads only those that begin with s3://, gs://, az://, hf://, https:// or http://"
done
run leat pack -t bytes --force -o globbed --json 'hub/*.jsonl' 'hub/[B]*'
[ "$(key inputs)" = 2 ] || fail "a quoted pattern is not expanded: $(cat "$said")"
mkdir odd
printf '{"text":"m"}\n' >odd/-
printf 'x' >odd/@list
ln -s nowhere 'odd/dangling*'
run leat pack -t bytes -o no 'odd/dangling*' # matches itself
says 1 'cannot find the input odd/dangling*'
(cd odd && leat pack -t bytes -o dash --format jsonl '[-]' </dev/null) >"$printed" 2>"$said" ||
    fail "a file called - that a pattern matches is taken for standard input: $(cat "$said")"
grep -q '1 document' "$printed" || fail "the file called - has one document: $(cat "$printed")"
run leat pack -t bytes -o no --format text 'odd/[@]list'
[ "$code" -eq 0 ] || fail "a file called @list that a pattern matches is taken for a list: $(cat "$said")"
printf 'adl://bucket/a.jsonl\n' >odd/urls
run leat pack -t bytes -o nourl @odd/urls
says 1 'leat: adl://bucket/a.jsonl is a URL'
escape=$(printf '\033[31m')
printf 'a\377' >"odd/$escape.txt"
run leat pack -t bytes -o escaped "odd/$escape.txt"
! grep -qF "$escape" "$printed" || fail 'a name changes the colours of the terminal'
run leat pack -t bytes -o no 'hub/*.nothing'
says 1 'no file matches hub/*.nothing'

# ---- Names that are no datasets -------------------------------------------------------------------------------------

run leat info x.arrow
says 1 'x.arrow is an Arrow file: convert it to JSON lines'
awk 'BEGIN { for (i = 0; i < 1000; i++) printf "%c%c", i % 200 + 1, i % 50 }' | head -c 1000 >train.bin
run leat info train.bin
says 1 'train.bin may hold bare token ids, as nanoGPT'\''s train.bin does: raw:FILE?dtype=u16'
run leat info m.jsonl
says 1 'm.jsonl itself exists, but is not a dataset: pack it into one (leat pack)'
# Every file that fails is named once, in a run and by --dry-run alike, with the command that leaves them out; then that
# command packs. It was the first one alone.
mkdir -p broken/sub
printf '{"text":"a"}\n' >broken/good.jsonl
printf 'id,txt\n1,a\n' | tee broken/a.csv >broken/b.csv
printf 'no gzip' >broken/sub/no.jsonl.gz
printf '%0300d' 0 >broken/no.parquet
for more in --json --dry-run; do
    run leat pack -t bytes -o of-broken $more broken
    for name in a.csv b.csv sub/no.jsonl.gz no.parquet; do
        [ "$(grep -v -- --exclude "$said" | grep -o "broken/$name" | wc -l)" -eq 1 ] ||
            fail "$more: broken/$name is not named once: $(cat "$said")"
    done
    says 1 'of folders: leat pack --exclude /a.csv --exclude /b.csv --exclude /no.parquet --exclude /sub/no.jsonl.gz'
done
run sh -c "$(sed -n 's/.*out those of folders: //p' "$said" | sed 's/ --dry-run//')"
says 0 'skipped 4 files in folders, by --include and --exclude: broken/a.csv, broken/b.csv, broken/no.parquet, broken'

# What fails for want of descriptors fails with any file: no file is to blame, and none is to be left out. The command
# that leaves out the first one was printed. Which call fails depends on what is open when leat begins.
mkdir plenty
for name in a b c; do
    printf '{"text":"a"}\n' >plenty/$name.jsonl
done
short=
for limit in 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 22 24 26 28 30; do
    # shellcheck disable=SC3045 # the shells that tests run in have it
    run sh -c "ulimit -n $limit && exec leat pack --force -t bytes -o of-plenty plenty"
    ! grep -q -- --exclude "$said" || fail "$limit descriptors: $(cat "$said")"
    ! grep -q 'cannot open plenty/.*raise the limit of open files (ulimit -n)' "$said" || short=1
done
[ "$short" = 1 ] || fail 'no limit of descriptors was met when an input was opened'

finish
