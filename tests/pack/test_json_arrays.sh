#!/bin/sh
# test_json_arrays.sh: files that are one JSON array, against Python's json module (check_json_arrays.py). Needs a
# python3 with numpy.
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import numpy' 2>/dev/null; then
        PYTHONDONTWRITEBYTECODE=1 exec "$python" "$(dirname "$0")/check_json_arrays.py"
    fi
done
echo "skipped: no python3 with numpy"
exit 77
