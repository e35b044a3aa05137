pack_dry_run.t: leat pack --dry-run writes nothing and leaves nothing in the temporary folder. It shows inputs, the first
text and what to expect, which for a small corpus is what the run makes; and it finds a wrong field, a name that is
taken, a folder that is not there, a disk without room, conditions that no record holds, and an input that is cut off, of
which it once said nothing.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ mkdir temporary in
  $ export TMPDIR="$PWD/temporary"
  $ printf '\n{"text":"the first\\ntext","lang":"en"}\n{"text":"b"}\n' >in/a.jsonl
  $ printf '[\n {"text":"c"}]' >in/b.json
  $ gzip -c in/a.jsonl >in/c.jsonl.gz
  $ leat pack -t bytes -o out --dry-run in
  3 inputs, * bytes on disk: 3 jsonl (glob)
  The first text: the first text
  All of it: 36 tokens in 5 documents, 31 bytes of text; 1.161 tokens per byte.
  Expect about 36 tokens, 5.0 KiB for out, and * on this machine. (glob)
  $ leat pack -t bytes --dry-run --json in
  {"output": null, "dry_run": true, "inputs": 3, "bytes": *, "formats": {"jsonl": 3, "text": 0, "parquet": 0, "csv": 0, "tsv": 0}, "hub_splits": [], "skipped": 0, "skipped_files": [], "first_text": "the first text", "sample": {"whole": true, "documents": 5, "tokens": 36, "learned": null, "text_bytes": 31, "rejected": 0, "kept_out": 0, "too_long": 0, "truncated_inputs": 0, "damaged": [], "rejected_inputs": [], "values": 0, "unknown_share": 0.0, "seconds": *}, "tokens": 36, "dataset_bytes": 5144, "seconds": *} (glob)
  $ leat pack -t bytes -o real in >/dev/null
  $ leat info real | grep tokens
    tokens      36
    size        72 bytes of tokens, 5.0 KiB of index
                  tokens        documents    rejects  path
  document lengths in tokens: shortest 2, longest 15, mean 7.2
  $ cat real.leat real.tokens | wc -c
  5144

Ids and the tokenizer's file are in the index; both were once left out of what the dataset takes.

  $ printf '%s' '{"version":"1.0","model":{"type":"WordLevel","vocab":{"<unk>":0,"a":1},"unk_token":"<unk>"}}' >level.json
  $ for i in 10 11 12 13 14; do
  >     printf '{"text":"a","id":"<urn:uuid:c92f2f1a-0000-4000-8000-0123456789%s>"}\n' $i
  > done >ids.jsonl
  $ members dataset_bytes leat pack -t level.json --end none -o out --dry-run --json ids.jsonl
  "dataset_bytes": 5338
  $ leat pack -t level.json --end none -o ids ids.jsonl >/dev/null
  $ cat ids.leat ids.tokens | wc -c
  5338

A table's first text is its first row's.

  $ leat pack -t bytes -o out --dry-run --json --max-rejects 100% "$SOURCES"/tests/parquet/files/dictionary.parquet \
  >     2>/dev/null | grep -oF '"first_text": "page of \\'
  "first_text": "page of \\

What was on its way when the sample was stopped counts on both sides: 80,000,000 tokens are right, and 688,000,000
bytes, since a document takes 20 bytes of tokens, and in the index 56 and its id, of ten.

  $ yes '{"text":"a b c d e","id":"0123456789"}' | head -c $((39 * 8000000)) >even.jsonl
  $ leat pack -t bytes -o out --dry-run --json even.jsonl >expected
  $ grep -o '"whole": [a-z]*' expected
  "whole": false
  $ grep -o '"tokens": [0-9]*' expected | tail -n 1 | awk '{ printf "%.0f %%\n", $2 / 800000 }'
  100 %
  $ grep -o '"dataset_bytes": [0-9]*' expected | awk '{ printf "%.0f %%\n", $2 / 6880000 }'
  100 %
  $ rm even.jsonl

