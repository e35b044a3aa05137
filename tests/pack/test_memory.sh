#!/bin/sh
# test_memory.sh: leat pack keeps to --memory, whatever the input. LEAT_TEST_MIB=1024 tries documents of 1 GiB, ten
# million tiny ones, a row group of ten million rows and so on, with LEAT_TEST_MEMORY=256 as the bound.
here=$(dirname "$0")
build=${LEAT_BUILD:-build}
tmp=${LEAT_TEST_TMP:-$(mktemp -d)}
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    echo "skipped: no python3 (3.9 or newer)"
    exit 77
fi
runner=$LEAT_TEST_RUNNER
[ -z "$LEAT_COVERAGE_RUNS" ] || runner= # that of `make coverage` is no emulator
if [ -n "$runner" ] || nm "$build/leat" 2>/dev/null | grep -qE ' __(a|t)san_init$'; then
    echo "skipped: a sanitizer or an emulator takes memory of its own"
    exit 77
fi
PYTHONDONTWRITEBYTECODE=1 exec python3 "$here/check_memory.py" "$build/leat" "$tmp/memory" "${LEAT_TEST_MIB:-10}" \
    "${LEAT_TEST_MEMORY:-64}"
