command_line.t: what all commands share: help, version, wrong options and commands, and outputs that cannot be written.

  $ . "$SOURCES"/tests/cli/datasets.sh
  $ write_three

The version says what leat was built with, as lines and as JSON.

  $ leat --version >version
  $ head -n 1 version
  leat *.*.* (glob)
  $ leat -V | cmp - version
  $ leat-bench --version | sed 's/^leat-bench/leat/' | cmp - version
  $ leat --version --json | grep -oE '"[a-z0-9]+": (true|false)' | tr -d '":' | sed 's/true/yes/; s/false/no/' |
  >     while read -r name answer; do grep -qE "^  $name +$answer " version || echo "$name is not there as $answer"; done
  $ leat --version a
  leat: "a" is one argument too many: leat --version takes --json
  [2]

leat bench is the program leat-bench, wherever it is.

  $ mkdir alone
  $ cp "$LEAT_BUILD"/leat alone
  $ alone/leat bench --version | sed 's/^leat-bench/leat/' | cmp - version
  $ env PATH=/nowhere alone/leat bench limits
  leat: cannot run leat-bench: No such file or directory; it must be next to leat or in PATH
  [1]

Help has the purpose in its first line, and is the same however it is asked for; no line has more than 80 columns.

  $ leat info --help
  leat info: shows what a dataset holds: tokens, documents, inputs, lengths.
  
  usage: leat info [options] NAME
  
  NAME is a dataset (NAME, NAME.leat or NAME.tokens), a folder of datasets, @FILE
  with one dataset per line, files of another tool, or a URL (s3://, gs://, az://,
  hf://, https://).
  
  options:
        --by COLUMN   show a column per document: how many documents and tokens
                      each threshold, or text, leaves
        --json        print one JSON object, with all inputs and parts
    -h, --help [all]  show this text; all: with every option
  
  more options (leat info --help all):
    On servers      --cache, --retry-seconds, --cache-size, --online
  
  example:
    leat info corpus
    leat info corpus --by score
    leat info corpus --json | jq .tokens
  
  manual: man leat-info, or leat --manual info | man -l -
  $ leat --help | awk '/^commands:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }' | paste -sd ' '
  pack info verify cat find order fit trace show encode decode merge adopt attach import export pull push status bench
  $ leat verify --help | grep -e --threads -e --progress
        --threads N   number of threads (default: all cores)
    --progress
    leat verify --threads 4 --json shards/
  $ leat merge --help | grep -A 1 -e '--output OUT'
    -o, --output OUT            the dataset to write: OUT.tokens and OUT.leat
                                (required)
  $ for program in leat leat-bench leat-bench-dev; do
  >     $program --help >help
  >     awk 'length > 80' help
  >     grep -oE "^($program:|usage:|commands:|example:|exit codes:)" help | paste -sd ' '
  >     for again in -h help ''; do $program $again | cmp - help; done
  >     for command in $(awk '/^commands:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }' help); do
  >         [ $command != bench ] || continue
  >         $program $command --help >help.command
  >         $program $command --help all | awk 'length > 80'
  >         for part in "^$program $command: ." "^usage: $program $command" '^options:' '^example' "^  .*$program $command" \
  >             '  -h, --help'; do
  >             grep -q -e "$part" help.command || echo "$program $command --help has no $part"
  >         done
  >         $program $command -h | cmp - help.command
  >         $program help $command | cmp - help.command
  >     done
  > done
  leat: usage: commands: example: exit codes:
  leat-bench: usage: commands: example: exit codes:
  leat-bench-dev: usage: commands: example: exit codes:
  $ leat --help >help
  $ for words in 'help --help' 'help -h' 'help help'; do leat $words | cmp - help; done
  $ leat help bench load >help && leat-bench load --help | cmp - help
  $ leat bench --help >help && leat-bench --help | cmp - help
  $ leat help pack info
  leat: "info" is one argument too many: leat help takes one command
  [2]

Wrong words are refused, with the word that is near.

  $ leat inf a
  leat: unknown command inf; did you mean info? (leat --help lists the commands)
  [2]
  $ leat help inf
  leat: unknown command inf; did you mean info? (leat --help lists the commands)
  [2]
  $ leat --vers
  leat: unknown option --vers; did you mean --version? (leat --help lists the commands)
  [2]
  $ leat-bench lod
  leat-bench: unknown command lod; did you mean load? (leat-bench --help lists the commands)
  [2]
  $ leat frobnicate
  leat: unknown command frobnicate (leat --help lists the commands)
  [2]
  $ leat info a --jsn
  leat: unknown option --jsn; did you mean --json? (leat info --help lists the options)
  [2]
  $ leat cat a --documents 1
  leat: unknown option --documents; did you mean --document? (leat cat --help lists the options)
  [2]
  $ leat verify --thread=1 a
  leat: unknown option --thread; did you mean --threads? (leat verify --help lists the options)
  [2]
  $ leat info a -q
  leat: unknown option -q; the short options are -h (--help) (leat info --help lists the options)
  [2]
  $ leat merge -q
  leat: unknown option -q; the short options are -o (--output), -h (--help) (leat merge --help lists the options)
  [2]
  $ leat info a --json=1
  leat: --json takes no value, so --json=1 is wrong; write --json (leat info --help lists the options)
  [2]
  $ leat find a --token
  leat: --token needs a value: --token N (leat find --help lists the options)
  [2]
  $ leat find a --token --json
  leat: --token needs a value, but --json follows; write --token=--json if that is the value (leat find --help lists the options)
  [2]
  $ leat info
  leat: NAME is missing: leat info NAME (leat info --help shows how)
  [2]
  $ leat info a b
  leat: "b" is one argument too many: leat info takes NAME (leat info --help shows how)
  [2]
  $ leat info --cache '' a
  leat: --cache: "" is not the name of a folder (leat info --help lists the options)
  [2]
  $ leat-bench-dev counting
  leat-bench-dev: --output NAME is missing: the dataset to write (leat-bench-dev counting --help lists the options)
  [2]
  $ leat bench load
  leat-bench: --batch B is missing: rows of a global batch (leat-bench load --help shows how)
  [2]
  $ leat-bench-dev counting --tokens 5 -o new --width 3
  leat-bench-dev: --width cannot be "3", only one of: 2, 4 (leat-bench-dev counting --help lists the options)
  [2]

All commands say these alike, and words that only look like a command have none that is near.

  $ for command in verify find merge; do leat $command a --jsn; done
  leat: unknown option --jsn; did you mean --json? (leat verify --help lists the options)
  leat: unknown option --jsn; did you mean --json? (leat find --help lists the options)
  leat: unknown option --jsn; did you mean --json? (leat merge --help lists the options)
  [2]
  $ for command in verify find cat; do leat $command || leat $command a b; done
  leat: NAME is missing: leat verify NAME (leat verify --help shows how)
  leat: "b" is one argument too many: leat verify takes NAME (leat verify --help shows how)
  leat: NAME is missing: leat find NAME (leat find --help shows how)
  leat: "b" is one argument too many: leat find takes NAME (leat find --help shows how)
  leat: NAME is missing: leat cat NAME (leat cat --help shows how)
  leat: "b" is one argument too many: leat cat takes NAME (leat cat --help shows how)
  [2]
  $ for word in diagnose remove list; do leat $word; done
  leat: unknown command diagnose (leat --help lists the commands)
  leat: unknown command remove (leat --help lists the commands)
  leat: unknown command list (leat --help lists the commands)
  [2]

Behind "--" everything is a word.

  $ leat info -- --json
  leat: cannot open --json.leat: No such file or directory; no dataset in this folder has a similar name
  [1]
  $ leat info --
  leat: NAME is missing: leat info NAME (leat info --help shows how)
  [2]

An output that cannot be written is an error of each command.

  $ for command in --help --version 'info a' 'info a --json' 'verify a' 'verify a --json' 'find a --id a.txt#0' \
  >     'find a --token 1 --json' 'cat a --document 0' 'cat a --tokens 0:5 --ids' 'merge --force -o out a b' \
  >     'merge --force -o out a b --json' 'info --help'; do
  >     leat $command 2>&1 >/dev/full || echo "[$?]"
  > done | paste -d ' ' - - | uniq -c
       13 leat: cannot write everything to standard output: No space left on device [1]
  $ leat-bench --version >/dev/full
  leat-bench: cannot write everything to standard output: No space left on device
  [1]
  $ for command in --help --version 'info a' 'verify a --json' 'find a --token 1' 'cat a --document 0'; do
  >     leat $command 2>&1 >&- || echo "[$?]"
  > done | paste -d ' ' - - | uniq -c
        6 leat: cannot write everything to standard output: Bad file descriptor [1]
  $ leat verify out
  out: nothing is wrong; 4.8 KiB checked in *. (glob)

Damage stays damage.

  $ write_numbered n
  $ overwrite n.tokens 10000 '~~'
  $ leat verify n >&-
  leat: page 2 of n.tokens (tokens 4096 to 6143, documents 191 to 284) is damaged: its hash does not match; restore the file from its source
  leat: cannot write everything to standard output: Bad file descriptor
  [3]

A reader that goes away, as head does, is no news for a person; more comes than fits in a pipe.

  $ leat-bench-dev counting -o counting --tokens 200000 >/dev/null
  $ { leat cat counting --tokens : --ids; echo "[$?]" >&2; } | head -c 1 >/dev/null
  [1]

It may be gone before the first byte of what is written often.

  $ yes 97 | head -n 200000 | tr '\n' ' ' >ids.txt
  $ yes 'a long text' | head -n 20000 >long.txt
  $ leat pack -t bytes -o long long.txt >/dev/null
  $ mkfifo fifo
  $ for command in 'cat long --text --document 0' 'decode -t bytes --raw ids.txt'; do
  >     (read -r _) <fifo &
  >     { kill $! && wait $! 2>/dev/null; leat $command; echo "[$?]" >&2; } >fifo
  > done
  [1]
  [1]

Without stderr a command works, and with stdin closed, too.

  $ leat info a --json >with
  $ leat info a --json 2>&- <&- | cmp - with

What moves a cursor or changes colours is not printed with a name.

  $ leat info "$(printf 'a\033[31m\177b')"
  leat: cannot open a\x1b[31m\x7fb.leat: No such file or directory; no dataset in this folder has a similar name
  [1]

As many files may be open as the system allows at most: more than a shell's own limit, which is often lower.

  $ mkdir many
  $ for i in $(seq 50); do
  >     ln -s "$PWD/a.leat" "many/$i.leat"
  >     ln -s "$PWD/a.tokens" "many/$i.tokens"
  > done
  $ (ulimit -Sn 40; leat info many | grep '^  documents')
    documents   150
