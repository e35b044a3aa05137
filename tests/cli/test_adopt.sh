#!/bin/sh
# test_adopt.sh: leat adopt writes an index beside tokens of other tools, which are not touched: Megatron's, raw ones,
# llm.c's, datatrove's. Then they have what leat's own datasets have: documents, page hashes, a tokenizer; damage is
# found, by verify and by page, and a file that was cut or is missing is named. A run that is stopped goes on.
. tests/cli/cli.sh

i=0
while [ $i -lt 900 ]; do
    printf '{"text":"document %d, and some words more"}\n' $i
    i=$((i + 1))
done >a.jsonl
leat pack -t bytes -o own a.jsonl >/dev/null 2>&1 || fail 'leat pack'
leat cat own --document 0:900 --ids >documents
for format in megatron raw llmc datatrove; do
    leat export --to $format -o $format own >/dev/null || fail "leat export --to $format"
    leat export --to $format --dtype u32 -o $format.4 own >/dev/null || fail "leat export --to $format --dtype u32"
done

# ---- Each format, of 2 and of 4 bytes -----------------------------------------------------------------------------

adopt() { # NAME INDEX [OPTION...]
    source=$1
    index=$2
    shift 2
    run leat adopt "$source" "$@"
    ended 0 ''
    run leat verify "$index"
    ended 0 ''
    leat info --json "$index" | grep -qF '"kind": "leat"' || fail "$index is not leat's"
    leat cat "$index" --document 0:900 --ids | cmp -s - documents || fail "$index: other documents"
}

# ---- --end: documents are found by it, or checked to end with it --------------------------------------------------

for name in megatron datatrove.ds raw:raw'?'dtype=u16 llmc; do
    run leat adopt "$name" --end 256 -o by.end --force
    ended 0 ''
    grep -q '^by.end.leat: .* in 900 documents adopted' "$printed" || fail "$name: printed $(cat "$printed")"
    leat cat by.end --document 0:900 --ids | cmp -s - documents || fail "$name: other documents by --end"
    leat info by.end --json | grep -qF '"end": 256' || fail "$name: --end is not recorded"
    run leat verify by.end
    ended 0 ''
    run leat adopt "$name" --end 0x -o by.end --force
    says 2 '--end 0x is not an id'
