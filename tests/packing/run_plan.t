run_plan.t: the plan of a run keeps each word as it is, whatever it is made of. A plan that is damaged is refused by all
who read it, and so is a folder that cannot be made.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ unset SLURM_ARRAY_TASK_ID
  $ printf '{"text":"of\\nlines"}\n' >in.jsonl
  $ name=$(printf 'back\\slash \\n, and\nlines \\ ')
  $ cp in.jsonl "$name.jsonl"
  $ leat pack -o one -t bytes "$name.jsonl" >/dev/null
  $ leat pack --run run --parts 1 -t bytes "$name.jsonl" >/dev/null
  $ leat pack --run run --part 1 >/dev/null
  $ leat merge -o all run >/dev/null
  $ same one all

Each line of a plan is lost in turn, and each has another character at its end.

  $ leat pack --run whole --parts 2 -t bytes --keep 'text exists' --id '' in.jsonl >/dev/null
  $ cp -r whole other
  $ sed 's/[.*/]/\\&/g' whole/leat-run | while IFS= read -r line; do
  >     for change in "/^$line\$/d" "s/^$line\$/&0/"; do
  >         sed "$change" whole/leat-run >other/leat-run
  >         ! cmp -s whole/leat-run other/leat-run || echo "$change changes nothing"
  >         leat pack --run other --part 1
  >     done
  > done 2>&1 | sort | uniq -c
        2 leat: other/leat-run is not the plan of a run that this version can read
       [5-9][0-9] leat: other/leat-run, the plan of the run, is damaged: restore it, or plan the run again in another folder (re)
  $ ls other
  leat-run
  leat-run.inputs

A folder cannot always be made.

  $ ln -s nowhere dangling
  $ leat pack --run none/run --parts 2 -t bytes in.jsonl
  leat: cannot make the folder none/run: No such file or directory
  [1]
  $ leat pack --run dangling --parts 2 -t bytes in.jsonl
  leat: cannot find the folder dangling: No such file or directory
  [1]
  $ mkdir gone
  $ here=$PWD
  $ (cd gone && rmdir ../gone && leat pack --run "$here/new" --parts 2 -t bytes "$here/in.jsonl")
  leat: cannot find out the current folder: No such file or directory
  [1]
  $ [ ! -e new ]
