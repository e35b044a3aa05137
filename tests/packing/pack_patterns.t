pack_patterns.t: --include and --exclude choose which files of folders are packed, by name and by path, and are part of
the run. tests/remote/test_pack_urls.py has prefixes on servers.

  $ mkdir -p in/en/old in/de/old in/.hidden
  $ for file in top.jsonl en/a.jsonl en/b.jsonl en/old/a.jsonl de/a.jsonl de/old/c.jsonl .hidden/x.jsonl; do
  >     printf '{"text":"%s"}\n' "$file" >"in/$file"
  > done
  $ printf 'ARROW1\0\0' >in/en/x.arrow
  $ printf 'not,a,corpus\n' >in/notes.csv
  $ ln -s nowhere in/de/dangling.jsonl
  $ ln -s ../in/en/a.jsonl in/linked.jsonl

The documents of what is packed are the names of its files; in/linked.jsonl is in/en/a.jsonl.

  $ texts() { # NAME
  >     leat cat $1 --tokens : --ids | tr ' ' '\n' | awk '{ printf "%s", $1 == 256 ? " " : sprintf("%c", $1) }' |
  >         sed 's/ $/\n/'
  > }
  $ pack() { # OPTION... INPUT
  >     leat pack -t bytes -o out --force "$@" 2>&1 >/dev/null | grep -v '^leat: skipped'
  >     texts out
  > }
  $ set -f
  $ leave='--exclude *.arrow --exclude notes.csv --exclude dangling*'
  $ pack $leave in
  leat: warning: in/linked.jsonl repeats an earlier input: its documents are packed twice
  de/a.jsonl de/old/c.jsonl en/a.jsonl en/b.jsonl en/old/a.jsonl en/a.jsonl top.jsonl
  $ pack --include a.jsonl $leave in
  de/a.jsonl en/a.jsonl en/old/a.jsonl
  $ pack --include */a.jsonl $leave in
  de/a.jsonl en/a.jsonl
  $ pack --include **/a.jsonl $leave in/
  de/a.jsonl en/a.jsonl en/old/a.jsonl
  $ pack --include en/** $leave in
  en/a.jsonl en/b.jsonl en/old/a.jsonl
  $ pack --include /*.jsonl in
  en/a.jsonl top.jsonl
  $ pack $leave --exclude **/old/** --exclude de/** in
  leat: warning: in/linked.jsonl repeats an earlier input: its documents are packed twice
  en/a.jsonl en/b.jsonl en/a.jsonl top.jsonl
  $ pack --include [ab].jsonl --include ?.jsonl --exclude old/* in/en
  en/a.jsonl en/b.jsonl
  $ set +f

What is named is packed, whatever the patterns say, and what they leave out is told.

  $ pack --include 'top*' --exclude '**/old/**' in/en/old/a.jsonl in
  en/old/a.jsonl top.jsonl
  $ leat pack -t bytes -o out --force --exclude '*.jsonl' --exclude '*.arrow' --json in/en
  leat: the folder in/en has no file to pack but what include and exclude leave out, such as in/en/a.jsonl
  [1]
  $ leat pack -t bytes -o out --force --include '*.jsonl' --exclude 'de/**' in >/dev/null
  leat: warning: in/linked.jsonl repeats an earlier input: its documents are packed twice
  leat: skipped 5 files in folders, by --include and --exclude: in/de/a.jsonl, in/de/dangling.jsonl, in/de/old/c.jsonl, in/en/x.arrow, in/notes.csv
  $ leat pack --dry-run -t bytes --include '*.jsonl' --exclude 'de/**' in | grep inputs
  leat: skipped 5 files in folders, by --include and --exclude: in/de/a.jsonl, in/de/dangling.jsonl, in/de/old/c.jsonl, in/en/x.arrow, in/notes.csv
  leat: warning: in/linked.jsonl repeats an earlier input: its documents are packed twice
  5 inputs, 113 bytes on disk: 5 jsonl

Files that may hold texts but cannot be read are named, once.

  $ printf 'PK\3\4' >in/de/z.zip
  $ printf '{"body":"a"}\n' | tee in/en/odd.jsonl >in/en/old/odd.jsonl
  $ leat pack -t bytes -o none in/en
  leat: the folder in/en has 1 file that may hold texts but cannot be read; in/en/x.arrow is an Arrow file: convert it to JSON lines (.jsonl), or skip such files (--skip-unknown)
  [1]
  $ leat pack --dry-run -t bytes --exclude 'dangling*' --exclude '*.csv' in
  leat: skipped 2 files in folders, by --include and --exclude: in/de/dangling.jsonl, in/notes.csv
  leat: 2 files of folders may hold texts but cannot be read:
  leat:   in/de/z.zip is a zip archive: unpack it first (unzip)
  leat:   in/en/x.arrow is an Arrow file: convert it to JSON lines (.jsonl)
  leat: the run would fail over these files, unless it skips them (--skip-unknown)
  [1]
  $ for i in 1 2 3 4 5 6 7; do : >"in/en/$i.dat"; done
  $ leat pack --dry-run -t bytes --include '*.dat' --include '*.jsonl' --exclude 'd*' --exclude odd.jsonl in >/dev/null
  leat: skipped 7 files in folders:
  leat:   in/en/1.dat
  leat:   in/en/2.dat
  leat:   in/en/3.dat
  leat:   in/en/4.dat
  leat:   in/en/5.dat
  leat:   in/en/6.dat
  leat:   in/en/7.dat
  leat: skipped 6 files in folders, by --include and --exclude:
  leat:   in/de/dangling.jsonl
  leat:   in/de/z.zip
  leat:   in/en/odd.jsonl
  leat:   in/en/old/odd.jsonl
  leat:   in/en/x.arrow
  leat:   in/notes.csv
  leat: warning: in/linked.jsonl repeats an earlier input: its documents are packed twice
  $ mkdir lacking
  $ for i in 1 2 3; do awk 'BEGIN { for (i = 0; i < 100; i++) print "{\"body\":\"a\"}" }' >lacking/$i.jsonl; done
  $ printf 'body\na\n' >lacking/0.csv
  $ leat pack -t bytes -o none lacking
  leat: lacking/3.jsonl: no member "text" in the first 100 records; they have "body"; name the one that holds the text; the same is wrong with lacking/2.jsonl, lacking/1.jsonl, lacking/0.csv (--text NAME)
  [1]

A folder that may not be read, such as lost+found, is left out if a pattern leaves out all that may be in it.

  $ mkdir -p closed/a/lost+found
  $ cp in/de/a.jsonl closed/a/
  $ chmod 0 closed/a/lost+found
  $ plainly=
  $ [ "$(id -u)" != 0 ] || plainly='setpriv --bounding-set=-dac_override,-dac_read_search'
  $ for pattern in 'lost+found/**' 'a/*' 'b/**' '**'; do
  >     $plainly leat pack -t bytes -o none --exclude "$pattern" closed || echo "[$?]"
  > done
  leat: cannot read the folder closed/a/lost+found: Permission denied
  [1]
  leat: cannot read the folder closed/a/lost+found: Permission denied
  [1]
  leat: cannot read the folder closed/a/lost+found: Permission denied
  [1]
  leat: cannot read the folder closed/a/lost+found: Permission denied
  [1]
  $ for pattern in 'a/lost+found/**' '/a/lost+*/**' '**/lost+found/**'; do
  >     $plainly leat pack -t bytes -o none --force --exclude "$pattern" closed >/dev/null || echo "[$?]"
  > done
  leat: skipped 1 file in folders, by --include and --exclude: closed/a/lost+found
  leat: skipped 1 file in folders, by --include and --exclude: closed/a/lost+found
  leat: skipped 1 file in folders, by --include and --exclude: closed/a/lost+found
  $ chmod 700 closed/a/lost+found
  $ rm in/de/z.zip in/en/*.dat in/en/odd.jsonl in/en/old/odd.jsonl
  $ leat pack -t bytes -o out --force --include x/ in
  leat: the pattern x/ matches no file: x/** matches all below it
  [2]
  $ leat pack -t bytes -o out --force --exclude '' in
  leat: an empty pattern matches no file
  [2]
  $ leat pack -t bytes -o out --force --exclude x in/top.jsonl
  leat: patterns choose files of folders, and no input is a folder
  [2]

Patterns are part of a run, in parts and resumed.

  $ leat pack --run run --parts 2 -t bytes --include 'en/**' --exclude '*.arrow' in >/dev/null
  leat: skipped 7 files in folders, by --include and --exclude: in/de/a.jsonl, in/de/dangling.jsonl, in/de/old/c.jsonl, in/en/x.arrow, in/linked.jsonl and 2 more
  $ for part in 1 2; do leat pack --run run --part $part >/dev/null; done
  $ leat merge -o merged run >/dev/null
  $ texts merged
  en/a.jsonl en/b.jsonl en/old/a.jsonl
  $ awk 'BEGIN { for (i = 0; i < 30000; i++) print (i == 20000 ? "broken" : "{\"text\":\"a\"}") }' >in/en/z.jsonl
  $ pack() { # OPTION...
  >     "$LEAT_BUILD"/tiny/leat pack -t bytes -o stopped "$@" --exclude '*.arrow' in >/dev/null
  > }
  $ pack --max-rejects 0 --include 'en/*'
  leat: skipped 8 files in folders, by --include and --exclude: in/de/a.jsonl, in/de/dangling.jsonl, in/de/old/c.jsonl, in/en/old/a.jsonl, in/en/x.arrow and 3 more
  leat: 1 of * records was rejected, more than allowed; stopped.rejects.jsonl lists them with the reasons, for example: not valid JSON: an object ({) is expected at byte 1 (glob)
  leat: nothing is lost: the same command with --resume and a larger --max-rejects continues from there: leat pack --resume --max-rejects 2 -t bytes -o stopped --include 'en/*' --exclude '*.arrow' in
  leat: to give it up, remove what it left: rm -r stopped.partial.* stopped.rejects.jsonl
  [4]
  $ pack --max-rejects 1 --include 'en/**' --resume
  leat: skipped 7 files in folders, by --include and --exclude: in/de/a.jsonl, in/de/dangling.jsonl, in/de/old/c.jsonl, in/en/x.arrow, in/linked.jsonl and 2 more
  leat: the earlier run of stopped differs: that one had "include en/*", this one has "include en/**"; give the same inputs and options or start over (--force)
  [1]
  $ pack --max-rejects 1 --include 'en/*' --resume
  leat: skipped 8 files in folders, by --include and --exclude: in/de/a.jsonl, in/de/dangling.jsonl, in/de/old/c.jsonl, in/en/old/a.jsonl, in/en/x.arrow and 3 more
