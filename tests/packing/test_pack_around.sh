#!/bin/sh
# test_pack_around.sh: the defaults of --begin and --end from a tokenizer.json's post-processor: a frame of one token on
# each side gives both, an end alone gives --end, a begin alone (Llama, Gemma) gives --begin, which is said; --end or
# tokenizer_config.json have the last word. Before, BERT's [SEP] was not known to end a text (exit code 2), and
# documents of Llama had no begin token, which tokenizers gives their texts.
. tests/cli/cli.sh

piece() { # TOKEN
    printf '{"SpecialToken":{"id":"%s","type_id":0}}' "$1"
}

tokenizer_of() { # POST-PROCESSOR
    printf '{"post_processor":%s,"pre_tokenizer":{"type":"WhitespaceSplit"},"model":{"type":"WordLevel","vocab":
        {"[UNK]":0,"[CLS]":1,"[SEP]":2,"a":3,"b":4},"unk_token":"[UNK]"}}' "$1" >tokenizer.json
}

template_of() { # PIECE...: with commas between
    tokenizer_of '{"type":"TemplateProcessing","single":['"$1"'],"pair":[],"special_tokens":{"[CLS]":{"id":"[CLS]",
        "ids":[1],"tokens":["[CLS]"]},"[SEP]":{"id":"[SEP]","ids":[2],"tokens":["[SEP]"]}}}'
}

tokens() { # IDS: what out.tokens has
    [ "$(od -An -v -tu2 --endian=little out.tokens | tr -s ' \n' ' ' | sed 's/^ //; s/ $//')" = "$1" ] ||
        fail "$ran: $(od -An -v -tu2 --endian=little out.tokens) and not $1"
    rm -f out.*
}

text='{"Sequence":{"id":"A","type_id":0}}'
printf '{"text":"a b"}\n{"text":"b"}\n' >texts.jsonl
bert='{"type":"BertProcessing","sep":["[SEP]",2],"cls":["[CLS]",1]}'

tokenizer_of "$bert"
run leat pack -t . -o out texts.jsonl
ended 0 ''
grep -qF 'Documents have 1 ([CLS]) before them and 2 ([SEP]) after them, as single texts of this tokenizer do' \
    "$printed" || fail "$ran: $(cat "$printed")"
leat info out --json | grep -qF '"begin": 1' || fail "$ran: its begin token is not recorded"
[ "$(leat cat out --document 0)" = 'a b' ] || fail "the text of a framed document: $(leat cat out --document 0)"
tokens '1 3 4 2 1 4 2'
run leat pack -t . -o out --dry-run texts.jsonl
grep -qF "Documents have 1 ([CLS]) before them" "$printed" || fail "$ran: $(cat "$printed")"
run leat pack -t . -o out --begin none texts.jsonl
ended 0 ''
! grep -qF 'single texts' "$printed" || fail "$ran: $(cat "$printed")"
tokens '3 4 2 4 2'
run leat pack -t . -o out --end none texts.jsonl
says 0 'documents have no begin token, since --end is given without --begin; --begin 1 adds the one that the tokenizer'
tokens '3 4 4'
run leat pack -t . --run parts --parts 2 --end none texts.jsonl
says 0 'documents have no begin token, since --end is given without --begin'
run leat pack --run parts --part 1 # it said it again, in each part
ended 0 ''
run leat pack -t . -o out --end none --begin none texts.jsonl
ended 0 ''
tokens '3 4 4'
run leat pack -t . -o out --begin b texts.jsonl
tokens '4 3 4 2 4 4 2'
run leat encode -t . --jsonl texts.jsonl
ended 0 ''
[ "$(cat "$printed")" = '3 4
4' ] || fail "$ran: $(cat "$printed")"

# a configuration decides what ends a document; a begin token belongs to its own end
echo '{"eos_token":"b"}' >tokenizer_config.json
run leat pack -t . -o out texts.jsonl
grep -qF "Single texts of this tokenizer have 1 ([CLS]) before them and 2 ([SEP]) after them" "$printed" ||
    fail "$ran: $(cat "$printed")"
tokens '3 4 4 4 4'
echo '{"eos_token":"[SEP]"}' >tokenizer_config.json
run leat pack -t . -o out texts.jsonl
tokens '1 3 4 2 1 4 2'
template_of "$(piece '[CLS]'),$text"
run leat pack -t . -o out texts.jsonl
grep -qF "Documents have 1 ([CLS]) before them, as" "$printed" || fail "$ran: $(cat "$printed")"
tokens '1 3 4 2 1 4 2'
run leat pack -t . -o out --end b texts.jsonl
tokens '3 4 4 4 4'
rm tokenizer_config.json
run leat pack -t . -o out texts.jsonl
says 2 'does not say which token ends a document: use --end ID or --end none'

template_of "$text,$(piece '[SEP]')"
run leat pack -t . -o out texts.jsonl
grep -qF "Documents have 2 ([SEP]) after them" "$printed" || fail "$ran: $(cat "$printed")"
tokens '3 4 2 4 2'

# more than one token, one that is not there, no text, or what cannot be understood, is no default
for other in 7 "$text,$(piece '[SEP]'),$(piece '[SEP]')" "$text,$(piece nosuch)" "$(piece '[SEP]')"; do
    template_of "$other"
    run leat pack -t . -o out texts.jsonl
    says 2 'does not say which token ends a document'
    echo '{"eos_token":"[SEP]"}' >tokenizer_config.json
    run leat pack -t . -o out texts.jsonl
    grep -qF "something other than one token around single texts; documents do not get it" "$printed" ||
        fail "$ran: $(cat "$printed")"
    tokens '3 4 2 4 2'
    rm tokenizer_config.json
done

# past the page cache, where the disk can
on_disk=$(mktemp -d "${LEAT_TEST_DISK:-/tmp}/leat-direct-XXXXXX") || exit 1
awk 'BEGIN { for (i = 0; i < 150000; i++) printf "{\"text\":\"document %d with text\"}\n", i }' >many.jsonl
run leat pack -o "$on_disk/many" -t bytes --write direct many.jsonl
ended 0 ''
if dd if=/dev/zero of="$on_disk/direct" bs=1M count=1 oflag=direct 2>/dev/null; then
    grep -qx '[1-9][0-9.]* MiB of tokens went to the disk directly\.' "$printed" || fail "$ran: $(cat "$printed")"
fi
rm -r "$on_disk"

# a run with other begin tokens is another run, and no begin token is said as the option has it
tokenizer_of "$bert"
rm -f tokenizer_config.json
run leat pack -t . --run run --parts 2 --begin none texts.jsonl
ended 0 ''
run leat pack -t . --run run --parts 2 texts.jsonl
says 1 'was planned with "begin none", not with "begin 1": give the same options; to plan it anew, remove the folder'
sed 's/^begin -1$/begin -12/' run/leat-run.inputs >other && mv other run/leat-run.inputs
run leat pack -t . --run run --parts 2 --begin none texts.jsonl
says 1 'run/leat-run.inputs is damaged: remove it and plan the run again in this folder, with the same arguments'
rm run/leat-run.inputs
run leat pack -t . --run run --parts 2 --begin none texts.jsonl
ended 0 ''
grep -qx 'begin -1' run/leat-run.inputs || fail "$ran: $(cat run/leat-run.inputs)"
finish
