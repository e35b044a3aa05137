#!/bin/sh
# check_calls.sh: functions that are not called: anywhere, because they overflow or hide errors; in the libraries,
# because a library does not print, exit, abort, catch signals or read the environment; outside of src/base, because
# they write to what a link leads to.
. tests/lint/common.sh

anywhere='strcpy|strcat|sprintf|vsprintf|gets|atoi|atol|atoll|atof|strtok|rand|srand|alloca|tmpnam|mktemp'
library='v?f?printf|f?puts|f?putc|putchar|perror|_?exit|abort|assert|signal|sigaction|getenv|setenv|strerror|u?sleep'
# FILE CALL, one a line: exceptions, each explained where it stands
allowed='tokenize_tools/tokenizer/load/locate.c getenv
src/remote/environment.c getenv
src/base/mounts.c getenv
src/cache/cache_folder.c getenv'

all=$(mktemp) && libraries=$(mktemp) || exit 1
trap 'rm -f "$all" "$libraries"' EXIT
# names of files have no spaces
# shellcheck disable=SC2046
code $(files '*.c' '*.h') | grep '[(]\|std[a-z]*\|environ' >"$all"
files '*.c' '*.h' | groups | sed -n 's/^library [^ ]* //p' |
    awk -F: 'FNR == NR { want[$1]; next } $1 in want' - "$all" >"$libraries"

calls() { # FILE PATTERN WHY: of "FILE:LINE:code" in a file
    grep -E "(^|[^A-Za-z0-9_.>])($2)[[:space:]]*\(" "$1" | while IFS=: read -r file line text; do
        name=$(printf '%s\n' "$text" | grep -oE "(^|[^A-Za-z0-9_.>])($2)[[:space:]]*\(" | head -n 1 | tr -dc 'a-z_0-9')
        printf '%s\n' "$allowed" | grep -qxF "$file $name" || echo "$file:$line: $name(): $3"
    done
}

calls "$all" "$anywhere" "forbidden everywhere"
calls "$all" 'system|popen' "only in tests" | grep -v '^tests/'
calls "$libraries" "$library" "not in a library"
grep -E '(^|[^A-Za-z0-9_])(stdout|stderr|stdin|environ)([^A-Za-z0-9_]|$)' "$libraries" | sed 's/$/: not in a library/'
# What is written is opened by src/base, and in Python with an opener: no link leads it elsewhere.
# shellcheck disable=SC2046
grep -nE 'fopen\(.*, "[wa]|[^_]creat\(|O_(CREAT|WRONLY|RDWR)' /dev/null \
    $(files 'src/*.[ch]' 'tokenize_tools/*.[ch]' 'bench/*.[ch]' 'python/src/*.[ch]' | grep -v '^src/base/') |
    grep -vE 'O_TMPFILE|"/dev/null"|^tokenize_tools/cli/cli\.c:[0-9]+:    static const int modes' |
    sed 's/^\([^:]*:[0-9]*\):.*/\1: opens a file to write: own_file_output() and its kin do (base\/own_file.h)/'
# shellcheck disable=SC2046
grep -nE '(^|[^A-Za-z0-9_])open\(.*, "([wax]|r\+)' /dev/null $(files 'python/leat/*.py') | grep -v 'opener=own_file' |
    sed 's/^\([^:]*:[0-9]*\):.*/\1: opens a file to write without opener=own_file (leat\/_own_file.py)/'
exit 0
