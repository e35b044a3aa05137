#!/bin/sh
# test_kill.sh: leat pack killed or interrupted at 80 random moments (200 by make check-every), others in each run, and
# resumed gives the bytes of an undisturbed run. LEAT_TEST_KILLS=10000 tries more. So do runs in parts of which several
# processes are killed (make check-kills: for hours).
here=$(dirname "$0")
build=${LEAT_BUILD:-build}
tmp=${LEAT_TEST_TMP:-$(mktemp -d)}
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null; then
    echo "skipped: no python3 (3.9 or newer)"
    exit 77
fi
# fsync on a disk would take most of the time
if [ -d /dev/shm ] && fast=$(mktemp -d /dev/shm/leat-kill-XXXXXX 2>/dev/null); then
    trap 'rm -rf "$fast"' EXIT
    tmp=$fast
fi
kills=${LEAT_TEST_KILLS:-${LEAT_TEST_EVERY:+200}}
kills=${kills:-80}
PYTHONDONTWRITEBYTECODE=1
export PYTHONDONTWRITEBYTECODE
seed=${LEAT_TEST_SEED:-$(date +%s)}
python3 "$here/check_kill.py" "$build/tiny/leat" "$tmp/kill" "$seed" "$kills" &&
    python3 "$here/check_run_kills.py" "$build/tiny/leat" "$tmp/runs" "$seed" "$kills"
