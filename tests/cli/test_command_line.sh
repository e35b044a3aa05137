#!/bin/sh
# test_command_line.sh: what all commands share: help, version, wrong options and commands, and outputs that cannot be
# written.
. tests/cli/cli.sh

write_three

# ---- Help and version -----------------------------------------------------------------------------------------------

version=$(leat --version)
case $version in
'leat '[0-9]*.[0-9]*.[0-9]*) ;;
*) fail "leat --version prints '$version'" ;;
esac
for command in 'leat -V' 'leat --version'; do
    # shellcheck disable=SC2086 # a command and its option
    echo "$version" | try 0 '' $command
done
echo "leat-bench ${version#leat }" | try 0 '' leat-bench --version
for part in $(leat --version --json | sed 's/.*"with": //' | grep -oE '"[a-z0-9]+": (true|false)' | tr -d '" '); do
    case $part in
    *:true) answer=yes ;;
    *) answer=no ;;
    esac
    echo "$version" | grep -qE "^  ${part%:*} +$answer " || fail "leat --version does not say $part"
done
refuse 2 'leat: "a" is one argument too many: leat --version takes --json' leat --version a
# leat bench is that program, wherever it is
mkdir alone
cp "$build/leat" alone/leat
echo "leat-bench ${version#leat }" | try 0 '' alone/leat bench --version
refuse 1 'leat-bench PATH' env PATH=/nowhere alone/leat bench limits

# Help has the purpose in its first line, and is the same however it is asked for; nothing is longer than a screen.
look_at_help() { # WORD...: words that must begin a line
    ended 0 ''
    [ "$(awk 'NR > 1 && length > 100' "$printed" | wc -l)" -eq 0 ] || fail "$ran: a line has more than 100 columns"
    # what is wrapped, in one line again: texts of options, and the first paragraph
    awk '/^        / { sub(/^ +/, " "); printf "%s", $0; next }
         NR > 1 && !first && NF { printf " %s", $0; next }
         NR > 1 && !NF { first = 1 }
         { printf "%s%s", (NR > 1 ? "\n" : ""), $0 } END { print "" }' "$printed" >unwrapped.txt
    for word in "$@"; do
        grep -qE "^ *(-[a-z], )?$word" unwrapped.txt || fail "$ran: does not have $word"
    done
}
help_of() { # PROGRAM COMMAND OPTION...
    program=$1 command=$2
    shift 2
    run "$program" "$command" --help
    look_at_help "$program $command: .*\.\$" "usage: $program $command \[options\]" 'options:' 'example:' \
        "$program $command " --help "$@"
    cp "$printed" help.txt
    try 0 '' "$program" "$command" -h <help.txt
    try 0 '' "$program" help "$command" <help.txt
}
help_of leat info '--json'
help_of leat verify '--json' '--threads N .*\(default: all cores\)' '.*--progress'
help_of leat cat '--document N\[:M\]' '--tokens A:B' '--text' '--ids'
help_of leat find '--document N' '--token N' '--origin INPUT:BYTE' '--id ID' '--json'
help_of leat merge '--output OUT .*\(required\)' '--force' '--json' '.*--progress'
help_of leat-bench limits '--size SIZE' '--runs N .*\(default: 5\)' '--json'
help_of leat-bench-dev counting '--output NAME' '--tokens N' '--width 2\|4' '--document-length MEAN' '--force' '--json'
help_of leat-bench-dev sparse '--output NAME' '--documents N' '--tokens N'
for program in leat leat-bench leat-bench-dev; do
    run $program --help
    look_at_help "$program: " 'usage:' 'commands:' 'example:' 'exit codes:'
    cp "$printed" help.txt
    try 0 '' $program -h <help.txt
    try 0 '' $program help <help.txt
    try 0 '' $program <help.txt
done
run leat bench --help
leat --help >help.txt
for words in 'help --help' 'help -h' 'help help'; do # "unknown option --help; did you mean --help?"
    # shellcheck disable=SC2086
    try 0 '' leat $words <help.txt
done
leat-bench load --help >help.txt # `load` was ignored, and so was a second command
try 0 '' leat help bench load <help.txt
refuse 2 'info' leat help pack info
for command in info verify cat find merge bench; do
    leat --help | grep -q "^  $command " || fail "leat --help does not list $command"
done

# ---- Wrong words ----------------------------------------------------------------------------------------------------

refuse 2 'inf info' leat inf a
refuse 2 'inf info' leat help inf
refuse 2 '--vers --version' leat --vers
refuse 2 'lod load' leat-bench lod
for word in frobnicate diagnose remove list; do # the nearest, decode and fit, are far (tests/unit/test_nearest.c)
    refuse 2 "$word" leat $word
done

for command in info verify find merge; do
    refuse 2 '--jsn --json' leat $command a --jsn
