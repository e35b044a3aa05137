pack_resumed.t: what leat pack --resume makes of a run that had ended, and of what arranged runs leave. An input that was
cut off or broken is told again, with the same exit code, also after shuffling, dividing and merging; once --resume made
a success of it. What is packed to be arranged lies in a folder that nobody opens, and takes no dataset's name: once it
replaced a dataset called OUTPUT.packed without --force.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ zstd --version >/dev/null || exit 80
  $ awk 'BEGIN { for (i = 0; i < 400; i++) printf "{\"text\":\"number %d\",\"v\":%d}\n", i, i % 2 }' >in.jsonl
  $ gzip -c in.jsonl >one.jsonl.gz
  $ zstd -q in.jsonl -o one.jsonl.zst
  $ { cat one.jsonl.zst && head -c 200 one.jsonl.zst; } >cut.jsonl.zst
  $ cp one.jsonl.gz broken.jsonl.gz
  $ printf 'XXXXXXXXXXXX' | dd of=broken.jsonl.gz bs=1 seek=700 conv=notrunc 2>/dev/null
  $ pack() { # ARGUMENT...
  >     members was_finished,inputs,truncated_inputs leat pack -t bytes --json --max-rejects 99 "$@"
  > }

Each of these is told again, and --allow-truncated makes it a success.

  $ for options in '' '--shuffle 3' '--by v' '--split a=0.5'; do
  >     for more in '' --resume '--resume --allow-truncated'; do
  >         leat pack -t bytes -o out $options $more --json --max-rejects 99 in.jsonl cut.jsonl.zst >json 2>said ||
  >             echo "[$?]"
  >         members was_finished,inputs,truncated_inputs cat json
  >         echo "$options: $(members rejected,tokens cat json)"
  >         grep -o 'leat: .*as far as it was readable: cut.jsonl.zst, at byte\|it ends in the middle.*' said
  >     done
  >     rm -r out.*
  > done | sort | uniq -c
        4 "was_finished": false "inputs": 2 "truncated_inputs": 1
        8 "was_finished": true "inputs": 2 "truncated_inputs": 1
        3 --by v: "tokens": 8580 "rejected": 0 "tokens": 4290 "tokens": 4290
        3 --shuffle 3: "tokens": 8580 "rejected": 0
        3 --split a=0.5: "tokens": 4726 "rejected": 0 "tokens": 3854
        3 : "tokens": 8580 "rejected": 0
        8 [1]
       12 it ends in the middle of a zstd frame; what should follow is missing
        8 leat: 1 input was cut off or broken, and packed as far as it was readable: cut.jsonl.zst, at byte
        4 leat: warning: 1 input was cut off or broken, and packed as far as it was readable: cut.jsonl.zst, at byte

A run that stopped when all was packed and not yet arranged counted the input that was cut off as another one.

  $ mkdir out.partial.packed
  $ pack -o out.partial.packed/all in.jsonl broken.jsonl.gz 2>/dev/null
  "was_finished": false "inputs": 2 "truncated_inputs": 1
  [1]
  $ pack -o out --shuffle 3 --resume in.jsonl broken.jsonl.gz
  leat: 1 input was cut off or broken, and packed as far as it was readable: broken.jsonl.gz, at byte *: its gzip data is broken; * bytes were not read (glob)
  leat: when it is whole again, start over with --force; --allow-truncated counts that as success: leat pack --resume --allow-truncated -t bytes --json --max-rejects 99 -o out --shuffle 3 in.jsonl broken.jsonl.gz
  "was_finished": false "inputs": 2 "truncated_inputs": 1
  [1]
  $ pack -o at.once --shuffle 3 in.jsonl broken.jsonl.gz 2>/dev/null
  "was_finished": false "inputs": 2 "truncated_inputs": 1
  [1]
  $ cmp out.leat at.once.leat
  $ rm out.* at.once.*

What was read ends before the file, which the dataset says: it is the same one if it is as long; that was refused.

  $ pack -o out in.jsonl broken.jsonl.gz 2>/dev/null
  "was_finished": false "inputs": 2 "truncated_inputs": 1
  [1]
  $ pack -o out --resume --allow-truncated in.jsonl broken.jsonl.gz
  leat: warning: 1 input was cut off or broken, and packed as far as it was readable: broken.jsonl.gz, at byte *: its gzip data is broken; * bytes were not read (glob)
  "was_finished": true "inputs": 2 "truncated_inputs": 1
  $ cat one.jsonl.gz one.jsonl.gz >broken.jsonl.gz
  $ pack -o out --resume --allow-truncated in.jsonl broken.jsonl.gz
  leat: out.leat already exists, packed from inputs that were cut off or broken: if these are whole now, replace it (--force)
  [1]
  $ rm out.*

