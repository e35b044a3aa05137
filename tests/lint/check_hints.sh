#!/bin/sh
# check_hints.sh: a library's sentence makes sense in C, Python and the shell alike: it names no option of the command;
# and every hint of enum leat_hint is given somewhere, and spelled by the command and by Python.
. tests/lint/common.sh

# names of files have no spaces
# shellcheck disable=SC2046
libraries=$(files '*.c' '*.h' | groups | sed -n 's/^library [^ ]* //p')
# shellcheck disable=SC2086
grep -nE '"([^"\\]|\\.)*--[a-z%]' $libraries | sed -E 's/^([^:]*:[0-9]*):.*/\1: an option in a sentence: give a hint/'

for hint in $(grep -oE '^ *LEAT_HINT_[A-Z_]+ =' include/leat/error.h | tr -d ' ='); do
    for table in tokenize_tools/cli/hints.c python/src/core/errors.c; do
        grep -qF "[$hint] = \"" $table || echo "$table:1: no row for $hint"
    done
    # shellcheck disable=SC2086
    [ "$hint" = LEAT_HINT_NONE ] || grep -qw "$hint" $libraries ||
        echo "include/leat/error.h:1: no sentence gives $hint"
done
exit 0
