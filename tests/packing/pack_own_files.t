pack_own_files.t: a run does not take its own files for inputs, by whatever name it comes upon them, and finds before all
work what stands where it will write; a stopped run goes on only from what it wrote itself.

Once `leat pack -o d/corpus d` with rejects advised --resume, which failed, since d/corpus.rejects.jsonl had become an
input; with --force the rejects were packed again each time: 15,000, 30,000, 45,000. The rejects of a share that was
stopped were an input of the next share, and under --format jsonl so were indexes and all files of unfinished datasets. A
folder at NAME.tokens was found after the last document, and a bit flipped in the rejects of a stopped run went
unnoticed.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ counts() { # OPTION... INPUT
  >     members inputs,documents,rejected,skipped leat pack -t bytes --json "$@"
  > }
  $ mkdir d
  $ printf '{"text":"a"}\n{"text":"b"}\nno json\nnor this\n' >d/a.jsonl
  $ printf '{"text":"c"}\n' >d/b.jsonl
  $ counts -o whole --max-rejects 2 d
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 0

A run whose output stands in the folder of inputs stops for too many rejects, and the advice must hold.

  $ leat pack -t bytes -o d/corpus --max-rejects 1 d
  leat: 2 of 4 records were rejected, more than allowed; d/corpus.rejects.jsonl lists them with the reasons, for example: not valid JSON: an object ({) is expected at byte 1
  leat: nothing is lost: the same command with --resume and a larger --max-rejects continues from there: leat pack --resume --max-rejects 4 -t bytes -o d/corpus d
  leat: to give it up, remove what it left: rm -r d/corpus.partial.* d/corpus.rejects.jsonl
  [4]
  $ ls d/*.rejects.jsonl
  d/corpus.rejects.jsonl
  $ counts -o d/corpus --max-rejects 2 --resume d
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 0
  $ cmp d/corpus.tokens whole.tokens

So it is finished, again and again, under each format.

  $ cp d/corpus.rejects.jsonl rejects
  $ for format in auto auto jsonl jsonl; do
  >     counts -o d/corpus --max-rejects 2 --force --format $format d
  >     cmp d/corpus.rejects.jsonl rejects
  > done | uniq -c
        4 "inputs": 2 "documents": 3 "rejected": 2 "skipped": 0
  $ printf 'left by a killed run' >d/corpus.partial.tokens
  $ mkdir d/corpus.partial.packed
  $ printf 'left by a killed run' >d/corpus.partial.packed/all.leat
  $ counts -o d/corpus --force --format text d
  "inputs": 2 "documents": 2 "rejected": 0 "skipped": 0
  $ ls d
  a.jsonl
  b.jsonl
  corpus.leat
  corpus.tokens
  $ counts -o d/corpus --force --format text --split v=0.5 d
  "inputs": 2 "documents": 1 "rejected": 0 "documents": 1 "skipped": 0
  $ counts -o d/corpus --force --format text --split v=0.5 d
  "inputs": 2 "documents": 1 "rejected": 0 "documents": 1 "skipped": 0

This run does not write d/corpus.v.

  $ counts -o d/corpus --force --max-rejects 2 d
  leat: skipped 2 files in folders: d/corpus.v.leat, d/corpus.v.tokens
  leat: warning: d/corpus.v stays: this run does not write it. If an earlier run of d/corpus made it, documents of it may be in the new datasets, too; then remove it, unless you need it
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 2
  $ rm d/corpus.v.*

The rejects and tokens of another dataset are no texts either.

  $ leat pack -t bytes -o d/other --max-rejects 2 d >/dev/null
  leat: skipped 3 files in folders: d/corpus.leat, d/corpus.rejects.jsonl, d/corpus.tokens
  $ counts -o d/corpus --force --max-rejects 2 d
  leat: skipped 3 files in folders: d/other.leat, d/other.rejects.jsonl, d/other.tokens
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 3
  $ counts -o d/corpus --force --max-rejects 2 --format jsonl d
  leat: skipped 3 files in folders: d/other.leat, d/other.rejects.jsonl, d/other.tokens
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 3
  $ rm d/other.*

Neither are the files of one that is not finished: a share's, while another share of the same folder is packed.

  $ for format in auto jsonl; do
  >     counts -o alone --force --part 2/2 --max-rejects 2 --format $format d 2>/dev/null
  >     for how in '--part 1/2' '--shuffle 1'; do
  >         leat pack -t bytes -o d/one --max-rejects 0 --format $format $how d 2>&1 | grep -o 'continues from there'
  >         ls d/one.rejects.jsonl
  >         left=$(find d -type f -path 'd/one.*' -o -name 'corpus.*' | wc -l)
  >         counts -o two --force --part 2/2 --max-rejects 2 --format $format d 2>/dev/null | sed "s/: $left$/: all/"
  >         cmp two.tokens alone.tokens
  >         rm -r d/one.*
  >     done
  > done
  "inputs": 2 "documents": 1 "rejected": 1 "skipped": 3
  continues from there
  d/one.rejects.jsonl
  "inputs": 2 "documents": 1 "rejected": 1 "skipped": all
  continues from there
  d/one.rejects.jsonl
  "inputs": 2 "documents": 1 "rejected": 1 "skipped": all
  "inputs": 2 "documents": 1 "rejected": 1 "skipped": 3
  continues from there
  d/one.rejects.jsonl
  "inputs": 2 "documents": 1 "rejected": 1 "skipped": all
  continues from there
  d/one.rejects.jsonl
  "inputs": 2 "documents": 1 "rejected": 1 "skipped": all

Nor are the rejects of a run that stopped and could not make a checkpoint: nothing else is left of it.

  $ for format in auto jsonl; do
  >     leat pack -t bytes -o d/one --max-rejects 0 - <d/a.jsonl 2>&1 | grep -c 'were rejected'
  >     ls d/one.*
  >     counts -o alone --force --max-rejects 2 --format $format d
  >     rm -r d/one.*
  > done
  1
  d/one.rejects.jsonl
  leat: skipped 4 files in folders: d/corpus.leat, d/corpus.rejects.jsonl, d/corpus.tokens, d/one.rejects.jsonl
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 4
  1
  d/one.rejects.jsonl
  leat: skipped 4 files in folders: d/corpus.leat, d/corpus.rejects.jsonl, d/corpus.tokens, d/one.rejects.jsonl
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 4

A name alone means nothing.

  $ printf '{"text":"d"}\n' >d/c.partial.jsonl
  $ counts -o d/corpus --force --max-rejects 2 d
  "inputs": 3 "documents": 4 "rejected": 2 "skipped": 0
  $ rm d/c.partial.jsonl
  $ leat pack -t bytes -o d/corpus --force --max-rejects 2 d >/dev/null

The output may have other names, as the shell expands d/*.jsonl.

  $ counts -o d/corpus --force --max-rejects 2 d/a.jsonl d/b.jsonl d/corpus.rejects.jsonl
  leat: skipped 1 file of this run's own output: d/corpus.rejects.jsonl
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 1
  $ counts -o d/corpus --force --max-rejects 2 'd/*.jsonl'
  leat: skipped 1 file of this run's own output: d/corpus.rejects.jsonl
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 1
  $ printf 'a.jsonl\ncorpus.rejects.jsonl\n../d/b.jsonl\n' >d/list
  $ counts -o d/corpus --force --max-rejects 2 @d/list
  leat: skipped 1 file of this run's own output: d/corpus.rejects.jsonl
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 1
  $ rm d/list
  $ ln d/corpus.rejects.jsonl d/hard.jsonl
  $ ln -s corpus.rejects.jsonl d/soft.jsonl
  $ counts -o d/corpus --force --max-rejects 2 d
  leat: skipped 2 files of this run's own output: d/hard.jsonl, d/soft.jsonl
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 2

After that run d/hard.jsonl is a copy of old rejects, which another run may well take.

  $ rm d/hard.jsonl
  $ counts -o d/corpus --force --max-rejects 2 d/a.jsonl d/b.jsonl d/soft.jsonl
  leat: skipped 1 file of this run's own output: d/soft.jsonl
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 1
  $ leat pack -t bytes -o d/corpus --force d/soft.jsonl
  leat: d/soft.jsonl is a file of this run's own output; choose another output
  [2]
  $ rm d/soft.jsonl
  $ leat pack -t bytes -o d/corpus --force - <d/corpus.rejects.jsonl
  leat: standard input (-) is corpus.rejects.jsonl, which this run writes; choose another output
  [2]

What stands where it will write is found before all work.

  $ for suffix in tokens leat rejects.jsonl; do
  >     for thing in mkdir mkfifo; do
  >         $thing busy.$suffix
  >         for options in '' '--force' '--shuffle 1' '--force --shuffle 1'; do
  >             leat pack -t bytes -o busy $options --max-rejects 2 d || [ $? -eq 1 ] || echo another code
  >         done
  >         ls -d busy*
  >         rm -r busy.$suffix
  >     done
  > done 2>&1 | grep -v skipped | uniq -c
        4 leat: busy.tokens is a folder, where leat writes a file: remove it, or choose another name
        1 busy.tokens
        4 leat: busy.tokens is not a regular file, where leat writes a file: remove it, or choose another name
        1 busy.tokens
        4 leat: busy.leat is a folder, where leat writes a file: remove it, or choose another name
        1 busy.leat
        4 leat: busy.leat is not a regular file, where leat writes a file: remove it, or choose another name
        1 busy.leat
        4 leat: busy.rejects.jsonl is a folder, where leat writes a file: remove it, or choose another name
        1 busy.rejects.jsonl
        4 leat: busy.rejects.jsonl is not a regular file, where leat writes a file: remove it, or choose another name
        1 busy.rejects.jsonl
  $ mkdir busy.v.tokens
  $ leat pack -t bytes -o busy --split v=0.5 --max-rejects 2 d
  leat: skipped 3 files in folders: d/corpus.leat, d/corpus.rejects.jsonl, d/corpus.tokens
  leat: busy.v.tokens is a folder, where leat writes a file: remove it, or choose another name
  [1]
  $ rmdir busy.v.tokens

Of somebody's file nothing tells what it is.

  $ printf x >busy.tokens
  $ leat pack -t bytes -o busy --shuffle 1 --max-rejects 2 d
  leat: skipped 3 files in folders: d/corpus.leat, d/corpus.rejects.jsonl, d/corpus.tokens
  leat: busy.tokens already exists, without an index; choose another name or replace it (--force)
  [1]
  $ ls busy*
  busy.tokens

A stopped run goes on only from files that are its own, and neither follows nor changes what a link leads to.

  $ stop() {
  >     rm -rf run.*
  >     leat pack -t bytes -o run --max-rejects 1 d/a.jsonl d/b.jsonl 2>/dev/null
  > }
  $ resume() {
  >     counts -o run --max-rejects 2 --resume d/a.jsonl d/b.jsonl
  > }
  $ for file in run.rejects.jsonl run.partial.run run.partial.checkpoint run.partial.hashes run.partial.tokens; do
  >     stop
  >     mv $file aside
  >     cp aside victim
  >     printf 'more' >>victim
  >     cp victim copy
  >     ln -s victim $file
  >     resume
  >     cmp victim copy
  >     rm $file
  >     mv aside $file
  >     resume
  >     cmp run.tokens whole.tokens
  > done
  leat: run.rejects.jsonl is a symbolic link, where leat writes a file: remove it, or choose another name
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 0
  leat: run.partial.run is a symbolic link, where leat writes a file: remove it, or choose another name
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 0
  leat: run.partial.checkpoint is a symbolic link, where leat writes a file: remove it, or choose another name
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 0
  leat: run.partial.hashes is a symbolic link, where leat writes a file: remove it, or choose another name
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 0
  leat: run.partial.tokens is a symbolic link, where leat writes a file: remove it, or choose another name
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 0

Nor does it go on from files that are damaged, and that is not said to be no loss.

  $ for file in run.rejects.jsonl run.partial.checkpoint run.partial.hashes run.partial.origins run.partial.tokens; do
  >     stop
  >     cp $file aside
  >     printf '\001' | dd of=$file bs=1 seek=5 conv=notrunc 2>/dev/null
  >     resume
  >     cp aside $file
  >     resume
  >     cmp run.tokens whole.tokens && cmp run.rejects.jsonl whole.rejects.jsonl
  > done
  leat: run.rejects.jsonl is damaged: it is not what it was at the checkpoint, so the run cannot be resumed; start over (--force)
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 0
  leat: run.partial.checkpoint is damaged: the run cannot be resumed; start over (--force)
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 0
  leat: run.partial.hashes is damaged: it is not what it was at the checkpoint, so the run cannot be resumed; start over (--force)
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 0
  leat: run.partial.origins is damaged: it is not what it was at the checkpoint, so the run cannot be resumed; start over (--force)
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 0
  leat: run.partial.tokens is damaged: it is not what it was at the checkpoint, so the run cannot be resumed; start over (--force)
  "inputs": 2 "documents": 3 "rejected": 2 "skipped": 0
