#!/bin/sh
# test_export.sh: leat export writes files of other tools, which leat opens in place again: with the same tokens, and
# the same documents where the format records them; from one dataset and from several, with ids of 2 and 4 bytes. What
# does not fit is refused, damage is found, and nothing is left but whole files under their names.
. tests/cli/cli.sh

for part in a b; do
    printf '{"text":"%s one"}\n{"text":""}\n{"text":"%s two and three"}\n' $part $part >$part.jsonl
    leat pack -t bytes -o $part $part.jsonl >/dev/null 2>&1 || fail 'leat pack'
done
printf 'a\nb\n' >both
leat cat @both --document 0:6 --ids >documents
tr '\n' ' ' <documents >tokens

same() { # NAME FORMAT
    leat verify "$1" >/dev/null 2>&1 || fail "$2: $(leat verify "$1" 2>&1)"
    leat cat "$1" --tokens "0:$(wc -w <tokens)" --ids | tr '\n' ' ' | cmp -s - tokens || fail "$2: other tokens"
}

for bits in 16 32; do
    for format in megatron raw llmc datatrove; do
        run leat export --to $format --dtype u$bits -o $format.$bits a b
        ended 0 ''
    done
    same megatron.$bits "Megatron's, $bits bits"
    same "raw:raw.$bits?dtype=u$bits&end=256" "raw, $bits bits"
    same "llmc:llmc.$bits" "llm.c's, $bits bits"
    same datatrove.$bits.ds "datatrove's, $bits bits"
    for name in megatron.$bits "raw:raw.$bits?dtype=u$bits&end=256" datatrove.$bits.ds; do
        leat cat "$name" --document 0:6 --ids | cmp -s - documents || fail "$name: other documents"
    done
done
for name in megatron.32.bin megatron.32.idx raw.16 llmc.32 datatrove.16.ds datatrove.16.ds.index \
    datatrove.16.ds.metadata; do
    [ -f $name ] || fail "no $name"
done
[ "$(wc -c <raw.16)" -eq $((2 * $(wc -w <tokens))) ] || fail 'raw ids are not 2 bytes each'
[ "$(wc -c <raw.32)" -eq $((4 * $(wc -w <tokens))) ] || fail 'raw ids are not 4 bytes each'
run leat export --to nanogpt -o nanogpt a b
ended 0 ''
cmp -s nanogpt raw.16 || fail "nanoGPT's are not raw ids of 2 bytes"
run leat export --to nanogpt -o nanogpt.32 'raw:raw.32?dtype=u32'
ended 0 ''
cmp -s nanogpt.32 raw.16 || fail 'ids of 4 bytes are not 2 bytes each for nanoGPT'
run leat export --to nanogpt --dtype u32 -o wide a
says 2 'wide: files of nanogpt have ids of 2 bytes, not 4'
run leat export --to megatron --json -o there.idx @both
ended 0 ''
grep -qF '"documents": 6' "$printed" || fail "JSON: $(cat "$printed")"
cmp -s there.bin megatron.16.bin || fail 'there.idx is not the name of there.bin and there.idx'

# ---- From a file of another tool, and what does not fit ------------------------------------------------------------

run leat export --to raw --dtype u16 -o narrow 'raw:raw.32?dtype=u32'
ended 0 ''
cmp -s narrow raw.16 || fail 'ids of 4 bytes that fit into 2'
printf '\001\000\000\000\160\021\001\000' >wide # 1, 70000
run leat export --to llmc --dtype u16 -o wide.16 'raw:wide?dtype=u32'
says 1 'token 1 is 70000, but ids of 2 bytes in files of llmc are at most 65535'
run leat export --to megatron -o wide.32 'raw:wide?dtype=u32'
says 1 'where those of the dataset start is not known'
run leat export --to megatron -o there a
says 1 'already exists: choose another name or replace it (--force)'
run leat export --to megatron -o there --force a
ended 0 ''
[ "$(leat cat there --document 0:3 --ids)" = "$(head -n 3 documents)" ] || fail 'not replaced'
run leat export --to jsonl -o x a
says 2 'jsonl'
run leat export --to raw -o sub/ a
says 2 'must end in a file name'
run leat export --to raw -o sub/x a
says 1 'No such file'

# ---- Damage, and runs that ended in the middle ---------------------------------------------------------------------

cp a.leat torn.leat
sed 's/o/p/' a.tokens >torn.tokens
run leat export --to raw -o torn.raw torn
[ "$code" -eq 3 ] || fail "damage: code $code" # it was 1, which is any failure
echo 'what a killed run has left, which is longer than the file will be' >again.bin.partial
echo left >again.idx.partial
run leat export --to megatron -o again nowhere
says 1 'starts over; to give it up, remove what is left: rm -r again.bin.partial again.idx.partial'
if command -v flock >/dev/null; then
    flock again.idx.partial leat export --to megatron -o again a >"$printed" 2>"$said" && fail 'two runs at once'
    grep -q 'another process is writing again.idx' "$said" || fail "two runs: $(cat "$said")"
fi
run leat export --to megatron -o again a
ended 0 ''
cmp -s again.bin there.bin || fail 'again.bin has what was left'
cmp -s again.idx there.idx || fail 'again.idx has what was left'
make_dataset masked vocabulary=300 mask document=1
run leat export --to raw -o new masked
says 1 'masked stores a mask, which files of raw do not hold; export to datatrove'
for file in new.bin new; do [ ! -e $file ] || fail 'something is left of an export that was refused'; done
for file in a.tokens a.leat; do
    run leat export --to raw --force -o $file a
    says 2 "$file is a file of a dataset: choose another name for what is exported"
    run leat verify a
    ended 0 ''
done
for name in *.partial wide.* torn.raw x; do
    [ ! -e "$name" ] || fail "$name is there"
done
run leat export --to raw -o s3://b/x a
says 1 's3://b/x is a URL: write to a local name first'
finish
