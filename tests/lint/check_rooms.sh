#!/bin/sh
# check_rooms.sh: each room of a library, of the commands, of leat-bench and of the Python module has one header that
# says in its first comment what "the room" is for and what may enter; a room without headers, its file.
. tests/lint/common.sh

{
    awk '$1 == "library" || $1 == "program" { print $3 }' tests/lint/includes.txt |
        sed -nE 's%^((src|tokenize_tools|python/src)/.*|bench(/.*)?)/\*$%\1%p'
    echo --
    # the first comments, a line each, behind their file's name
    # shellcheck disable=SC2016 # awk's fields
    files '*.h' '*.c' | awk '{ folder = $0; sub(/\/[^\/]*$/, "", folder); name[NR] = $0; of[NR] = folder }
        /\.h$/ { has[folder] = 1 }
        END { for (i = 1; i <= NR; i++) if (name[i] ~ /\.h$/ || !(of[i] in has)) print name[i] }' |
        xargs awk 'FNR == 1 { if (NR > 1) print ""; printf "%s", FILENAME; open = 1 }
        open { printf " %s", $0 } /\*\// { open = 0 } END { print "" }' |
        grep -E '[^A-Za-z0-9_]([Tt]he|[Tt]his) room([^A-Za-z0-9_]|$)' | cut -d' ' -f1
} | awk '
    $0 == "--" { saying = 1; next }
    !saying { rooms[++n] = $0; next }
    { name = folder = $0; sub(/.*\//, "", name); sub(/\/[^\/]*$/, "", folder); said[folder] = said[folder] " " name }
    END {
        for (i = 1; i <= n; i++) {
            room = rooms[i]
            if (!(room in said))
                print room ":1: no header says what the room is for"
            else if (split(said[room], names, " ") > 1)
                print room ":1: several headers say what the room is for:" said[room]
        }
    }'
exit 0
