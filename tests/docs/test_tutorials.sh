#!/bin/sh
# test_tutorials.sh: what pages show is what their commands print, each page after every other one: in the same clone,
# and in reverse order by a reader who stays where the page before it ended. `make docs` writes tutorials anew. Pages
# once shared a folder and names: after another one, the operator's disk was never full.
build=${LEAT_BUILD:-build}
if [ ! -x "$build/examples/train_tiny" ]; then
    echo "skipped: no examples under $build" >&2
    exit 77
fi
if ! command -v python3 >/dev/null; then
    echo "skipped: no python3" >&2
    exit 77
fi
set -- README.md AGENTS.md docs/tutorial-operator.md docs/tutorial-researcher.md docs/tutorial-pretraining.md \
    docs/clusters.md docs/parallel-training.md docs/large-runs.md
python3 tests/docs/pages.py "$@" &
if python3 -c 'import jinja2' 2>/dev/null; then # which renders conversations, by the package in the sources
    export PYTHONPATH="$PWD/python"
    set -- "$@" docs/chat.md
fi
reverse=
for page; do reverse="$page $reverse"; done
# names of pages have no spaces
# shellcheck disable=SC2086
python3 tests/docs/pages.py --stay $reverse
code=$?
wait $! && exit $code
