run_chat.t: conversations packed by a run in parts: all parts have the template, the special tokens, the messages and
the tools of the plan, or are refused before they pack. Once the plan said nothing of these: parts with another template
were packed, joined and found in order.

  $ python3 -c 'import jinja2' 2>/dev/null || exit 80
  $ . "$SOURCES"/tests/cli/datasets.sh
  $ printf '{"messages":[{"role":"user","content":"%d"},{"role":"assistant","content":"yes"}],"texts":[]}\n' \
  >     $(seq 60) >chat.jsonl
  $ one='{% for m in messages %}{{ m.role }}:{% generation %}{{ m.content }}{% endgeneration %}{% endfor %}'
  $ two='{% for m in messages %}{{ m.role }} {% generation %}{{ m.content }}{% endgeneration %}{% endfor %}'
  $ plan() { # OPTION...
  >     rm -rf run
  >     leat pack --run run --parts 2 "$@" chat.jsonl >/dev/null
  > }
  $ plan -t bytes --chat missing.jinja
  leat: cannot open */missing.jinja: No such file or directory (glob)
  [1]
  $ echo "$one" >a.jinja
  $ plan -t bytes --chat a.jinja
  $ leat pack --run run --part 1 >/dev/null
  $ echo "$two" >a.jinja
  $ leat pack --run run --part 2
  leat: the run in */run was planned with another chat template, or other special tokens beside it; to plan it anew, remove the folder */run (glob)
  [1]

Parts take no such options, and another plan is another run.

  $ echo "$two" >b.jinja
  $ plan -t bytes --chat b.jinja
  $ echo "$one" >a.jinja
  $ for words in '--chat a.jinja' '--messages texts' '--tools calls'; do
  >     leat pack --run run --part 2 $words
  > done
  leat: --chat belongs to the plan of a run: all parts share it (leat pack --help shows how)
  leat: --messages belongs to the plan of a run: all parts share it (leat pack --help shows how)
  leat: --tools belongs to the plan of a run: all parts share it (leat pack --help shows how)
  [2]
  $ for words in '--chat a.jinja' '--chat b.jinja --messages texts' '--chat b.jinja --tools calls'; do
  >     leat pack --run run --parts 2 -t bytes $words chat.jsonl || [ $? -eq 1 ] || break
  > done
  leat: the run in */run was planned with another chat template, or other special tokens beside it; to plan it anew, remove the folder */run (glob)
  leat: the run in */run was planned with "messages messages", not with "messages texts": give the same options; to plan it anew, remove the folder */run (glob)
  leat: the run in */run was planned with "tools tools", not with "tools calls": give the same options; to plan it anew, remove the folder */run (glob)
  $ for part in 1 2; do leat pack --run run --part $part >/dev/null; done
  $ leat pack -t bytes -o whole --chat b.jinja chat.jsonl >/dev/null
  $ leat merge -o joined run >/dev/null
  $ same joined whole

That nothing that ends a turn is learned is said by the plan, and by a part, once each. A part said it twice.

  $ echo '{% for m in messages %}{{ m.role }}: {{ m.content }}<|im_end|>{% endfor %}' >a.jinja
  $ plan -t gpt2 --chat a.jinja
  leat: warning: nothing that ends a turn is learned: <|im_end|> is no token of gpt2; take a chat template that ends answers with one, or a tokenizer that has it (--chat FILE, or -t SPEC)
  $ leat pack --run run --part 1 >/dev/null
  leat: warning: nothing that ends a turn is learned: <|im_end|> is no token of gpt2; take a chat template that ends answers with one, or a tokenizer that has it (--chat FILE, or -t SPEC)

The tokenizer's own template, its special tokens and its other templates belong to the plan, too.

  $ mkdir own
  $ printf '{"added_tokens":[{"id":0,"content":"<unk>","special":true,"single_word":false,
  > "lstrip":false,"rstrip":false,"normalized":false}],"model":{"type":"BPE","unk_token":"<unk>","vocab":
  > {"<unk>":0,"0":1,"1":2,"2":3,"yes":4},"merges":[]}}' >own/tokenizer.json
  $ echo "$one{{ eos_token }}" >own/chat_template.jinja
  $ changed() { # FILE CONTENT
  >     echo '{"eos_token":"0"}' >own/tokenizer_config.json
  >     rm -rf own/additional_chat_templates
  >     plan -t own --chat tokenizer
  >     mkdir -p own/additional_chat_templates
  >     echo "$2" >"own/$1"
  >     leat pack --run run --part 1
  > }
  $ changed tokenizer_config.json '{"eos_token":"1"}'
  leat: the run in */run was planned with another chat template, or other special tokens beside it; to plan it anew, remove the folder */run (glob)
  [1]
  $ changed additional_chat_templates/tool_use.jinja "$one"
  leat: the run in */run was planned with another chat template, or other special tokens beside it; to plan it anew, remove the folder */run (glob)
  [1]
  $ changed chat_template.jinja "$two"
  leat: the run in */run was planned with another chat template, or other special tokens beside it; to plan it anew, remove the folder */run (glob)
  [1]

