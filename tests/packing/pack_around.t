pack_around.t: a tokenizer.json's post-processor gives the defaults of --begin and --end: a frame of one token on each
side gives both, an end alone gives --end, a begin alone (Llama, Gemma) gives --begin, which is said; --end or
tokenizer_config.json have the last word. Before, BERT's [SEP] was not known to end a text (exit code 2), and documents
of Llama had no begin token, which tokenizers gives their texts.

  $ piece() { # TOKEN
  >     printf '{"SpecialToken":{"id":"%s","type_id":0}}' "$1"
  > }
  $ tokenizer_of() { # POST-PROCESSOR
  >     printf '{"post_processor":%s,"pre_tokenizer":{"type":"WhitespaceSplit"},"model":{"type":"WordLevel","vocab":
  >         {"[UNK]":0,"[CLS]":1,"[SEP]":2,"a":3,"b":4},"unk_token":"[UNK]"}}' "$1" >tokenizer.json
  > }
  $ template_of() { # PIECE...: with commas between
  >     tokenizer_of '{"type":"TemplateProcessing","single":['"$1"'],"pair":[],"special_tokens":{"[CLS]":{"id":"[CLS]",
  >         "ids":[1],"tokens":["[CLS]"]},"[SEP]":{"id":"[SEP]","ids":[2],"tokens":["[SEP]"]}}}'
  > }
  $ text='{"Sequence":{"id":"A","type_id":0}}'
  $ printf '{"text":"a b"}\n{"text":"b"}\n' >texts.jsonl
  $ pack() { # OPTION...: and shows what is said of the tokens around documents, and the tokens
  >     leat pack -t . -o out --force "$@" texts.jsonl >said || return
  >     grep token said | grep -v ^out: | grep -v tokens/s
  >     leat cat out --tokens : --ids
  > }

BERT frames a text.

  $ tokenizer_of '{"type":"BertProcessing","sep":["[SEP]",2],"cls":["[CLS]",1]}'
  $ pack
  Documents have 1 ([CLS]) before them and 2 ([SEP]) after them, as single texts of this tokenizer do (its post-processor).
  1 3 4 2 1 4 2
  $ leat info out --json | grep -o '"begin": [^,]*'
  "begin": 1
  $ leat cat out --document 0
  a b (no-eol)
  $ leat pack -t . -o out --force --dry-run texts.jsonl | grep Documents
  Documents have 1 ([CLS]) before them and 2 ([SEP]) after them, as single texts of this tokenizer do (its post-processor).
  $ pack --begin none
  3 4 2 4 2
  $ pack --end none
  leat: warning: documents have no begin token, since --end is given without --begin; --begin 1 adds the one that the tokenizer puts before single texts ([CLS])
  3 4 4
  $ pack --end none --begin none
  3 4 4
  $ pack --begin b
  4 3 4 2 4 4 2
  $ leat encode -t . --jsonl texts.jsonl
  3 4
  4

For a run in parts the plan says so, and not again each part; a run with other begin tokens is another run.

  $ leat pack -t . --run parts --parts 2 --end none texts.jsonl >/dev/null
  leat: warning: documents have no begin token, since --end is given without --begin; --begin 1 adds the one that the tokenizer puts before single texts ([CLS])
  $ leat pack --run parts --part 1 >/dev/null
  $ leat pack -t . --run run --parts 2 --begin none texts.jsonl >/dev/null
  $ leat pack -t . --run run --parts 2 texts.jsonl
  leat: the run in */run was planned with "begin none", not with "begin 1": give the same options; to plan it anew, remove the folder */run (glob)
  [1]
  $ sed 's/^begin -1$/begin -12/' run/leat-run.inputs >other && mv other run/leat-run.inputs
  $ leat pack -t . --run run --parts 2 --begin none texts.jsonl
  leat: */run/leat-run.inputs is damaged: remove it and plan the run again in this folder, with the same arguments, which writes it anew (glob)
  [1]
  $ rm run/leat-run.inputs
  $ leat pack -t . --run run --parts 2 --begin none texts.jsonl >/dev/null
  $ grep '^begin' run/leat-run.inputs
  begin -1

A configuration decides what ends a document; a begin token belongs to its own end.

  $ echo '{"eos_token":"b"}' >tokenizer_config.json
  $ pack
  Single texts of this tokenizer have 1 ([CLS]) before them and 2 ([SEP]) after them (its post-processor); documents have what --begin and --end say.
  3 4 4 4 4
  $ echo '{"eos_token":"[SEP]"}' >tokenizer_config.json
  $ pack
  Documents have 1 ([CLS]) before them and 2 ([SEP]) after them, as single texts of this tokenizer do (its post-processor).
  1 3 4 2 1 4 2
  $ template_of "$(piece '[CLS]'),$text"
  $ pack
  Documents have 1 ([CLS]) before them, as single texts of this tokenizer do (its post-processor).
  1 3 4 2 1 4 2
  $ pack --end b
  leat: warning: documents have no begin token, since --end is given without --begin; --begin 1 adds the one that the tokenizer puts before single texts ([CLS])
  3 4 4 4 4
  $ rm tokenizer_config.json
  $ pack
  leat: . does not say which token ends a document: use --end ID or --end none; it may be one of 2 ([SEP]) (leat pack --help shows how)
  [2]
  $ template_of "$text,$(piece '[SEP]')"
  $ pack
  Documents have 2 ([SEP]) after them, as single texts of this tokenizer do (its post-processor).
  3 4 2 4 2

More than one token, one that is not there, no text, or what cannot be understood, is no default.

  $ for other in 7 "$text,$(piece '[SEP]'),$(piece '[SEP]')" "$text,$(piece nosuch)" "$(piece '[SEP]')"; do
  >     template_of "$other"
  >     pack || echo "[$?]"
  >     echo '{"eos_token":"[SEP]"}' >tokenizer_config.json
  >     pack
  >     rm tokenizer_config.json
  > done 2>&1 | sort | uniq -c
        4 3 4 2 4 2
        4 The tokenizer's post-processor puts something other than one token around single texts; documents do not get it.
        4 [2]
        4 leat: . does not say which token ends a document: use --end ID or --end none; it may be one of 2 ([SEP]) (leat pack --help shows how)

Tokens go past the page cache, where the disk can.

  $ on_disk=$(mktemp -d "${LEAT_TEST_DISK:-/tmp}/leat-direct-XXXXXX")
  $ awk 'BEGIN { for (i = 0; i < 150000; i++) printf "{\"text\":\"document %d with text\"}\n", i }' >many.jsonl
  $ leat pack -o "$on_disk/many" -t bytes --write direct many.jsonl >said
  $ ! dd if=/dev/zero of="$on_disk/direct" bs=1M count=1 oflag=direct 2>/dev/null ||
  >     grep -qx '[1-9][0-9.]* MiB of tokens went to the disk directly\.' said
  $ rm -r "$on_disk"
