pack_rejects.t: a run with more rejects than allowed stops with the list of them and goes on with --resume, if it is the
same run; inputs that are cut off are told.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ printf '{"text":"hello <|endoftext|>","id":3}\nbad\n\n{"text":"y"}\n' >a.jsonl
  $ printf 'a text' >b.txt
  $ leat pack -t bytes -o four --max-rejects 1 a.jsonl >/dev/null
  $ leat pack -t bytes -o r a.jsonl
  leat: 1 of 3 records was rejected, more than allowed; r.rejects.jsonl lists them with the reasons, for example: not valid JSON: an object ({) is expected at byte 1
  leat: nothing is lost: the same command with --resume and a larger --max-rejects continues from there: leat pack --resume --max-rejects 2 -t bytes -o r a.jsonl
  leat: to give it up, remove what it left: rm -r r.partial.* r.rejects.jsonl
  [4]
  $ cmp r.rejects.jsonl four.rejects.jsonl
  $ echo no >single.jsonl
  $ leat pack -t bytes -o single single.jsonl 2>&1 | head -n 1
  leat: 1 of 1 record was rejected, more than allowed; single.rejects.jsonl lists them with the reasons, for example: not valid JSON: an object ({) is expected at byte 1

Other options, inputs or tokenizers are another run.

  $ leat pack -t bytes -o r --max-rejects 1 a.jsonl
  leat: an earlier run of r.leat stopped at a checkpoint; resume it or start over (--resume or --force)
  [1]
  $ resume() { # OPTION...
  >     leat pack -o r --max-rejects 1 --resume "$@" || [ $? -eq 1 ] || echo another code
  > }
  $ resume -t bytes --allow-binary a.jsonl
  leat: the earlier run of r differs: this one has "allow-binary", and that one did not; give the same inputs and options or start over (--force)
  $ resume -t bytes --text body a.jsonl
  leat: the earlier run of r differs: that one had "text-field text", this one has "text-field body"; give the same inputs and options or start over (--force)
  $ resume -t bytes --id '' a.jsonl
  leat: the earlier run of r differs: that one had "id-field id", this one has "id-field "; give the same inputs and options or start over (--force)
  $ resume -t bytes --invalid-utf8 reject a.jsonl
  leat: the earlier run of r differs: that one had "invalid-utf8 replace", this one has "invalid-utf8 reject"; give the same inputs and options or start over (--force)
  $ resume -t bytes --special a.jsonl
  leat: the earlier run of r differs: that one had "special 0", this one has "special 1"; give the same inputs and options or start over (--force)
  $ resume -t bytes --part 1/2 a.jsonl
  leat: the earlier run of r differs: that one had "part 0/0", this one has "part 1/2"; give the same inputs and options or start over (--force)
  $ resume -t bytes a.jsonl b.txt
  leat: the inputs are not those of the earlier run of r: new: b.txt; give the same ones or start over (--force)
  $ resume -t bytes --format text a.jsonl
  leat: the earlier run of r differs: that one had "input jsonl 56 bytes, changed at *, bytes 0 to 56: a.jsonl", this one has "input text 56 bytes, changed at *, bytes 0 to 56: a.jsonl"; give the same inputs and options or start over (--force) (glob)
  $ resume -t gpt2 a.jsonl
  leat: r.leat cannot be resumed: its vocabulary size was 257 and now is 50257; use the same options or start over (--force)
  $ resume -t bytes --end none a.jsonl
  leat: r.leat cannot be resumed: its end-of-document token was 256 and now is none; use the same options or start over (--force)
  $ cp -p a.jsonl kept
  $ printf '{"text":"more"}\n' >>a.jsonl
  $ resume -t bytes a.jsonl
  leat: the inputs are not those of the earlier run of r: changed (size, time or etag): a.jsonl; give the same ones or start over (--force)
  $ cp -p kept a.jsonl
  $ touch -d '2001-02-03 04:05:06 UTC' a.jsonl
  $ resume -t bytes a.jsonl
  leat: the inputs are not those of the earlier run of r: changed (size, time or etag): a.jsonl; give the same ones or start over (--force)

--force begins anew, and with --resume goes on.

  $ leat pack -t bytes -o r --max-rejects 1 --force a.jsonl >/dev/null
  $ same r four
  $ leat pack -t bytes -o r --max-rejects 0 --force a.jsonl
  leat: 1 of 3 records was rejected, more than allowed; r.rejects.jsonl lists them with the reasons, for example: not valid JSON: an object ({) is expected at byte 1
  leat: nothing is lost: the same command with --resume and a larger --max-rejects continues from there; --force alone starts over: leat pack --resume --max-rejects 2 -t bytes -o r --force a.jsonl
  leat: to give it up, remove what it left: rm -r r.partial.* r.rejects.jsonl
  [4]
  $ leat pack -t bytes -o r --max-rejects 1 --force --resume a.jsonl >/dev/null
  $ same r four
  $ ls r.*
  r.leat
  r.rejects.jsonl
  r.tokens

What is finished is finished, and of another run it is in the way.

  $ leat pack -t bytes -o r --max-rejects 1 --resume a.jsonl
  r is finished already: 22 tokens in 2 documents.
  $ for other in --text=body --part=1/2 --shuffle=3 --dedup --special b.txt; do
  >     leat pack -t bytes -o r --max-rejects 1 --resume a.jsonl $other || echo "[$?]"
  > done 2>&1 | sort | uniq -c
        6 [1]
        6 leat: r.leat already exists; choose another name or replace it (--force)
  $ leat pack -t bytes -o r --max-rejects 1 a.jsonl
  leat: r.leat already exists; choose another name or replace it (--force)
  [1]
  $ leat pack -t bytes -o r --force b.txt >/dev/null
  $ ls r.*
  r.leat
  r.tokens

The rates of a resumed run are of what it did itself: here nothing, for all was packed before the last record; and nothing
is left of less than nothing where --dedup leaves out most of what was packed before.

  $ (seq 1 9000 | sed 's/.*/{"text":"a record with number &"}/' && echo '{}') >long.jsonl
  $ (yes '{"text":"a record"}' | head -n 9000 && echo '{}') >alike.jsonl
  $ for words in long.jsonl '--dedup alike.jsonl'; do
  >     rm -f long.leat long.tokens
  >     "$LEAT_BUILD"/tiny/leat pack -t bytes -o long --max-rejects 0 $words 2>/dev/null || echo "[$?]"
  >     for time in first second; do
  >         members documents,mb_per_s,tokens_per_s "$LEAT_BUILD"/tiny/leat pack -t bytes -o long --max-rejects 1 \
  >             --resume --json $words
  >     done
  > done
  [4]
  "documents": 9000 "mb_per_s": 0.0 "tokens_per_s": 0.0
  "documents": 9000 "mb_per_s": 0.0 "tokens_per_s": 0.0
  [4]
  "documents": 1 "mb_per_s": 0.0 "tokens_per_s": 0.0
  "documents": 1 "mb_per_s": 0.0 "tokens_per_s": 0.0

Where no record was taken, it is hardly the bound that is wrong, and other options begin anew; the right command once
needed --force.

  $ (echo '{"content":"a"}' && echo '{"content":"b"}' && echo '{"text":5}') >fields.jsonl
  $ leat pack -t bytes -o fields fields.jsonl
  leat: 3 of 3 records were rejected, more than allowed; fields.rejects.jsonl lists them with the reasons, for example: the record has no "text"
  leat: no record was packed: --text FIELD names the member or column that holds the text; this run looked for "text"
  [4]
  $ ls fields.*
  fields.jsonl
  fields.rejects.jsonl
  $ leat pack -t bytes -o fields --text content --max-rejects 1 fields.jsonl >/dev/null
  $ echo '{"lang":5}' >>fields.jsonl
  $ leat pack -t bytes -o fields --dedup --force fields.jsonl 2>&1 | grep 'no record'
  leat: no record was packed: --text FIELD names the member or column that holds the text; this run looked for "text"
  $ leat pack -t bytes -o two --dedup fields.jsonl 2>/dev/null
  [4]
  $ ls -d two.*
  two.rejects.jsonl
  $ leat pack -t bytes -o two --dedup --text content --max-rejects 2 fields.jsonl >/dev/null

It may be not the text that is missing, and a compressed input that is cut off says nothing against the field.

  $ leat pack -t bytes -o fields --text content --force --by lang fields.jsonl
  leat: 4 of 4 records were rejected, more than allowed; fields.rejects.jsonl lists them with the reasons, for example: the record has no "lang" to choose its dataset by
  [4]
  $ printf '{"text":"a"}\n' | gzip | head -c 20 >cut.jsonl.gz
  $ leat pack -t bytes -o cut cut.jsonl.gz >said 2>&1
  [4]
  $ grep 'looked for' said
  [1]

With --json too many rejects once printed nothing.

  $ printf '{"text":"a"}\n{"text":\n' >half.jsonl
  $ members output,was_finished,inputs,documents,rejected leat pack -t bytes -o half --json --max-rejects 0 half.jsonl
  leat: 1 of 2 records was rejected, more than allowed; half.rejects.jsonl lists them with the reasons, for example: not valid JSON: it ends where a value is expected; a record is a whole object in one line
  leat: nothing is lost: the same command with --resume and a larger --max-rejects continues from there: leat pack --resume --max-rejects 2 -t bytes -o half --json half.jsonl
  leat: to give it up, remove what it left: rm -r half.partial.* half.rejects.jsonl
  "output": "half" "was_finished": false "inputs": 1 "documents": 1 "rejected": 1
  [4]
  $ ls half.leat 2>/dev/null
  [2]

An input that is cut off is packed as far as it goes.

  $ awk 'BEGIN { for (i = 0; i < 400; i++) printf "{\"text\":\"%d %d\"}\n", i, i * i * 7919 % 99991 }' >whole.jsonl
  $ gzip -c whole.jsonl | head -c 1500 >cut.jsonl.gz
  $ leat pack -t bytes -o cut --force --max-rejects 1 cut.jsonl.gz >/dev/null
  leat: 1 input was cut off or broken, and packed as far as it was readable: cut.jsonl.gz, at byte 1,500: it ends in the middle of a gzip member; what should follow is missing
  leat: when it is whole again, start over with --force; --allow-truncated counts that as success: leat pack --resume --allow-truncated -t bytes -o cut --max-rejects 1 cut.jsonl.gz
  [1]
  $ leat verify cut >/dev/null
  $ members truncated_inputs leat pack -t bytes -o cut2 --max-rejects 1 --allow-truncated --json cut.jsonl.gz
  leat: warning: 1 input was cut off or broken, and packed as far as it was readable: cut.jsonl.gz, at byte 1,500: it ends in the middle of a gzip member; what should follow is missing
  "truncated_inputs": 1
  $ same cut cut2
  $ leat pack -t bytes -o cut3 --max-rejects 0 cut.jsonl.gz
  leat: 1 of * records was rejected, more than allowed; cut3.rejects.jsonl lists them with the reasons, for example: * (glob)
  leat: 1 input was cut off or broken, and packed as far as it was readable: cut.jsonl.gz, at byte 1,500: it ends in the middle of a gzip member; what should follow is missing
  leat: nothing is lost: the same command with --resume and a larger --max-rejects continues from there: leat pack --resume --max-rejects 2 -t bytes -o cut3 cut.jsonl.gz
  leat: to give it up, remove what it left: rm -r cut3.partial.* cut3.rejects.jsonl
  [4]
  $ leat pack -t bytes -o cut3 --max-rejects 0 --resume cut.jsonl.gz 2>&1 | grep 'cut off'
  leat: 1 input was cut off or broken, and packed as far as it was readable: cut.jsonl.gz, at byte 1,500: it ends in the middle of a gzip member; what should follow is missing

A limit on the size of files ends a run as a full disk does, with a sentence and no signal.

  $ (ulimit -f 1 && exec leat pack -t bytes -o limited whole.jsonl)
  leat: cannot write limited.partial.tokens at byte *: File too large; raise the file size limit (ulimit -f), or write to another file system (glob)
  leat: nothing of this run is kept, since it had no checkpoint yet: the same command starts over, also with --resume
  [1]
  $ ls | grep limited
  [1]
