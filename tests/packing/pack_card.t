pack_card.t: the README.md of a folder from the Hugging Face Hub says which files are of which split and configuration.
Several configurations are refused without a choice, and one whose YAML cannot be read is no reason to guess.

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
  $ card() { # <YAML
  >     { echo --- && cat && echo ---; } >card/README.md
  > }
  $ make card/en/a.jsonl card/en/b.jsonl card/fr/a.jsonl
  $ card <<'END'
  > configs:
  > - config_name: en
  >   data_files:
  >   - split: train
  >     path: en/a*
  >   - split: test
  >     path: en/b*
  > - config_name: fr
  >   data_dir: fr
  > - config_name: of no file
  >   data_files: de/*
  > END
  $ takes --split-of all card
  leat: skipped 1 file in folders: card/README.md
  "documents": 3

A build without libyaml cannot read it, and says so.

  $ leat pack -t bytes -o out card 2>&1 | grep 'no libyaml' && exit 80
  [1]
  $ for choice in --json --split-of=train --split-of=nothing; do
  >     leat pack -t bytes -o out "$choice" card || echo "[$?]"
  > done
  leat: the folder card has several configurations, as its README.md lists them: en (2 files: en/a*), fr (1 file: fr); name the folder of one of them, or take all files (--split-of all)
  [2]
  leat: the folder card has several configurations, as its README.md lists them: en (2 files: en/a*), fr (1 file: fr); name the folder of one of them, or take all files (--split-of all)
  [2]
  leat: the folder card has several configurations, as its README.md lists them: en (2 files: en/a*), fr (1 file: fr); name the folder of one of them, or take all files (--split-of all)
  [2]

Below card/en there is no README.md; and files that it names may not have been downloaded.

  $ takes card/en
  "documents": 2
  $ takes card/fr
  "documents": 1
  $ rm -r card/fr
  $ leat pack -t bytes -o out card
  leat: the files of the folder card do not all belong to one split: train (1 file: en/a.jsonl), test (1 file: en/b.jsonl); name a narrower folder, or choose a split or all files (--split-of train, for example, or --split-of all)
  [2]
  $ takes --split-of test card
  leat: skipped 1 file in folders: card/README.md
  leat: skipped 1 file of other splits, or of none: card/en/a.jsonl
  "documents": 1

It may say nothing of the files that are there, and it says more than their names.

  $ rm -r card/en && make card/train.jsonl card/test.jsonl card/a.jsonl
  $ takes --split-of train card
  leat: skipped 1 file in folders: card/README.md
  leat: skipped 2 files of other splits, or of none: card/a.jsonl, card/test.jsonl
  "documents": 1
  $ card <<'END'
  > configs:
  > - config_name: default
  >   data_files: "*"
  > END
  $ takes card
  leat: skipped 1 file in folders: card/README.md
  "documents": 3

Its YAML may be broken.

  $ echo 'configs: [' | card
  $ leat pack -t bytes -o out card
  leat: card/README.md lists configurations, but its YAML cannot be read: line 3: *; mend it, name a narrower folder, or take all files (--split-of all) (glob)
  [2]
  $ takes --split-of all card
  leat: skipped 1 file in folders: card/README.md
  "documents": 3
  $ takes --split-of all card/*.jsonl
  "documents": 3
  $ takes card/train.jsonl
  "documents": 1

It may stand behind a link, or in one of several folders; one that is a pipe is none.

  $ mkdir other && mv card other && ln -s other/card linked && make other/more/a.jsonl
  $ leat pack -t bytes -o out linked
  leat: linked/README.md lists configurations, but its YAML cannot be read: line 3: *; mend it, name a narrower folder, or take all files (--split-of all) (glob)
  [2]
  $ leat pack -t bytes -o out other
  leat: the files of the folder other do not all belong to one split: train (1 file: card/train.jsonl), test (1 file: card/test.jsonl), no split (2 files: card/a.jsonl, more/a.jsonl); name a narrower folder, or choose a split or all files (--split-of train, for example, or --split-of all)
  [2]
  $ leat pack -t bytes -o out other/card other/more
  leat: other/card/README.md lists configurations, but its YAML cannot be read: line 3: *; mend it, name a narrower folder, or take all files (--split-of all) (glob)
  [2]
  $ rm other/card/README.md && mkfifo other/card/README.md
  $ takes --split-of train other/card
  leat: skipped 1 file in folders: other/card/README.md
  leat: skipped 2 files of other splits, or of none: other/card/a.jsonl, other/card/test.jsonl
  "documents": 1
  $ ls
  linked
  other
  taken.leat
  taken.tokens
