#!/bin/sh
# test_import.sh: leat import gives the documents of the files that MosaicML's streaming, litdata, Hugging Face datasets
# and pyarrow wrote (make_files.py), in each of their forms, plain and compressed. Their places are kept; an end token
# is recorded, and added where it is missing. What is damaged, cut, of another kind or not ids is refused, with a
# sentence, and nothing is left.
files=$PWD/tests/import/files
. tests/cli/cli.sh

imported() { # SOURCE TEXT DOCUMENTS [OPTION...]
    source=$1
    text=$2
    count=$3
    shift 3
    run leat import --force -o made "$files/$source" "$@"
    [ "$code" -eq 0 ] || fail "$source: exit code $code: $(cat "$said")"
    leat verify made >/dev/null 2>&1 || fail "$source: $(leat verify made 2>&1)"
    leat cat made --document "0:$count" --ids | cmp -s - "$files/$text" || fail "$source: other documents"
    leat info --json made | grep -qF "\"documents\": $count," || fail "$source: not $count documents"
}

for source in mds/array mds/typed mds/zstd litdata/tokens litdata/tokens.zstd litdata/numpy litdata/items \
    litdata/frames litdata/samples litdata/lists litdata/lists.zstd litdata/floats arrow/saved arrow/saved.large \
    arrow/stream.arrow arrow/file.arrow arrow/zstd.arrow; do
    imported $source documents.txt 40
done
imported mds/bytes documents.txt 40 --dtype uint16 --column tokens
imported mds/array/index.json documents.txt 40
imported litdata/floats documents.txt 40 --column numbers
for source in mds/shaped arrow/saved.fixed arrow/fixed.arrow arrow/dict/train; do
    imported $source fixed.txt 20
done
if leat import -o with.lz4 "$files/arrow/lz4.arrow" >"$printed" 2>"$said"; then
    imported arrow/lz4.arrow documents.txt 40
else
    grep -qF 'leat was built without liblz4' "$said" || fail "LZ4: $(cat "$said")"
fi

# ---- Width, end token, tokenizer, places --------------------------------------------------------------------------

width() { # BYTES [OPTION...]
    bytes=$1
    shift
    run leat import --force -o made --json "$@"
    grep -qF "\"width\": $bytes," "$printed" || fail "$*: not $bytes bytes per id: $(cat "$printed" "$said")"
}
width 2 "$files/litdata/numpy"
width 4 "$files/litdata/tokens"
width 4 "$files/litdata/numpy" "$files/litdata/tokens"
width 2 --vocabulary 50307 "$files/litdata/tokens"
run leat import -o ended --end 256 --vocabulary 50307 "$files/mds/zstd" "$files/arrow/saved"
[ "$code" -eq 0 ] || fail "--end: $(cat "$said")"
steady "$printed" >steadied
printf '%s\n%s\n' 'ended: 1,636 tokens in 80 documents from 6 files in T.' \
    'The end token was added to 28 documents.' | cmp -s - steadied || fail "printed: $(cat "$printed")"
sed 's/ 256$//; s/^256$//; s/$/ 256/; s/^ //' "$files/documents.txt" >documents
cat documents documents >twice
leat cat ended --document 0:80 --ids | cmp -s - twice || fail 'not one end token each'
leat info --json ended | grep -qF '"end": 256' || fail 'no end token is recorded'
run leat import -o known -t gpt2 --end '<|endoftext|>' "$files/mds/array"
grep -qF 'The end token was added to 40 documents.' "$printed" || fail "not 40 end tokens: $(cat "$printed")"
leat info --json known | grep -qF '"end": 50256' || fail 'the tokenizer is not asked for its end token'
run leat cat known --document 0
[ "$code" -eq 0 ] || fail "no text: $(cat "$said")"
leat find ended --document 60 --json | grep -qF 'saved/data-0000' || fail 'the file of a document is not known'
place=$(leat find ended --document 30 --json | sed 's/.*"offset": \([0-9]*\).*/\1/')
leat find ended --origin "$files/mds/zstd/shard.00001.mds.zstd:$place" >"$printed" 2>&1
grep -q '^document *30$' "$printed" || fail "document 30 is not found by its place: $(cat "$printed")"

# a file without batches, also with its schema aligned to 64 bytes, as Rust's arrow does it
{ head -c 8 "$files/arrow/none.arrow" && head -c 56 /dev/zero && tail -c +9 "$files/arrow/none.arrow"; } >aligned.arrow
for file in "$files/arrow/none.arrow" aligned.arrow; do
    run leat import --force -o made --json "$file"
    grep -qF '"documents": 0,' "$printed" || fail "no batches: $(cat "$printed" "$said")"
done

