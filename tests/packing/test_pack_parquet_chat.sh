#!/bin/sh
# test_pack_parquet_chat.sh: conversations and masks in columns of Parquet give what they give as JSON lines: the same
# identity, of tokens and mask, and as many rejects; for any threads, with tiny units, by parts, with --by and --keep,
# resumed; JSON in a column of strings, too. What no conversation or mask can be is refused, or rejected with a reason.
here=$PWD/tests
. tests/cli/cli.sh
renders

files=$here/parquet/files
tiny=$build/tiny/leat
identity() {
    "$build/leat" info "$1" | sed -n 's/^  identity *//p'
}
key() { # NAME: its value in the JSON object that was printed
    sed -n "s/.*\"$1\": \([^,}]*\).*/\1/p" "$printed"
}

cp "$files/chat.jsonl" "$files/chat.parquet" .
cat >roles.jinja <<'END'
{%- for m in messages %}{{ '<' + m.role + '>' }}{% generation %}{{ m['content'] }}{% endgeneration %}{% endfor %}
END

for what in "--chat roles.jinja" "--mask-field loss"; do
    # shellcheck disable=SC2086 # words
    set -- $what
    run "$tiny" pack -t bytes -o lines --force "$@" --max-rejects 1000 --json chat.jsonl
    rejected=$(key rejected)
    [ "$rejected" -gt 2 ] || fail "$what: hardly a reject in chat.jsonl: $rejected"
    for program in leat "$tiny"; do
        for threads in 1 2 7; do
            run "$program" pack -t bytes -o rows --force "$@" --max-rejects 1000 --threads $threads --json chat.parquet
            [ "$(key rejected)" = "$rejected" ] || fail "$what, $program: $(key rejected) rejects, not $rejected"
            [ "$(identity rows)" = "$(identity lines)" ] || fail "$what, $program, $threads threads: another identity"
        done
    done
    run leat find rows --id c100
    grep -qxF 'row       100' "$printed" || fail "$what: leat find: $(cat "$printed")"

    # parts, whose sum is one run
    for i in 1 2 3; do
        run "$tiny" pack -t bytes -o part.$i --force "$@" --max-rejects 1000 --part $i/3 chat.parquet
    done
    run leat merge -o merged --force part.1 part.2 part.3
    [ "$(identity merged)" = "$(identity lines)" ] || fail "$what: parts have another identity"

    # conditions and datasets of their own, by columns
    run leat pack -t bytes -o kept.lines --force "$@" --max-rejects 1000 --keep 'id != c3' chat.jsonl
    run leat pack -t bytes -o kept.rows --force "$@" --max-rejects 1000 --keep 'id != c3' chat.parquet
    [ "$(identity kept.rows)" = "$(identity kept.lines)" ] || fail "$what: --keep: another identity"
    [ "$(identity kept.rows)" != "$(identity lines)" ] || fail "$what: --keep keeps all"
    head -n 9 chat.jsonl >few.jsonl
    run leat pack -t bytes -o by --force "$@" --max-rejects 1000 --by id few.jsonl chat.parquet

    # stopped by its rejects, and resumed
    rm -f rest.*
    run "$tiny" pack -t bytes -o rest "$@" --max-rejects 1 chat.parquet
    says 4 'were rejected'
    run "$tiny" pack -t bytes -o rest --resume "$@" --max-rejects 1000 chat.parquet
    [ "$(identity rest)" = "$(identity lines)" ] || fail "$what: --resume: another identity"
done
run leat cat by.c5 --document 0
[ -s "$printed" ] || fail "--by: by.c5 has no document: $(cat "$said")"

# ---- As long as a record may be, 32 KiB in the tiny build ------------------------------------------------------------

cp "$files/chat_long.parquet" .
for times in 1 5000 10500 11000; do
    awk -v times=$times 'BEGIN { printf "{\"messages\":[{\"role\":\"user\",\"content\":\""
                                 while (times-- > 0) printf "ab "; print "\"}]}" }'
done >chat_long.jsonl
for suffix in jsonl parquet; do
    run "$tiny" pack -t bytes -o long.$suffix --chat roles.jinja --max-rejects 9 --json chat_long.$suffix
    [ "$(key rejected)" = 1 ] || fail "chat_long.$suffix: $(key rejected) rejects: $(cat "$said")"
done
[ "$(identity long.jsonl)" = "$(identity long.parquet)" ] || fail "chat_long: another identity"

# ---- Tools, as strings that hold them -------------------------------------------------------------------------------

cp "$files/chat_tools.jsonl" "$files/chat_tools.parquet" .
{
    echo '{%- if tools %}{% for t in tools %}{{ t | tojson }}{% endfor %}{% endif %}{{ tools is none }}'
    cat roles.jinja
} >tools.jinja
for suffix in jsonl parquet; do
    run "$tiny" pack -t bytes -o tools.$suffix --chat tools.jinja --max-rejects 60 --threads 3 --json chat_tools.$suffix
    [ "$(key rejected)" = 3 ] || fail "chat_tools.$suffix: $(key rejected) rejects: $(cat "$said")"
