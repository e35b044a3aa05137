#!/bin/sh
# install_manuals.sh BUILD|--remove DATADIR: manual pages and completions for bash of both commands, which print them
# themselves; part of `make install` and `make uninstall`. Commands built for another machine cannot be run: then there
# are none.
set -e
from=$1 data=$2

# The place of what command $1 prints for $2.
place() {
    case $2 in
    manual) echo "$data/man/man1/$1.1" ;;
    bash) echo "$data/bash-completion/completions/$1" ;;
    esac
}

for command in leat leat-bench; do
    for what in manual bash; do
        to=$(place $command $what)
        if [ "$from" = --remove ]; then
            rm -f "$to"
            continue
        fi
        "$from/$command" --version >/dev/null 2>&1 || continue
        mkdir -p "$(dirname "$to")"
        if [ $what = manual ]; then
            "$from/$command" --manual >"$to"
        else
            "$from/$command" --completion $what >"$to"
        fi
        chmod 644 "$to"
    done
done