What is learned belongs to the plan, to what a stopped run goes on with, and to the metadata.

  $ cp b.jinja a.jinja
  $ plan -t bytes --chat a.jinja --learn last --learn-end no
  $ leat pack --run run --part 1 --learn last
  leat: --learn belongs to the plan of a run: all parts share it (leat pack --help shows how)
  [2]
  $ leat pack --run run --parts 2 -t bytes --chat a.jinja --learn all chat.jsonl
  leat: the run in */run was planned with "learn 1", not with "learn 3": give the same options; to plan it anew, remove the folder */run (glob)
  [1]
  $ for part in 1 2; do leat pack --run run --part $part >/dev/null; done
  $ leat merge -o learned run >/dev/null
  $ leat info learned | grep learn
  learned
    learned     180 of 1,191 tokens are learned (assistant 180); 0 conversations have none
    leat.learn = last
    leat.learn_end = no
  $ leat pack -t bytes -o whole --force --chat a.jinja --learn last --learn-end no chat.jsonl >/dev/null
  $ same learned whole
  $ leat pack -t bytes -o whole --resume --chat a.jinja --learn last --learn-end no chat.jsonl | grep -c finished
  1
  $ leat pack -t bytes -o whole --resume --chat a.jinja chat.jsonl
  leat: whole.leat already exists; choose another name or replace it (--force)
  [1]

So it is with pairs, weights and lengths.

  $ printf '{"q":"%d","a":"yes","w":0.5}\n' $(seq 60) >pairs.jsonl
  $ set -- -t bytes --prompt q --completion a --weight w --max-length 5 --too-long cut
  $ rm -rf run learned.* whole.*
  $ leat pack --run run --parts 2 "$@" pairs.jsonl >/dev/null
  $ leat pack --run run --part 1 --weight w
  leat: --weight belongs to the plan of a run: all parts share it (leat pack --help shows how)
  [2]
  $ leat pack --run run --parts 2 -t bytes --prompt q --completion a --max-length 5 pairs.jsonl
  leat: the run in */run was planned with "max-length 5, too-long 1", not with "max-length 5, too-long 0": give the same options; to plan it anew, remove the folder */run (glob)
  [1]
  $ for part in 1 2; do leat pack --run run --part $part >/dev/null; done
  $ leat merge -o learned run >/dev/null
  $ leat info learned | grep -e prompt -e completion -e weight -e max_ -e too_
    leat.completion = a
    leat.max_length = 5
    leat.prompt = q
    leat.too_long = cut
    leat.weight = w
  $ leat pack -o whole "$@" pairs.jsonl | grep cut
  51 documents of more than 5 tokens were cut.
  $ same learned whole
  $ leat pack -o whole --resume "$@" pairs.jsonl | grep -c finished
  1
  $ leat pack -o whole --resume -t bytes --prompt q --completion a pairs.jsonl
  leat: whole.leat already exists; choose another name or replace it (--force)
  [1]

What contradicts itself is refused.

  $ leat pack -t bytes -o no --prompt q --text a pairs.jsonl
  leat: --text and --prompt cannot be combined (leat pack --help lists the options)
  [2]
  $ leat pack -t bytes -o no --prompt q --chat a.jinja --messages a pairs.jsonl
  leat: --messages and --prompt cannot be combined (leat pack --help lists the options)
  [2]
  $ leat pack -t bytes -o no --prompt q --mask-field a pairs.jsonl
  leat: --mask-field and --prompt cannot be combined (leat pack --help lists the options)
  [2]
  $ leat pack -t bytes -o no --alpaca --chat a.jinja pairs.jsonl
  leat: --chat and --alpaca cannot be combined (leat pack --help lists the options)
  [2]
  $ leat pack -t bytes -o no --prompt q --completion b pairs.jsonl
  leat: pairs.jsonl: no member "b" in the first 60 records; they have "q", "a", "w"; name the one that holds the completion (--prompt NAME, --completion NAME)
  [1]
  $ leat pack -t bytes -o no --text q --too-long cut pairs.jsonl
  leat: --too-long needs --max-length (leat pack --help lists the options)
  [2]
  $ leat pack -t bytes -o no --text q --max-length 5 --too-long split pairs.jsonl
  leat: only a conversation has turns to be split between: reject or cut what is too long
  [2]
  $ leat pack -t bytes -o no --prompt q --chat a.jinja --max-length 5 --too-long split pairs.jsonl
  leat: only a conversation has turns to be split between: reject or cut what is too long
  [2]
  $ leat pack -t bytes -o no --text q --max-length 1 pairs.jsonl
  leat: a length of 1 leaves no room for the tokens before and after a document
  [2]
  $ echo text >a.txt
  $ leat pack -t bytes -o no --prompt q a.txt
  leat: a.txt has no fields with pairs: it is a text, neither JSON nor a table
  [2]
  $ leat pack -t bytes -o no --weight w a.txt
  leat: a.txt has no fields for weights: it is a text, neither JSON nor a table
  [2]
  $ leat pack -t bytes -o no --prompt q --completion a --dry-run pairs.jsonl | grep first
  The first completion: yes

Without conversations these options mean nothing.

  $ leat pack -t bytes -o no --learn last chat.jsonl
  leat: --learn is for conversations: add --chat FILE or --chat tokenizer (leat pack --help shows how)
  [2]
  $ leat pack -t bytes -o no --message-weight weight chat.jsonl
  leat: --message-weight is for conversations: add --chat FILE or --chat tokenizer (leat pack --help shows how)
  [2]
  $ leat pack -t bytes -o no --chat a.jinja --learn answer chat.jsonl
  leat: --learn cannot be "answer", only one of: assistant, last, final, all (leat pack --help lists the options)
  [2]
