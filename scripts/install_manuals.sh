#!/bin/sh
# install_manuals.sh BUILD|--remove DATADIR: manual pages of both programs and of each of their commands, and
# completions for bash and zsh, which the programs print themselves; part of `make install` and `make uninstall`.
# Programs built for another machine cannot be run: then there are none.
set -e
umask 022
from=$1 data=$2
pages=$data/man/man1 bash=$data/bash-completion/completions zsh=$data/zsh/site-functions

for program in leat leat-bench; do
    function=$zsh/_$(echo "$program" | tr - _)
    if [ "$from" = --remove ]; then
        rm -f "$bash/$program" "$function"
        for page in "$pages/$program.1" "$pages/$program"-*.1; do # only what this made: .TH PAGE 1 "" "leat VERSION" ""
            ! head -n 1 "$page" 2>/dev/null | grep -q '^\.TH leat.* 1 "" "leat [0-9]' || rm -f "$page"
        done
        continue
    fi
    "$from/$program" --version >/dev/null 2>&1 || continue
    mkdir -p "$pages" "$bash" "$zsh"
    "$from/$program" --completion bash >"$bash/$program"
    "$from/$program" --completion zsh >"$function"
    "$from/$program" --manual >"$pages/$program.1"
    # its commands, except one that is a program itself
    commands=$("$from/$program" --help | awk '/^commands:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }')
    for command in $commands; do
        [ "$program $command" = "leat bench" ] || "$from/$program" --manual "$command" >"$pages/$program-$command.1"
    done
done