done
run leat info by.end
grep -qx '  tokens in   .*llmc' "$printed" || fail "info does not say where the tokens are: $(cat "$printed")"
leat info --json by.end | grep -qF 'llmc", "metadata"' || fail 'nor does its JSON'
run leat adopt -t bytes --end '<|end|>' megatron -o by.end --force
says 2 '--end: '
run leat adopt megatron --end 32 -o by.end --force
says 1 'document 0 of megatron does not end with token 32'
run leat adopt 'raw:raw?dtype=u16&end=256' --end 32 -o by.end --force
says 2 'says that its documents end with token 256, and the end token given is 32'
rm by.end.leat ./*.documents

cksum megatron.* raw raw.4 llmc llmc.4 datatrove.* >before
adopt megatron megatron
adopt megatron.4 megatron.4 -t bytes
adopt 'raw:raw?dtype=u16&end=256' raw -t bytes
adopt 'raw:raw.4?dtype=u32&end=256' raw.4
adopt 'llmc:llmc?end=256' llmc -t bytes
adopt 'llmc:llmc.4?end=256' llmc.4
adopt datatrove.ds datatrove.ds
adopt datatrove.4.ds datatrove.4.ds -t bytes
cksum megatron.bin megatron.idx megatron.4.bin megatron.4.idx raw raw.4 llmc llmc.4 datatrove.ds* datatrove.4.ds* |
    grep -v 'leat$' >after
grep -vxFf before after && fail 'tokens were changed'
[ "$(leat cat raw --document 3)" = "$(leat cat own --document 3)" ] || fail 'no text with the tokenizer'
run leat cat megatron --document 3
says 1 'stores no tokenizer'
run leat trace --source raw:1 --seq-len 8 --samples 0:2
ended 0 ''
leat info --json raw >info.raw
leat info --json own >info.own
grep -o '"identity": "[0-9a-f]*"' info.own >identity
[ -s identity ] || fail 'no identity'
grep -qFf identity info.raw || fail 'the same documents have another identity'

# ---- In another folder, and moved ---------------------------------------------------------------------------------

mkdir sub
run leat adopt 'raw:raw?dtype=u16&end=256' -o sub/name
ended 0 ''
run leat verify sub/name
ended 0 ''
mkdir moved
mv megatron.bin megatron.leat moved
run leat verify moved/megatron
ended 0 ''
mv moved/megatron.bin there
run leat verify moved/megatron
says 1 'megatron.leat holds no tokens itself'
head -c 1000 there >moved/megatron.bin
run leat verify moved/megatron
says 3 'it is cut, or another file'
sed 's/o/p/' raw >torn && mv torn raw
run leat verify raw
[ "$code" -eq 3 ] || fail "damage: exit code $code"
grep -q 'bytes 0 to' "$printed" || [ -s "$said" ] || fail 'damage is not described'

# ---- Killed -------------------------------------------------------------------------------------------------------

for i in 1 2 3 4 5 6 7 8; do cat llmc.4 megatron.4.bin megatron.4.bin; done >few
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cat few; done | tail -c +1025 >many
run leat adopt 'raw:many?dtype=u32&end=256' -o whole
ended 0 ''
# each time half as late again, until one comes to its end before that: all that a run does is met, on any machine
turns=200 kills=0
while :; do
    leat adopt 'raw:many?dtype=u32&end=256' -o killed --force >/dev/null 2>&1 &
    pid=$! turn=0
    while [ $turn -lt $turns ]; do turn=$((turn + 1)); done
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ $? -eq 137 ] || break
    turns=$((turns * 3 / 2)) kills=$((kills + 1))
done
[ $kills -gt 0 ] || fail 'nothing was killed'
run leat adopt 'raw:many?dtype=u32&end=256' -o killed --force
ended 0 ''
cmp -s killed.leat whole.leat || fail 'a run that was killed and went on has other bytes'

# ---- What is refused ----------------------------------------------------------------------------------------------

SOURCE_DATE_EPOCH=tomorrow
export SOURCE_DATE_EPOCH
run leat adopt 'raw:many?dtype=u32&end=256' -o new
says 2 'the environment variable SOURCE_DATE_EPOCH must hold seconds since 1970, not "tomorrow"'
[ ! -e new.leat ] || fail "$ran: wrote new.leat"
unset SOURCE_DATE_EPOCH
run leat adopt datatrove.ds
says 1 'datatrove.ds already has an index, datatrove.ds.leat: replace it (--force)'
# --force did not replace it: the name opened the index first
for name in datatrove.ds megatron.4 megatron.4.leat; do
    run leat adopt "$name" --force -t bytes
    ended 0 ''
    leat cat "${name%.leat}" --document 0:900 --ids | cmp -s - documents || fail "$name: other documents by --force"
done
head -c 100 megatron.4.leat >part && mv part megatron.4.leat # not even one that opens
run leat adopt megatron.4 --force --end 256
ended 0 ''
run leat verify megatron.4
ended 0 ''
run leat adopt llmc.4 --force
says 1 'does not record where its documents start'
run leat adopt llmc.4 --force --end 256
ended 0 ''
run leat adopt llmc.4 --force --end 256 -o sub/llm
ended 0 ''
run leat adopt sub/llm --force
says 2 'sub/llm already has an index, sub/llm.leat, which does not say which tool wrote '
run leat adopt own --force
says 2 "already has an index of leat"
run leat adopt datatrove:datatrove.ds
says 1 'already exists: choose another name or replace it (--force)'
run leat adopt datatrove:datatrove.ds --force
ended 0 ''
run leat adopt llmc:llmc.4 -o x
says 1 'does not record where its documents start'
run leat adopt own
says 2 "already has an index of leat"
run leat adopt 'raw:there?dtype=u16&end=256' -o own
says 1 "dataset of leat's own"
printf '\001\000\000\000\160\021\001\000' >wide # 1, 70000
run leat adopt -t bytes 'raw:wide?dtype=u32&end=1'
says 1 'token 1 of wide (document 1) is 70000, not below the vocabulary size 257: the file is damaged, or was '
[ ! -e wide.partial.adopt ] || fail "$ran: left wide.partial.adopt"
leat export --to raw --dtype u16 -o narrow.bin own >"$printed" || fail "cannot export"
leat export --to raw --dtype u32 -o broad.bin own >"$printed" || fail "cannot export"
for size in narrow:u16 broad:u32; do
    run leat adopt -t bytes "raw:${size%:*}.bin?dtype=${size#*:}&end=256"
    ended 0 ''
done
# nothing could open the index that replaced the good one: "the token width does not fit the vocabulary size"
run leat adopt -t o200k_base --force 'raw:narrow.bin?dtype=u16&end=256'
says 2 'have 2 bytes, but the given vocabulary has 200019 entries, for which an index needs ids of 4 bytes'
run leat verify narrow.bin
ended 0 ''
run leat merge -o joined narrow.bin broad.bin
says 1 'cannot be merged: they differ in their size of a token'
{ head -c 1000 narrow.bin; printf 'a\000'; } >short.bin # the last document is cut
run leat adopt -t bytes 'raw:short.bin?dtype=u16' --end 256
ended 0 ''
run leat merge -o joined narrow.bin short.bin
says 1 'If the dataset was adopted from a file that was cut, use it in a list'
[ -e own.tokens ] || fail 'own.tokens is gone'
for name in *.partial.leat *.partial.documents *.partial.lock wide.leat x.leat; do
    [ ! -e "$name" ] || fail "$name is there"
done
finish
