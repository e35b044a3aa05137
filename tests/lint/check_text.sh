#!/bin/sh
# check_text.sh: no notes to oneself, no marks of a merge, no blanks at line ends, a newline at the end, 120 columns at
# most, in what `make help` prints, too.
. tests/lint/common.sh

# in two pieces, so that this file does not find itself
notes='TO''DO|FIX''ME|XX''X|HA''CK'

files '*.c' '*.h' '*.sh' '*.py' '*.mk' '*.md' '*.in' '*.txt' Makefile '.ci/*' | while read -r file; do
    grep -nwE "$notes" "$file" | sed "s|^|$file:|; s|\$|: a note to oneself|"
    grep -nE '[[:space:]]$' "$file" | sed -E "s|^([0-9]+):.*|$file:\1: blanks at the end of the line|"
    grep -nE '^(<{7}|>{7})( |$)' "$file" | sed -E "s|^([0-9]+):.*|$file:\1: a mark of a merge|"
    [ -z "$(tail -c 1 "$file")" ] || echo "$file: no newline at the end"
    case $file in
    *.md | *.txt) ;;
    *) LC_ALL=C.UTF-8 grep -nE '^.{121}' "$file" | sed -E "s|^([0-9]+):.*|$file:\1: longer than 120 columns|" ;;
    esac
done
make -s --no-print-directory help | LC_ALL=C.UTF-8 grep -E '^.{121}' | sed 's/^ */make help: longer than 120 columns: /'
exit 0
