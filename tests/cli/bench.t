bench.t: the commands of leat-bench and leat-bench-dev run, and say what they measured. Nothing is said about how fast
they are. test_bench.sh has what takes several tries, a signal or a terminal.

  $ . "$SOURCES"/tests/cli/datasets.sh

Datasets are made of numbers, as bench/data/counting.h defines them.

  $ leat-bench-dev counting -o w2 --tokens 10000 --json
  {"output": "w2", "tokens": 10000, "documents": 22, "width": 2, "token_bytes": 20000, "index_bytes": 4896, "seconds": *} (glob)
  $ leat cat w2 --tokens 0:3 --ids
  0 46122 28098
  $ leat-bench-dev counting -o w4 --tokens 100K --width 4 --document-length 20
  w4: 100,000 tokens of 4 bytes in 5,008 documents, * (*/s). (glob)
  $ for name in w2 w4; do leat verify $name; done
  w2: nothing is wrong; 24.3 KiB checked in *. (glob)
  w4: nothing is wrong; 512.7 KiB checked in *. (glob)
  $ leat-bench-dev counting -o w2 --tokens 5
  leat-bench-dev: w2.leat already exists; choose another name or replace it (--force)
  [1]
  $ leat-bench-dev counting -o x --tokens 5 --document-length 0
  leat-bench-dev: --document-length: "0" is too small; the minimum is 1 (leat-bench-dev counting --help lists the options)
  [2]
  $ leat-bench-dev counting -o none --tokens 0 --json
  {"output": "none", "tokens": 0, "documents": 0, "width": 2, "token_bytes": 0, "index_bytes": 4288, "seconds": *} (glob)

Others are made of holes; a failure leaves nothing, and nothing is replaced.

  $ leat-bench-dev sparse -o sparse --documents 1M --tokens 3M
  sparse: 2,998,272 tokens in 1,000,000 documents
  $ leat verify sparse
  sparse: nothing is wrong; 28.6 MiB checked in *. (glob)
  $ leat-bench-dev sparse -o sparse
  leat-bench-dev: cannot create sparse.tokens: File exists
  [1]
  $ leat verify sparse
  sparse: nothing is wrong; 28.6 MiB checked in *. (glob)
  $ (ulimit -f 8; trap '' XFSZ; leat-bench-dev sparse -o large --documents 1M --tokens 2K)
  leat-bench-dev: cannot write large.leat at byte 8004096: File too large; raise the file size limit (ulimit -f), or write to another file system
  [1]
  $ echo large*
  large*

Batches are loaded, in each form and by each source's share.

  $ leat-bench load --source w4 --seq-len 100 --batch 4 --steps 20 --work 1 |
  >     sed -nE 's/^(20 batches, 80 rows, 8,000 tokens) in .*/\1/p; s/^  (tokens|next|engine)  .*/\1/p'
  20 batches, 80 rows, 8,000 tokens
  tokens
  next
  engine
  $ copy_dataset w4 other
  $ leat-bench load --source w4:3 --source other:1 --seq-len 100 --batch 4 --steps 20 --json | grep -o '"sources": .*]'
  "sources": [{"name": "w4", "share": 0.75, "rows": 60, "tokens": 6000, "loss_tokens": 6000}, {"name": "other", "share": 0.25, "rows": 20, "tokens": 2000, "loss_tokens": 2000}]
  $ for output in tokens i32 i64 packed; do
  >     leat-bench load --source w4 --seq-len 100 --batch 4 --steps 20 --output $output --bare --synthetic --checksum --json |
  >         grep -o '"checksum": "[^"]*"'
  > done
  "checksum": "2f92b5bbc51ae8a8"
  "checksum": "2f92b5bbc51ae8a8"
  "checksum": "2f92b5bbc51ae8a8"
  "checksum": "2f92b5bbc51ae8a8"

