#!/bin/sh
# check.sh BUILD VENV [PYTEST-OPTION...]: installs the package into the virtual environment as a user would, of what has
# been built in BUILD (the rest is built there), and runs its tests; the last line counts them.
given=$1 build=$(realpath "$1") venv=$(realpath "$2")
shift 2
here=$(pwd)
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
# with the build that is there, by the name that it was made by: else make would not see which headers it hangs on
LEAT_PYTHON_BUILD="$given" "$venv/bin/pip" install -q --disable-pip-version-check --no-deps \
    --no-build-isolation --force-reinstall . || exit 1
# from another folder, so that what is installed is tested and not what lies in the tree
cd "$build" || exit 1
LEAT_BUILD="$build" OMP_NUM_THREADS=1 "$venv/bin/python" -m pytest -c "$here/pyproject.toml" --rootdir "$here" \
    "$here/python/tests" "$@" 2>&1 | tee "$log"
# "3 failed, 70 passed, 2 skipped, 1 warning in 10.0s"
count() {
    tail -n 1 "$log" | grep -oE "[0-9]+ $1" | head -n 1 | cut -d' ' -f1
}
passed=$(count passed) failed=$(count failed) errors=$(count error) skipped=$(count skipped)
failed=$((${failed:-0} + ${errors:-0}))
echo "${passed:-0} passed, $failed failed, ${skipped:-0} skipped"
[ "$failed" -eq 0 ] && [ "${passed:-0}" -gt 0 ]
