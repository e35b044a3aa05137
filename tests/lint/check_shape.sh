#!/bin/sh
# check_shape.sh: no module and no header leads back to itself by what it includes, and no file by what it calls in its
# room; and no room has more lines than its budget.
. tests/lint/common.sh

command -v python3 >/dev/null || skip "needs python3"
told=$(python3 scripts/shape.py /dev/null 2>/dev/null)
case $? in
0) ;;
1) printf '%s\n' "$told" | grep -E '^[^ ]+:[0-9]+: ' || echo "scripts/shape.py:1: does not run" ;;
esac

# a room has no more lines than its budget; who raises a number says why in the commit
python3 scripts/budget.py | awk '
    / too many$/ { print "scripts/budget.txt:1: " $1 " has " $2 " lines, and may have " $3 }
    / has this file$/ { print "scripts/budget.txt:1: " $0 }'
exit 0
