#!/bin/sh
# test_twin.sh: the library's order of samples is that of a second implementation in Python, written from docs/ORDER.md
# alone, on random plans (more by make check-every); and both have the frozen vectors of that page. Needs python3.
here=$(dirname "$0")
command -v python3 >/dev/null || { echo "skipped: no python3"; exit 77; }
PYTHONDONTWRITEBYTECODE=1 exec python3 "$here/check_order.py" "${LEAT_BUILD:-build}/order_dump" \
    "${LEAT_TEST_SEED:-1}" ${LEAT_TEST_EVERY:+3000}
