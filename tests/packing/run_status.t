run_status.t: leat status tells how far the parts of a run are, by their signs of life, and what to do about those that
failed; printed commands can be copied, whatever the folder is called.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ unset SLURM_ARRAY_TASK_ID
  $ awk 'BEGIN { for (n = 0; n < 50; n++) printf "{\"text\":\"part 1, line %d\"}\n", n }' >in1.jsonl

A part that fails before its first checkpoint keeps nothing: its tokens counted once.

  $ awk 'BEGIN { for (n = 0; n < 200000; n++) printf "{\"text\":\"text of the document %d, which is longer\"}\n", n }' \
  >     >long.jsonl
  $ leat pack --run full --parts 1 -t gpt2 long.jsonl >/dev/null
  $ (trap '' XFSZ && ulimit -f 3000 && exec leat pack --run full --part 1 --threads 1) 2>/dev/null
  [1]
  $ members tokens,documents,share leat status full --json
  "tokens": 0 "documents": 0 "share": 0.0 "tokens": 0 "documents": 0
  $ beat() { # LINE...: the sign of life of part 1
  >     { echo 'leat part 1' && printf '%s\n' "$@"; } >full/part-1.beat
  > }

A reason without a host began with a colon, and a total that is not known was 0.

  $ beat 'state failed' 'reason it broke'
  $ leat status full
  1 part of 10.6 MiB in 1 input: 1 failed.
  0 tokens in 0 documents so far, about 0 % of the run.
  
     part  state               tokens   packed
        1  failed                   0           it broke
  
  To be packed: 1
  $ beat 'state failed' 'host h' 'bytes 900'
  $ leat status full --json | grep -o '"bytes": 900, "total_bytes": [^,]*'
  "bytes": 900, "total_bytes": null
  $ leat status full --left --json
  leat: --json and --left cannot be combined (leat status --help lists the options)
  [2]

Of a process that was killed, what was at its checkpoint counts.

  $ beat 'state running' 'bytes 900' 'total_bytes 1000' 'tokens 90' 'documents 9' 'kept_bytes 500' 'kept_tokens 50' \
  >     'kept_documents 5'
  $ leat status full --json | grep -o '"tokens": [0-9]*, "documents": [0-9]*, "share": [0-9.]*'
  "tokens": 90, "documents": 9, "share": 0.9
  $ touch -d '35 seconds ago' full/part-1.beat
  $ leat status full --json | grep -o '"tokens": [0-9]*, "documents": [0-9]*, "share": [0-9.]*'
  "tokens": 50, "documents": 5, "share": 0.5

All may be packed, and the part not done; or half of the input is left, and a second has room for all of it.

  $ beat 'state running' 'bytes 1000' 'total_bytes 1000'
  $ leat status full --json | grep -o '"share": 0.999'
  "share": 0.999
  $ leat status full | grep -o 'about 99 % of the run\|running .* 99\.9 %'
  about 99 % of the run
  running                  0   99.9 %
  $ beat 'state running' 'bytes 50' 'total_bytes 100' 'tokens_per_s 7' "bytes_per_s $(wc -c <long.jsonl)"
  $ leat status full --json | grep -o '"tokens_per_s": 7.0, "seconds_left": 0.5'
  "tokens_per_s": 7.0, "seconds_left": 0.5
  $ leat status full | grep -o '; 7.*'
  ; 7.00 tokens/s, 500 ms left at this rate.

A process that has just begun has the lock, and says nothing of itself yet; nobody writes to a pipe or reads it.

  $ : >full/part-1.beat
  $ flock full/part-1.beat leat pack --run full --part 1
  leat: another process is writing part 1 of the run in */full (glob)
  [1]
  $ rm full/part-1.beat && mkfifo full/part-1.beat
  $ leat pack --run full --part 1
  leat: */full/part-1.beat is not a regular file, where leat writes a file: remove it, or choose another name (glob)
  [1]
  $ leat status full
  1 part of 10.6 MiB in 1 input: 1 missing.
  0 tokens in 0 documents so far, about 0 % of the run.
  
  To be packed: 1

