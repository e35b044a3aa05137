#!/bin/sh
# test_info_page_rare.sh: leat info --html of datasets with more inputs and more reasons of rejects than the page shows,
# with paths that are cut, with hashes in a part of a list, with all tokens in use; and what cannot be read or written.
. tests/cli/cli.sh

# Texts of a page, without the markup: each cell and each word of a chart in a line.
texts() {
    sed 's/<[^>]*>/\n/g' "$1" | sed '/^$/d'
}

long=$(printf 'é%.0s' $(seq 40))z # of 81 bytes; the last 60 begin within a character

# ---- Inputs: the largest are shown, whatever their order ------------------------------------------------------------

words='ids'
for i in $(seq 30); do
    n=$(((i * 7) % 31)) # 1 to 30, each once
    words="$words input=in$n many=$n"
done
# shellcheck disable=SC2086
make_dataset inputs $words input="x/$long" many=40
leat info inputs --html page.html >out
texts page.html >got
for n in $(seq 8 30); do
    grep -qx "in$n" got || fail "the input of $n tokens is not shown"
done
grep -qx in7 got && fail "an input is shown that has fewer tokens than 24 others"
grep -A1 -x '7 more' got | tail -n 1 | grep -qx 28 || fail "not 28 tokens in 7 inputs that are not shown"
grep -qx "…$(printf 'é%.0s' $(seq 29))z" got || fail "a long path is not cut in a chart"
grep -qx "x/$long" got || fail "a long path is cut in a table"
texts page.html | grep -A1 -x "x/$long" | tail -n 1 | grep -qx 40 || fail "the largest input comes first"

# ---- Reasons of rejects: 32 are told apart ---------------------------------------------------------------------------

make_dataset rejected ids input=in rejects=50 many=3
for n in $(seq 32) 33 34 34 1; do
    printf '{"reason": "reason %s: more of it"}\n' "$n"
done >rejected.rejects.jsonl
leat info rejected --html - >page.html
texts page.html >got
for n in 2 32; do
    grep -A1 -x "reason $n" got | tail -n 1 | grep -qx 1 || fail "reason $n is not there once"
done
grep -A1 -x 'reason 1' got | tail -n 1 | grep -qx 2 || fail "reason 1 is not there twice"
grep -q 'reason 33' got && fail "more than 32 reasons"
grep -A1 -x others got | tail -n 1 | grep -qx 3 || fail "not 3 records with other reasons"
grep -q 'The reason for 14 records is not known' got || fail "not 14 records without a reason"

# ---- A list of which one has no hashes; all tokens in use ------------------------------------------------------------

make_dataset hashed hashes hash=1 document=5,6 hash=1 document=7
make_dataset plain many=2
printf 'hashed\nplain\n' >mixed.txt
leat info @mixed.txt --html - | grep -q 'Not counted: there are more than 16,777,216 documents, or one dataset of' ||
    fail "texts of a list that has no hashes of some are counted"
leat info hashed --html - | grep -q '1 of 2 documents' || fail "repeated texts"
make_dataset full vocabulary=8 document=0,1,2,3 document=4,5,6,7
leat info full --html - >page.html
grep -q '8 of 8 tokens' page.html || fail "not all tokens occur"
grep -q 'Never used' page.html && fail "a token that occurs was never used"

# ---- What cannot be read or written ----------------------------------------------------------------------------------

make_dataset broken tokenizer=tokenizer.json file='{"model": 3}' many=2
run leat info broken --html broken.html
says 1 'tokenizer.json: model: it must be an object, not a number'
make_dataset high vocabulary=8 many=6000 # three pages, of which the first and the last are looked at
printf '\377\377' | dd of=high.tokens bs=2 seek=3000 conv=notrunc 2>/dev/null
run leat info high --html high.html
says 1 'token 3000 is 65535, beyond the vocabulary; verify the dataset'
for page in broken.html high.html; do
    [ ! -e $page ] || fail "$page is left"
done
run leat info full --html none/x.html
says 1 'none/x.html'
run leat info full --html /dev/full
says 1 'cannot write /dev/full'

finish
