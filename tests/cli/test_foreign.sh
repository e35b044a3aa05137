#!/bin/sh
# test_foreign.sh: the commands on files of other tools, in place: leat info, cat, find, verify, order, trace. What such
# files do not record is said where it is asked for. Nothing is written but FILE.documents, and that only where the name
# says which token ends documents.
. tests/cli/cli.sh

# "AB|", "C|", "DE" and an end that is cut, as ids of 2 bytes; | is 7
printf 'A\0B\0\7\0C\0\7\0D\0E\0' >train.bin
raw='raw:train.bin?dtype=u16'

# documents of 2, 1 and 2 sequences: "AB|" "" "C|" "D" "E"
cp train.bin web.bin
{
    printf 'MMIDIDX\0\0\1\0\0\0\0\0\0\0\10\5\0\0\0\0\0\0\0\4\0\0\0\0\0\0\0'
    printf '\3\0\0\0\0\0\0\0\2\0\0\0\1\0\0\0\1\0\0\0'
    printf '\0\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0\6\0\0\0\0\0\0\0\12\0\0\0\0\0\0\0\14\0\0\0\0\0\0\0'
    printf '\0\0\0\0\0\0\0\0\2\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0\5\0\0\0\0\0\0\0'
} >web.idx

for name in web web.bin web.idx megatron:web "$raw&end=7"; do
    try 0 '' leat cat "$name" --document 0:3 --ids <<'END'
65 66 7
67 7
68 69
END
done
[ "$(ls)" = "$(printf 'train.bin\ntrain.bin.documents\nweb.bin\nweb.idx')" ] || fail "other files: $(ls)"
# a list of somebody else's had any file of that name replaced
cp train.bin mine && echo mine >mine.documents && echo 'raw:mine?dtype=u16&end=7' >list
run leat info @list
ended 0 ''
[ "$(cat mine.documents)" = mine ] || fail "$ran: wrote over a file that is not leat's"
rm mine mine.documents list

# ---- leat info ------------------------------------------------------------------------------------------------------

run leat info web
ended 0 ''
for line in 'documents   3' 'vocabulary  65,536 at most; the real size is not recorded' 'end         not recorded' \
    'tokenizer   not recorded' 'format      Megatron (web.bin, web.idx); leat adopt adds hashes and a tokenizer'; do
    grep -qF "$line" "$printed" || fail "leat info does not print \"$line\""
done
run leat info --json web
grep -qF '"kind": "megatron"' "$printed" || fail 'no kind in the JSON'
run leat info "$raw"
grep -qF 'documents   not recorded' "$printed" || fail 'documents that nobody looked for'

# ---- leat cat -------------------------------------------------------------------------------------------------------

run leat cat web --document 0
says 1 'stores no tokenizer'
printf 'AB\nC\nDE\n' | try 0 '' leat cat "$raw&end=7&tokenizer=bytes" --document 0:3
leat info --json "$raw&tokenizer=bytes" | grep -qF '"tokenizer": {"name": "bytes"' || fail 'info names no tokenizer'
vocabulary='{"a":65,"b":66,"c":67,"?":7}'
echo '{"added_tokens":[],"model":{"type":"WordLevel","vocab":'"$vocabulary"',"unk_token":"?"}}' >t.json
[ "$(leat cat "$raw&end=7&tokenizer=t.json" --document 1)" = c ] || fail 'the tokenizer of a file is not used'
run leat cat "$raw&end=7&tokenizer=none.json" --document 1
says 1 'the tokenizer none.json, stored in'
run leat cat "$raw&end=7&tokenizer=nowhere/gpt2" --document 1
says 1 'nowhere/gpt2'
printf '%s\n' "$raw&tokenizer=gpt2" "$raw&tokenizer=bytes" >kinds.txt
run leat info @kinds.txt
says 1 'cannot be joined: their names say different tokenizers'
run leat cat "$raw&tokenizer=" --document 1
says 2 'unknown key "tokenizer"; it may have dtype=u16|u32, end=ID or begin=ID, tokenizer=SPEC, and mask=FILE'
run leat adopt "$raw&end=7&tokenizer=bytes"
says 2 'names a tokenizer, which an index stores whole: give it as tokenizer, too'
printf 'AB\nC\nDE\n' | try 0 '' leat cat "$raw&end=7" --document 0:3 -t bytes
printf 'E' | cmp - <<END || fail 'a text that is cut'
$(leat cat "$raw&end=7" --tokens 6:7 --tokenizer bytes)
END
# the first document is cut, and its A is text; the second has its begin token, 7
printf 'A\0B\0\7\0C\0' >begins.bin
printf 'AB\nC\n' | try 0 '' leat cat 'raw:begins.bin?dtype=u16&begin=7' --document 0:2 -t bytes
try 0 '' leat cat "$raw" --tokens 1:6 --ids <<'END'
66 7 67 7 68
END
run leat cat "$raw" --document 0 --ids
says 1 'does not record where its documents start'
run leat cat web --document 0 --ids -t bytes
says 2 'tokenizer and --ids cannot be combined'