# a mask is not taken, and that is said; "labels" in arrow/saved are classes
run leat import --force -o made "$files/arrow/masked.arrow"
says 0 'warning: the column "labels" was not taken, so all tokens are learned'
run leat import --force -o made --json "$files/arrow/masked.arrow"
grep -qF '"mask": "labels"' "$printed" || fail "the mask is not in the JSON: $(cat "$printed")"
run leat import --force -o made --column labels --vocabulary 100 "$files/arrow/masked.arrow"
[ ! -s "$said" ] || fail "a mask that is asked for: $(cat "$said")"
run leat import --force -o made "$files/arrow/saved"
[ ! -s "$said" ] || fail "classes are no mask: $(cat "$said")"

# ---- What is refused ----------------------------------------------------------------------------------------------

refused() { # CODE PART OPTION...
    wanted=$1
    part=$2
    shift 2
    run leat import -o refused "$@"
    says "$wanted" "$part"
}
refused 2 'of which type the ids in them are is not known: say it by dtype' "$files/mds/bytes"
refused 1 'has no column "ids"; columns that can hold ids: tokens' --column ids "$files/mds/array"
refused 2 'the column "text" does not hold lists of integers' --column text "$files/mds/array"
refused 1 'which is not a whole number of uint32' --vocabulary 4294967296 --dtype uint32 "$files/mds/bytes"
refused 2 'its files say of which type their ids are; leave dtype out' --dtype uint32 "$files/mds/typed"
refused 2 'leave dtype out' --dtype uint32 "$files/litdata/tokens"
refused 1 'and the vocabulary has 300 entries' --vocabulary 300 "$files/mds/typed"
refused 1 'is a tensor of 2 axes, not a list of ids' "$files/litdata/axes"
refused 2 'the column "scores" does not hold lists of integers' --column scores "$files/litdata/floats"
refused 1 'no column holds lists of integers (one inside another column, a dict or struct, is not read)' \
    "$files/litdata/inside"
refused 1 'several leaves can hold ids, and they have no names' "$files/litdata/tuple"
refused 1 'has no column "ids": its leaves have no names' --column ids "$files/litdata/axes"
refused 1 'holds several splits of a dataset: name the folder of one' "$files/arrow/dict"
refused 1 'the column of ids has nulls' "$files/arrow/nulls.arrow"
refused 1 'is not a folder of' "$files/documents.txt"
refused 1 'is not a folder of' .
printf '\050\265\057\375 and more' >a.arrow.zst
refused 1 'a.arrow.zst is compressed as a whole, which is not imported: decompress it first' a.arrow.zst
printf 'ARROW1\0\0' >short.arrow
refused 1 'short.arrow: the Arrow message at byte 8 is damaged: the file has no footer' short.arrow
mkdir selected
echo '{"_data_files": [], "_indices_data_files": [{"filename": "indices.arrow"}]}' >selected/state.json
refused 1 'selected/state.json: the dataset is a selection of rows: save it after flatten_indices()' selected
mkdir folder.gz
refused 1 'folder.gz is not a folder of' folder.gz # it was said to be compressed
for column in lists numbers words; do # the reason was that no column holds lists of integers
    refused 1 "the column \"$column\" holds list views or dictionaries" --column $column "$files/arrow/views.arrow"
done
refused 1 'the column "lists" holds list views or dictionaries, which leat does not read' "$files/arrow/views.arrow"
refused 2 'the column "text" does not hold lists of integers' --column text "$files/arrow/views.arrow"
SOURCE_DATE_EPOCH=tomorrow
export SOURCE_DATE_EPOCH
refused 2 'the environment variable SOURCE_DATE_EPOCH must hold seconds since 1970, not "tomorrow"' "$files/mds/array"
unset SOURCE_DATE_EPOCH
refused 2 '--end x is not an id' --end x "$files/mds/array"
echo '{"chunks": [], "config": null, "updated_at": "1.5"}' >index.json # optimize() of nothing
run leat import -o none .
[ "$code" -eq 0 ] || fail "no documents: $(cat "$said")"
leat info --json none | grep -qF '"documents": 0,' || fail 'documents of an empty dataset'
columns='"column_names": ["a"], "column_encodings": ["ndarray:int8"], "column_sizes": [null]'
data='"format": "mds", "raw_data": {"basename": "../shard", "bytes": 1}, "zip_data": null, "samples": 1'
echo "{\"version\": 2, \"shards\": [{$columns, $data}]}" >index.json
refused 1 'names a file "../shard", which is not inside its folder' .
for format in json xsv; do
    shard='{"columns": {"a": "str"}, "samples": 1, "raw_data": {"basename": "shard", "bytes": 16}'
    echo "{\"version\": 2, \"shards\": [$shard, \"format\": \"$format\"}]}" >index.json
    refused 1 "a shard has \"format\": \"$format\", and only \"mds\" is imported; texts in JSON lines can be packed" .
