run.t: a run in a folder: planned once, packed part by part from any folder, each part compared with the plan; merging and
opening are refused until all are there, and then give the bytes of one run.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ unset SLURM_ARRAY_TASK_ID
  $ for i in 1 2 3 4 5 6; do
  >     awk -v i=$i 'BEGIN { for (n = 0; n < 50; n++) printf "{\"text\":\"part %d, line %d\"}\n", i, n }' >in$i.jsonl
  > done
  $ leat pack -o one -t gpt2 --text text in*.jsonl >/dev/null
  $ plan() { # OPTION...: with all inputs
  >     leat pack --run run --parts 12 -t gpt2 --text text "$@" in1.jsonl in2.jsonl in3.jsonl in4.jsonl in5.jsonl in6.jsonl
  > }
  $ plan
  run: a run of 12 parts, 7.9 KiB in 6 inputs.
  Each part, on any machine that has these files: leat pack --run run --part I (or --part auto)
  $ cp run/leat-run plan

Planned again it is as it was, and another plan is another run.

  $ plan >/dev/null
  $ cmp plan run/leat-run
  $ leat pack --run run --parts 11 -t gpt2 --text text in*.jsonl
  leat: the run in */run has 12 parts, not 11; to plan it anew, remove the folder */run (glob)
  [1]
  $ leat pack --run run --parts 12 -t gpt2 --text text in1.jsonl in2.jsonl in3.jsonl in4.jsonl in5.jsonl
  leat: the inputs are not those with which the run in */run was planned: missing now: in6.jsonl; restore them, or remove the folder */run and plan the run anew (glob)
  [1]
  $ leat pack --run run --parts 12 -t gpt2 --text text in2.jsonl in1.jsonl in3.jsonl in4.jsonl in5.jsonl in6.jsonl
  leat: the run in */run was planned with the input in1.jsonl, where in2.jsonl is here; to plan it anew, remove the folder */run (glob)
  [1]
  $ plan --threads 1
  leat: */run is the folder of another run */run/leat-run says which): choose another folder, or give the same arguments in the same folder (glob)
  [1]
  $ plan --special
  leat: the run in */run was planned with "special 0", not with "special 1": give the same options; to plan it anew, remove the folder */run (glob)
  [1]
  $ leat pack --run run --parts 12 -t bytes --text text in*.jsonl
  leat: the run in */run was planned with another tokenizer; to plan it anew, remove the folder */run (glob)
  [1]
  $ leat status run --left
  1-12

Words that contradict each other, or the plan, are refused.

  $ while read -r words; do
  >     leat pack $words || [ $? -eq 2 ] || echo another code
  > done <<'TABLE'
  > -t bytes in1.jsonl
  > -o x
  > --run run -o x --part 1
  > --run run -t bytes in1.jsonl
  > -o x --parts 3 in1.jsonl
  > -o x --part 3 in1.jsonl
  > --run run --part 3/8
  > --run run --part 3 in1.jsonl
  > --run run --part 13
  > --run run --part 0
  > --run run --part 13 --parts 12
  > --run run --part 3 --parts 8
  > --run run
  > --run new --parts 3
  > --run run --part auto
  > --run new --parts 2 -
  > --run new --parts 2 --force in1.jsonl
  > --run new --parts 2 --dry-run in1.jsonl
  > --run run --part 2 --text text
  > --run run --part 2 --text=text
  > --run run --part 2 -t gpt2
  > --run run --part 2 --end 0
  > --run run --part 2 --special
  > --run run --part 2 --keep text
  > TABLE
  leat: --output NAME is missing: the dataset to write: NAME.tokens and NAME.leat (leat pack --help shows how)
  leat: INPUT... is missing: leat pack INPUT... (leat pack --help shows how)
  leat: --output and --run cannot be combined (leat pack --help lists the options)
  leat: --run needs --parts N, to plan a run, or --part I, to pack a part of it (leat pack --help shows how)
  leat: --parts N is for a run in a folder (--run DIR); one part of N is --part I/N (leat pack --help shows how)
  leat: --part needs the number of parts, as I/N or auto/N; it is known only of a run in a folder (--run DIR) (leat pack --help shows how)
  leat: --part I/N has another N than the run was planned with: leave /N out (leat pack --help shows how)
  leat: a part takes the inputs of the plan: leave "in1.jsonl" out (leat pack --help shows how)
  leat: part 13: the run in run has the parts 1 to 12 (leat pack --help shows how)
  leat: part 0: the run in run has the parts 1 to 12 (leat pack --help shows how)
  leat: part 13: the run in run has the parts 1 to 12 (leat pack --help shows how)
  leat: --parts 8, but the run in run has 12 parts: leave --parts out (leat pack --help shows how)
  leat: --run run: add --part I or --part auto, to pack a part of that run; or --parts N and INPUT..., to plan it (leat pack --help shows how)
  leat: INPUT... is missing: leat pack INPUT... (leat pack --help shows how)
  leat: --part auto: no system says which of 12 parts this is, as one of these variables: SLURM_ARRAY_TASK_ID, SLURM_PROCID, JOB_COMPLETION_INDEX, AWS_BATCH_JOB_ARRAY_INDEX, BATCH_TASK_INDEX, CLOUD_RUN_TASK_INDEX, PBS_ARRAY_INDEX, PBS_ARRAYID, SGE_TASK_ID, LSB_JOBINDEX, OMPI_COMM_WORLD_RANK, PMI_RANK; or use --part I/12 (leat pack --help shows how)
  leat: every part of a run reads the inputs, and standard input comes only once: name files
  leat: --force is for one part, as it is packed (--run DIR --part I): each part would start over whenever it is tried again
  leat: --dry-run and --run cannot be combined (leat pack --help lists the options)
  leat: --text belongs to the plan of a run: all parts share it (leat pack --help shows how)
  leat: --text belongs to the plan of a run: all parts share it (leat pack --help shows how)
  leat: --tokenizer belongs to the plan of a run: all parts share it (leat pack --help shows how)
  leat: --end belongs to the plan of a run: all parts share it (leat pack --help shows how)
  leat: --special belongs to the plan of a run: all parts share it (leat pack --help shows how)
  leat: --keep belongs to the plan of a run: all parts share it (leat pack --help shows how)

