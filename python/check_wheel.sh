#!/bin/sh
# check_wheel.sh DIST PYTHON...: installs the wheel of DIST into a clean virtual environment of each Python, where no
# compiler and no program but Python is to be found, and uses it there. The last line counts.
dist=$(cd "$1" && pwd) || exit 1
shift
here=$(pwd)
passed=0 failed=0 skipped=0
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

for python in "$@"; do
    venv=$work/venv
    rm -rf "$venv" "$work/run" && mkdir "$work/run"
    if ! "$python" -m venv "$venv"; then
        echo "skipped: $python makes no virtual environment"
        skipped=$((skipped + 1))
        continue
    fi
    # without a network there is no numpy, and no look at batches; the rest needs none
    "$venv/bin/pip" install -q --disable-pip-version-check --retries 0 numpy >/dev/null 2>&1
    if "$venv/bin/pip" install -q --disable-pip-version-check --no-index --no-deps "$dist"/*.whl &&
        (cd "$work/run" && env -i HOME="$work" PATH="$venv/bin" "$venv/bin/python" -I "$here/python/check_wheel.py" \
            "$here/examples/corpus"); then
        passed=$((passed + 1))
    else
        echo "FAILED with $python"
        failed=$((failed + 1))
    fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