The number of inputs was 0 for --split and --by.

  $ printf '{"text":"a","v":"x"}\n{"text":"b","v":"y"}\n' | tee also.jsonl >two.jsonl
  $ for options in '' '--split v=0.5' '--by v' '--shuffle 1'; do
  >     pack -o many $options two.jsonl also.jsonl
  >     pack -o many $options --resume two.jsonl also.jsonl
  >     rm many*
  > done | sort | uniq -c
        4 "was_finished": false "inputs": 2 "truncated_inputs": 0
        4 "was_finished": true "inputs": 2 "truncated_inputs": 0

Parts of which one has the damage give what one run gives.

  $ pack -o whole --allow-truncated in.jsonl cut.jsonl.zst in.jsonl 2>/dev/null
  "was_finished": false "inputs": 3 "truncated_inputs": 1
  $ for part in 1 2 3; do
  >     pack -o part.$part --part $part/3 --allow-truncated in.jsonl cut.jsonl.zst in.jsonl 2>/dev/null
  > done
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  "was_finished": false "inputs": 3 "truncated_inputs": 1
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  $ leat merge -o joined part.1 part.2 part.3 >/dev/null
  $ cmp whole.leat joined.leat
  $ leat info joined | grep 'at byte'
                cut.jsonl.zst, at byte *: it ends in the middle of a zstd frame; what should follow is missing (glob)
  $ pack -o sound in.jsonl
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  $ leat info sound | grep damaged
  [1]

Another process may take over: the lock file of a run that waits for its input is removed, and another run leaves a
checkpoint. The first one, which finds out, once removed what that one needs to be resumed.

  $ mkfifo pipe
  $ { cat in.jsonl && printf '{"no": 1}\n{"no": 2}\n{"no": 3}\n'; } >rejected.jsonl
  $ leat pack -t bytes -o lock --format jsonl - <pipe >first 2>&1 &
  $ exec 3>pipe
  $ cat in.jsonl >&3
  $ until [ -e lock.partial.tokens ]; do :; done
  $ rm lock.partial.lock
  $ leat pack -t bytes -o lock --max-rejects 1 --force rejected.jsonl 2>&1 | grep -o 'nothing is lost'
  nothing is lost
  $ exec 3>&-
  $ wait
  $ cat first
  leat: lock.leat: its lock file lock.partial.lock was removed while this process was writing, so another process may be writing the same files; when no process writes them, start over
  $ pack -o lock --resume rejected.jsonl
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  $ leat verify lock >/dev/null

What is packed first takes no dataset's name.

  $ pack -o mine.packed in.jsonl
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  $ copy_dataset mine.packed kept
  $ pack -o mine --shuffle 1 one.jsonl.gz
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  $ same mine.packed kept

A run in two passes that was killed before its first checkpoint left its folder beside the finished dataset for good; what
another process writes, and a checkpoint, stay.

  $ mkdir early.partial.packed
  $ printf 'left by a killed run' >early.partial.packed/all.partial.tokens
  $ flock early.partial.packed/all.partial.lock leat pack -t bytes -o early in.jsonl >/dev/null
  $ ls -d early.*
  early.leat
  early.partial.packed
  early.tokens
  $ rm early.leat early.tokens
  $ pack -o early in.jsonl
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  $ ls -d early.*
  early.leat
  early.tokens
  $ mkdir early.partial.packed
  $ echo mine >early.partial.packed/all.partial.checkpoint
  $ pack -o early --resume in.jsonl
  "was_finished": true "inputs": 1 "truncated_inputs": 0
  $ ls early.partial.packed
  all.partial.checkpoint
  $ rm -r early.*

