#!/bin/sh
# test_pack_odd_records.sh: records that few inputs have. A message with the text of a special token is rejected where
# the tokenizer cannot encode that as ordinary text; so is a conversation that a template makes much longer. Tools that
# take more memory than a thread has are read nevertheless. White space that is too long for memory is no record, and
# what stands behind it in a broken array is named. Rejects of a run that was killed while it named them are kept.
. tests/cli/cli.sh
renders

tiny=$build/tiny/leat
identity() {
    "$build/leat" info "$1" | sed -n 's/^  identity *//p'
}
tokens() { # NAME IDS: what NAME.tokens has
    [ "$(od -An -v -tu2 --endian=little "$1.tokens" | tr -s ' \n' ' ' | sed 's/^ //; s/ $//')" = "$2" ] ||
        fail "$ran: $(od -An -v -tu2 --endian=little "$1.tokens") and not $2"
}
rejects() { # NAME REASON ...: all that are there
    sed 's/.*"reason":"\(.*\)","record":.*/\1/' "$1.rejects.jsonl" >reasons
    shift
    for reason; do
        echo "$reason"
    done | cmp - reasons || fail "$ran: other rejects: $(cut -c 1-300 reasons)"
}

# ---- Special tokens in messages, of a tokenizer whose tokens are no bytes --------------------------------------------

cat >words.json <<'END'
{"version":"1.0","pre_tokenizer":{"type":"WhitespaceSplit"},"added_tokens":[{"id":3,"content":"<end>","special":true,
"single_word":false,"lstrip":false,"rstrip":false,"normalized":false}],"model":{"type":"WordLevel","vocab":
{"<unk>":0,"hello":1,"there":2},"unk_token":"<unk>"}}
END
echo '{% for m in messages %}{{ m.content }} <end>{% endfor %}' >words.jinja
cat >words.jsonl <<'END'
{"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"there"}]}
{"messages":[{"role":"user","content":"hello <end>there"},{"role":"assistant","content":"there"}]}
END
# one of sentencepiece has a mark where the text has a space
{
    echo '{"normalizer":{"type":"Replace","pattern":{"String":" "},"content":"\u2581"},'
    sed '1s/^{//; s/<end>/\\u2581<end>/; s/"normalized":false/"normalized":true/; s/"pre_tok[^}]*},//' words.json
} >marks.json
for tokenizer in words marks; do
    rm -f words.leat words.tokens
    run leat pack -t $tokenizer.json -o words --chat words.jinja --max-rejects 1 words.jsonl
    rejects words \
        'a message has the text of a special token, which this tokenizer cannot encode as ordinary text exactly'
    tokens words '1 3 2 3'
    run leat pack -t $tokenizer.json -o words --force --chat words.jinja --special words.jsonl
    ended 0 ''
    tokens words '1 3 2 3 1 3 2 3 2 3'
done

# ---- Rendered, too long; tools that a thread has no room for ---------------------------------------------------------

echo '{% for m in messages %}{{ m.content * 9 }}{% endfor %}' >nine.jinja
for length in 10 9000 5; do
    awk -v n=$length 'BEGIN { printf "{\"messages\":[{\"role\":\"user\",\"content\":\""
                              while (n-- > 0) printf "x"; print "\"}]}" }'
done >nine.jsonl
run "$tiny" pack -t bytes -o nine --chat nine.jinja --max-rejects 1 --memory 1GiB nine.jsonl
rejects nine 'the rendered conversation is longer than 8 MiB'

echo '{{ tools | length }}{{ tools[0].a | length }}{{ messages[0].content }}' >tools.jinja
awk 'BEGIN { printf "{\"messages\":[{\"role\":\"user\",\"content\":\"c\"}],\"tools\":\"[{\\\"a\\\":\\\""
             for (i = 0; i < 300000; i++) printf "ten bytes "; print "\\\"}]\"}" }' >tools.jsonl
run leat pack -t bytes -o tools --chat tools.jinja --memory 320MiB --threads 9 tools.jsonl
ended 0 ''
tokens tools '49 51 48 48 48 48 48 48 99'

# ---- White space -----------------------------------------------------------------------------------------------------

blank=$(printf '%30000s' '')
for line in '{"text":"a","loss":[]}' "$blank" '{"text":"b","loss":[[0,1]]}' "$blank$blank"; do
    echo "$line"
done >blank.jsonl
run "$tiny" pack -t bytes -o blank --mask-field loss blank.jsonl
ended 0 ''
tokens blank '97 256 98 256'

printf '[{"text":"a"},%s%s ,{"text":"b"}]' "$blank" "$blank" >array.json
run "$tiny" pack -t bytes -o array --force array.json
says 1 'array.json, at byte 60,015: its JSON array is broken: '
tokens array '97 256'

# ---- The file of rejects has two names -------------------------------------------------------------------------------

for i in 1 2 3 4 5; do
    printf '{"text":"%s"}\n{"none":%s}\n' $i $i
done >bad.jsonl
run leat pack -t bytes -o whole --max-rejects 5 bad.jsonl
run leat pack -t bytes -o twice --max-rejects 2 bad.jsonl
says 4 'were rejected'
ln twice.rejects.jsonl twice.partial.rejects || fail 'the rejects of a stopped run have no name'
run leat pack -t bytes -o twice --max-rejects 5 --resume bad.jsonl
ended 0 ''
cmp twice.rejects.jsonl whole.rejects.jsonl
[ "$(identity twice)" = "$(identity whole)" ] || fail "$ran: another identity"
[ "$(echo twice.*)" = 'twice.leat twice.rejects.jsonl twice.tokens' ] || fail "$ran: left $(echo twice.*)"
finish
