show.t: leat show shows what a training step reads: tokens of documents and of samples, with their marks.

  $ printf '%s\n' '{"text":"one two three"}' '{"text":""}' '{"text":"four five six seven eight nine ten\n"}' >d.jsonl
  $ leat pack -o d -t gpt2 d.jsonl >/dev/null
  $ plain() { sed 's/┊/:/; s/⇠/<-/; s/⇥/\\t/; s/│/|/g; s/└─/--/; s/→/->/g; s/⟦/[/g; s/⟧/]/g; s/↵/\\n/g'; }

The marks are shown in ASCII here, and what they mean only once.

  $ leat show d --document 2 | plain
  d
  |four| five| six| seven| eight| nine| ten|\n
  |[<|endoftext|>]
  -- document 2, d.jsonl:37; 9 tokens
  
  | begins a token, : one whose label has no loss, <- what a token has of the character before it; [...] is a special token, \n a newline, \t a tab, \x0d a control character or a byte that is no character
  $ leat show d --tokens 2:8 | plain | sed '/begins a token/d'
  d
  | three|[<|endoftext|>]
  -- document 0 from its token 2 on, d.jsonl:0; 2 tokens
  |[<|endoftext|>]
  -- document 1, d.jsonl:25; 1 token
  |four| five| six
  -- document 2, d.jsonl:37; 3 tokens
  
  $ leat show d --document 0 --json
  {"name": "d", "length": 4, "padding": 0, "ids": [505, 734, 1115, 50256], "tokens": ["one", " two", " three", "<|endoftext|>"], "documents": [{"document": 0, "at": 0, "tokens": 4, "first": 0, "input": "d.jsonl", "offset": 0, "id": null}]}
  $ leat show --source d --order sequential --seq-len 6 --step 0 --batch 2 | plain | sed '/begins a token/d'
  sample 0: position 0, row 0, epoch 0
  |one| two| three|[<|endoftext|>]
  -- document 0 of d, d.jsonl:0; places 0:4, positions 0:4, 4 with loss
  |[<|endoftext|>]
  -- document 1 of d, d.jsonl:25; places 4:5, positions 0:1, 1 with loss
  |four|-> five
  -- document 2 of d, d.jsonl:37; places 5:6, positions 0:1, 1 with loss
  
  sample 1: position 1, row 1, epoch 0
  | five| six| seven| eight| nine| ten|->\n
  -- document 2 of d from its token 1 on, d.jsonl:37; places 0:6, positions 0:6, 6 with loss
  
  $ printf 'a text' | leat show -t gpt2 -t bytes | plain | sed '/begins a token/d'
  gpt2: 2 tokens, 0.33 tokens per byte, 3.00 bytes per token
  bytes: 6 tokens, 1.00 tokens per byte, 1.00 bytes per token
  
  gpt2                                               bytes
  |a| text                                           |a| |t|e|x|t
  

Wrong options are refused.

  $ leat show
  leat: say what to show: --sample or --step (of a plan), --document or --tokens (of NAME), or --tokenizer (of a text) (leat show --help shows how)
  [2]
  $ leat show d
  leat: say what to show: --sample or --step (of a plan), --document or --tokens (of NAME), or --tokenizer (of a text) (leat show --help shows how)
  [2]
  $ leat show d --document 1 --tokens 0:2
  leat: --document and --tokens cannot be combined (leat show --help lists the options)
  [2]
  $ leat show d --document 9
  leat: no document 9: the dataset has 3, numbered from 0
  [1]
  $ leat show d --tokens 0:9999
  leat: the dataset has 14 tokens, numbered from 0: 0:9999 reaches past the end
  [1]
  $ leat show --document 1
  leat: --document and --tokens need the NAME of a dataset (leat show --help shows how)
  [2]
  $ leat show d --tokens x
  leat: --tokens: "x" is not a number; write it like 12, 1.5K or 64Ki (leat show --help shows how)
  [2]
  $ leat show d --sample 0
  leat: --sample and --step take the plan's sources from --source or --plan, not from NAME (leat show --help shows how)
  [2]
  $ leat show d --tokens 0:1 -t gpt2 -t bytes
  leat: several tokenizers are compared on a text only (leat show --help shows how)
  [2]
  $ leat show d --document 0 --mask-first
  leat: --mask-first needs --sample or --step: it applies to rows of a plan (leat show --help shows how)
  [2]
  $ printf ab | leat show -t gpt2 --learned
  leat: --learned needs --document, --tokens, --sample or --step: a text alone is not learned (leat show --help shows how)
  [2]
  $ leat show d --document 0 --pattern gpt2
  leat: --pattern needs --tokenizer (leat show --help lists the options)
  [2]
  $ printf ab | leat show -t gpt2 --pattern llama3
  leat: the built-in gpt2 has its own pattern; leave out the pattern llama3 (--pattern NAME)
  [2]
  $ leat show --source none --seq-len 4 --sample 0
  leat: cannot open none.leat: No such file or directory; no dataset in this folder has a similar name
  [1]
  $ source='--source d --order sequential --seq-len 6'
  $ leat show $source --step 1
  leat: --step needs --batch (leat show --help lists the options)
  [2]
  $ leat show $source --step 1 --batch x
  leat: --batch: "x" is not a schedule B,B@STEP,... with increasing steps (leat show --help shows how)
  [2]
  $ leat show $source --step 1 --batch 3 --row 3:1
  leat: --row: "3:1" ends before it begins (leat show --help shows how)
  [2]
  $ leat show $source --step 0 --batch 2 --row 2
  leat: the batch has 2 rows, numbered from 0
  [1]
  $ leat show $source --step 0 --batch 2 --rank 0
  leat: --rank needs --world (leat show --help lists the options)
  [2]
  $ leat show $source --step 0 --batch 2 --world 2
  leat: --world needs --rank (leat show --help lists the options)
  [2]
  $ leat show $source --step 0 --batch 3 --rank 0 --world 2
  leat: a global batch of 3 rows does not divide equally among 2 ranks; the nearest size that does is 2
  [2]
  $ leat show $source --step 0 --batch 2 --balance attention
  leat: --balance needs --rank (leat show --help lists the options)
  [2]
  $ leat show $source --sample 1 --row 0
  leat: --row needs --step (leat show --help lists the options)
  [2]
  $ leat show $source --sample 1 --skip 1:2
  leat: sample 1 is skipped by the plan
  [1]
  $ leat show $source --epochs 1 --sample 999
  leat: the plan ends before position 999
  [1]