What is not shuffled yet does not open, and is gone on from by the run that it is of.

  $ mkdir left left/out.partial.packed
  $ pack -o left/out.partial.packed/all in.jsonl
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  $ leat info left
  leat: the folder left holds no dataset (no *.leat in it)
  [1]
  $ pack -o left/out --shuffle 1 in.jsonl
  leat: the earlier run of left/out has not ended: resume it, or start over (--resume or --force)
  [1]
  $ pack -o left/out --shuffle 1 --resume one.jsonl.gz
  leat: the earlier run of left/out had other inputs or options: give the same ones, or start over (--force)
  [1]
  $ pack -o left/out --shuffle 1 --resume in.jsonl
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  $ ls left
  out.leat
  out.tokens
  $ mkdir left/out.partial.packed
  $ copy_dataset sound left/out.partial.packed/all
  $ pack -o left/out --shuffle 1 --force one.jsonl.gz
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  $ ls left
  out.leat
  out.tokens

Sentences are about the output that was given, not about what is packed first, which once was what they named.

  $ { cat in.jsonl && echo broken && echo broken; } >bad.jsonl
  $ for options in --dedup '--by v'; do
  >     echo "$options"
  >     leat pack -t bytes -o said $options --max-rejects 1 bad.jsonl 2>&1 | grep -o 'nothing is lost'
  >     pack -o said $options bad.jsonl || echo "[$?]"
  >     pack -o said $options --resume --text body bad.jsonl || echo "[$?]"
  >     pack -o said $options --resume in.jsonl bad.jsonl || echo "[$?]"
  >     for how in --resume --force; do
  >         flock said.partial.packed/all.partial.lock leat pack -t bytes -o said $options $how bad.jsonl || echo "[$?]"
  >     done
  >     pack -o said $options --resume bad.jsonl
  >     pack -o said $options bad.jsonl || echo "[$?]"
  >     rm said.*
  > done
  --dedup
  nothing is lost
  leat: the earlier run of said has not ended: resume it, or start over (--resume or --force)
  [1]
  leat: the earlier run of said differs: that one had "text-field text", this one has "text-field body"; give the same inputs and options or start over (--force)
  [1]
  leat: the inputs are not those of the earlier run of said: new: in.jsonl; give the same ones or start over (--force)
  [1]
  leat: said is being written already, by another process or another call of this one: wait for that, or choose another name
  [1]
  leat: said is being written already, by another process or another call of this one: wait for that, or choose another name
  [1]
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  leat: said.leat already exists; choose another name or replace it (--force)
  [1]
  --by v
  nothing is lost
  leat: the earlier run of said has not ended: resume it, or start over (--resume or --force)
  [1]
  leat: the earlier run of said differs: that one had "text-field text", this one has "text-field body"; give the same inputs and options or start over (--force)
  [1]
  leat: the inputs are not those of the earlier run of said: new: in.jsonl; give the same ones or start over (--force)
  [1]
  leat: said is being written already, by another process or another call of this one: wait for that, or choose another name
  [1]
  leat: said is being written already, by another process or another call of this one: wait for that, or choose another name
  [1]
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  leat: said.0.leat already exists; choose another name or replace it (--force)
  [1]

A stopped run that replaces the dataset is not taken for one that made it.

  $ pack -o over in.jsonl
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  $ copy_dataset over kept
  $ leat pack -t bytes -o over --force --max-rejects 0 bad.jsonl 2>&1 | grep -o 'nothing is lost'
  nothing is lost
  $ pack -o over --resume bad.jsonl
  leat: over.leat exists, and a run that replaces it has stopped at a checkpoint: to resume that run, ask again to replace the dataset (--force)
  [1]
  $ same over kept
  $ pack -o over --resume --force bad.jsonl
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  $ ls over.*
  over.leat
  over.rejects.jsonl
  over.tokens

What is somebody else's stays, and a link in its place is not followed.

  $ mkdir left/out.partial.packed
  $ echo mine >left/out.partial.packed/notes
  $ pack -o left/out --shuffle 1 --force in.jsonl
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  $ pack -o left/out --force in.jsonl
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  $ cat left/out.partial.packed/notes
  mine
  $ rm -r left/out.partial.packed
  $ mkdir elsewhere
  $ copy_dataset sound elsewhere/all
  $ ln -s "$PWD/elsewhere" left/out.partial.packed
  $ pack -o left/out --shuffle 1 --force in.jsonl
  leat: left/out.partial.packed is not a folder, but leat needs a folder of that name: remove it, or choose another name
  [1]
  $ pack -o left/out --force in.jsonl
  "was_finished": false "inputs": 1 "truncated_inputs": 0
  $ ls elsewhere
  all.leat
  all.tokens