done
refuse 2 '--documents --document' leat cat a --documents 1
refuse 2 '--thread --threads' leat verify --thread=1 a
refuse 2 '-q' leat info a -q
refuse 2 '-q --output' leat merge -q
refuse 2 '--json --json=1' leat info a --json=1
refuse 2 '--token' leat find a --token
refuse 2 '--token --json --token=--json' leat find a --token --json
for command in info verify find cat; do
    refuse 2 'NAME' leat "$command"
    refuse 2 'b NAME' leat "$command" a b
done
refuse 2 '--output counting' leat-bench-dev counting
refuse 2 '--batch load' leat bench load
refuse 2 '--width counting' leat-bench-dev counting --tokens 5 -o new --width 3

# behind "--" everything is a word
refuse 1 '--json.leat' leat info -- --json
refuse 2 'NAME' leat info --

# ---- Outputs --------------------------------------------------------------------------------------------------------

# Runs a command whose stdout is given by the redirection of this call.
unwritable() { # WHY COMMAND...
    why=$1
    shift
    ran="$* (stdout: $why)"
    "$@" 2>"$said" </dev/null
    code=$?
    ended 1 "${1##*/}: cannot write everything to standard output: $why"
}
if [ -c /dev/full ]; then
    full='No space left on device'
    for command in --help --version 'info a' 'info a --json' 'verify a' 'verify a --json' 'find a --id a.txt#0' \
        'find a --token 1 --json' 'cat a --document 0' 'cat a --tokens 0:5 --ids' 'merge --force -o out a b' \
        'merge --force -o out a b --json' 'info --help' 'bench --version'; do
        # shellcheck disable=SC2086 # a command and its options
        case $command in
        bench*) unwritable "$full" leat-bench ${command#bench} >/dev/full ;;
        *) unwritable "$full" leat $command >/dev/full ;;
        esac
    done
    [ -e out.leat ] || fail "merge whose summary cannot be printed has not made its dataset"
fi
for command in --help --version 'info a' 'verify a --json' 'find a --token 1' 'cat a --document 0'; do
    # shellcheck disable=SC2086
    unwritable 'Bad file descriptor' leat $command >&-
done
# damage stays damage
write_numbered n
overwrite n.tokens 10000 '~~'
run leat verify n
sed 's/ is damaged:.*//' "$said" | head -n 1 >first.txt
leat verify n 2>"$said" >&-
code=$?
[ "$code" -eq 3 ] || fail "leat verify of a damaged dataset with stdout closed: exit code $code, not 3"
grep -qF "$(cat first.txt)" "$said" || fail "leat verify with stdout closed does not name the page: $(cat "$said")"

# a reader that goes away, as head does, is no news for a person; more comes than fits in a pipe
leat-bench-dev counting -o counting --tokens 200000 >/dev/null
{
    leat cat counting --tokens : --ids 2>"$said"
    echo $? >code.txt
} | head -c 1 >/dev/null
ran='leat cat (into a pipe that is closed)'
code=$(cat code.txt)
ended 1 ''
# also if it is gone before the first byte: cat and decode write often, and said that the output is incomplete
yes 97 | head -n 200000 | tr '\n' ' ' >ids.txt
yes 'a long text' | head -n 20000 >long.txt
leat pack -t bytes -o long long.txt >/dev/null
mkfifo fifo
for command in 'cat long --text --document 0' 'decode -t bytes --raw ids.txt'; do
    (read -r _) <fifo &
    reader=$!
    {
        kill $reader
        wait $reader 2>/dev/null
        # shellcheck disable=SC2086 # a command and its options
        leat $command 2>"$said"
        code=$?
    } >fifo
    ran="leat $command (into a pipe that nobody reads)"
    ended 1 ''
done

refuse 2 '--cache' leat info --cache '' a

# without stderr a command works, and with stdin closed too
leat info a --json >with.txt 2>/dev/null
leat info a --json >without.txt 2>&- <&- || fail "leat info with stdin and stderr closed fails"
cmp with.txt without.txt || fail "leat info prints something else with stdin and stderr closed"
# What moves a cursor or changes colours is not printed with a name.
run leat info "$(printf 'a\033[31m\177b')"
grep -q 'a\\x1b\[31m\\x7fb' "$said" || fail "leat info said $(cat "$said")"

# As many files may be open as the system allows at most: more than a shell's own limit, which is often lower.
# shellcheck disable=SC3045 # all shells have both limits
if [ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -gt 200 ]; then
    mkdir many
    for i in $(seq 50); do
        ln -s "$PWD/a.leat" "many/$i.leat"
        ln -s "$PWD/a.tokens" "many/$i.tokens"
    done
    # shellcheck disable=SC3045
    (ulimit -Sn 40 && leat info many >"$printed" 2>"$said") || fail "leat info of 50 datasets said $(cat "$said")"
fi
finish
