run_arranged.t: a run in a folder whose parts are split as they are packed, and deduplicated and shuffled when they are
merged: each part goes once and waits for no other, and merged they have the bytes of one run. --dedup and --shuffle with
--run are refused with the line that does it, which is tried here word by word.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ unset SLURM_ARRAY_TASK_ID
  $ awk 'BEGIN { for (n = 0; n < 900; n++)
  >     printf "{\"text\":\"text %d\",\"k\":\"%d\"}\n", n * n % 601, n % 3 }' >in.jsonl
  $ pack_parts() { # RUN PARTS...
  >     folder=$1
  >     shift
  >     for part in "$@"; do
  >         leat pack --run "$folder" --part $part >/dev/null
  >     done
  > }
  $ joined() { # FOLDER SPLITS...: they have the bytes of the one run
  >     folder=$1
  >     shift
  >     rm -f all.*
  >     for name in '' "$@"; do
  >         leat merge -o "all${name:+.$name}" "$folder/$name" >/dev/null && same "all${name:+.$name}" "one${name:+.$name}"
  >     done
  > }

Each part is split as it is packed.

  $ splits='--split valid=0.2,test=0.1'
  $ leat pack -o one -t bytes $splits in.jsonl >/dev/null
  $ leat pack --run split --parts 3 -t bytes $splits in.jsonl >/dev/null
  $ leat pack --run split --part 1
  */split/valid/part-1: 500 tokens in 57 documents. (glob)
  */split/test/part-1: 232 tokens in 26 documents. (glob)
  */split/part-1: 1,905 tokens in 217 documents from 1 input, 2.3 KiB of text read in *. (glob)
  * of text, * tokens/s; memory at most *. (glob)
  $ leat status split --left
  2-3
  $ leat status split
  3 parts of 24.4 KiB in 1 input: 1 done, 2 missing.
  1,905 tokens in 217 documents so far, about 33 % of the run.
  
  To be packed: 2-3
  $ leat merge -o all split
  leat: the run in split is not finished: of its 3 parts, 2-3 are not done (leat status split)
  [1]
  $ leat info split/valid
  leat: the run in the folder split/valid is not finished: 1 of its 3 parts are there; pack the others
  [1]
  $ members output,splits leat pack --run split --part 3 --json
  "output": "*/split/part-3" "splits": [{"output": "*/split/valid/part-3", "documents": 57, "tokens": 500, "identity": "cb5836bccd2d544ca49f5c6a8fd2670c"}, {"output": "*/split/test/part-3", "documents": 26, "tokens": 232, "identity": "1ff501f5a40f52dd32713b88da84d8a4"}] (glob)
  $ pack_parts split 2
  $ joined split valid test
  $ leat pack --run split --part 2
  */split/part-2 is finished already: 1,909 tokens in 217 documents. (glob)
  $ find split -name '*partial*'

The second step of one part alone once found another dataset than its own.

  $ leat pack --run alone --parts 1 -t bytes $splits in.jsonl >/dev/null
  $ pack_parts alone 1
  $ leat pack --run alone --part 1
  */alone/part-1 is finished already: 5,717 tokens in 651 documents. (glob)
  $ joined alone valid test

A part may have been killed when only its splits had their names; one may be lost, and one packed anew.

  $ rm split/part-3.* split/test/part-1.* split/part-1.*
  $ pack_parts split 3 1
  $ joined split valid test
  $ leat pack --run split --part 1 --force >/dev/null
  $ joined split valid test
  $ leat pack --run split --part 2 --split other=0.1
  leat: --split belongs to the plan of a run: all parts share it (leat pack --help shows how)
  [2]

A reject is counted once, and listed beside its part.

  $ cp in.jsonl in2.jsonl
  $ printf '{"text":"no text\n' >>in2.jsonl
  $ rm one.*
  $ leat pack -o one -t bytes --split valid=0.2 --max-rejects 1 in2.jsonl >/dev/null
  $ leat pack --run bad --parts 2 -t bytes --split valid=0.2 --max-rejects 1 in2.jsonl >/dev/null
  $ pack_parts bad 1 2
  $ joined bad valid
  $ find bad -name '*.rejects.jsonl'
  bad/part-2.rejects.jsonl
  $ leat info bad --json | grep -o '"rejects": [1-9][0-9]*'
  "rejects": 1
  $ members was_finished,rejected leat pack --run bad --part 2 --json
  "was_finished": true "rejected": 1