done
rm index.json
for column in input_ids tokens; do # which of two would be taken?
    refused 1 "the column \"$column\" appears twice; write a file that has it once" "$files/arrow/twice_$column.arrow"
done
refused 1 'the column "tokens" appears twice' --column tokens "$files/arrow/twice_tokens.arrow"

# each of these files, cut and damaged
cut() { # SOURCE FILE BYTES PART
    rm -rf copy
    cp -R "$files/$1" copy
    if [ -d copy ]; then file=copy/$2; else file=copy; fi
    head -c "$3" "$file" >short && mv short "$file"
    refused 1 "$4" copy
}
cut mds/array shard.00001.mds 1000 'it is cut, or another file'
cut mds/zstd shard.00001.mds.zstd 100 'shard.00001.mds.zstd'
cut litdata/tokens chunk-0-1.bin 1000 'it is cut, or another file'
cut litdata/frames chunk-0-0.bin 300 'it is cut, or another file'
cut litdata/lists chunk-0-0.bin 300 'it is cut, or another file'
cut arrow/saved data-00001-of-00003.arrow 1200 'the file ends before it does'
cut arrow/stream.arrow '' 4000 'the file ends before it does'
cut arrow/file.arrow '' 4000 'it is cut, or was not finished'
for name in stream file fixed; do # what follows the end was lost
    cat "$files/arrow/$name.arrow" "$files/arrow/$name.arrow" >twice.arrow
    refused 1 "twice.arrow: the Arrow data end at byte" twice.arrow
done
{ cat "$files/arrow/stream.arrow" && echo more; } >more.arrow
refused 1 "end at byte $(wc -c <"$files/arrow/stream.arrow"), and 5 bytes follow; if it is several streams" more.arrow
rm -rf copy
cp -R "$files/mds/array" copy
rm copy/shard.00001.mds
refused 1 'No such file' copy

# what is finished has nothing left to do, if it is what is asked for: it was refused as any that exists
run leat import --resume -o ended --end 256 --vocabulary 50307 "$files/mds/zstd" "$files/arrow/saved"
[ "$code" -eq 0 ] || fail "finished: $(cat "$said")"
echo 'ended is finished already: 1,636 tokens in 80 documents.' | cmp -s - "$printed" || fail "$(cat "$printed")"
run leat import --resume -o known -t gpt2 --end '<|endoftext|>' "$files/mds/array"
[ "$code" -eq 0 ] || fail "a tokenizer: $(cat "$said")"
run leat import --resume -o known --vocabulary 50257 --end 50256 "$files/mds/array"
says 1 'already exists'
run leat import -o columns --column tokens --dtype uint16 "$files/mds/bytes"
run leat import --resume --json -o columns --column tokens --dtype uint16 "$files/mds/bytes"
grep -qF '"was_finished": true' "$printed" || fail "a column: $(cat "$printed" "$said")"
for dtype in uint8 int16; do
    run leat import --resume -o columns --column tokens --dtype $dtype "$files/mds/bytes"
    says 1 'already exists'
done
run leat import --resume -o columns --dtype uint16 "$files/mds/bytes"
says 1 'already exists'

# Ctrl-C in the middle: a signal as soon as it has a handler; one that comes too late comes again
if [ -r /proc/self/status ]; then
    cp -R "$files/mds/array" many
    # shellcheck disable=SC2046 # many words
    set -- $(yes many | head -n 4000)
    run leat import -o undisturbed "$@"
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        rm -f stopped.*
        leat import -o stopped "$@" >"$printed" 2>"$said" &
        pid=$! caught=
        while [ "${caught#*leat*[2367abef] }" = "$caught" ] && kill -0 $pid 2>/dev/null; do
            caught=$(sed -n 's/^Name:[[:space:]]*//p; s/^SigCgt:.*\(.\)$/\1/p' /proc/$pid/status 2>/dev/null |
                tr '\n' ' ')
        done
        kill -INT $pid 2>/dev/null
        wait $pid
        code=$? ran='leat import (interrupted)'
        [ $code -eq 0 ] || break
    done
    ended 130 'leat: interrupted
leat: nothing is lost: the same command with --resume goes on from there'
    run leat import --resume -o stopped "$@"
    [ "$code" -eq 0 ] || fail "resumed: $(cat "$said")"
    { cmp stopped.tokens undisturbed.tokens && cmp stopped.leat undisturbed.leat; } || fail "resumed: other bytes"
fi

run leat import -o ended "$files/mds/array"
says 1 'already exists; choose another name or replace it (--force)'
for name in refused*; do
    [ ! -e "$name" ] || fail "$name is there"
done
finish
