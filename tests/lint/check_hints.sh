#!/bin/sh
# check_hints.sh: a library's sentence makes sense in C, Python and the shell alike: it names no option of the command;
# and every hint of enum leat_hint is given somewhere, and spelled by the command and by Python. The option or parameter
# that an invalid argument names is one of the public headers, or a variable of the environment.
. tests/lint/common.sh

# names of files have no spaces
# shellcheck disable=SC2046
libraries=$(files '*.c' '*.h' | groups | sed -n 's/^library [^ ]* //p')
# shellcheck disable=SC2086
grep -nE '"([^"\\]|\\.)*--[a-z%]' $libraries | sed -E 's/^([^:]*:[0-9]*):.*/\1: an option in a sentence: give a hint/'

for hint in $(grep -oE '^ *LEAT_HINT_[A-Z_]+ =' include/leat/error.h | tr -d ' ='); do
    for table in tokenize_tools/cli/hints.c python/src/core/errors.c; do
        grep -qF "[$hint] = \"" $table || grep -qF "PACK_HINT(${hint#LEAT_HINT_}, " tokenize_tools/pack/option_rows.h ||
            echo "$table:1: no row for $hint"
    done
    # shellcheck disable=SC2086
    [ "$hint" = LEAT_HINT_NONE ] || grep -qw "$hint" $libraries ||
        echo "include/leat/error.h:1: no sentence gives $hint"
done

# shellcheck disable=SC2046
public=$(code $(files 'include/*.h'))
for file in $libraries; do
    tr '\n' ' ' <"$file" | grep -oE 'status_argument\([^"]*"[a-z_]+"( : [^",]*"[a-z_]+")*,' |
        grep -oE '"[a-z_]+"' | tr -d '"' | sort -u | while read -r field; do
        printf '%s\n' "$public" | grep -qw "$field" || echo "$file:1: the public headers have no $field"
    done
done
exit 0
