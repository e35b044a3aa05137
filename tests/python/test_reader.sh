#!/bin/sh
# test_reader.sh: a reader written from FORMAT.md alone reads the golden and random datasets as the library does, and
# numpy.memmap reads NAME.tokens as it is. Needs a python3 with numpy.
here=$(dirname "$0")
build=${LEAT_BUILD:-build}
for python in python3 /usr/bin/python3; do
    if "$python" -c 'import numpy' 2>/dev/null; then
        PYTHONDONTWRITEBYTECODE=1 exec "$python" "$here/check_reader.py" "$build/dataset_dump" \
            "${LEAT_TEST_TMP:-$(mktemp -d)}"
    fi
done
echo "skipped: no python3 with numpy"
exit 77