What is refused makes no folder, and removes none.

  $ leat pack --run nothing --part 1
  leat: nothing is not the folder of a run: leat pack --run nothing --parts N ... INPUT... makes one
  [1]
  $ leat pack --run new --parts 2 -t bytes in1.jsonl missing.jsonl
  leat: cannot find the input missing.jsonl: No such file or directory
  [1]
  $ leat pack --run s3://b/run --parts 2 -t bytes in1.jsonl
  leat: s3://b/run is a URL: write to a local name first; `leat push` copies datasets to a bucket
  [1]
  $ leat pack --run no/such/run --parts 2 -t bytes in1.jsonl
  leat: cannot make the folder no/such/run: No such file or directory
  [1]
  $ ln -s nowhere to-nothing
  $ leat pack --run to-nothing --parts 2 -t bytes in1.jsonl
  leat: cannot find the folder to-nothing: No such file or directory
  [1]
  $ mkdir mine
  $ leat pack --run mine --parts 2 -t bytes missing.jsonl
  leat: cannot find the input missing.jsonl: No such file or directory
  [1]
  $ ls -d new nowhere mine 2>/dev/null
  mine
  [2]

Parts are packed in any order, from any folder; a part that is finished is a success.

  $ mkdir elsewhere
  $ cd elsewhere
  $ for part in 3 1; do leat pack --run ../run --part $part/12 >/dev/null; done
  $ SLURM_ARRAY_TASK_ID=3 leat pack --run ../run --part auto --threads 1
  */run/part-03 is finished already: 156 tokens in 26 documents. (glob)
  $ cd ..
  $ leat status run --left
  2,4-12

An input has changed: that is no news of a part that is done, where a sign of life was left once.

  $ echo >>in6.jsonl
  $ leat pack --run run --part 3
  leat: the inputs are not those with which the run in */run was planned: changed (size, time or etag): in6.jsonl; restore them, or remove the folder */run and plan the run anew (glob)
  [1]
  $ leat pack --run run --part 2
  leat: the inputs are not those with which the run in */run was planned: changed (size, time or etag): in6.jsonl; restore them, or remove the folder */run and plan the run anew (glob)
  [1]
  $ ls run/*.beat
  run/part-02.beat
  $ leat status run --all | grep failed
  12 parts of 7.9 KiB in 6 inputs: 2 done, 1 failed, 9 missing.
        2  failed                   0           *: the inputs are not those with which the run in */run was planned: changed (size, time or etag): in6.jsonl; restore them, or remove the folder */run and plan the run anew (glob)
  $ cp run/leat-run.inputs kept.inputs
  $ for damage in 's/^inputs 6/inputs 7/' '$d'; do
  >     sed "$damage" kept.inputs >run/leat-run.inputs
  >     leat pack --run run --part 2 || echo "[$?]"
  > done
  leat: */run/leat-run.inputs is damaged: remove it and plan the run again in this folder, with the same arguments, which writes it anew (glob)
  [1]
  leat: */run/leat-run.inputs is damaged: remove it and plan the run again in this folder, with the same arguments, which writes it anew (glob)
  [1]
  $ rm run/leat-run.inputs
  $ leat pack --run run --part 2
  leat: */run/leat-run.inputs is missing: plan the run again in the folder */run, with the same arguments, which writes it anew (glob)
  [1]
  $ mv kept.inputs run/leat-run.inputs
  $ awk 'BEGIN { for (n = 0; n < 50; n++) printf "{\"text\":\"part 6, line %d\"}\n", n }' >in6.jsonl
  $ touch -d "@$(sed -n 's/.*changed at \([0-9.]*\).*in6.jsonl$/\1/p' run/leat-run.inputs)" in6.jsonl
  $ leat pack --run run --part 2 >/dev/null

All must be there.

  $ leat merge -o all run
  leat: the run in run is not finished: of its 12 parts, 4-12 are not done (leat status run)
  [1]
  $ leat info run
  leat: the run in the folder run is not finished: 3 of its 12 parts are there; pack the others
  [1]
  $ for part in 4 5 6 7 8 9 10 11 12; do leat pack --run run --part $part >/dev/null; done
  $ leat status run --left
  $ leat status run --json | grep -o '"complete": [a-z]*'
  "complete": true
  $ leat status run | grep opens
  All parts are done: */run opens as one dataset, and leat merge -o NAME */run joins them. (glob)
  $ find run -name '*.beat'
  $ leat merge -o all run >/dev/null
  $ same all one
  $ leat cat run --tokens : --ids >listed
  $ leat cat one --tokens : --ids | cmp - listed

A dataset in the folder would be there twice.

  $ leat merge -o run/all run >/dev/null
  $ leat info run
  leat: run/all.leat is not a part of the run in its folder: move it elsewhere, so that the folder opens
  [1]
