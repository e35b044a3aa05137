#!/bin/sh
# check_shape.sh: no module, and no header, leads back to itself by what it includes.
. tests/lint/common.sh

command -v python3 >/dev/null || skip "needs python3"
told=$(python3 scripts/shape.py /dev/null 2>/dev/null)
case $? in
0) ;;
1) printf '%s\n' "$told" | grep -E '^[^ ]+:[0-9]+: ' || echo "scripts/shape.py:1: does not run" ;;
esac
exit 0
