#!/bin/sh
# check_shape.sh: no module, and no header, leads back to itself by what it includes; and what `make shape` counts is
# what there is: the lines of all files, and a function for each brace that stands alone in the first column.
. tests/lint/common.sh

command -v python3 >/dev/null || skip "needs python3"
told=$(python3 scripts/shape.py /dev/null 2>/dev/null)
case $? in
0) ;;
1) printf '%s\n' "$told" | grep -E '^[^ ]+:[0-9]+: ' || echo "scripts/shape.py:1: does not run" ;;
esac

sources=$(files 'include/*' 'src/*' 'tokenize_tools/*' 'bench/*' 'python/src/*' | grep '\.[ch]$' |
    grep -v '_tables\.h$')
# names of files have no spaces
# shellcheck disable=SC2086
wanted="$(cat $sources | wc -l) lines in $(echo $sources | wc -w) files, $(cat $sources | grep -c '^{$') functions"
printf '%s\n' "$told" | grep -qx "$wanted" || echo "scripts/shape.py:1: counts other than $wanted"
exit 0
