#!/bin/sh
# check_rooms.sh: each room of a library, of the commands, of leat-bench and of the Python module has one header that
# says in its first comment what "the room" is for and what may enter.
. tests/lint/common.sh

headers=$(files '*.h')
awk '$1 == "library" || $1 == "program" { print $3 }' tests/lint/includes.txt |
    sed -nE 's%^((src|tokenize_tools|python/src)/.*|bench(/.*)?)/\*$%\1%p' | while read -r folder; do
    saying=
    for header in $(printf '%s\n' "$headers" | grep -E "^$folder/[^/]*$"); do
        if sed '/\*\//q' "$header" | tr '\n' ' ' | grep -qE '\b([Tt]he|[Tt]his) room\b'; then
            saying="$saying ${header##*/}"
        fi
    done
    case $saying in
    ' '*' '*) echo "$folder:1: several headers say what the room is for:$saying" ;;
    ' '*) ;;
    *) echo "$folder:1: no header says what the room is for" ;;
    esac
done
exit 0
