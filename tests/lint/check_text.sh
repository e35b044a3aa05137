#!/bin/sh
# check_text.sh: no notes to oneself, no marks of a merge, no blanks at line ends, a newline at the end, 120 columns at
# most, in what `make help` prints, too; and in Markdown no inline code that is broken over two lines, since it could
# not be copied as a command.
. tests/lint/common.sh

# in two pieces, so that this file does not find itself
notes='TO''DO|FIX''ME|XX''X|HA''CK'

found() { # WHAT: the places on stdin have it
    sed -E "s/^([^:]+:[0-9]+):.*/\1: $1/"
}
texts=$(mktemp) || exit 1
trap 'rm -f "$texts"' EXIT
files '*.c' '*.h' '*.sh' '*.py' '*.mk' '*.md' '*.in' '*.txt' Makefile '.ci/*' >"$texts"
xargs grep -HnwE "$notes" <"$texts" | found 'a note to oneself'
xargs grep -HnE '[[:space:]]$' <"$texts" | found 'blanks at the end of the line'
xargs grep -HnE '^(<{7}|>{7})( |$)' <"$texts" | found 'a mark of a merge'
xargs grep -LPz '\n\z' <"$texts" | while read -r file; do
    [ ! -s "$file" ] || echo "$file: no newline at the end"
done
grep -vE '\.(md|txt)$' "$texts" | LC_ALL=C.UTF-8 xargs grep -HnE '^.{121}' | found 'longer than 120 columns'
# shellcheck disable=SC2016 # of Markdown
grep -E '\.md$' "$texts" | xargs awk 'FNR == 1 { code = 0 } /^ *```/ { code = !code; next }
    !code && gsub(/`/, "`") % 2 { print FILENAME ":" FNR ": code that goes on in another line" }'
# without the flags of a make around: its job server is not for this one
MAKEFLAGS='' make -s --no-print-directory help |
    LC_ALL=C.UTF-8 grep -E '^.{121}' | sed 's/^ */make help: longer than 120 columns: /'
exit 0