# ---- Names that leat's own datasets have, too ------------------------------------------------------------------------

printf '{"text":"own"}\n' >own.jsonl
for name in both.pbin both.ds both; do
    leat pack -t bytes -o $name own.jsonl >"$printed" 2>"$said" || fail "leat pack -o $name: $(cat "$said")"
done
cp web.bin both.bin
cp web.idx both.idx
head -c 100 /dev/zero >both.pbin
head -c 100 /dev/zero >both.ds
head -c 100 /dev/zero >both.ds.index
for name in both.pbin both.ds both both.leat both.tokens; do
    leat info $name --json | grep -qF '"kind": "leat"' || fail "$name is not leat's own: $(leat info $name 2>&1)"
done
for name in both.bin both.idx megatron:both; do
    leat info $name --json | grep -qF '"kind": "megatron"' || fail "$name is not Megatron's: $(leat info $name 2>&1)"
done

# ---- leat find, verify, order, trace --------------------------------------------------------------------------------

try 0 '' leat find web --token 3 <<'END'
document  1
input     not recorded
tokens    3:5 (2)
END
run leat find web --id x
says 1 ''
run leat verify web
hashless='1 dataset stores no hashes of its tokens: only invalid ids and documents show damage there'
ended 0 "leat: web: $hashless"
run leat order --source web:1 --source "$raw&end=7:2" --seq-len 2 --epochs 1 --json
ended 0 ''
[ "$(wc -l <"$printed")" -eq 6 ] || fail "not 3 samples of each source: $(cat "$printed")"
try 0 '' rows leat order --source "$raw" --seq-len 2 --order sequential --count 2 <<'END'
0 0 0 - 0
1 0 1 - 2
END
run leat order --source web:1 --source "$raw&begin=7:1" --source "raw:train.bin?dtype=u16&begin=8:1" --seq-len 2
says 1 'cannot be in one plan: they differ in their begin token'
run leat order --source 'raw:none?dtype=u16' --seq-len 2
says 1 'none'
grep -q 'is not a weight' "$said" && fail 'a scheme is taken for a name'
run leat order --source c:none/at/all --seq-len 2
says 1 'c:none/at/all'
grep -q 'is not a weight' "$said" && fail 'what follows a colon is taken for a weight, though it has a slash'
run leat trace --source web:1 --seq-len 3 --samples 0:2
ended 0 ''
grep -q '.' "$printed" || fail 'no documents are traced'

# ---- What is said of files that are not whole, of folders, and where leat's own are needed ---------------------------

no='No such file or directory'
mkdir half folder
cp web.bin half/d.bin
cp web.idx half/e.idx
cp web.bin half/k.bin
echo 'something else' >half/k.idx
cp web.bin web.idx folder
run leat info half/d
says 1 "cannot open half/d.leat: $no; half/d.bin is there, but its index half/d.idx is missing"
run leat info half/d.bin
says 1 "; if it is Megatron's, its index is missing: half/d.idx"
for name in half/e half/e.idx; do
    run leat info $name
    says 1 "cannot open half/e.bin: $no; half/e.idx needs it: restore both from their source"
done
for name in half/k half/k.idx half/k.bin; do
    run leat info $name
    says 1 "; half/k.idx is not an index of Megatron: it does not begin with MMIDIDX"
done
run leat info folder/wbe
says 1 '; did you mean folder/web?'
run leat info folder/nono
says 1 '; no dataset in folder/ has a similar name'
run leat info half/nono # k is not a dataset, but is named as one
says 1 '; no dataset in half/ has a similar name'
run leat info folder
says 1 "the folder folder holds no dataset (no *.leat in it); it has files of Megatron's, such as web: name each of"
run leat merge -o merged web web
says 1 'web has files of another tool, which lack the hashes and records that merging reads: adopt them first'
run leat order --order megatron --source web --seq-len 1 --split 100,1,1 --use test
says 2 'the split gives "test" none of the 5 sequences of web (it begins and ends at number 5): give it a larger share'
run read_dataset web
ended 0 ''
grep -qx 'document 0: tokens 0 to 3, from no recorded input' "$printed" || fail "read_dataset: $(cat "$printed")"
finish