done
[ "$(identity tools.jsonl)" = "$(identity tools.parquet)" ] || fail 'chat_tools: another identity'
run leat cat tools.parquet --document 0
grep -qF '"function", "function": {"name": "ring", "description": "a \"bell\"\n", "parameters": {}}}' "$printed" ||
    fail "no tools in $(cat "$printed")"
for suffix in jsonl parquet; do
    sed 's/.*"reason":"\([^"]*\).*/\1/' tools.$suffix.rejects.jsonl >reasons.$suffix
done
cmp reasons.jsonl reasons.parquet || fail "other reasons: $(cat reasons.jsonl reasons.parquet)"
run "$tiny" pack -t bytes -o untold --chat tools.jinja --tools '' chat_tools.parquet
ended 0 ''
[ "$(identity untold)" != "$(identity tools.parquet)" ] || fail 'chat_tools: --tools leaves none out'

# ---- A group above the column is null: so is the column --------------------------------------------------------------

cp "$files/below_null.jsonl" "$files/below_null.parquet" .
for suffix in jsonl parquet; do
    run leat pack -t bytes -o below.$suffix --mask-field meta.loss --max-rejects 9 --json below_null.$suffix
    [ "$(key rejected)" = 1 ] || fail "below_null.$suffix: $(key rejected) rejects: $(cat "$said")"
done
[ "$(identity below.jsonl)" = "$(identity below.parquet)" ] || fail "below_null: another identity"

# ---- Rows that are refused, a row group each: the others are packed --------------------------------------------------

cp "$files/refused.parquet" .
refused() { # PATTERN ...: what the rejects of the last run say, in their order
    sed 's/.*"offset":\([0-9]*\),.*"reason":"/\1 /' odd.rejects.jsonl >reasons
    [ "$(wc -l <reasons)" = $# ] || fail "not $# rejects: $(cat reasons)"
    for pattern; do
        head -n 1 reasons | grep -q "^$pattern" || fail "not \"$pattern\": $(cut -c 1-200 reasons)"
        sed -i 1d reasons
    done
}
for program in leat "$tiny"; do
    run "$program" pack -t bytes -o odd --force --invalid-utf8 reject --max-rejects 9 refused.parquet
    refused '1 the id \\"id\\" is longer than 64 KiB","record":"iii' \
        '2 the text is not valid UTF-8 at its byte 90001","record":"long text long text '
    run "$program" pack -t bytes -o odd --force --mask-field spans --max-rejects 9 refused.parquet
    refused '1 the id \\"id\\" is longer than 64 KiB' '2 the ' \
        '3 \\"spans\\" is not a list of .*: it says what is learned","record":"d"'
done
at=$(grep -aob jkl refused.parquet | sed -n '3s,:.*,,p') # the first two are in the statistics of its page
printf 'xyz' | dd of=refused.parquet bs=1 seek="$at" conv=notrunc 2>/dev/null
run leat pack -t bytes -o odd --force --max-rejects 9 refused.parquet
says 1 'leat: 1 input was cut off or broken'
refused '1 the id' '4 refused.parquet: the page at byte .*; row 4 is lost"'

# ---- What cannot be -------------------------------------------------------------------------------------------------

run leat pack -t bytes -o no --chat roles.jinja --messages text --max-rejects 1000 chat.parquet
grep -qF '\"text\" is a string, not an array of messages' no.rejects.jsonl ||
    fail "texts as conversations: $(head -n 1 no.rejects.jsonl)"
run leat pack -t bytes -o no --force --chat roles.jinja --messages turns chat.parquet
says 1 'has no column turns; its columns are id, text, and others'
run leat pack -t bytes -o no --force --text messages.content chat.parquet
says 1 'chat.parquet: the column messages.content is in a list, messages; name a column of single values'
run leat pack -t bytes -o no --force --mask-field messages --max-rejects 1000 chat.parquet
grep -q 'is not a list of \[begin, end\] places' no.rejects.jsonl || fail "conversations as masks: $(cat "$said")"
run leat pack -t bytes -o no --force --text messages chat.parquet
says 1 'the column messages is a list; name a column of single values (--text NAME, or --chat FILE for conversations)'

# options that mean nothing without --chat, or with it, were ignored
run leat pack -t bytes -o no --messages text chat.parquet
says 2 'leat: --messages is for conversations: add --chat'
run leat pack -t bytes -o no --tools text chat.parquet
says 2 'leat: --tools is for conversations: add --chat'
run leat pack -t bytes -o no --text turns --chat roles.jinja chat.parquet
says 2 'leat: --text and --chat contradict each other'
finish
