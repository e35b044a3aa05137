#!/bin/sh
# check_calls.sh: functions that are not called: anywhere, because they overflow or hide errors; in the libraries,
# because a library does not print, exit, abort, catch signals or read the environment.
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
exit 0