A rank of the last batch that has no row is told where the plan ends.

  $ leat show $source --epochs 1 --step 0 --batch 64 --rank 3 --world 4
  leat: the plan ends before position 48
  [1]

Options of a plan apply to its rows alone.

  $ for given in '--source d' '--plan p' '--skip 1:2' '--epochs 1' '--order fit'; do
  >     leat show d --document 0 $given || leat show -t gpt2 /dev/null $given || echo "[$?]"
  > done
  leat: --source needs --sample or --step: it applies to rows of a plan (leat show --help shows how)
  leat: --source needs --sample or --step: it applies to rows of a plan (leat show --help shows how)
  [2]
  leat: --plan needs --sample or --step: it applies to rows of a plan (leat show --help shows how)
  leat: --plan needs --sample or --step: it applies to rows of a plan (leat show --help shows how)
  [2]
  leat: --skip needs --sample or --step: it applies to rows of a plan (leat show --help shows how)
  leat: --skip needs --sample or --step: it applies to rows of a plan (leat show --help shows how)
  [2]
  leat: --epochs needs --sample or --step: it applies to rows of a plan (leat show --help shows how)
  leat: --epochs needs --sample or --step: it applies to rows of a plan (leat show --help shows how)
  [2]
  leat: --order needs --sample or --step: it applies to rows of a plan (leat show --help shows how)
  leat: --order needs --sample or --step: it applies to rows of a plan (leat show --help shows how)
  [2]

A Parquet file is read only to be packed.

  $ printf PAR1 >x.parquet
  $ leat show -t gpt2 x.parquet
  leat: x.parquet is a Parquet file, which is read only to be packed
  [1]
  $ leat encode -t gpt2 x.parquet
  leat: x.parquet is a Parquet file, which is read only to be packed
  [1]

A file may not say its pattern. Beside others, the pattern that is given is that of those that need one.

  $ for byte in $(seq 0 255); do
  >     echo "$(printf "\\$(printf %03o "$byte")" | base64) $byte"
  > done >mine.tiktoken
  $ leat show d --tokens 0:2 -t mine.tiktoken
  leat: mine.tiktoken: neither the file nor its name says which pattern splits text; choose one of gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base, o200k_harmony, llama3, llama4, qwen, qwen3_5, kimi (--pattern NAME)
  [2]
  $ leat show d --tokens 0:2 -t mine.tiktoken --pattern gpt2 --json | grep -o '"ids": [^]]*]'
  "ids": [505, 734]
  $ leat show $source --sample 0 -t mine.tiktoken
  leat: mine.tiktoken: neither the file nor its name says which pattern splits text; choose one of gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base, o200k_harmony, llama3, llama4, qwen, qwen3_5, kimi (--pattern NAME)
  [2]
  $ leat show $source --sample 0 -t mine.tiktoken --pattern gpt2 --json | grep -o '"ids": [^]]*]'
  "ids": [505, 734, 1115, 50256, 50256, 14337]
  $ printf ab | leat show -t mine.tiktoken
  leat: mine.tiktoken: neither the file nor its name says which pattern splits text; choose one of gpt2, r50k_base, p50k_base, p50k_edit, cl100k_base, o200k_base, o200k_harmony, llama3, llama4, qwen, qwen3_5, kimi (--pattern NAME)
  [2]
  $ printf ab | leat show -t mine.tiktoken -t gpt2 --pattern llama3 --json | grep -o '"ids": [^]]*]'
  "ids": [97, 98]
  "ids": [397]

A page is written whole or not at all, replaces only a page, and no device.

  $ leat show d --document 1 --json --html x
  leat: --json and --html cannot be combined (leat show --help lists the options)
  [2]
  $ leat show d --document 1 --html /nowhere/x
  leat: cannot write /nowhere/x: cannot create /nowhere/x.partial: No such file or directory
  [1]
  $ leat show d --document 1 --html s3://b/x
  leat: s3://b/x is a URL: write to a local name first; `leat push` copies datasets to a bucket
  [1]
  $ leat show d --document 1 --html /dev/full
  leat: cannot write /dev/full: No space left on device; free some space or inodes (df, df -i), or write to another disk
  [1]
  $ test -c /dev/full
  $ leat show $source --epochs 1 --sample 999 --html left.html
  leat: the plan ends before position 999
  [1]
  $ echo left*
  left*
  $ cksum d.leat >before
  $ leat show d --document 1 --html d.leat
  leat: d.leat already exists, and is not a page: choose another name
  [1]
  $ cksum d.leat | cmp - before
  $ printf '<!DOCTYPE html>\nold\n' >left.html
  $ leat show $source --epochs 1 --sample 999 --html left.html
  leat: the plan ends before position 999
  [1]
  $ cat left.html
  <!DOCTYPE html>
  old
  $ leat show d --document 1 --html left.html
  left.html: 1 row, * KiB. (glob)
  $ grep old left.html
  [1]
