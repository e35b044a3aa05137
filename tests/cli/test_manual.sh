#!/bin/sh
# test_manual.sh: manual pages and completions name every command and option that --help names; groff and bash, where
# they are installed, take them without a complaint; bash completes with them.
. tests/cli/cli.sh

lacks() { # LIST WHO: whether all of the list are among the lines of $tmp/found
    sort -u "$tmp/found" | comm -13 - "$tmp/$1" >"$tmp/missing"
    [ ! -s "$tmp/missing" ] || fail "$2 of $program lacks: $(cat "$tmp/missing")"
}
for program in leat leat-bench; do
    $program --manual >"$tmp/$program.1"
    $program --completion bash >"$tmp/$program.bash"
    commands=$($program --help | awk '/^commands:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }')
    [ -n "$commands" ] || fail "no commands in $program --help"
    : >"$tmp/all"
    for command in $commands; do
        grep -q "^.SH \"$(echo "$program" | sed 's/-/\\\\-/') $command\"" "$tmp/$program.1" ||
            fail "the manual of $program lacks $command"
        [ "$program $command" = "leat bench" ] && continue
        "$program" "$command" --help | sed -n "s/^ *\(-., \)\{0,1\}--\([a-z0-9-]*\).*/$command \2/p" |
            grep -v ' help$' >>"$tmp/all"
    done
    [ -s "$tmp/all" ] || fail "no options in $program COMMAND --help"
    sed 's/.* //' "$tmp/all" | sort -u >"$tmp/options"
    sed 's/\\-/-/g' "$tmp/$program.1" | grep -o -e '--[a-z0-9-]*\\fR' | sed 's/^--//; s/\\fR$//' >"$tmp/found"
    lacks options "the manual"
    grep -o -e '--[a-z0-9-]*' "$tmp/$program.bash" | sed 's/--//' >"$tmp/found"
    lacks options bash
    if command -v groff >/dev/null; then
        groff -man -ww -z "$tmp/$program.1" 2>"$tmp/said"
        [ ! -s "$tmp/said" ] || fail "groff: $(head -n 3 "$tmp/said")"
    fi
    ! command -v bash >/dev/null || bash -n "$tmp/$program.bash" || fail "bash does not read its script"
done

if command -v bash >/dev/null; then
    becomes() { # WORD... : what the last one becomes
        bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _leat; echo "${COMPREPLY[@]}"' "$tmp/leat.bash" "$@"
    }
    [ "$(becomes leat ver)" = verify ] || fail "bash: leat ver: $(becomes leat ver)"
    [ "$(becomes leat pack --tok)" = --tokenizer ] || fail "bash: leat pack --tok"
    [ "$(becomes leat pack --format js)" = jsonl ] || fail "bash: leat pack --format js"
    [ -z "$(becomes leat pack -o cor)" ] || fail "bash: the value of -o is a file's name"
fi

leat --completion zsh 2>"$tmp/said"
[ $? -eq 2 ] || fail "there is no completion for zsh"
grep -q -e "--completion bash" "$tmp/said" || fail "the shell that has one is not named"
finish
