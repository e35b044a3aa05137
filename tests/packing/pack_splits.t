pack_splits.t: a folder from the Hugging Face Hub holds texts to train with and texts to test with; both once went into
one dataset, without a word. Without a choice that is refused, before anything is written: in folders, lists, several
files, what a shell makes of a pattern, and runs in parts. --split-of takes one split, or all files.
(python/tests/pack/test_hub_splits.py compares what a split is with the package datasets.)

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ make() { # FILE...: each with one text
  >     for file in "$@"; do
  >         mkdir -p "$(dirname "$file")"
  >         printf '{"text":"%s"}\n' "$file" >"$file"
  >     done
  > }
  $ takes() { # WORD...
  >     members documents leat pack -t bytes --force -o taken --json "$@"
  > }
  $ refused() { # WORD...
  >     leat pack -t bytes -o out "$@" || [ $? -eq 2 ] || echo another code
  > }
  $ make hub/train-00000-of-00002.jsonl hub/train-00001-of-00002.jsonl hub/test-00000-of-00001.jsonl
  $ ls hub/* >list
  $ refused hub
  leat: the files of the folder hub do not all belong to one split: train (2 files: train-00000-of-00002.jsonl, train-00001-of-00002.jsonl), test (1 file: test-00000-of-00001.jsonl); name a narrower folder, or choose a split or all files (--split-of train, for example, or --split-of all)
  $ refused --dry-run hub/
  leat: the files of the folder hub/ do not all belong to one split: train (2 files: train-00000-of-00002.jsonl, train-00001-of-00002.jsonl), test (1 file: test-00000-of-00001.jsonl); name a narrower folder, or choose a split or all files (--split-of train, for example, or --split-of all)
  $ { refused 'hub/*' && refused @list && refused hub/*; } 2>&1 | uniq -c
        3 leat: the inputs do not all belong to one split: train (2 files: train-00000-of-00002.jsonl, train-00001-of-00002.jsonl), test (1 file: test-00000-of-00001.jsonl); name a narrower folder, or choose a split or all files (--split-of train, for example, or --split-of all)
  $ leat pack -t bytes --run out.run --parts 2 hub
  leat: the files of the folder hub do not all belong to one split: train (2 files: train-00000-of-00002.jsonl, train-00001-of-00002.jsonl), test (1 file: test-00000-of-00001.jsonl); name a narrower folder, or choose a split or all files (--split-of train, for example, or --split-of all)
  [2]
  $ refused --part 1/2 hub
  leat: the files of the folder hub do not all belong to one split: train (2 files: train-00000-of-00002.jsonl, train-00001-of-00002.jsonl), test (1 file: test-00000-of-00001.jsonl); name a narrower folder, or choose a split or all files (--split-of train, for example, or --split-of all)

--split divides documents, which is something else.

  $ refused --split valid=0.5 hub
  leat: the files of the folder hub do not all belong to one split: train (2 files: train-00000-of-00002.jsonl, train-00001-of-00002.jsonl), test (1 file: test-00000-of-00001.jsonl); name a narrower folder, or choose a split or all files (--split-of train, for example, or --split-of all)

Datasets would leave out files of no split beside one split; a name of its own is no reason to refuse a file.

  $ make trap/corpus.jsonl trap/test.jsonl
  $ refused trap
  leat: the files of the folder trap do not all belong to one split: test (1 file: test.jsonl), no split (1 file: corpus.jsonl); name a narrower folder, or choose a split or all files (--split-of train, for example, or --split-of all)
  $ takes trap/test.jsonl
  "documents": 1
  $ takes trap/corpus.jsonl
  "documents": 1
  $ make same/test-1.jsonl same/test-2.jsonl test/a.jsonl test/b.jsonl
  $ takes same
  "documents": 2
  $ takes test
  "documents": 2
  $ takes test/a.jsonl test/b.jsonl
  "documents": 2
  $ takes "$PWD/test"
  "documents": 2
  $ make two/train/a.jsonl two/test/a.jsonl
  $ refused two/train two/test
  leat: the inputs do not all belong to one split: train (1 file: train/a.jsonl), test (1 file: test/a.jsonl); name a narrower folder, or choose a split or all files (--split-of train, for example, or --split-of all)
  $ takes --split-of test two/train two/test
  leat: skipped 1 file of other splits, or of none: two/train/a.jsonl
  "documents": 1
  $ takes two/train
  "documents": 1

What stands above what was named says nothing, also where only some begin at the root.

  $ top=$PWD
  $ mkdir -p test/x/here && cd test/x/here && make b.jsonl in/c.jsonl
  $ takes b.jsonl "$top/test/a.jsonl"
  "documents": 2
  $ takes "$PWD/b.jsonl" b.jsonl ./b.jsonl
  leat: warning: 2 inputs repeat earlier ones, the first is b.jsonl: their documents are packed once for each
  "documents": 3
  $ takes b.jsonl "$PWD/in"
  "documents": 2
  $ takes in "$top/test/a.jsonl"
  "documents": 2
  $ make train/d.jsonl
  $ refused b.jsonl "$PWD/train"
  leat: the inputs do not all belong to one split: train (1 file: train/d.jsonl), no split (1 file: b.jsonl); name a narrower folder, or choose a split or all files (--split-of train, for example, or --split-of all)
  $ cd "$top" && rm -r test/x

Many splits are counted.

  $ for i in $(seq 100 129); do
  >     make "many/data/a-very-long-name-of-a-split-that-nobody-reads-$i-00000-of-00001.jsonl"
  >     make "many/data/b-00$i-of-00130.jsonl"
  > done
  $ refused many
  leat: the files of the folder many do not all belong to one split: a-very-long-name-of-a-split-that-nob... (1 file: ...obody-reads-100-00000-of-00001.jsonl), a-very-long-name-of-a-split-that-nob... (1 file: ...obody-reads-101-00000-of-00001.jsonl), a-very-long-name-of-a-split-that-nob... (1 file: ...obody-reads-102-00000-of-00001.jsonl), a-very-long-name-of-a-split-that-nob... (1 file: ...obody-reads-103-00000-of-00001.jsonl) and 27 more splits; name a narrower folder, or choose a split or all files (--split-of train, for example, or --split-of all)
  $ takes --split-of b many
  leat: skipped 30 files of other splits, or of none: many/data/a-very-long-name-of-a-split-that-nobody-reads-100-00000-of-00001.jsonl, many/data/a-very-long-name-of-a-split-that-nobody-reads-101-00000-of-00001.jsonl, many/data/a-very-long-name-of-a-split-that-nobody-reads-102-00000-of-00001.jsonl, many/data/a-very-long-name-of-a-split-that-nobody-reads-103-00000-of-00001.jsonl, many/data/a-very-long-name-of-a-split-that-nobody-reads-104-00000-of-00001.jsonl and 25 more
  "documents": 30

A split, or all files, may be chosen.

  $ takes --split-of train hub
  leat: skipped 1 file of other splits, or of none: hub/test-00000-of-00001.jsonl
  "documents": 2
  $ leat pack -t bytes --force -o taken --json --split-of train hub 2>/dev/null |
  >     grep -oE '"(skipped_files|hub_splits)": \[[^]]*\]'
  "skipped_files": ["hub/test-00000-of-00001.jsonl"]
  "hub_splits": [{"split": "train", "inputs": 2, "packed": true}, {"split": "test", "inputs": 1, "packed": false}]
  $ takes --split-of train hub/*
  leat: skipped 1 file of other splits, or of none: hub/test-00000-of-00001.jsonl
  "documents": 2
  $ takes --split-of test @list
  leat: skipped 2 files of other splits, or of none: hub/train-00000-of-00002.jsonl, hub/train-00001-of-00002.jsonl
  "documents": 1
  $ members documents,hub_splits leat pack -t bytes --force -o taken --json --split-of all hub
  "documents": 3 "hub_splits": []
  $ leat pack -t bytes -o out --split-of train --dry-run hub | grep -E '^(Packs|Leaves)'
  leat: skipped 1 file of other splits, or of none: hub/test-00000-of-00001.jsonl
  Packs the split train (2 inputs).
  Leaves out test (1 input).
  $ for split in validation '' ALL; do
  >     refused --split-of "$split" hub
  > done
  leat: the files of the folder hub have no split "validation", but these: train (2 files: train-00000-of-00002.jsonl, train-00001-of-00002.jsonl), test (1 file: test-00000-of-00001.jsonl)
  leat: the files of the folder hub have no split "", but these: train (2 files: train-00000-of-00002.jsonl, train-00001-of-00002.jsonl), test (1 file: test-00000-of-00001.jsonl)
  leat: the files of the folder hub have no split "ALL", but these: train (2 files: train-00000-of-00002.jsonl, train-00001-of-00002.jsonl), test (1 file: test-00000-of-00001.jsonl)

Where no name says so, all files are of the split train, as datasets has it.

  $ make plain/a.jsonl plain/b.jsonl
  $ takes --split-of train plain
  "documents": 2
  $ refused --split-of test plain
  leat: the files of the folder plain have no split "test": no name says which split a file belongs to, so all are of the split train
  $ ls | grep out
  [1]

The choice is part of the run: the same bytes as the files by themselves, in parts, too, and resumed.

  $ leat pack -t bytes -o alone hub/train-*.jsonl >/dev/null
  $ leat pack -t bytes -o chosen --split-of train hub/train-*.jsonl >/dev/null
  $ same alone chosen
  $ leat pack -t bytes --run run --parts 2 --split-of train hub >/dev/null
  leat: skipped 1 file of other splits, or of none: hub/test-00000-of-00001.jsonl
  $ for part in 1 2; do leat pack --run run --part $part >/dev/null; done
  $ leat pack --run run --part 1 --split-of test
  leat: --split-of belongs to the plan of a run: all parts share it (leat pack --help shows how)
  [2]
  $ leat pack -t bytes --run run --parts 2 --split-of test hub
  leat: skipped 2 files of other splits, or of none: hub/train-00000-of-00002.jsonl, hub/train-00001-of-00002.jsonl
  leat: the run in */run was planned with "split-of train", not with "split-of test": give the same options; to plan it anew, remove the folder */run (glob)
  [1]
  $ leat merge -o merged run >/dev/null
  $ cmp merged.tokens alone.tokens
  $ printf '{"text":"a"}\n{"x":1}\n{"text":"b"}\n' >hub/train-00000-of-00002.jsonl
  $ leat pack -t bytes -o stopped --split-of train --max-rejects 0 hub
  leat: skipped 1 file of other splits, or of none: hub/test-00000-of-00001.jsonl
  leat: 1 of 3 records was rejected, more than allowed; stopped.rejects.jsonl lists them with the reasons, for example: the record has no "text"
  leat: nothing is lost: the same command with --resume and a larger --max-rejects continues from there: leat pack --resume --max-rejects 2 -t bytes -o stopped --split-of train hub
  leat: to give it up, remove what it left: rm -r stopped.partial.* stopped.rejects.jsonl
  [4]
  $ leat pack -t bytes -o stopped --split-of all --max-rejects 9 --resume hub
  leat: the earlier run of stopped differs: that one had "split-of train", this one has "split-of all"; give the same inputs and options or start over (--force)
  [1]
  $ leat pack -t bytes -o stopped --max-rejects 9 --resume hub
  leat: the files of the folder hub do not all belong to one split: train (2 files: train-00000-of-00002.jsonl, train-00001-of-00002.jsonl), test (1 file: test-00000-of-00001.jsonl); name a narrower folder, or choose a split or all files (--split-of train, for example, or --split-of all)
  [2]
  $ leat pack -t bytes -o stopped --split-of train --max-rejects 9 --resume hub >/dev/null
  leat: skipped 1 file of other splits, or of none: hub/test-00000-of-00001.jsonl