Commands are printed with quotes; more than 1,099 bytes were once printed without.

  $ leat pack --run "it's a run" --parts 1 -t bytes in1.jsonl
  it's a run: a run of 1 part, 1.3 KiB in 1 input.
  Each part, on any machine that has these files: leat pack --run 'it'\''s a run' --part I (or --part auto)
  $ leat merge -o all "it's a run"
  leat: the run in it's a run is not finished: of its 1 parts, 1 is not done (leat status 'it'\''s a run')
  [1]
  $ deep=$(printf "%0220d it's/" 1 2 3 4 5 6)
  $ mkdir -p "$deep"
  $ leat pack --run "$deep" --parts 1 -t bytes in1.jsonl | sed "1d; s/'\\\\''/QUOTE/g; s/0\{210,\}/000/g"
  Each part, on any machine that has these files: leat pack --run '0001 itQUOTEs/0002 itQUOTEs/0003 itQUOTEs/0004 itQUOTEs/0005 itQUOTEs/0006 itQUOTEs/' --part I (or --part auto)
  $ odd=$(printf "a\\nrun's\\377")
  $ leat pack --run "$odd" --parts 1 -t bytes in1.jsonl
  a\x0arun's\xff: a run of 1 part, 1.3 KiB in 1 input.
  Each part, on any machine that has these files: leat pack --run $'a\x0arun\'s\xff' --part I (or --part auto)

An input that breaks off is a failed part, and no dataset of another run the second time.

  $ cat in1.jsonl in1.jsonl in1.jsonl | gzip -c >whole.gz
  $ head -c $(($(wc -c <whole.gz) - 50)) whole.gz >cut.jsonl.gz
  $ leat pack --run broken --parts 2 -t bytes --max-rejects 1 in1.jsonl cut.jsonl.gz >/dev/null
  $ leat pack --run broken --part 1 >/dev/null
  $ for again in 1 2; do
  >     leat pack --run broken --part 2 >/dev/null || echo "[$?]"
  >     leat status broken --left
  >     leat status broken | grep failed
  > done
  leat: 1 input was cut off or broken, and packed as far as it was readable: cut.jsonl.gz, at byte *: it ends in the middle of a gzip member; what should follow is missing (glob)
  leat: when it is whole again, start the part over with --force; --allow-truncated counts that as success: leat pack --allow-truncated --run broken --part 2
  [1]
  2
  2 parts of * in 2 inputs: 1 done, 1 failed. (glob)
        2  failed * %  *: 1 input was cut off or broken: cut.jsonl.gz, at byte *: it ends in the middle of a gzip member (glob)
  leat: 1 input was cut off or broken, and packed as far as it was readable: cut.jsonl.gz, at byte *: it ends in the middle of a gzip member; what should follow is missing (glob)
  leat: when it is whole again, start the part over with --force; --allow-truncated counts that as success: leat pack --allow-truncated --run broken --part 2
  [1]
  2
  2 parts of * in 2 inputs: 1 done, 1 failed. (glob)
        2  failed * %  *: 1 input was cut off or broken: cut.jsonl.gz, at byte *: it ends in the middle of a gzip member (glob)

The folder once opened, since all files are there.

  $ for command in info verify 'cat --tokens 0:1' 'merge -o all'; do
  >     leat $command broken || echo "[$?]"
  > done
  leat: the run in the folder broken is not finished: part-2 has failed: 1 input was cut off or broken: cut.jsonl.gz, at byte *: it ends in the middle of a gzip member (glob)
  [1]
  leat: the run in the folder broken is not finished: part-2 has failed: 1 input was cut off or broken: cut.jsonl.gz, at byte *: it ends in the middle of a gzip member (glob)
  [1]
  leat: the run in the folder broken is not finished: part-2 has failed: 1 input was cut off or broken: cut.jsonl.gz, at byte *: it ends in the middle of a gzip member (glob)
  [1]
  leat: the run in broken is not finished: of its 2 parts, 2 is not done (leat status broken)
  [1]
  $ leat pack --run broken --part 2 --allow-truncated >/dev/null
  $ leat info broken >/dev/null
  $ leat status broken --left
  $ leat pack --run broken --part 2 >/dev/null
  $ leat status broken --left

