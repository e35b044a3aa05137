#!/bin/sh
# test_encode_decode.sh: `leat encode` and `leat decode` are each other's inverse; every way to give texts and to take
# ids works; JSON is unescaped exactly; what is wrong is said with its place and the right exit code. And `leat-bench
# encode` makes the same ids.
# Some texts hold characters that a shell would expand.
# shellcheck disable=SC2016
build=${LEAT_BUILD:-build}
leat=$build/leat
bench=$build/leat-bench
[ -x "$leat" ] || {
    echo "skipped: no leat under $build" >&2
    exit 77
}
tmp=$(mktemp -d "${LEAT_TEST_TMP:-/tmp}/leat-encode-XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
failures=0

fail() {
    failures=$((failures + 1))
    printf '%s\n' "$*" >&2
}

is() { # NAME WANTED FOUND
    [ "$2" = "$3" ] || fail "$1: expected '$2', got '$3'"
}

same() { # NAME FILE FILE
    cmp -s "$2" "$3" || fail "$1: $(cmp "$2" "$3" 2>&1)"
}

refused() { # CODE PART COMMAND...: ends with this code, and the message has this part; input is a file of that name
    want=$1 part=$2
    shift 2
    "$@" <"$tmp/input" >"$tmp/out" 2>"$tmp/err"
    code=$?
    [ $code -eq "$want" ] || fail "$*: exit code $code instead of $want"
    grep -qF -- "$part" "$tmp/err" || fail "$*: the message lacks '$part': $(cat "$tmp/err")"
}
: >"$tmp/input"

# ---- Known ids ------------------------------------------------------------------------------------------------------

is "gpt2" "15496 11 995" "$(printf 'Hello, world' | "$leat" encode -t gpt2)"
is "the default, as of leat pack" "15496 11 995" "$(printf 'Hello, world' | "$leat" encode)"
is "the default of decode" '"Hello, world"' "$(echo 15496 11 995 | "$leat" decode)"
is "cl100k_base" "9906 11 1917" "$(printf 'Hello, world' | "$leat" encode -t cl100k_base)"
is "bytes" "72 105" "$(printf Hi | "$leat" encode -t bytes -)"
is "an empty text" "" "$("$leat" encode -t gpt2 </dev/null)"
"$leat" encode -t gpt2 </dev/null >"$tmp/out"
is "an empty text is a line" 1 "$(wc -l <"$tmp/out" | tr -d ' ')"
is "decode" '"Hello, world"' "$(echo 15496 11 995 | "$leat" decode -t gpt2)"
is "decode with other blanks" '"Hello, world"' "$(printf ' 15496\t11  995 \r\n' | "$leat" decode -t gpt2 -)"
is "decode of nothing" '""' "$(echo | "$leat" decode -t gpt2)"
"$leat" decode --help | grep -q 'as a JSON string' || fail "decode --help does not say what it prints"

# ---- Strings of special tokens --------------------------------------------------------------------------------------

is "a special token as text" "27 91 437 1659 5239 91 29" "$(printf '<|endoftext|>' | "$leat" encode -t gpt2)"
is "a special token" "64 50256 65" "$(printf 'a<|endoftext|>b' | "$leat" encode -t gpt2 --special)"
is "a special token by its name" '"a<|endoftext|>b"' "$(echo 64 50256 65 | "$leat" decode -t gpt2)"

# ---- Bytes that are not UTF-8 ---------------------------------------------------------------------------------------

printf 'a\377b\303' >"$tmp/invalid"
is "replaced" "97 239 191 189 98 239 191 189" "$("$leat" encode -t bytes "$tmp/invalid")"
is "replaced, as asked" "97 239 191 189 98 239 191 189" \
    "$("$leat" encode -t bytes --invalid-utf8=replace "$tmp/invalid")"
refused 1 "$tmp/invalid: the text is not valid UTF-8 at byte 1" \
    "$leat" encode -t bytes --invalid-utf8 reject "$tmp/invalid"
printf '{"text":"a"}\n{"text":"\377"}\n' >"$tmp/invalid.jsonl"
refused 1 "$tmp/invalid.jsonl, line 2: the text is not valid UTF-8" \
    "$leat" encode -t bytes --invalid-utf8 reject "$tmp/invalid.jsonl"
is "the record before the bad one" "97" "$(cat "$tmp/out")"
# a character that the end of the text cuts off is seen only there, however long the text before it
{
    head -c 300000 /dev/zero | tr '\0' a
    printf '\303'
} >"$tmp/long_invalid"
refused 1 "$tmp/long_invalid: the text is not valid UTF-8 at byte 300000" \
    "$leat" encode -t bytes --invalid-utf8 reject "$tmp/long_invalid"
# the text itself: what to do was not said
refused 1 "arguments are files, and a text comes from standard input: printf %s TEXT | leat encode" "$leat" encode hello
is "decoded to JSON" '"é�"' "$(echo 195 169 195 | "$leat" decode -t bytes)"
printf '\303\251\303\n\000\n\n' >"$tmp/wanted"
printf '195 169 195\n0\n\n' | "$leat" decode -t bytes --raw >"$tmp/out"
same "decoded raw" "$tmp/wanted" "$tmp/out"

# ---- JSON -----------------------------------------------------------------------------------------------------------

# A line of JSON, and its text as decode prints it; the vocabulary of bytes shows every byte.
json() { # JSON TEXT-AS-JSON [FIELD]
    found=$(printf '%s\n' "$1" | "$leat" encode -t bytes --jsonl --text "${3:-text}" | "$leat" decode -t bytes)
    is "$1" "$2" "$found"
}
json '{"text":"plain"}' '"plain"'
json ' { "id" : 7 , "text" : "blanks" , "z" : [ ] } ' '"blanks"'
json '{"text":"\"\\\/\b\f\n\r\t"}' '"\"\\/\b\f\n\r\t"'
json '{"text":"\u0000\u001F\u007f"}' '"\u0000\u001f\u007f"'
json '{"text":"\u00e9\u20AC\uFFFF"}' "$(printf '"\303\251\342\202\254\357\277\277"')"
json '{"text":"\ud83d\ude00\uD800\uDC00\udbff\udfff"}' \
    "$(printf '"\360\237\230\200\360\220\200\200\364\217\277\277"')"
json '{"text":"\ud800"}' '"�"'
json '{"text":"\ude00\ud83d x"}' '"�� x"'
json '{"text":"\ud83d\ud83d\ude00\\ude00"}' '"�😀\\ude00"'
json '{"text":""}' '""'
json '{"text":"first","text":"last"}' '"last"'
json '{"te\u0078t":"an escaped name"}' '"an escaped name"'
json '{"texts":"a","tex":"b","text":"c","text ":"d","":"e"}' '"c"'
json '{"a":{"text":"inner"},"text":"outer","b":[{"text":"in an array"}]}' '"outer"'
json '{"meta":{"a":[{}],"body":{"text":"deep"},"body2":{}},"text":"no"}' '"deep"' meta.body.text
json '{"meta":{"text":"x"},"meta.text":"no"}' '"x"' meta.text
json '{"a":{"b":"1"},"a":{"b":"2"}}' '"2"' a.b
json '{"n":[0,-0,1.5,-2e9,1E+5,1e-5,12345678901234567890,true,false,null,[],{},""],"text":"x"}' '"x"'
printf '\357\273\277{"text":"a"}\r\n\r\n \t\n{"text":"b"}' >"$tmp/lines"
is "a mark, CRLF, blank lines, no newline at the end" "97
98" "$("$leat" encode -t bytes --jsonl "$tmp/lines")"
# deep nesting is no matter of the stack
deep=$(printf '%1000s' '' | tr ' ' '[')
shut=$(printf '%1000s' '' | tr ' ' ']')
json "{\"a\":$deep$shut,\"text\":\"x\"}" '"x"'

wrong() { # JSON PART: is refused, with the line
    printf '{"text":"good"}\n\n%s\n' "$1" >"$tmp/bad.jsonl"
    refused 1 "$2" "$leat" encode -t bytes "$tmp/bad.jsonl"
    grep -qF "$tmp/bad.jsonl, line 3: " "$tmp/err" || fail "the place is missing: $(cat "$tmp/err")"
}
wrong '{"id":1}' 'the record has no "text"'
wrong '{"text":null}' '"text" is null, not a string'
wrong '{"text":["x"]}' '"text" is an array, not a string'
wrong '{"text":{"text":"x"}}' '"text" is an object, not a string'
wrong '{"text":"x","text":3}' '"text" is a number, not a string'
wrong '["text"]' 'the record is an array, not an object'
wrong 'text' 'not valid JSON: an object ({) is expected at byte 1'
wrong '{"text":"x"} {' 'the end of the record is expected at byte 14'
wrong '{"text":"x"' 'it ends where a comma or } is expected'
wrong '{"text":"x' 'it ends where the quote after a string is expected'
wrong "{\"text\":\"x\\" 'it ends where'
wrong '{"text":"\u12' 'it ends where'
wrong '{"text":"\x"}' "an escape's letter is expected at byte 11"
wrong '{"text":"\u12g4"}' 'is expected at byte 14'
wrong "$(printf '{"text":"a\tb"}')" 'the escape of a control character is expected at byte 11'
wrong '{"text":"x",}' "a member's name is expected"
wrong '{text:"x"}' "a member's name is expected at byte 2"
wrong '{"text" "x"}' 'a colon is expected at byte 9'
wrong '{"text":"x","a":[1,]}' 'a value is expected'
wrong '{"text":"x","a":[1 2]}' 'a comma or ] is expected'
wrong '{"text":"x","a":01}' 'a comma or } is expected'
wrong '{"text":"x","a":1.}' 'a digit is expected'
wrong '{"text":"x","a":-}' 'a digit is expected'
wrong '{"text":"x","a":1e}' 'a digit is expected'
wrong '{"text":"x","a":nan}' 'a value is expected'
wrong '{"text":"x","a":tru}' 'a value is expected'
wrong '{"text":"x","a":]}' 'a value is expected'
wrong '{"text":"x","a":{]}' "a member's name is expected"
wrong "{\"a\":$deep$deep" 'nested deeper than 1024'
is "the record before a bad one" "103 111 111 100" "$(cat "$tmp/out")"

# ---- Files and their kinds ------------------------------------------------------------------------------------------

printf '{"text":"a"}\n{"text":"b"}\n' >"$tmp/two.jsonl"
cp "$tmp/two.jsonl" "$tmp/two.ndjson"
cp "$tmp/two.jsonl" "$tmp/two.json"
cp "$tmp/two.jsonl" "$tmp/two.txt"
printf 'one\ntwo\n' >"$tmp/text"
is "several files, in order" "97
98
111 110 101 10 116 119 111 10
97
98" "$("$leat" encode -t bytes "$tmp/two.jsonl" "$tmp/text" "$tmp/two.ndjson")"
is ".json, as leat pack takes it" 2 "$("$leat" encode -t bytes "$tmp/two.json" | wc -l | tr -d ' ')"
"$leat" pack -t bytes --progress never -o "$tmp/packed" "$tmp/two.json" >"$tmp/out" || fail "leat pack of .json"
is "how leat pack takes it" 98,256 "$("$leat" cat "$tmp/packed" --document 1 --ids | tr ' ' ,)"
is "not by the name: one document" 1 "$("$leat" encode -t bytes "$tmp/two.txt" | wc -l | tr -d ' ')"
is "--text-file" 1 "$("$leat" encode -t bytes --text-file "$tmp/two.jsonl" | wc -l | tr -d ' ')"
is "--jsonl" 2 "$("$leat" encode -t bytes --jsonl "$tmp/two.txt" | wc -l | tr -d ' ')"
is "--jsonl of standard input" 2 "$("$leat" encode -t bytes --jsonl <"$tmp/two.jsonl" | wc -l | tr -d ' ')"
is "standard input, by default one document" 1 "$("$leat" encode -t bytes <"$tmp/two.jsonl" | wc -l | tr -d ' ')"
is "decode of -" "a" "$(echo 97 | "$leat" decode --raw -t bytes -)"

# ids as words
printf '\110\000\000\000\151\000\000\000' >"$tmp/wanted"
printf Hi | "$leat" encode -t bytes --format u32 >"$tmp/out"
same "--format u32" "$tmp/wanted" "$tmp/out"
printf '\141\000\000\000\142\000\000\000' >"$tmp/wanted"
"$leat" encode -t bytes --format u32 "$tmp/two.jsonl" >"$tmp/out"
same "--format u32, two documents" "$tmp/wanted" "$tmp/out"

# longer than every buffer: one line, one text, one line of ids
awk 'BEGIN { for (i = 0; i < 40000; i++) printf "word %d \303\251 ", i * 7919 % 65536 }' >"$tmp/long"
printf '{"id":"x","text":"%s"}\n{"text":"after"}\n' "$(cat "$tmp/long")" >"$tmp/long.jsonl"
for t in bytes gpt2 cl100k_base o200k_base; do
    "$leat" encode -t $t "$tmp/long" >"$tmp/long.ids"
    "$leat" encode -t $t "$tmp/long.jsonl" | head -n 1 >"$tmp/out"
    same "$t: a long line of JSON" "$tmp/long.ids" "$tmp/out"
    "$leat" decode -t $t --raw "$tmp/long.ids" | head -c -1 >"$tmp/out"
    same "$t: a long text and back" "$tmp/long" "$tmp/out"
    is "$t: the record after it" '"after"' \
        "$("$leat" encode -t $t "$tmp/long.jsonl" | "$leat" decode -t $t | tail -n 1)"
done

# ---- Compressed -----------------------------------------------------------------------------------------------------

if command -v zstd >/dev/null; then
    zstd -q "$tmp/two.jsonl" "$tmp/long.jsonl" "$tmp/text"
    is "compressed JSON lines" "97
98" "$("$leat" encode -t bytes "$tmp/two.jsonl.zst")"
    cat "$tmp/two.jsonl.zst" "$tmp/two.jsonl.zst" >"$tmp/four.jsonl.zst"
    is "several frames" 4 "$("$leat" encode -t bytes "$tmp/four.jsonl.zst" | wc -l | tr -d ' ')"
    is "by content, not by name" 2 "$("$leat" encode -t bytes --jsonl <"$tmp/two.jsonl.zst" | wc -l | tr -d ' ')"
    "$leat" encode -t bytes "$tmp/long" >"$tmp/wanted"
    "$leat" encode -t bytes "$tmp/long.jsonl.zst" | head -n 1 >"$tmp/out"
    same "a long compressed line" "$tmp/wanted" "$tmp/out"
    "$leat" encode -t bytes "$tmp/long" | zstd -q >"$tmp/ids.zst"
    "$leat" decode -t bytes --raw "$tmp/ids.zst" | head -c -1 >"$tmp/out"
    same "compressed ids" "$tmp/long" "$tmp/out"
    head -c 1000 "$tmp/long.jsonl.zst" >"$tmp/cut.jsonl.zst"
    refused 1 "cut.jsonl.zst ends in the middle of a zstd frame, at compressed byte 1000" \
        "$leat" encode -t bytes "$tmp/cut.jsonl.zst"
    { cat "$tmp/text.zst" && echo garbage; } >"$tmp/garbage.zst"
    refused 1 "garbage.zst: the zstd data is broken at compressed byte" "$leat" encode -t bytes "$tmp/garbage.zst"
else
    echo "no zstd: compressed inputs not tried" >&2
fi
# "Hi" in a member of gzip, as gzip -n makes it; a build without a library for it says so
printf '\037\213\010\000\000\000\000\000\000\003\363\310\004\000\016\016\027\115\002\000\000\000' >"$tmp/text.gz"
if "$leat" encode -t bytes "$tmp/text.gz" >"$tmp/out" 2>"$tmp/err"; then
    is "gzip" "72 105" "$(cat "$tmp/out")"
    head -c 15 "$tmp/text.gz" >"$tmp/cut.gz"
    refused 1 "cut.gz ends in the middle of a gzip member" "$leat" encode -t bytes "$tmp/cut.gz"
    # a line of ids that is cut off: 3 may be 33
    printf '\037\213\010\000\000\000\000\000\000\003\001\013\000\364\377%s\n%s' '72 105' '33 3' >"$tmp/ids.gz"
    refused 1 "ids.gz ends in the middle of a gzip member" "$leat" decode -t bytes "$tmp/ids.gz"
    is "the line before" '"Hi"' "$(cat "$tmp/out")"
else
    grep -qF "$tmp/text.gz is compressed with gzip, which this build cannot read" "$tmp/err" ||
        fail "gzip: $(cat "$tmp/err")"
fi

# ---- Mistakes -------------------------------------------------------------------------------------------------------

refused 1 's3://b/a.txt is a URL, which is read only to be packed' "$leat" encode -t bytes s3://b/a.txt
refused 2 "--jsonl and --text-file" "$leat" encode -t gpt2 --jsonl --text-file
refused 2 "--special" "$leat" encode -t gpt2 --specials
refused 2 "u32" "$leat" encode -t gpt2 --format u16
refused 2 "reject" "$leat" encode -t gpt2 --invalid-utf8 ignore
refused 2 "pattern" "$leat" encode -t gpt2 --pattern no_such_pattern
refused 1 "did you mean the built-in gpt2?" "$leat" encode -t gpt-2
refused 1 "cannot open $tmp/none" "$leat" encode -t gpt2 "$tmp/none"
refused 1 "cannot open $tmp/none" "$leat" decode -t gpt2 "$tmp/none"
refused 1 "cannot read $tmp" "$leat" encode -t gpt2 "$tmp"
printf '1 2\n3 x4 5\n' >"$tmp/input"
refused 1 'standard input, line 2: "x4" is not an id' "$leat" decode -t gpt2
is "the line before" 1 "$(wc -l <"$tmp/out" | tr -d ' ')"
for bad in 12x -1 1,2 4294967296 99999999999999999999999; do
    echo "$bad" >"$tmp/input"
    refused 1 "standard input, line 1: \"$bad\" is not an id" "$leat" decode -t gpt2 -
done
printf '0\n50257\n' >"$tmp/ids"
refused 1 "$tmp/ids, line 2: unknown id 50257: the vocabulary ends at 50256" "$leat" decode -t gpt2 "$tmp/ids"
refused 1 'unknown tokenizer "no_such"' "$leat" decode -t no_such "$tmp/ids"
"$leat" encode -t bytes "$tmp/long" >/dev/full 2>"$tmp/err" && fail "a full disk goes unnoticed"
grep -q "standard output" "$tmp/err" || fail "a full disk: $(cat "$tmp/err")"
awk 'BEGIN { for (i = 0; i < 9000; i++) print "{\"text\":\"record\"}" }' >"$tmp/many.jsonl"
echo '{"text":' >>"$tmp/many.jsonl"
"$leat" encode -t bytes "$tmp/many.jsonl" >/dev/full 2>"$tmp/err" && fail "a full disk goes unnoticed among records"
is "a full disk ends it before the last record" \
    "leat: cannot write everything to standard output: No space left on device" "$(cat "$tmp/err")"
for c in encode decode; do
    "$leat" $c --help >"$tmp/out" || fail "$c --help"
    grep -q "leat $c -t gpt2" "$tmp/out" || fail "$c --help has no example"
done

# ---- The measurement ------------------------------------------------------------------------------------------------

if [ -x "$bench" ]; then
    member() { # NAME: of the JSON object in out
        sed -nE "s/.*\"$1\": \"?([^,\"}]*).*/\1/p" "$tmp/out"
    }
    for threads in 1 2 3 7; do
        "$bench" encode -t gpt2 --threads $threads --json "$tmp/two.jsonl" "$tmp/long.jsonl" "$tmp/text" >"$tmp/out" ||
            fail "leat-bench encode --threads $threads"
        is "documents" 5 "$(member documents)"
        is "bytes" "$(($(wc -c <"$tmp/long") + 15))" "$(member bytes)"
        is "tokens" "$("$leat" encode -t gpt2 "$tmp/two.jsonl" "$tmp/long.jsonl" "$tmp/text" | wc -w | tr -d ' ')" \
            "$(member tokens)"
        [ -n "$checksum" ] || checksum=$(member checksum)
        is "checksum with $threads threads" "$checksum" "$(member checksum)"
    done
    "$bench" encode -t bytes --json "$tmp/two.jsonl" >"$tmp/out"
    # XXH3-64 of 61 00 00 00 62 00 00 00
    is "a known checksum" "cbf698ba0a9a3ad3" "$(member checksum)"
    for key in seconds mb_per_s load_ms; do
        [ -n "$(member $key)" ] || fail "leat-bench encode --json has no $key"
    done
    "$bench" encode -t bytes "$tmp/two.jsonl" | grep -q "cbf698ba0a9a3ad3" || fail "leat-bench encode for people"
    refused 2 "FILE" "$bench" encode -t gpt2
    refused 1 "$tmp/bad.jsonl, line 3" "$bench" encode -t gpt2 "$tmp/bad.jsonl"
    : >"$tmp/empty.jsonl"
    "$bench" encode -t gpt2 --threads 4 --json "$tmp/empty.jsonl" >"$tmp/out" || fail "leat-bench encode of nothing"
    is "documents of nothing" 0 "$(member documents)"
fi

[ $failures -eq 0 ]
