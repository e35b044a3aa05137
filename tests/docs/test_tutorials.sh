#!/bin/sh
# test_tutorials.sh: what the tutorials in docs/ show is what their commands print. `make docs` writes it anew.
build=${LEAT_BUILD:-build}
if [ ! -x "$build/examples/train_tiny" ]; then
    echo "skipped: no examples under $build" >&2
    exit 77
fi
if ! command -v python3 >/dev/null; then
    echo "skipped: no python3" >&2
    exit 77
fi
exec python3 tests/docs/pages.py docs/tutorial-*.md docs/clusters.md