What a link leads to is not the folder of a split: a step wrote there.

  $ mkdir elsewhere
  $ leat pack --run linked --parts 1 --split valid=0.5 -t bytes in1.jsonl >/dev/null
  $ rm -r linked/valid && ln -s ../elsewhere linked/valid
  $ leat pack --run linked --part 1
  leat: */linked/valid is not a folder, but leat needs a folder of that name: remove it, or choose another name (glob)
  [1]
  $ leat info linked/valid
  leat: linked/valid is a symbolic link in the folder of a run, where the folder of a split is to be: open what it leads to by its own name, or remove it
  [1]
  $ ls elsewhere

Half of a part may be there, or a damaged one; a part cannot choose another name, as was advised.

  $ leat pack --run half --parts 1 -t bytes in1.jsonl >/dev/null
  $ leat pack --run half --part 1 >/dev/null
  $ copy_dataset half/part-1 kept
  $ rm half/part-1.leat
  $ leat pack --run half --part 1
  leat: */half/part-1.leat and its .tokens are not those of this part: one is missing or damaged, or they are from another run; pack the part again and replace them (--force) (glob)
  [1]
  $ leat pack --run half --part 1 --force >/dev/null
  $ same half/part-1 kept
  $ echo damaged >half/part-1.leat
  $ leat status half
  1 part of 1.3 KiB in 1 input: 1 failed.
  0 tokens in 0 documents so far, about 0 % of the run.
  
     part  state               tokens   packed
        1  failed                   0           */half/part-1.leat is not a leat index: it does not begin with leat's magic bytes; give the name of a dataset (NAME.leat next to NAME.tokens) (glob)
  
  To be packed: 1
  $ leat status half --left
  1
  $ leat pack --run half --part 1
  leat: */half/part-1.leat and its .tokens are not those of this part: one is missing or damaged, or they are from another run; pack the part again and replace them (--force) (glob)
  [1]
  $ leat pack --run half --part 1 --force >/dev/null
  $ same half/part-1 kept

A part takes no --resume from its user: it once was advised.

  $ { cat in1.jsonl && echo '{"text":'; } >bad.jsonl
  $ leat pack --run rejects --parts 1 -t bytes --max-rejects 0 bad.jsonl >/dev/null
  $ leat pack --run rejects --part 1
  leat: 1 of 51 records was rejected, more than allowed; */rejects/part-1.rejects.jsonl lists them with the reasons, for example: not valid JSON: it ends where a value is expected; a record is a whole object in one line (glob)
  leat: nothing is lost: pack the part again, with a larger --max-rejects: it goes on from there: leat pack --max-rejects 2 --run rejects --part 1
  [4]
  $ leat pack --run rejects --part 1 --force
  leat: 1 of 51 records was rejected, more than allowed; */rejects/part-1.rejects.jsonl lists them with the reasons, for example: not valid JSON: it ends where a value is expected; a record is a whole object in one line (glob)
  leat: nothing is lost: pack the part again, without --force and with a larger --max-rejects: it goes on from there: leat pack --max-rejects 2 --run rejects --part 1
  [4]
  $ leat pack --run rejects --part 1 --max-rejects 1 >/dev/null
  $ sh "$SOURCES"/examples/cluster/pack.sbatch 2>&1 | grep -o 'the folder of a run: .*'
  the folder of a run: sbatch --array=1-N pack.sbatch RUN
