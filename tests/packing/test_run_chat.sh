#!/bin/sh
# test_run_chat.sh: conversations packed by a run in parts: all parts have the template, the special tokens, the
# messages and the tools of the plan, or are refused before they pack. Once the plan said nothing of these: parts with
# another template were packed, joined and found in order.
. tests/cli/cli.sh
renders

printf '{"messages":[{"role":"user","content":"%d"},{"role":"assistant","content":"yes"}],"texts":[]}\n' \
    $(seq 60) >chat.jsonl
one='{% for m in messages %}{{ m.role }}:{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}'
two='{% for m in messages %}{{ m.role }} {% generation %}{{ m.content }}{% endgeneration %}{% endfor %}'
plan() { # OPTION...
    rm -rf run
    run leat pack --run run --parts 2 "$@" chat.jsonl
}

# ---- A template that is named --------------------------------------------------------------------------------------

plan -t bytes --chat missing.jinja
says 1 'missing.jinja: No such file'
echo "$one" >a.jinja
echo "$two" >b.jinja
plan -t bytes --chat a.jinja
ended 0 ''
run leat pack --run run --part 1
ended 0 ''
echo "$two" >a.jinja
run leat pack --run run --part 2
says 1 "the run in $tmp/run was planned with another chat template, or other special tokens beside it; to plan it anew"
plan -t bytes --chat b.jinja
echo "$one" >a.jinja
while IFS='|' read -r words message; do
    # shellcheck disable=SC2086 # several words
    run leat pack --run run --part 2 $words
    says 2 "${words%% *} belongs to the plan of a run: all parts share it"
    case $words in *jinja) ;; *) words="$words --chat b.jinja" ;; esac
    # shellcheck disable=SC2086 # likewise
    run leat pack --run run --parts 2 -t bytes $words chat.jsonl
    says 1 "the run in $tmp/run was planned with $message"
done <<'TABLE'
--chat a.jinja|another chat template
--messages texts|"messages messages", not with "messages texts"
--tools calls|"tools tools", not with "tools calls"
TABLE
for part in 1 2; do
    run leat pack --run run --part $part
    ended 0 ''
done
run leat pack -t bytes -o whole --chat b.jinja chat.jsonl
run leat merge -o joined run
ended 0 ''
{ cmp joined.tokens whole.tokens && cmp joined.leat whole.leat; } || fail "joined: other bytes than those of one run"

# ---- The tokenizer's own -------------------------------------------------------------------------------------------

mkdir own
printf '{"added_tokens":[{"id":0,"content":"<unk>","special":true,"single_word":false,
"lstrip":false,"rstrip":false,"normalized":false}],"model":{"type":"BPE","unk_token":"<unk>","vocab":
{"<unk>":0,"0":1,"1":2,"2":3,"yes":4},"merges":[]}}' >own/tokenizer.json
echo "$one{{ eos_token }}" >own/chat_template.jinja
changed() { # FILE CONTENT: between plan and part, and whether the part is refused then
    echo '{"eos_token":"0"}' >own/tokenizer_config.json
    rm -rf own/additional_chat_templates
    plan -t own --chat tokenizer
    ended 0 ''
    mkdir -p own/additional_chat_templates
    echo "$2" >"own/$1"
    run leat pack --run run --part 1
    says 1 "the run in $tmp/run was planned with another chat template, or other special tokens beside it"
}
changed tokenizer_config.json '{"eos_token":"1"}'
changed additional_chat_templates/tool_use.jinja "$one"
changed chat_template.jinja "$two"
finish
