run_inputs.t: a run in a folder names each input that differs from the plan, or cannot be opened, up to ten of a kind; and
what is no plan, or not whole, is refused. Root can open all, unless it gives that up.

  $ plainly=
  $ [ "$(id -u)" != 0 ] || plainly='setpriv --bounding-set=-dac_override,-dac_read_search'
  $ $plainly true || exit 80
  $ mkdir many closed
  $ echo '{"text":"a"}' | tee many/24.jsonl >in1.jsonl
  $ for i in $(seq 11 23); do echo '{"text":"a"}' >many/$i.jsonl; done
  $ leat pack --run of-many --parts 2 -t bytes many >/dev/null
  $ rm many/1*
  $ echo >>many/22.jsonl
  $ touch -d '2001-02-03' many/24.jsonl
  $ for i in 00.jsonl 20x.jsonl 24.json; do echo '{"text":"a"}' >many/$i; done
  $ leat pack --run of-many --part 1
  leat: the inputs are not those with which the run in */of-many was planned: missing now: many/11.jsonl, many/12.jsonl, many/13.jsonl, many/14.jsonl, many/15.jsonl, many/16.jsonl, many/17.jsonl, many/18.jsonl, many/19.jsonl; new: many/00.jsonl, many/20x.jsonl, many/24.json; changed (size, time or etag): many/22.jsonl, many/24.jsonl; restore them, or remove the folder */of-many and plan the run anew (glob)
  [1]
  $ rm many/20.jsonl many/21.jsonl
  $ leat pack --run of-many --part 2
  leat: the inputs are not those with which the run in */of-many was planned: missing now: many/11.jsonl, many/12.jsonl, many/13.jsonl, many/14.jsonl, many/15.jsonl, many/16.jsonl, many/17.jsonl, many/18.jsonl, many/19.jsonl, many/20.jsonl and 1 more; new: many/00.jsonl, many/20x.jsonl, many/24.json; changed (size, time or etag): many/22.jsonl, many/24.jsonl; restore them, or remove the folder */of-many and plan the run anew (glob)
  [1]

Two plans may be made at one moment: one of them is written, whole. Both once wrote the same unfinished file.

  $ mkdir two
  $ for file in two/leat-run.inputs two/leat-run; do
  >     flock $file.partial leat pack --run two --parts 2 -t bytes in1.jsonl || echo "[$?]"
  > done
  leat: another process is writing */two/leat-run.inputs.partial: wait for it, or choose another name (glob)
  [1]
  leat: another process is writing */two/leat-run.partial: wait for it, or choose another name (glob)
  [1]
  $ leat pack --run two --parts 2 -t bytes in1.jsonl >/dev/null
  $ ls -A two
  leat-run
  leat-run.inputs

The plan may be lost alone; what an older run left would count as done.

  $ mv two/leat-run plan
  $ : >two/part-2.leat
  $ leat pack --run two --parts 2 -t bytes in1.jsonl >/dev/null
  $ cmp two/leat-run plan
  $ rm two/leat-run two/leat-run.inputs
  $ leat pack --run two --parts 2 -t bytes in1.jsonl
  leat: */two/part-2.leat is of another run: choose an empty folder, or remove all files of this one (glob)
  [1]

What is no plan of this version, or not whole, is refused by all who read it.

  $ mkdir changed
  $ for change in '1s/2$/3/' '/^parts/d' 's/^parts .*/parts 0/' '$d'; do
  >     sed "$change" plan >changed/leat-run
  >     for words in 'status changed' 'pack --run changed --part 1' 'merge -o all changed'; do
  >         leat $words || [ $? -eq 1 ] || echo another code
  >     done
  > done 2>&1 | uniq -c
        3 leat: changed/leat-run is not the plan of a run that this version can read
        9 leat: changed/leat-run, the plan of the run, is damaged: restore it, or plan the run again in another folder

Files of lines took as much memory as whoever wrote them liked: 8 GiB. These are holes.

  $ truncate -s 65M changed/leat-run
  $ leat status changed
  leat: changed/leat-run is too large: a list or plan has at most 64 MiB; restore it from its source
  [1]
  $ cp plan changed/leat-run
  $ for file in leat-run.inputs leat-run.list list; do truncate -s 8G changed/$file; done
  $ leat pack --run changed --part 1
  leat: */changed/leat-run.inputs is too large: a list or plan has at most 64 MiB; restore it from its source (glob)
  [1]
  $ leat info changed
  leat: changed/leat-run.list is too large: a list or plan has at most 64 MiB; restore it from its source
  [1]
  $ leat info changed/leat-run.list
  leat: changed/leat-run.list is too large: a list or plan has at most 64 MiB; restore it from its source
  [1]
  $ leat info @changed/list
  leat: changed/list is too large: a list or plan has at most 64 MiB; restore it from its source
  [1]
  $ rm -r changed

An input that cannot be opened ends a run; --dry-run names each.

  $ for i in 1 2 3; do echo '{"text":"a"}' >closed/$i.jsonl; done
  $ printf '\211PNG\r\n\032\n' >closed/picture.png
  $ leat pack --run of-closed --parts 2 -t bytes closed >/dev/null
  leat: skipped 1 file in folders: closed/picture.png
  $ chmod 0 closed/2.jsonl closed/3.jsonl
  $ $plainly leat pack --run of-closed --part 2
  leat: cannot open */closed/2.jsonl: Permission denied (glob)
  [1]
  $ $plainly leat pack -o no -t bytes closed
  leat: skipped 1 file in folders: closed/picture.png
  leat: cannot open closed/2.jsonl: Permission denied
  [1]
  $ $plainly leat pack --run no --parts 2 -t bytes closed
  leat: skipped 1 file in folders: closed/picture.png
  leat: cannot open closed/2.jsonl: Permission denied
  [1]
  $ for i in $(seq 10 19); do
  >     echo '{"text":"a"}' >closed/$i.jsonl
  >     chmod 0 closed/$i.jsonl
  > done
  $ $plainly leat pack --dry-run -t bytes closed 2>&1 | grep -c 'cannot open'
  12

A list that is a pipe is read once.

  $ mkfifo pipe
  $ seq -f 'closed/%g.jsonl' 1 3 >pipe &
  $ $plainly leat pack -o no -t bytes @pipe
  leat: cannot open closed/2.jsonl: Permission denied
  [1]
  $ chmod 600 closed/*
