manual.t: each command has a manual page with every option that --help all names, and completions have them, too. What
--help does not explain, it names; it is short.

This prints the options that a help explains.

  $ explained() { # FILE
  >     sed -n 's/^  \(-., \|    \)--\([a-z0-9-]*\).*/\2/p' "$1" | sort -u
  > }
  $ for program in leat leat-bench; do
  >     $program --manual >$program.1
  >     $program --help | awk '/^commands:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }' >commands
  >     for command in $(grep -vx bench commands); do
  >         page=$program-$command.1
  >         $program --manual $command >$page
  >         $program $command --help >$program.$command.help
  >         $program $command --help all >$program.$command.all
  >         explained $program.$command.all >wanted
  >         [ -s wanted ] || echo "no options in $program $command --help all"
  >         sed 's/\\-/-/g' $program.1 | grep -q "$program-$command.*(1)" || echo "$program.1 lacks $command"
  >         for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES 'EXIT STATUS' 'SEE ALSO'; do
  >             grep -q "^\.SH $section" $page || echo "$page has no section $section"
  >         done
  >         grep -o -e '--[a-z0-9-]*' $program.$command.help | sed 's/^--//' | sort -u >found
  >         comm -13 found wanted | sed "s/^/not in $program $command --help: /"
  >         sed 's/\\-/-/g' $page | grep -o -e '--[a-z0-9-]*\\fR' | sed 's/^--//; s/\\fR$//' | sort -u |
  >             comm -13 - wanted | sed "s/^/not in $page: /"
  >         cat wanted >>$program.options
  >     done
  >     for shell in bash zsh; do
  >         $program --completion $shell >$program.$shell
  >         grep -o -e '--[a-z0-9-]*' $program.$shell | sed 's/--//' | sort -u >found
  >         sort -u $program.options | comm -13 found - | sed "s/^/not in the completion of $program for $shell: /"
  >     done
  > done
  $ ls leat-bench-load.1 leat-info.1
  leat-bench-load.1
  leat-info.1

Help of leat's commands is at most 60 lines, an option at most two of them, and a line 80 columns, but in examples.

  $ for help in leat.*.help leat.*.all; do
  >     [ "${help%.all}" != "$help" ] || awk 'END { if (NR > 60) print FILENAME " has " NR " lines" }' $help
  >     awk '/^example:/ { exit } length > 80 { print FILENAME ": " $0 }' $help
  >     awk '/^example:/ || /^more options/ { exit }
  >         /^  (-., |    )--/ { option = $0; lines = 0 }
  >         !/^  (-., |    )--/ && !/^        / { option = "" }
  >         option && ++lines > 2 { print FILENAME ": " option }' $help
  > done

Help of all options is shown whichever way it is asked for.

  $ explained leat.pack.help | grep memory
  [1]
  $ explained leat.pack.all | grep memory
  memory
  $ leat help pack all | cmp - leat.pack.all
  $ leat pack -h all | cmp - leat.pack.all

What is not there is named, with what is near.

  $ leat --completion fish
  leat: --completion takes the name of a shell: --completion bash, or --completion zsh
  [2]
  $ leat --manual inf
  leat: unknown command inf; did you mean info? (leat --help lists the commands)
  [2]
  $ leat --manual bench
  leat: leat bench is another program, which prints its manual page: leat-bench --manual
  [2]

groff and mandoc, bash and zsh, where they are installed, take these without a complaint. A page without a date has the
same bytes tomorrow.

  $ for page in *.1; do
  >     ! command -v groff >/dev/null || groff -man -ww -z $page
  >     ! command -v mandoc >/dev/null || mandoc -T lint -W warning $page 2>&1 | sed '/missing date/d'
  > done
  $ for program in leat leat-bench; do
  >     bash -n $program.bash
  >     ! command -v zsh >/dev/null || zsh -n $program.zsh
  > done

bash completes with them.

  $ becomes() { # WORD...: what the last one becomes
  >     bash -c '. ./leat.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _leat; echo "${COMPREPLY[@]}"' bash "$@"
  > }
  $ becomes leat ver
  verify
  $ becomes leat pack --tok
  --tokenizer
  $ becomes leat pack --format js
  jsonl
  $ becomes leat pack -o cor
  
