#!/bin/sh
# install_manuals.sh BUILD|--remove DATADIR: manual pages of both programs and of each of their commands, and
# completions for bash, which the programs print themselves; part of `make install` and `make uninstall`. Programs built
# for another machine cannot be run: then there are none.
set -e
umask 022
from=$1 data=$2
pages=$data/man/man1 completions=$data/bash-completion/completions

for program in leat leat-bench; do
    if [ "$from" = --remove ]; then
        rm -f "$completions/$program"
        for page in "$pages/$program.1" "$pages/$program"-*.1; do # only what this made: .TH PAGE 1 "" "leat VERSION" ""
            ! head -n 1 "$page" 2>/dev/null | grep -q '^\.TH leat.* 1 "" "leat [0-9]' || rm -f "$page"
        done
        continue
    fi
    "$from/$program" --version >/dev/null 2>&1 || continue
    mkdir -p "$pages" "$completions"
    "$from/$program" --completion bash >"$completions/$program"
    "$from/$program" --manual >"$pages/$program.1"
    # its commands, except one that is a program itself
    commands=$("$from/$program" --help | awk '/^commands:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }')
    for command in $commands; do
        [ "$program $command" = "leat bench" ] || "$from/$program" --manual "$command" >"$pages/$program-$command.1"
    done
done
