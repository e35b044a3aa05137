pack.t: leat pack as it is typed: help, summaries, JSON, what is refused and how that is said.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ printf '{"text":"hello <|endoftext|>","id":3}\nbad\n\n{"text":"y"}\n' >a.jsonl
  $ printf 'a text' >b.txt
  $ leat pack -t bytes -o one --max-rejects 1 a.jsonl b.txt
  one: 29 tokens in 3 documents from 2 inputs, 26 bytes of text in *. (glob)
  * of text, * tokens/s; memory at most *. (glob)
  1 string of special tokens in the texts became ordinary text (--special makes them tokens).
  1 record was rejected: see one.rejects.jsonl.
  $ cat one.rejects.jsonl
  {"input":"a.jsonl","offset":38,"line":2,"reason":"not valid JSON: an object ({) is expected at byte 1","record":"bad"}
  $ leat verify one >/dev/null
  $ leat find one --id 3 | grep input
  input     a.jsonl (#0)
  $ ls one*
  one.leat
  one.rejects.jsonl
  one.tokens
  $ leat pack -t gpt2 -o two --max-rejects 100% --json a.jsonl
  {"output": "two", "was_finished": false, "inputs": 1, "documents": 2, "tokens": 11, "learned": null, "text_bytes": 20, "rejected": 1, "deduplicated": 0, "splits": [], "special_strings": 1, "truncated_inputs": 0, "skipped": 0, "skipped_files": [], "hub_splits": [], "replaced": 0, "replaced_in": [], "damaged": [], "rejected_inputs": [], "not_json": 0, "kept_out": 0, "too_long": 0, "row_groups": 0, "seconds": *, "mb_per_s": *, "tokens_per_s": *, "serial_share": *, "stream_share": *, "direct_bytes": 0, "peak_memory": *} (glob)
  $ leat pack -t gpt2 -o special --max-rejects 34% --special a.jsonl
  special: 6 tokens in 2 documents from 1 input, 20 bytes of text in *. (glob)
  * of text, * tokens/s; memory at most *. (glob)
  1 string of special tokens in the texts became these tokens.
  1 record was rejected: see special.rejects.jsonl.
  $ leat cat special --document 0
  hello <|endoftext|> (no-eol)

The help tells the options, and has an example.

  $ leat pack --help >help
  $ for option in output tokenizer format text id end begin special invalid-utf8 threads memory write max-rejects \
  >     allow-truncated resume part shuffle dedup split force progress json; do
  >     grep -q -- "--$option" help || echo "no $option"
  > done
  $ grep ^example help
  example:

Standard input gives the same, but for its name; a name with an ending is the name without it.

  $ leat pack -t bytes -o three --max-rejects 1 - <a.jsonl >/dev/null
  $ leat pack -t bytes -o four --max-rejects 1 a.jsonl >/dev/null
  $ cmp three.tokens four.tokens
  $ leat pack -t bytes -o five.leat --max-rejects 1 a.jsonl --progress never >/dev/null
  $ same four five

An empty input once became an empty dataset without a word; a part of a run may well have nothing.

  $ : >nothing.jsonl
  $ leat pack -t bytes -o nothing nothing.jsonl >/dev/null
  leat: warning: no document was found in 1 input
  $ leat pack -t bytes --run parts --parts 2 nothing.jsonl >/dev/null
  $ leat pack --run parts --part 1 >/dev/null

A record that is no text for its many malformed parts is in the list; it once showed nothing.

  $ { awk 'BEGIN { for (i = 0; i < 9; i++) printf "{\"text\":\"%0900d\"}\n", i }' && printf '{"text":"' &&
  >   printf '\377%.0s' $(seq 18) && echo '"}'; } >binary.jsonl
  $ leat pack -t bytes -o binary --max-rejects 1 binary.jsonl >/dev/null
  $ grep -o '"record":"{\\"text\\":\\"' binary.rejects.jsonl
  "record":"{\"text\":\"

What was read is more than what a dataset has whose copies or splits were left out of it, and is called so.

  $ printf '{"text":"1234567890"}\n{"text":"1234567890"}\n' >copies.jsonl
  $ leat pack -t bytes -o copies --dedup copies.jsonl | grep copies
  copies: 11 tokens in 1 document from 1 input, 20 bytes of text read in *. (glob)
  $ leat pack -t bytes -o copies --force --split train=0.5 copies.jsonl | grep ^copies:
  copies: 22 tokens in 2 documents from 1 input, 20 bytes of text read in *. (glob)
  $ leat pack -t bytes -o copies --force copies.jsonl 2>/dev/null | grep ^copies:
  copies: 22 tokens in 2 documents from 1 input, 20 bytes of text in *. (glob)

Ids of a large vocabulary are four bytes wide: what is packed is what is encoded.

  $ printf 'na\303\257ve \346\227\245\346\234\254\350\252\236 \360\237\230\200 antidisestablishmentarianism\n' >wide.txt
  $ leat pack -t o200k_base -o wide wide.txt wide.txt >/dev/null
  leat: warning: wide.txt repeats an earlier input: its documents are packed twice
  $ leat encode -t o200k_base wide.txt
  1503 9954 737 17428 40909 88038 4624 129901 376 160388 21203 2367 198
  $ leat cat wide --document 1 --ids
  1503 9954 737 17428 40909 88038 4624 129901 376 160388 21203 2367 198 199999
  $ leat cat wide --document 1
  na\xc3\xafve \xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e \xf0\x9f\x98\x80 antidisestablishmentarianism (esc)

A mark of the byte order is no text, also before a record that is taken in parts (here, by small pieces, long ones).

  $ printf '{"text":"%040000d"}\n{"text":"b"}\n' 7 >without.jsonl
  $ printf '\357\273\277' | cat - without.jsonl >with.jsonl
  $ for name in without with; do "$LEAT_BUILD"/tiny/leat pack -t bytes -o $name $name.jsonl >/dev/null; done
  $ cmp with.tokens without.tokens

Arguments are checked.

  $ leat pack a.jsonl
  leat: --output NAME is missing: the dataset to write: NAME.tokens and NAME.leat (leat pack --help shows how)
  [2]
  $ leat pack -o x
  leat: INPUT... is missing: leat pack INPUT... (leat pack --help shows how)
  [2]
  $ leat pack -o x --treads 3 a.jsonl
  leat: unknown option --treads; did you mean --threads? (leat pack --help lists the options)
  [2]
  $ leat pack -t bytes -o nosuch/x a.jsonl
  leat: the folder for nosuch/x.leat does not exist
  [1]
  $ leat pack -t bytes -o x --memory 1Mi a.jsonl
  leat: 1.0 MiB of memory is too little for the tokenizer and the texts of one thread; allow at least * MiB (--memory SIZE) (glob)
  [2]
  $ leat pack -t bytes -o x --memory 10KiB --mask-field loss a.jsonl
  leat: 10.0 KiB of memory is too little for the tokenizer, a whole record with its mask and the texts of one thread; allow at least * MiB (--memory SIZE) (glob)
  [2]
  $ for bound in 101% x -1 1.23456%; do
  >     leat pack -o x --max-rejects=$bound a.jsonl || echo "[$?]"
  > done
  leat: --max-rejects: "101%" is not a percentage from 0 to 100 with up to four digits after the point (leat pack --help lists the options)
  [2]
  leat: --max-rejects: "x" is not a number; write it like 12, 1.5K or 64Ki (leat pack --help lists the options)
  [2]
  leat: --max-rejects: "-1" is not a number; write it like 12, 1.5K or 64Ki (leat pack --help lists the options)
  [2]
  leat: --max-rejects: "1.23456%" is not a percentage from 0 to 100 with up to four digits after the point (leat pack --help lists the options)
  [2]
  $ leat pack -t bytes -o x --part 1/2 --shuffle 1 a.jsonl
  leat: shuffling, deduplicating and splitting need the whole run: use them when merging its shares
  [2]
  $ leat pack -t bytes -o x - -
  leat: standard input (-) is given twice
  [2]
  $ leat pack -t bytes -o x --part 1/2 -
  leat: standard input cannot be divided into shares
  [2]
  $ printf hello | leat pack -t bytes -o x -
  leat: 1 of 1 record was rejected, more than allowed; x.rejects.jsonl lists them with the reasons, for example: not valid JSON: an object ({) is expected at byte 1
  leat: standard input is read as JSON lines; --format text packs it as one text
  [4]
  $ cp b.txt b.xyz
  $ leat pack -o x b.xyz
  leat: b.xyz: unknown suffix (.jsonl, .jsonlines, .ndjson, .json, .txt, .md, .csv, .tsv, each also with .zst, .gz, .xz, .bz2 or .lz4 after it; .parquet or .pq); choose the format jsonl, text, parquet, csv or tsv (--format NAME)
  [2]

A token is named by its number or its text. A word that looks like a keyword was one, too: `--end no` ended each
document with the token "no".

  $ leat pack -t bytes -o x --end 257 a.jsonl
  leat: --end 257: the tokenizer's ids end at 256 (leat pack --help shows how)
  [2]
  $ leat pack -t bytes -o x --end nosuch a.jsonl
  leat: --end: bytes has no token nosuch (leat pack --help shows how)
  [2]
  $ leat pack -t bytes -o x --end No a.jsonl
  leat: --end No looks like a keyword: --end none means no such token; give one of this text by its id (leat pack --help shows how)
  [2]
  $ leat pack -t gpt2 -o x --end no a.jsonl
  leat: --end no looks like a keyword: --end none means no such token; give one of this text by its id (leat pack --help shows how)
  [2]
  $ leat pack -t gpt2 -o x --begin false a.jsonl
  leat: --begin false looks like a keyword: --begin none means no such token; give one of this text by its id (leat pack --help shows how)
  [2]
  $ leat pack -t gpt2 -o named --end '<|endoftext|>' --max-rejects 100% a.jsonl >/dev/null
  $ leat info named --json | grep -o '"end": [0-9]*'
  "end": 50256
  $ leat pack -t nosuch -o x a.jsonl 2>&1 | grep -o 'unknown tokenizer "nosuch"'
  unknown tokenizer "nosuch"

A tokenizer.json may leave open which token ends a document.

  $ tokenizer_of() { # MEMBERS: one that knows a and b
  >     printf '{%s"model":{"type":"BPE","unk_token":"<unk>","vocab":{"a":0,"b":1},"merges":[]}}' "$1" >tokenizer.json
  > }
  $ flags='"special":true,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false'
  $ printf '{"text":"ab"}\n{"text":"axb"}\nbad\n{"text":"ba"}\n{"text":"x"}\n' >some.jsonl
  $ tokenizer_of ''
  $ leat pack -t ./tokenizer.json -o x some.jsonl
  leat: ./tokenizer.json does not say which token ends a document: use --end ID or --end none (leat pack --help shows how)
  [2]
  $ tokenizer_of "\"added_tokens\":[{\"id\":2,\"content\":\"</s>\",$flags},{\"id\":3,\"content\":\"<|im_end|>\",$flags}],"
  $ leat pack -t ./tokenizer.json -o x some.jsonl
  leat: ./tokenizer.json does not say which token ends a document: use --end ID or --end none; it may be one of 2 (</s>), 3 (<|im_end|>) (leat pack --help shows how)
  [2]
  $ ls | grep '^x'
  x.rejects.jsonl

What the tokenizer refuses and what is no JSON stand in their order.

  $ leat pack -t ./tokenizer.json -o x --end 2 --max-rejects 100% some.jsonl >/dev/null
  $ sed 's/.*"line":\([0-9]*\),"reason":"\(.*\)","record.*/\1 \2/' x.rejects.jsonl
  2 the text has a character that is not in the vocabulary, and neither is the unknown token \"<unk>\"
  3 not valid JSON: an object ({) is expected at byte 1
  5 the text has a character that is not in the vocabulary, and neither is the unknown token \"<unk>\"

A terminal shows the progress.

  $ awk 'BEGIN { for (i = 0; i < 200000; i++) print "{\"text\":\"a wheel, a mill, a river, and line", i, "\"}" }' >big.jsonl
  $ python3 -c 'import pty, sys; sys.exit(pty.spawn(sys.argv[1:]))' leat pack -t gpt2 -o bar --threads 1 big.jsonl \
  >     </dev/null >said
  $ tr '\r' '\n' <said | grep -o '%.* tokens/s' | tail -n 1
  %  * of 10.2 MiB  * tokens/s (glob)
  $ tr '\r' '\n' <said | grep -o 'bar: [0-9,]* tokens'
  bar: 3,085,828 tokens

The system tells the size of some texts as 0; once these were packed as empty ones.

  $ leat pack -t bytes -o version --end none --format text --json /proc/version >said
  $ grep -c "\"text_bytes\": $(cat /proc/version | wc -c)," said
  1
