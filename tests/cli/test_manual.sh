#!/bin/sh
# test_manual.sh: there is a manual page of each command, with every option that --help all names, and completions have
# them, too. groff, mandoc, bash and zsh, where they are installed, take them without a complaint; bash completes with
# them.
# --help of leat's commands is at most 60 lines, an option at most two of them, a line at most 80 columns; what it does
# not explain, it names.
. tests/cli/cli.sh

lacks() { # LIST WHO: whether all of the list are among the lines of $tmp/found
    sort -u "$tmp/found" | comm -13 - "$tmp/$1" >"$tmp/missing"
    [ ! -s "$tmp/missing" ] || fail "$2 of $program $command lacks: $(cat "$tmp/missing")"
}
options() { # FILE: those that it explains
    sed -n 's/^  \(-., \|    \)--\([a-z0-9-]*\).*/\2/p' "$1" | sort -u
}
page_is_fine() { # FILE
    if command -v groff >/dev/null; then
        groff -man -ww -z "$1" 2>"$tmp/said"
        [ ! -s "$tmp/said" ] || fail "groff: $1: $(head -n 3 "$tmp/said")"
    fi
    if command -v mandoc >/dev/null; then # a page without a date has the same bytes tomorrow
        mandoc -T lint -W warning "$1" 2>&1 | grep -v 'missing date' >"$tmp/said"
        [ ! -s "$tmp/said" ] || fail "mandoc: $1: $(head -n 3 "$tmp/said")"
    fi
}
short_enough() { # FILE: at most two lines an option, and no wide ones but the examples
    awk '/^example:/ { exit } length > 80' "$1" | grep . && fail "$program $command: $1: a line is too wide"
    awk '/^example:/ || /^more options/ { exit }
         /^  (-., |    )--/ { option = $0; lines = 0 }
         !/^  (-., |    )--/ && !/^        / { option = "" }
         option && ++lines > 2 { print option }' "$1" | grep . &&
        fail "$program $command: $1: an option of more than two lines"
}
for program in leat leat-bench; do
    $program --manual >"$tmp/$program.1"
    page_is_fine "$tmp/$program.1"
    commands=$($program --help | awk '/^commands:/ { on = 1; next } on && NF == 0 { exit } on { print $1 }')
    [ -n "$commands" ] || fail "no commands in $program --help"
    : >"$tmp/options"
    for command in $commands; do
        [ "$program $command" = "leat bench" ] && continue
        sed 's/\\-/-/g' "$tmp/$program.1" | grep -q "$program-$command.*(1)" || fail "$program(1) lacks $command"
        page=$tmp/$program-$command.1
        "$program" --manual "$command" >"$page" || fail "$program --manual $command"
        page_is_fine "$page"
        for section in NAME SYNOPSIS DESCRIPTION OPTIONS EXAMPLES 'EXIT STATUS' 'SEE ALSO'; do
            grep -q "^\.SH $section" "$page" || fail "$page has no section $section"
        done
        "$program" "$command" --help >"$tmp/help"
        "$program" "$command" --help all >"$tmp/all"
        if [ $program = leat ]; then
            [ "$(wc -l <"$tmp/help")" -le 60 ] || fail "$program $command --help has more than 60 lines"
            short_enough "$tmp/help"
            short_enough "$tmp/all"
        fi
        options "$tmp/all" >"$tmp/wanted"
        [ -s "$tmp/wanted" ] || fail "no options in $program $command --help all"
        grep -o -e '--[a-z0-9-]*' "$tmp/help" | sed 's/^--//' >"$tmp/found"
        lacks wanted "--help"
        sed 's/\\-/-/g' "$page" | grep -o -e '--[a-z0-9-]*\\fR' | sed 's/^--//; s/\\fR$//' >"$tmp/found"
        lacks wanted "the manual page"
        cat "$tmp/wanted" >>"$tmp/options"
    done
    command=
    sort -u "$tmp/options" -o "$tmp/options"
    for shell in bash zsh; do
        $program --completion $shell >"$tmp/$program.$shell"
        grep -o -e '--[a-z0-9-]*' "$tmp/$program.$shell" | sed 's/--//' >"$tmp/found"
        lacks options $shell
        ! command -v $shell >/dev/null || $shell -n "$tmp/$program.$shell" || fail "$shell does not read its script"
    done
done

# what --help only names, --help all explains, whichever way it is asked
leat pack --help >"$tmp/help"
leat pack --help all >"$tmp/all"
options "$tmp/help" | grep -qx memory && fail "leat pack --help explains --memory"
options "$tmp/all" | grep -qx memory || fail "leat pack --help all does not explain --memory"
leat help pack all | cmp -s - "$tmp/all" || fail "leat help pack all is not leat pack --help all"
leat pack -h all | cmp -s - "$tmp/all" || fail "leat pack -h all is not leat pack --help all"

if command -v bash >/dev/null; then
    becomes() { # WORD... : what the last one becomes
        bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _leat; echo "${COMPREPLY[@]}"' "$tmp/leat.bash" "$@"
    }
    [ "$(becomes leat ver)" = verify ] || fail "bash: leat ver: $(becomes leat ver)"
    [ "$(becomes leat pack --tok)" = --tokenizer ] || fail "bash: leat pack --tok"
    [ "$(becomes leat pack --format js)" = jsonl ] || fail "bash: leat pack --format js"
    [ -z "$(becomes leat pack -o cor)" ] || fail "bash: the value of -o is a file's name"
fi

leat --completion fish 2>"$tmp/said"
[ $? -eq 2 ] || fail "there is a completion for fish"
grep -q -e "--completion bash, or --completion zsh" "$tmp/said" || fail "the shells that have one are not named"
leat --manual inf 2>"$tmp/said"
[ $? -eq 2 ] || fail "there is a manual page of inf"
grep -q "did you mean info" "$tmp/said" || fail "the command that has a page is not named"
leat --manual bench 2>"$tmp/said"
[ $? -eq 2 ] || fail "leat --manual bench is answered by leat-bench --manual"
finish
