#!/bin/sh
# test_pack_dry_run.sh: leat pack --dry-run writes nothing and leaves nothing in the temporary folder; it shows
# inputs, the first text and what to expect, which for a small corpus is what the run makes; and it finds a wrong
# field, a name that is taken, a folder that is not there, a disk without room, conditions that no record holds, and an
# input that is cut off, of which it once said nothing.
here=$PWD/tests
. tests/cli/cli.sh
mkdir temporary in
TMPDIR=$tmp/temporary
export TMPDIR

key() { # the value of a member of the object that was printed last
    sed -n "s/.*\"$1\": \([^,}]*\).*/\1/p" "$printed"
}
nothing_written() {
    for file in temporary/* out*; do
        [ ! -e "$file" ] || fail "$ran: left $file"
    done
}

printf '\n{"text":"the first\\ntext","lang":"en"}\n{"text":"b"}\n' >in/a.jsonl
printf '[\n {"text":"c"}]' >in/b.json
gzip -c in/a.jsonl >in/c.jsonl.gz
run leat pack -t bytes -o out --dry-run in
ended 0 ''
nothing_written
grep -qx 'The first text: the first text' "$printed" || fail "the first text: $(cat "$printed")"
grep -q '^3 inputs, .* on disk: 3 jsonl$' "$printed" || fail "the inputs: $(cat "$printed")"
run leat pack -t bytes -o out --dry-run --json in
expected_tokens=$(key tokens)
nothing_written
expected_bytes=$(key dataset_bytes)
run leat pack -t bytes -o real --json in
[ "$(key tokens)" = "$expected_tokens" ] || fail "expected $expected_tokens tokens: $(cat "$printed")"
real_bytes=$(cat real.leat real.tokens | wc -c)
[ "$expected_bytes" = "$real_bytes" ] || fail "expected $expected_bytes bytes of $real_bytes"

# ids and the tokenizer's file are in the index; both were once left out of what the dataset takes
printf '%s' '{"version":"1.0","model":{"type":"WordLevel","vocab":{"<unk>":0,"a":1},"unk_token":"<unk>"}}' >level.json
for i in 10 11 12 13 14; do
    printf '{"text":"a","id":"<urn:uuid:c92f2f1a-0000-4000-8000-0123456789%s>"}\n' $i
done >ids.jsonl
run leat pack -t level.json --end none -o out --dry-run --json ids.jsonl
expected_bytes=$(key dataset_bytes)
run leat pack -t level.json --end none -o ids --json ids.jsonl
real_bytes=$(cat ids.leat ids.tokens | wc -c)
[ "$expected_bytes" = "$real_bytes" ] || fail "expected $expected_bytes bytes of $real_bytes with ids"

# a table's first text is its first row's
run leat pack -t bytes -o out --dry-run --json --max-rejects 100% "$here/parquet/files/dictionary.parquet"
grep -qF '"first_text": "page of \\ ' "$printed" || fail "the first text of a table: $(cat "$printed")"

# what was on its way when the sample was stopped counts on both sides; a document takes 20 bytes of tokens, and in the
# index 56 and its id, of ten
yes '{"text":"a b c d e","id":"0123456789"}' | head -c $((39 * 8000000)) >even.jsonl
run leat pack -t bytes -o out --dry-run --json even.jsonl
grep -q '"whole": false' "$printed" || fail "all was packed: $(cat "$printed")"
expected_tokens=$(key tokens | tail -n 1)
[ $(((expected_tokens + 400000) / 800000)) = 100 ] || fail "expected $expected_tokens of 80,000,000 tokens"
expected_bytes=$(key dataset_bytes)
[ $(((expected_bytes + 3440000) / 6880000)) = 100 ] || fail "expected $expected_bytes of some 688,000,000 bytes"
rm even.jsonl

run leat pack -t bytes -o out --dry-run --text body in
says 1 'leat: in/a.jsonl: no member "body" in the first 2 records (nor in those of 2 other inputs); they have "text",'
nothing_written
mkdir numbers
sed 's/"text":"[^"]*"/"body":5/' in/a.jsonl >numbers/a.jsonl
run leat pack -t bytes -o out --dry-run --text body numbers
says 4 'leat: warning: no record of the sample would be packed'
says 4 '2 of 2 records of the sample would be rejected, for example: {"input":"numbers/a.jsonl"'
says 4 '\"body\" is a number, not a string'
nothing_written
if grep -q '0 tokens' "$printed"; then fail "figures of nothing: $(cat "$printed")"; fi
run leat pack -t bytes --dry-run in # without a name, which it once demanded
ended 0 ''
grep -q '^Expect about .* for the dataset, and ' "$printed" || fail "$ran: $(cat "$printed")"
run leat pack -t bytes --dry-run --json in
grep -q '^{"output": null, "dry_run": true, ' "$printed" || fail "$ran: $(cat "$printed")"
nothing_written
run leat pack -t bytes -o out --dry-run --max-rejects 100% --by lang in
grep -qx '1 value of lang in it: a dataset for each.' "$printed" || fail "values: $(cat "$printed")"
says 0 'the record has no \"lang\" to choose its dataset by'
nothing_written

# a tokenizer that does not fit: it has hardly more than the bytes of these letters
for _ in $(seq 60); do
    printf '{"text":"\\u0e01\\u1200\\u1790\\u0f40\\ua000\\u1401\\u10d0\\u0531\\u13a0\\u1c5a"}\n'
done >odd.jsonl
run leat pack -t gpt2 -o out --dry-run --max-rejects 100% odd.jsonl
says 0 'bytes of this text on average, and less than 2 is rare'
run leat pack -t bytes -o out --dry-run --max-rejects 100% odd.jsonl
[ ! -s "$said" ] || fail "bytes are one token each: $(cat "$said")"
printf '%s' '{"version":"1.0","pre_tokenizer":{"type":"Whitespace"},"model":{"type":"BPE","vocab":{"<unk>":0,"a":1},' \
    '"merges":[],"unk_token":"<unk>"}}' >words.json
yes '{"text":"a a a b"}' | head -n 400 >words.jsonl
run leat pack -t words.json --end none -o out --dry-run words.jsonl
says 0 "warning: 25.0 % of the sample's tokens are words.json's unknown token"
nothing_written
# ids of 4 bytes, of a larger vocabulary
awk 'BEGIN { printf "{\"version\":\"1.0\",\"pre_tokenizer\":{\"type\":\"Whitespace\"},"
    printf "\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"<unk>\",\"vocab\":{"
    for (i = 0; i < 70000; i++) printf "\"w%d\":%d,", i, i
    printf "\"a\":70000,\"<unk>\":70001}}}" }' >wide.json
yes '{"text":"a w4465 a b"}' | head -n 400 >wide.jsonl # 4465 is the lower half of 70001
run leat pack -t wide.json --end none -o out --dry-run wide.jsonl
says 0 "warning: 25.0 % of the sample's tokens are wide.json's unknown token"
run leat pack -t bytes -o out --dry-run --keep 'lang = de' in
says 1 'no document is left: --keep left out'
# an input that is cut off, of which the run packs what is readable, and fails
yes '{"text":"a b c d e"}' | head -n 20000 | gzip >whole.gz
head -c 300 whole.gz >cut.jsonl.gz
for more in '' --allow-truncated; do
    # shellcheck disable=SC2086 # nothing, or an option
    run leat pack -t bytes -o real-cut --force --json --max-rejects 5 $more cut.jsonl.gz
    cut_code=$code cut_said=$(grep 'cut off or broken' "$said")
    # shellcheck disable=SC2086
    run leat pack -t bytes -o out --dry-run --json --max-rejects 5 $more cut.jsonl.gz
    says "$cut_code" "$cut_said"
    grep -q '"truncated_inputs": 1' "$printed" || fail "$ran: $(cat "$printed")"
done
[ "$cut_code" = 0 ] || fail "--allow-truncated: code $cut_code"
nothing_written
run leat pack -t bytes -o real --dry-run in
says 1 'real.leat already exists; choose another name or replace it (--force)'
run leat pack -t bytes -o real --force --dry-run in
ended 0 ''
for force in '' --force; do # what --keep leaves nothing of is not made
    # words
    # shellcheck disable=SC2086
    run leat pack -t bytes -o real$force $force --dry-run --keep 'lang = de' in
    says 1 'the run would not make a dataset without documents (--allow-empty makes it all the same)'
done
TMPDIR=$tmp/nowhere run leat pack -t bytes -o out --dry-run in
says 1 "cannot create the temporary folder $tmp/nowhere/leat-dry-run-"
run leat pack -t bytes -o none/out --dry-run in
says 1 'cannot write none/out: No such file or directory'
for more in --dry-run '--by lang' ''; do
    # shellcheck disable=SC2086 # nothing, or options
    run leat pack -t bytes -o s3://b/out $more in
    says 1 's3://b/out is a URL: write to a local name first'
done
run leat pack -t bytes -o /proc/out --dry-run in
says 1 'the disk of /proc/out has 0 bytes left, and the dataset needs about'
run leat pack -t bytes -o out --dry-run nosuch
says 1 'nosuch: No such file or directory'
run leat pack -t bytes -o out --dry-run -
says 2 '--dry-run cannot look at standard input'
run leat-bench pack -t bytes -o out --dry-run in
says 2 '--dry-run belongs to leat pack'
nothing_written
finish