A wrong field is found, as by the run.

  $ leat pack -t bytes -o out --dry-run --text body in
  leat: in/a.jsonl: no member "body" in the first 2 records (nor in those of 2 other inputs); they have "text", "lang"; name the one that holds the text (--text NAME)
  [1]
  $ mkdir numbers
  $ sed 's/"text":"[^"]*"/"body":5/' in/a.jsonl >numbers/a.jsonl
  $ leat pack -t bytes -o out --dry-run --text body numbers
  leat: warning: no record of the sample would be packed
  leat: 2 of 2 records of the sample would be rejected, for example: {"input":"numbers/a.jsonl","offset":1,"line":2,"reason":"\"body\" is a number, not a string","record":"{\"body\":5,\"lang\":\"en\"}"}
  leat: warning: 1 input gave no document, since each of its records was rejected:
  leat:   numbers/a.jsonl (2 records): "body" is a number, not a string
  1 input, 35 bytes on disk: 1 jsonl
  The first text: none in the first record
  [4]
  $ leat pack -t bytes -o out --dry-run --max-rejects 100% --by lang in
  leat: 3 of 5 records of the sample would be rejected, for example: {"input":"in/a.jsonl","offset":40,"line":3,"reason":"the record has no \"lang\" to choose its dataset by","record":"{\"text\":\"b\"}"}
  leat: warning: 1 input gave no document, since each of its records was rejected:
  leat:   in/b.json (1 record): the record has no "lang" to choose its dataset by
  3 inputs, * bytes on disk: 3 jsonl (glob)
  The first text: the first text
  All of it: 30 tokens in 2 documents, 28 bytes of text; 1.071 tokens per byte.
  1 value of lang in it: a dataset for each.
  Expect about 30 tokens, 10.2 KiB for out, and * on this machine. (glob)

A tokenizer may not fit: it has hardly more than the bytes of these letters, or not these words. The run itself says the
first, too; it said nothing.

  $ for _ in $(seq 60); do
  >     printf '{"text":"\\u0e01\\u1200\\u1790\\u0f40\\ua000\\u1401\\u10d0\\u0531\\u13a0\\u1c5a"}\n'
  > done >odd.jsonl
  $ leat pack -t gpt2 -o out --dry-run --max-rejects 100% odd.jsonl >/dev/null
  leat: warning: a token of gpt2 has 1.04 bytes of this text on average, and less than 1.3 is rare: is it the right tokenizer, and is this text?
  $ leat pack -t gpt2 -o odd odd.jsonl >/dev/null
  leat: warning: a token of gpt2 has 1.04 bytes of this text on average, and less than 1.3 is rare: is it the right tokenizer, and is this text?
  $ leat pack -t bytes -o out --dry-run --max-rejects 100% odd.jsonl >/dev/null
  $ printf '%s' '{"version":"1.0","pre_tokenizer":{"type":"Whitespace"},"model":{"type":"BPE","vocab":{"<unk>":0,' \
  >     '"a":1},"merges":[],"unk_token":"<unk>"}}' >words.json
  $ yes '{"text":"a a a b"}' | head -n 400 >words.jsonl
  $ leat pack -t words.json --end none -o out --dry-run words.jsonl >/dev/null
  leat: warning: 25.0 % of the sample's tokens are words.json's unknown token: its vocabulary does not fit these texts

Of a larger vocabulary ids have 4 bytes; 4465 is the lower half of the unknown one.

  $ awk 'BEGIN { printf "{\"version\":\"1.0\",\"pre_tokenizer\":{\"type\":\"Whitespace\"},"
  >     printf "\"model\":{\"type\":\"WordLevel\",\"unk_token\":\"<unk>\",\"vocab\":{"
  >     for (i = 0; i < 70000; i++) printf "\"w%d\":%d,", i, i
  >     printf "\"a\":70000,\"<unk>\":70001}}}" }' >wide.json
  $ yes '{"text":"a w4465 a b"}' | head -n 400 >wide.jsonl
  $ leat pack -t wide.json --end none -o out --dry-run wide.jsonl >/dev/null
  leat: warning: 25.0 % of the sample's tokens are wide.json's unknown token: its vocabulary does not fit these texts

What --keep leaves nothing of is not made, and a name may be taken.

  $ leat pack -t bytes -o real --dry-run in
  leat: real.leat already exists; choose another name or replace it (--force)
  3 inputs, * bytes on disk: 3 jsonl (glob)
  The first text: the first text
  All of it: 36 tokens in 5 documents, 31 bytes of text; 1.161 tokens per byte.
  Expect about 36 tokens, 5.0 KiB for real, and * on this machine. (glob)
  [1]
  $ leat pack -t bytes -o real --force --dry-run in >/dev/null
  $ leat pack -t bytes -o out --dry-run --keep 'lang = de' in
  leat: warning: no document is left: --keep left out 5 records, and 0 rejected; a number is compared with numbers; any other value, or a value in quotes, with strings
  leat: the run would not make a dataset without documents (--allow-empty makes it all the same)
  3 inputs, * bytes on disk: 3 jsonl (glob)
  The first text: the first text
  --keep left out 5 records of it.
  [1]
  $ leat pack -t bytes -o real --force --dry-run --keep 'lang = de' in 2>&1 | grep 'run would not'
  leat: the run would not make a dataset without documents (--allow-empty makes it all the same)

