#!/bin/sh
# test_twin.sh: leat pack over random corpora makes what plain Python makes of them (reference.py): tokens, offsets,
# origins, hashes, rejects, summary, whatever the threads and the memory; parts make up the whole. Most cases go to the
# command that is built with small pieces, so that little data crosses every edge. More than one thread packs.
# Each run tries other corpora, whose seed is printed. LEAT_TEST_CASES=1000 tries more.
here=$(dirname "$0")
build=${LEAT_BUILD:-build}
tmp=${LEAT_TEST_TMP:-$(mktemp -d)}
seed=${LEAT_TEST_SEED:-$(date +%s)}
cases=${LEAT_TEST_CASES:-${LEAT_TEST_EVERY:+30}}
cases=${cases:-14}
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    echo "skipped: no python3 (3.9 or newer)"
    exit 77
fi
# fsync on a disk would take most of the time
if [ -d /dev/shm ] && fast=$(mktemp -d /dev/shm/leat-twin-XXXXXX 2>/dev/null); then
    trap 'rm -rf "$fast"' EXIT
    tmp=$fast
fi
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
python3 "$here/check_twin.py" "$build/tiny/leat" "$tmp/tiny" "$seed" "$cases" &&
    python3 "$here/check_twin.py" "$build/leat" "$tmp/usual" "$seed" $((cases / 4)) 100000