Each slice of a row takes an eighth of the bytes, and a few more; the inputs are the same in each form.

  $ copied=$(leat-bench load --source w4 --seq-len 1600 --batch 4 --epochs 1 --json | grep -o '"copied_bytes": [0-9]*')
  $ for output in tokens i32 packed; do
  >     leat-bench load --source w4 --seq-len 1600 --batch 4 --epochs 1 --slice 3/8 --layout zigzag --ahead 2 \
  >         --output $output --checksum --json >out
  >     part=$(grep -o '"copied_bytes": [0-9]*' out)
  >     [ $((${part#* } * 8)) -lt $((${copied#* } * 21 / 20)) ] || echo "$part of $copied"
  >     grep -o '"checksum": "[^"]*"' out
  > done | uniq -c
        3 "checksum": "c991276b933a0e75"

Ranks may be dealt their rows, and batches be counted by tokens.

  $ leat-bench load --source w4 --seq-len 100 --order fit --batch 64 --world 4 --rank 3 --steps 5 --balance attention |
  >     grep 'apart'
    balance  sums of squared lengths of ranks are * % apart, by chance * % (means of * batches) (glob)
  $ leat-bench load --source w4 --seq-len 100 --order fit --batch 64 --world 4 --steps 5 --balance attention --json >out
  $ python3 -c 'import json; x = json.load(open("out"))["balance"]
  > assert x["batches"] >= 5 and 0 <= x["spread_mean"] <= 0.02 < x["spread_by_chance"] < 1 and x["spread"] <= 0.02, x'
  $ leat-bench load --source w4 --seq-len 900 --order documents --max-tokens 5000 --epochs 1 --output i64 --json >out
  $ python3 -c 'import json; x = json.load(open("out"))
  > assert 0 < x["padding_share"] < 0.5 and x["steps"] > 1, x'

What a run reads is not written over by it.

  $ cp w4.tokens w4.bin
  $ ln w4.bin link.bin
  $ leat order --source w4 --seq-len 100 --print-plan >w4.plan
  $ echo w4 >w4.list
  $ cksum w2.* w4.* >before
  $ load='leat-bench load --batch 4 --steps 2'
  $ for file in w4.tokens w4.leat w2.tokens; do $load --source w4 --seq-len 100 --dump $file || echo "[$?]"; done
  leat-bench: w4.tokens is a file of a dataset: choose another name
  [2]
  leat-bench: w4.leat is a file of a dataset: choose another name
  [2]
  leat-bench: w2.tokens is a file of a dataset: choose another name
  [2]
  $ $load --source 'raw:w4.bin?dtype=u32' --seq-len 100 --dump link.bin
  leat-bench: link.bin is in use by this run: choose another name
  [2]
  $ $load --plan w4.plan --dump w4.plan
  leat-bench: w4.plan is in use by this run: choose another name
  [2]
  $ $load --source @w4.list --seq-len 100 --dump w4.list
  leat-bench: w4.list is in use by this run: choose another name
  [2]
  $ for _ in 1 2; do $load --source w4 --seq-len 100 --dump again >/dev/null; done
  $ cksum w2.* w4.* | cmp - before

Rows with damage can be masked.

  $ copy_dataset w4 damaged
  $ overwrite damaged.tokens 5000 '~~~~'
  $ leat-bench load --source damaged --seq-len 100 --batch 4 --epochs 1 --order sequential --on-damage mask |
  >     grep '^  damaged'
    damaged  1[0-9] rows masked (re)
  $ leat-bench load --source damaged --seq-len 100 --batch 4 --epochs 1 --order sequential
  leat-bench: page 1 of damaged.tokens (tokens 1024 to 2047, documents 56 to 104) is damaged: its hash does not match; restore the file from its source
  [3]

Wrong options are refused.

  $ load='leat-bench load --source w4 --seq-len 100'
  $ $load --batch 4 --slice 8
  leat-bench: --slice: "8" is not R/N, such as 0/8 (leat-bench load --help shows how)
  [2]
  $ $load --batch 4 --slice 0/2 --bare
  leat-bench: --slice and --ahead are of a loader; --bare and --output views take whole rows (leat-bench load --help shows how)
  [2]
  $ $load --batch 4 --slice 0/3
  leat-bench: rows of 100 places cannot be cut into 3 equal chunks for 3 slices: take a seq_len that is a multiple of 3: 99 or 102
  [2]
  $ $load --batch 4 --mask-begin
  leat-bench: --mask-begin needs labels: --output i32, i64 or packed (leat-bench load --help shows how)
  [2]
  $ $load --batch 4 --device abacus
  leat-bench: this build has no device abacus; "host" always works
  [1]
  $ $load --batch 4 --compare synthetic --output views
  leat-bench: --synthetic and --compare need batches from a loader, which --output views does not use (leat-bench load --help shows how)
  [2]
  $ $load --batch 4 --balance attention --bare
  leat-bench: --balance needs a loader, which --bare and --output views do not use (leat-bench load --help shows how)
  [2]
  $ $load
  leat-bench: --batch B is missing: rows of a global batch (leat-bench load --help shows how)
  [2]
  $ leat-bench load --source w4 --seq-len 9 --order documents --batch 4 --max-tokens 99
  leat-bench: --batch and --max-tokens exclude each other: --max-rows limits the rows of a batch (leat-bench load --help shows how)
  [2]
  $ leat-bench load --source w4 --seq-len 9 --order documents --max-tokens 99 --bare
  leat-bench: --max-tokens needs a loader, which --bare and --output views do not use, and its own rows, not --rows document (leat-bench load --help shows how)
  [2]
  $ $load --batch 4 --work x
  leat-bench: --work: "x" is not a number of milliseconds (leat-bench load --help shows how)
  [2]
  $ mkdir disk
  $ leat-bench limits disk --size 1MiB
  leat-bench: --size: "1MiB" is too small; the minimum is 16777216 (leat-bench limits --help lists the options)
  [2]
  $ leat-bench limits none --json
  leat-bench: cannot read the folder none: No such file or directory
  [1]

Packing is compared with what reading and encoding allow, unless there is so little text that most of it is start and
end; of a run that was resumed, that counts which it did itself.

  $ awk 'BEGIN { for (i = 0; i < 20000; i++) printf "{\"text\":\"%0900d\"}\n", i }' >much.jsonl
  $ head -n 100 much.jsonl >little.jsonl
  $ leat-bench pack -t bytes -o packed little.jsonl |
  >     sed -nE 's/^(read|encode)  .*/\1/p; s/.*(With so little text, most of that is start and end|of what they allow).*/\1/p'
  read
  encode
  With so little text, most of that is start and end
  $ leat-bench pack -t bytes -o packed --force much.jsonl | grep allow
  *; the run took *: */s of text, * % of what they allow. * takes the most. (glob)
  $ (cat much.jsonl; echo '{}') >more.jsonl
  $ leat-bench pack -t bytes -o resumed --max-rejects 0 more.jsonl >/dev/null
  leat-bench: 1 of 20001 records was rejected, more than allowed; resumed.rejects.jsonl lists them with the reasons, for example: the record has no "text"
  leat-bench: nothing is lost: the same command with --resume and a larger --max-rejects continues from there
  leat-bench: to give it up, remove what it left: rm -r resumed.partial.* resumed.rejects.jsonl
  [4]
  $ leat-bench pack -t bytes -o resumed --max-rejects 1 --resume more.jsonl | grep little
  *; the run took *. With so little text, most of that is start and end: vocabulary, threads, files. (glob)
  $ leat pack -t bytes -o packed --force --threads 2,1 little.jsonl
  leat: --threads takes one number here: leat-bench pack makes a run for each of several (leat pack --help shows how)
  [2]
  $ for threads in 0 ',' '1,' 2,x 4097 1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1; do
  >     leat-bench pack -t bytes -o packed --force --threads $threads little.jsonl || echo "[$?]"
  > done
  leat-bench: --threads: "0" is not a number of threads from 1 to 4096, nor up to 16 of them with commas between (leat-bench pack --help lists the options)
  [2]
  leat-bench: --threads: "," is not a number of threads from 1 to 4096, nor up to 16 of them with commas between (leat-bench pack --help lists the options)
  [2]
  leat-bench: --threads: "1," is not a number of threads from 1 to 4096, nor up to 16 of them with commas between (leat-bench pack --help lists the options)
  [2]
  leat-bench: --threads: "2,x" is not a number of threads from 1 to 4096, nor up to 16 of them with commas between (leat-bench pack --help lists the options)
  [2]
  leat-bench: --threads: "4097" is not a number of threads from 1 to 4096, nor up to 16 of them with commas between (leat-bench pack --help lists the options)
  [2]
  leat-bench: --threads: "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1" is not a number of threads from 1 to 4096, nor up to 16 of them with commas between (leat-bench pack --help lists the options)
  [2]

An empty line comes before each pass that encodes, and there is a pass for each line that came.

  $ echo '{"text": "on and on"}' >paced.jsonl
  $ printf '\n\n' | leat-bench encode -t bytes --paced --passes 2 --json paced.jsonl | sed 's/^{.*/{/'
  
  
  {
  $ printf '\n' | leat-bench encode -t bytes --paced --passes 2 paced.jsonl
  
  
  leat-bench: standard input ended before pass 2; --paced needs a line for each
  [2]
