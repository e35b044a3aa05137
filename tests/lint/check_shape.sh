#!/bin/sh
# check_shape.sh: no module, and no header, leads back to itself by what it includes; and what `make shape` counts is
# what there is: the lines of all files, a function for each brace that stands alone in the first column, and the files
# of the largest rooms.
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

rooms=$(files 'src/*' 'tokenize_tools/*' 'bench/*' 'python/src/*' | sed -n 's|/[^/]*\.[ch]$||p' | sort | uniq -c |
    LC_ALL=C sort -k1,1nr -k2)
wanted=$(printf '%s\n' "$rooms" | head -n 15 | awk '{ printf "%5d  %s\n", $1, $2 }')
[ "$(printf '%s\n' "$told" | sed -n '1,/^the rooms/d; /^$/q; p')" = "$wanted" ] ||
    echo "scripts/shape.py:1: counts other files in rooms"
exit 0
