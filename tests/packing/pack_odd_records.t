pack_odd_records.t: records that few inputs have. A message with the text of a special token is rejected where the
tokenizer cannot encode that as ordinary text; so is a conversation that a template makes much longer. Tools that take
more memory than a thread has are read nevertheless. White space that is too long for memory is no record, and what
stands behind it in a broken array is named. Rejects of a run that was killed while it named them are kept.

  $ python3 -c 'import jinja2' 2>/dev/null || exit 80
  $ . "$SOURCES"/tests/cli/datasets.sh
  $ tiny=$LEAT_BUILD/tiny/leat
  $ reasons() { # NAME
  >     sed 's/.*"reason":"\(.*\)","record":.*/\1/' "$1.rejects.jsonl"
  > }

The tokens of this tokenizer are no bytes; one of sentencepiece has a mark where the text has a space.

  $ cat >words.json <<'END'
  > {"version":"1.0","pre_tokenizer":{"type":"WhitespaceSplit"},"added_tokens":[{"id":3,"content":"<end>","special":true,
  > "single_word":false,"lstrip":false,"rstrip":false,"normalized":false}],"model":{"type":"WordLevel","vocab":
  > {"<unk>":0,"hello":1,"there":2},"unk_token":"<unk>"}}
  > END
  $ { echo '{"normalizer":{"type":"Replace","pattern":{"String":" "},"content":"\u2581"},'
  >   sed '1s/^{//; s/<end>/\\u2581<end>/; s/"normalized":false/"normalized":true/; s/"pre_tok[^}]*},//' words.json
  > } >marks.json
  $ echo '{% for m in messages %}{{ m.content }} <end>{% endfor %}' >words.jinja
  $ cat >words.jsonl <<'END'
  > {"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":"there"}]}
  > {"messages":[{"role":"user","content":"hello <end>there"},{"role":"assistant","content":"there"}]}
  > END
  $ for tokenizer in words marks; do
  >     leat pack -t $tokenizer.json -o words --force --chat words.jinja --max-rejects 1 words.jsonl >/dev/null
  >     reasons words
  >     leat cat words --tokens : --ids
  >     leat pack -t $tokenizer.json -o words --force --chat words.jinja --special words.jsonl >/dev/null
  >     leat cat words --tokens : --ids
  > done
  a message has the text of a special token, which this tokenizer cannot encode as ordinary text exactly
  1 3 2 3
  1 3 2 3 1 3 2 3 2 3
  a message has the text of a special token, which this tokenizer cannot encode as ordinary text exactly
  1 3 2 3
  1 3 2 3 1 3 2 3 2 3

A template may make much of a conversation, and tools may be longer than what a thread has.

  $ echo '{% for m in messages %}{{ m.content * 9 }}{% endfor %}' >nine.jinja
  $ for length in 10 9000 5; do
  >     awk -v n=$length 'BEGIN { printf "{\"messages\":[{\"role\":\"user\",\"content\":\""
  >                               while (n-- > 0) printf "x"; print "\"}]}" }'
  > done >nine.jsonl
  $ "$tiny" pack -t bytes -o nine --chat nine.jinja --max-rejects 1 --memory 1GiB nine.jsonl >/dev/null
  leat: warning: nothing that ends a turn is learned: after an answer the chat template writes no token of bytes; take a chat template that ends answers with one, or a tokenizer that has it (--chat FILE, or -t SPEC)
  leat: warning: training learns no token of these conversations: they have no message of the role assistant, or the options leave out what it says
  $ reasons nine
  the rendered conversation is longer than 8 MiB
  $ echo '{{ tools | length }}{{ tools[0].a | length }}{{ messages[0].content }}' >tools.jinja
  $ awk 'BEGIN { printf "{\"messages\":[{\"role\":\"user\",\"content\":\"c\"}],\"tools\":\"[{\\\"a\\\":\\\""
  >              for (i = 0; i < 300000; i++) printf "ten bytes "; print "\\\"}]\"}" }' >tools.jsonl
  $ leat pack -t bytes -o tools --chat tools.jinja --memory 320MiB --threads 9 tools.jsonl >/dev/null
  leat: warning: training learns no token of these conversations: they have no message of the role assistant, or the options leave out what it says
  $ leat cat tools --tokens :
  13000000c (no-eol)

White space may be long, between lines and in an array.

  $ blank=$(printf '%30000s' '')
  $ for line in '{"text":"a","loss":[]}' "$blank" '{"text":"b","loss":[[0,1]]}' "$blank$blank"; do
  >     echo "$line"
  > done >blank.jsonl
  $ "$tiny" pack -t bytes -o blank --mask-field loss blank.jsonl >/dev/null
  $ leat cat blank --tokens : --ids
  97 256 98 256
  $ printf '[{"text":"a"},%s%s ,{"text":"b"}]' "$blank" "$blank" >array.json
  $ "$tiny" pack -t bytes -o array --force array.json >/dev/null
  leat: 1 input was cut off or broken, and packed as far as it was readable: array.json, at byte 60,015: its JSON array is broken: an object ({) is expected; 14 bytes were not read
  leat: when it is whole again, start over with --force; --allow-truncated counts that as success: leat pack --resume --allow-truncated -t bytes -o array array.json
  [1]
  $ leat cat array --tokens : --ids
  97 256

A process that is killed while it names its rejects leaves them with two names.

  $ for i in 1 2 3 4 5; do
  >     printf '{"text":"%s"}\n{"none":%s}\n' $i $i
  > done >bad.jsonl
  $ leat pack -t bytes -o whole --max-rejects 5 bad.jsonl >/dev/null
  $ leat pack -t bytes -o twice --max-rejects 2 bad.jsonl
  leat: 5 of 10 records were rejected, more than allowed; twice.rejects.jsonl lists them with the reasons, for example: the record has no "text"
  leat: nothing is lost: the same command with --resume and a larger --max-rejects continues from there: leat pack --resume --max-rejects 10 -t bytes -o twice bad.jsonl
  leat: to give it up, remove what it left: rm -r twice.partial.* twice.rejects.jsonl
  [4]
  $ ln twice.rejects.jsonl twice.partial.rejects
  $ leat pack -t bytes -o twice --max-rejects 5 --resume bad.jsonl >/dev/null
  $ cmp twice.rejects.jsonl whole.rejects.jsonl
  $ identity twice whole | uniq -c
        2 2cfadaa08637bf7988bf2c5decafe466
  $ ls twice.*
  twice.leat
  twice.rejects.jsonl
  twice.tokens