A merge deduplicates and shuffles: the line that is said is tried on parts that are packed without these options.

  $ refused() { # OPTIONS...
  >     rm -f one.* OUT.*
  >     leat pack -o one -t bytes "$@" in.jsonl >/dev/null
  >     leat pack --run 'my run' --parts 3 -t bytes "$@" in.jsonl 2>said
  >     cat said
  >     ls 'my run' 2>/dev/null
  >     leat pack --run 'my run' --parts 3 -t bytes in.jsonl >/dev/null
  >     pack_parts 'my run' 3 1 2
  >     sed -n 's/.*this does it: //p' said >line
  >     sh -e line >/dev/null
  >     rm -r 'my run'
  > }
  $ refused --dedup
  leat: a run in parts is planned and packed without --dedup, since no part knows the others; when all parts are packed, this does it: leat merge -o OUT 'my run' --dedup
  $ same OUT one
  $ refused --shuffle 5
  leat: a run in parts is planned and packed without --shuffle, since no part knows the others; when all parts are packed, this does it: leat merge -o OUT 'my run' --shuffle 5
  $ same OUT one
  $ refused --dedup --shuffle 12345678901234567890 $splits
  leat: a run in parts is planned and packed without --dedup, --shuffle and --split, since no part knows the others; when all parts are packed, this does it: leat merge -o OUT 'my run' --dedup --shuffle 12345678901234567890 --split valid=0.2,test=0.1
  $ for name in '' .valid .test; do same OUT$name one$name; done

Of parts that are split, each split is merged; with small pieces, in little memory.

  $ leat pack --run later --parts 4 -t bytes $splits in.jsonl >/dev/null
  $ pack_parts later 2 4 1 3
  $ for name in '' .valid .test; do
  >     "$LEAT_BUILD"/tiny/leat merge -o "OUT$name" --force "later/${name#.}" --dedup --shuffle 12345678901234567890 \
  >         --memory 64KiB >/dev/null
  >     same OUT$name one$name
  > done
  leat: warning: OUT.test, OUT.valid stay: this run does not write them. If an earlier run of OUT made them, documents of theirs may be in the new datasets, too; then remove them, unless you need them

Parts may be divided by values.

  $ leat pack -o by -t bytes --by k --dedup --shuffle 3 in.jsonl >/dev/null
  $ leat pack --run values --parts 2 -t bytes --by k --dedup in.jsonl
  leat: a run in parts is planned and packed without --dedup, since no part knows the others; when all parts are packed, this does it: leat merge -o OUT values --dedup
  [2]
  $ leat pack --run values --parts 2 -t bytes --by k in.jsonl >/dev/null
  $ pack_parts values 1 2
  $ leat merge -o byall values --dedup --shuffle 3 >/dev/null
  $ for value in 0 1 2; do same byall.$value by.$value; done

Some of it cannot be.

  $ while read -r words; do
  >     leat pack $words in.jsonl || [ $? -eq 2 ] || echo another code
  > done <<'TABLE'
  > --run split --part 1 --dedup
  > --run new --parts 2 -t bytes --by k --split a=0.1
  > --run new --parts 2 -t bytes --split packed/x=0.1
  > --run new --parts 2 -t bytes --split leat-run=0.1
  > --run new --parts 2 -t bytes --split a=0.1,part-1=0.1
  > --part 1/2 -o part -t bytes --dedup
  > --part 1/2 -o part -t bytes --split a=0.1
  > TABLE
  leat: a run in parts is planned and packed without --dedup, since no part knows the others; when all parts are packed, this does it: leat merge -o OUT split --dedup
  leat: the documents of each value are split alone, when a run is divided by values: split them when merging the parts
  leat: invalid split name "packed/x": use letters, digits, '-' and '_', but not leat, tokens, partial or packed
  leat: no split of a run is called leat-run or part-...: its folder has files of these names
  leat: no split of a run is called leat-run or part-...: its folder has files of these names
  leat: shuffling, deduplicating and splitting need the whole run: use them when merging its shares
  leat: shuffling, deduplicating and splitting need the whole run: use them when merging its shares

What has the name of a plan may be no file.

  $ mkdir -p odd/leat-run pipe
  $ mkfifo pipe/leat-run
  $ for folder in odd pipe; do
  >     leat status $folder || echo "[$?]"
  >     leat pack --run $folder --part 1 || echo "[$?]"
  >     leat pack --run $folder --parts 2 -t bytes in.jsonl || echo "[$?]"
  > done
  leat: odd is not the folder of a run: leat pack --run odd --parts N ... INPUT... makes one
  [1]
  leat: odd is not the folder of a run: leat pack --run odd --parts N ... INPUT... makes one
  [1]
  leat: */odd/leat-run is not a regular file (glob)
  [1]
  leat: pipe is not the folder of a run: leat pack --run pipe --parts N ... INPUT... makes one
  [1]
  leat: pipe is not the folder of a run: leat pack --run pipe --parts N ... INPUT... makes one
  [1]
  leat: */pipe/leat-run is not a regular file (glob)
  [1]
