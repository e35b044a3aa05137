pack_inputs.t: words that name no inputs, and lists, are refused with the line of the innermost list.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ mkdir empty
  $ printf '{"text":"a"}\n' >a.jsonl
  $ printf 'a text' >b.txt

The first word that names nothing ends a run.

  $ leat pack -o x nosuch
  leat: cannot find the input nosuch: No such file or directory
  [1]
  $ leat pack -o x @nosuch
  leat: cannot open the list nosuch: No such file or directory
  [1]
  $ for how in '-o x' '-o x --dry-run' '--run x --parts 2'; do
  >     leat pack $how -t bytes a.jsonl nosuch @nolist 'c*' b.txt nor-this || echo "[$?]"
  > done 2>&1 | sort | uniq -c
        3 [1]
        3 leat: cannot find the input nosuch: No such file or directory

In lists and folders there may be nothing to find.

  $ leat pack -o x empty
  leat: the folder empty has no file with a known suffix (.jsonl, .jsonlines, .ndjson, .json, .txt, .md, .csv, .tsv, each also with .zst, .gz, .xz, .bz2 or .lz4 after it; .parquet or .pq); choose the format jsonl, text, parquet, csv or tsv (--format NAME)
  [1]
  $ printf '# only words\n\n' >words.list
  $ leat pack -o x -t bytes @words.list
  leat: the list words.list names no input
  [1]
  $ printf '\357\273\277a.jsonl\n  \t \n' >marked.list
  $ leat pack -t bytes -o marked @marked.list >/dev/null
  $ printf '\357\273\277# only words\n' >marked.list
  $ leat pack -o x -t bytes @marked.list
  leat: the list marked.list names no input
  [1]
  $ printf 'a.jsonl\0b\n' >zero.list
  $ leat pack -o x -t bytes @zero.list
  leat: zero.list: a line holds a zero byte; this is not a list of names
  [2]
  $ echo @circle.list >circle.list
  $ leat pack -o x -t bytes @circle.list
  leat: circle.list: lists are nested more than 64 deep; do they form a cycle?
  [2]
  $ deep=deep$(printf '/1/2/3/4/5/6/7/8/9/10%.0s' 1 2 3 4 5 6 7)
  $ mkdir -p $deep
  $ leat pack -o x -t bytes deep 2>&1 | grep -o 'folders are nested.*'
  folders are nested more than 64 deep; does a link form a cycle?
  $ rm -r deep
  $ ln -s nowhere empty/gone
  $ leat pack -o x -t bytes empty
  leat: empty/gone is a symbolic link to nowhere, which is missing; restore that, or remove the link
  [1]
  $ mkfifo pipe
  $ leat pack -o x -t bytes pipe
  leat: pipe is neither a file nor a folder; for a pipe, use - and redirect it
  [2]

What a list names and is missing is found by its line, that of the innermost list.

  $ printf 'a.jsonl\n\n# more\nnosuch\n' >lines.list
  $ leat pack -o x @lines.list
  leat: lines.list, line 4: cannot find the input nosuch: No such file or directory
  [1]
  $ printf 'a.jsonl\n@lines.list\n' >outer.list
  $ leat pack -o x @outer.list
  leat: lines.list, line 4: cannot find the input nosuch: No such file or directory
  [1]
  $ printf '@nosuch\n' >outer.list
  $ leat pack -o x @outer.list
  leat: outer.list, line 1: cannot open the list nosuch: No such file or directory
  [1]
  $ deep=$(printf '%0100d' 0)
  $ deep=$deep/$deep/$deep
  $ mkdir -p "$deep"
  $ printf '\nnosuch\n' >"$deep/l"
  $ leat pack -o x "@$deep/l" 2>&1 | sed "s|$deep|DEEP|g"
  leat: DEEP/l, line 2: cannot find the input DEEP/nosuch: No such file or directory

Names in a list count from its folder, those of lists too.

  $ mkdir far far/below
  $ echo '{"text":"far"}' >far/below/one.jsonl
  $ echo @below/inner.list >far/outer.list
  $ echo one.jsonl >far/below/inner.list
  $ leat pack -o far/out -t bytes @far/outer.list >/dev/null
  $ leat cat far/out --document 0
  far (no-eol)

Compressed inputs go whole: a part may get none, and says so.

  $ gzip -c a.jsonl >whole.jsonl.gz
  $ leat pack -t bytes -o far/part --part 2/2 whole.jsonl.gz | tail -n 1
  This part got no input: some inputs are given whole to one part, or all are small. It is complete, and `leat merge` takes it with the others.
  $ ls
  0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000
  a.jsonl
  b.txt
  circle.list
  empty
  far
  lines.list
  marked.leat
  marked.list
  marked.tokens
  outer.list
  pipe
  whole.jsonl.gz
  words.list
  zero.list
