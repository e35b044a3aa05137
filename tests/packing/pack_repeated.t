pack_repeated.t: an input that is named more than once (by another path, in a folder and alone, in a list, by a link) is
packed as often, with one warning, also in a dry run, with --json and in a part. Once it was packed again in silence.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ mkdir in
  $ echo '{"text":"abc"}' | tee in/a.jsonl >in/b.jsonl
  $ pack() {
  >     leat pack -t bytes -o out --force "$@" >/dev/null
  > }

Two files with the bytes of each other are no repeats.

  $ pack in
  $ members inputs leat pack -t bytes -o out --force --json in/a.jsonl ./in/a.jsonl "$PWD/in/a.jsonl"
  leat: warning: 2 inputs repeat earlier ones, the first is ./in/a.jsonl: their documents are packed once for each
  "inputs": 3
  $ pack --dry-run in/a.jsonl ./in/a.jsonl "$PWD/in/a.jsonl"
  leat: warning: 2 inputs repeat earlier ones, the first is ./in/a.jsonl: their documents are packed once for each
  $ pack --part 1/2 in/a.jsonl ./in/a.jsonl "$PWD/in/a.jsonl"
  leat: warning: 2 inputs repeat earlier ones, the first is ./in/a.jsonl: their documents are packed once for each
  $ pack in in/b.jsonl
  leat: warning: in/b.jsonl repeats an earlier input: its documents are packed twice
  $ printf 'in/a.jsonl\n./in/a.jsonl\n' >list
  $ pack @list
  leat: warning: ./in/a.jsonl repeats an earlier input: its documents are packed twice
  $ pack in in
  leat: warning: 2 inputs repeat earlier ones, the first is in/a.jsonl: their documents are packed once for each
  $ ln -s a.jsonl in/c.jsonl
  $ pack in
  leat: warning: in/c.jsonl repeats an earlier input: its documents are packed twice

For a run in a folder the plan says so, and not each part.

  $ leat pack --run r --parts 2 -t bytes in/a.jsonl in/a.jsonl
  leat: warning: in/a.jsonl repeats an earlier input: its documents are packed twice
  r: a run of 2 parts, 30 bytes in 2 inputs.
  Each part, on any machine that has these files: leat pack --run r --part I (or --part auto)
  $ leat pack --run r --part 1 >/dev/null