An input that is cut off is packed as far as it is readable; the dry run ends as the run does.

  $ yes '{"text":"a b c d e"}' | head -n 20000 | gzip >whole.gz
  $ head -c 300 whole.gz >cut.jsonl.gz
  $ for how in '-o out --dry-run' '-o cut' '-o out --dry-run --allow-truncated' '-o cut --force --allow-truncated'; do
  >     members truncated_inputs leat pack -t bytes $how --json --max-rejects 5 cut.jsonl.gz || echo "[$?]"
  > done
  leat: 1 input was cut off or broken, and packed as far as it was readable: cut.jsonl.gz, at byte *: it ends in the middle of a gzip member; what should follow is missing (glob)
  leat: the run would fail because of that; --allow-truncated counts that as success
  leat: 1 of * records of the sample would be rejected, for example: * (glob)
  "truncated_inputs": 1
  [1]
  leat: 1 input was cut off or broken, and packed as far as it was readable: cut.jsonl.gz, at byte *: it ends in the middle of a gzip member; what should follow is missing (glob)
  leat: when it is whole again, start over with --force; --allow-truncated counts that as success: leat pack --resume --allow-truncated -t bytes -o cut --json --max-rejects 5 cut.jsonl.gz
  "truncated_inputs": 1
  [1]
  leat: warning: 1 input was cut off or broken, and packed as far as it was readable: cut.jsonl.gz, at byte *: it ends in the middle of a gzip member; what should follow is missing (glob)
  leat: 1 of * records of the sample would be rejected, for example: * (glob)
  "truncated_inputs": 1
  leat: warning: 1 input was cut off or broken, and packed as far as it was readable: cut.jsonl.gz, at byte *: it ends in the middle of a gzip member; what should follow is missing (glob)
  "truncated_inputs": 1

It cannot be where the dataset, or what the dry run needs, cannot be.

  $ TMPDIR=$PWD/nowhere leat pack -t bytes -o out --dry-run in
  leat: cannot create the temporary folder */nowhere/leat-dry-run-*: No such file or directory (glob)
  [1]
  $ leat pack -t bytes -o none/out --dry-run in
  leat: cannot write none/out: No such file or directory
  3 inputs, * bytes on disk: 3 jsonl (glob)
  The first text: the first text
  All of it: 36 tokens in 5 documents, 31 bytes of text; 1.161 tokens per byte.
  Expect about 36 tokens, 5.0 KiB for none/out, and * on this machine. (glob)
  [1]
  $ for more in --dry-run '--by lang' ''; do
  >     leat pack -t bytes -o s3://b/out $more in || echo "[$?]"
  > done
  leat: s3://b/out is a URL: write to a local name first; `leat push` copies datasets to a bucket
  [1]
  leat: s3://b/out is a URL: write to a local name first; `leat push` copies datasets to a bucket
  [1]
  leat: s3://b/out is a URL: write to a local name first; `leat push` copies datasets to a bucket
  [1]
  $ leat pack -t bytes -o /proc/out --dry-run in
  leat: the disk of /proc/out has 0 bytes left, and the dataset needs about 5.0 KiB
  3 inputs, * bytes on disk: 3 jsonl (glob)
  The first text: the first text
  All of it: 36 tokens in 5 documents, 31 bytes of text; 1.161 tokens per byte.
  Expect about 36 tokens, 5.0 KiB for /proc/out, and * on this machine. (glob)
  [1]
  $ leat pack -t bytes -o out --dry-run nosuch
  leat: cannot find the input nosuch: No such file or directory
  [1]
  $ leat pack -t bytes -o out --dry-run -
  leat: --dry-run cannot look at standard input: the run itself could not read that again
  [2]
  $ leat-bench pack -t bytes -o out --dry-run in
  leat-bench: --dry-run belongs to leat pack: this command measures a run (leat-bench pack --help shows how)
  [2]
  $ ls temporary
  $ ls | grep out
  [1]
