pack_counts.t: leat pack counts what it replaced and rejected, and names each input that fails or gives nothing.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ printf '{"text":"a\377b\376"}\n{"text":"fine"}\n{"text":"\377","score":NaN}\n{"text":"x","a":[-Infinity]}\n' >m.jsonl
  $ printf '{"text":"\303"}\n' >n.jsonl
  $ leat pack -t bytes -o counted m.jsonl n.jsonl
  counted: 24 tokens in 5 documents from 2 inputs, 19 bytes of text in *. (glob)
  * of text, * tokens/s; memory at most *. (glob)
  4 malformed parts of text in 2 inputs became U+FFFD: m.jsonl (3), n.jsonl (1); convert text in another encoding to UTF-8 first (iconv).
  Packed 2 records with NaN or Infinity, which are not JSON.
  $ members replaced,replaced_in,not_json leat pack -t bytes --force -o counted --json m.jsonl n.jsonl
  "replaced": 4 "replaced_in": [{"input": "m.jsonl", "count": 3}, {"input": "n.jsonl", "count": 1}] "not_json": 2

An input of few records, each of which is rejected, once stood in the counts alone. Not such are one with a document, one
with a record that --keep leaves out, one without records, and one that is cut off.

  $ mkdir whole
  $ seq 40 | sed 's/.*/{"text":"t&","n":1}/' >whole/a.jsonl
  $ printf '{"body":"x"}\n{"body":"y"}\n' >whole/b.jsonl
  $ printf '{"body":"x"}\n{"text":"y","n":1}\n' >whole/c.jsonl
  $ printf '\0\0\0\0\0\1' >whole/d.txt
  $ printf 'text\n' >whole/e.csv
  $ printf '{"text":3,"n":1}\n' | gzip -c >whole/f.jsonl.gz
  $ gzip -c whole/f.jsonl.gz | head -c 20 >whole/g.jsonl.gz
  $ leat pack -t bytes -o named --max-rejects 9 --allow-truncated whole >/dev/null
  leat: warning: 3 inputs gave no document, since each of their records was rejected:
  leat:   whole/b.jsonl (2 records): the record has no "text"
  leat:   whole/d.txt (1 record): the input is binary data, or text in another encoding than UTF-8: if it is text, convert it to UTF-8 first, with iconv for example; else leave it out
  leat:   whole/f.jsonl.gz (1 record): "text" is a number, not a string
  leat: when they are mended, start over with --force: leat pack --force -t bytes -o named --max-rejects 9 --allow-truncated whole
  leat: warning: 1 input was cut off or broken, and packed as far as it was readable: whole/g.jsonl.gz, at byte 20: it ends in the middle of a gzip member; what should follow is missing
  $ named() { # ARGUMENT...: says that of the three again
  >     leat pack "$@" >said 2>&1 || echo "[$?]"
  >     sed -n '/warning: 3 inputs/,/f.jsonl/p' said
  > }
  $ { named -t bytes -o shuffled --max-rejects 9 --allow-truncated --shuffle 1 whole
  >   named -t bytes -o dry --dry-run --max-rejects 9 --allow-truncated whole
  >   named -t bytes -o few whole; } | sort | uniq -c
        1 [4]
        3 leat:   whole/b.jsonl (2 records): the record has no "text"
        3 leat:   whole/d.txt (1 record): the input is binary data, or text in another encoding than UTF-8: if it is text, convert it to UTF-8 first, with iconv for example; else leave it out
        3 leat:   whole/f.jsonl.gz (1 record): "text" is a number, not a string
        3 leat: warning: 3 inputs gave no document, since each of their records was rejected:
  $ leat pack -t bytes --run run --parts 1 --max-rejects 9 --allow-truncated whole >/dev/null
  $ leat pack --run run --part 1 2>&1 | grep -E 'inputs gave|mended'
  leat: warning: 3 inputs gave no document, since each of their records was rejected:
  leat: when they are mended, plan the run again
  $ for more in --force --dry-run; do
  >     leat pack -t bytes -o named --json $more --max-rejects 9 --allow-truncated whole 2>/dev/null |
  >         grep -o '"rejected_inputs": \[[^]]*\]'
  > done | uniq -c
        2 "rejected_inputs": [{"input": "whole/b.jsonl", "records": 2, "reason": "the record has no \"text\""}, {"input": "whole/d.txt", "records": 1, "reason": "the input is binary data, or text in another encoding than UTF-8: if it is text, convert it to UTF-8 first, with iconv for example; else leave it out"}, {"input": "whole/f.jsonl.gz", "records": 1, "reason": "\"text\" is a number, not a string"}]

A long reason was cut after 159 bytes, in the middle of a character.

  $ long=$(printf 'x%090d' 0 | sed 's/0/\xd0\xb6/g')
  $ printf '{"%s":"a"}\n' "$long" >long-a.jsonl
  $ echo '{}' >long-b.jsonl
  $ leat pack -t bytes -o long --json --max-rejects 9 --text "$long" long-a.jsonl long-b.jsonl 2>/dev/null |
  >     grep -cF "\"reason\": \"the record has no \\\"$long\\\"\""
  1

What was kept out is not rejected, and of parts that have a piece of an input each, none knows.

  $ printf '{"text":3,"n":2}\n{"text":"a","n":1}\n' >kept.jsonl
  $ leat pack -t bytes -o kept --max-rejects 9 --keep 'n = 2' --allow-empty kept.jsonl >/dev/null
  leat: warning: no document is left: --keep left out 1 record, and 1 rejected; a number is compared with numbers; any other value, or a value in quotes, with strings
  $ yes bad | head -n 40 >pieces.jsonl
  $ leat pack -t bytes -o pieces --part 1/2 --max-rejects 99 pieces.jsonl >/dev/null

Twenty of a kind are named.

  $ mkdir bad
  $ for i in $(seq 11 35); do
  >     printf '{"text":%s}\n' "$i" >bad/$i.jsonl
  > done
  $ leat pack -t bytes -o many --max-rejects 99 bad whole/a.jsonl 2>&1 >/dev/null | sed 3,20d
  leat: warning: 25 inputs gave no document, since each of their records was rejected:
  leat:   bad/11.jsonl (1 record): "text" is a number, not a string
  leat:   bad/30.jsonl (1 record): "text" is a number, not a string
  leat:   and 5 more (many.rejects.jsonl has their records)
  leat: when they are mended, start over with --force: leat pack --force -t bytes -o many --max-rejects 99 bad whole/a.jsonl

A run ends over the first file that fails; --dry-run names every one, once.

  $ mkdir -p broken/sub
  $ printf '{"text":"a"}\n' >broken/good.jsonl
  $ printf 'id,txt\n1,a\n' | tee broken/a.csv >broken/b.csv
  $ printf 'no gzip' >broken/sub/no.jsonl.gz
  $ printf '%0300d' 0 >broken/no.parquet
  $ leat pack -t bytes -o of-broken --json broken
  leat: broken/b.csv: no column "text" in the header; it has "id", "txt"; did you mean "txt"?; the same is wrong with broken/a.csv (--text NAME)
  [1]
  $ leat pack -t bytes -o of-broken --dry-run broken
  leat: broken/b.csv: no column "text" in the header; it has "id", "txt"; did you mean "txt"?; the same is wrong with broken/a.csv (--text NAME)
  leat: these fail, too:
  leat:   broken/no.parquet is no Parquet file: it does not begin with PAR1
  leat:   broken/sub/no.jsonl.gz is named .gz, but does not start like a gzip file; rename it if it is not compressed, or get a new copy
  [1]

A good file whose name begins that of a broken one is not named.

  $ mkdir near
  $ echo '{"text":"x"}' | tee near/a.jsonl >near/c.jsonl
  $ echo 'no gzip' >near/a.jsonl.gz
  $ leat pack -t bytes -o of-near --dry-run near
  leat: near/a.jsonl.gz is named .gz, but does not start like a gzip file; rename it if it is not compressed, or get a new copy
  [1]

What fails for want of descriptors fails with any file: no other file is named. Which call fails depends on what is open
when leat begins.

  $ mkdir plenty
  $ for name in a b c; do
  >     printf '{"text":"a"}\n' >plenty/$name.jsonl
  > done
  $ for limit in 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 22 24 26 28 30; do
  >     sh -c "ulimit -n $limit && exec leat pack --dry-run -t bytes plenty" 2>&1
  > done >said
  $ grep 'fail, too' said
  [1]
  $ grep -o 'cannot open plenty/.*raise the limit of open files (ulimit -n)' said | sort -u | head -n 1
  cannot open plenty/?.jsonl: Too many open files; raise the limit of open files (ulimit -n) (glob)
