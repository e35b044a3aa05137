#!/bin/sh
# check.sh BUILD VENV CURATOR_VENV [ENGINE]: the checks of this folder, one line each.
passed=0 failed=0 skipped=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
only=$4
check() { # ENGINE PYTHON
    [ -z "$only" ] || [ "$only" = "$1" ] || return 0
    if [ -x "$2" ]; then
        "$2" "tests/engines/check_$1.py" >"$log" 2>&1 </dev/null
    else
        echo "its environment could not be made" >"$log"
        sh -c 'exit 77'
    fi
    case $? in
    0) passed=$((passed + 1)) && echo "passed   $1" ;;
    77) skipped=$((skipped + 1)) && echo "skipped  $1: $(tail -n 1 "$log")" ;;
    *) failed=$((failed + 1)) && echo "FAILED   $1" && cat "$log" ;;
    esac
}
LEAT_BUILD=$(cd "$1" && pwd)
PYTHONPATH=$LEAT_BUILD/python:$(pwd)/tests/engines
export LEAT_BUILD PYTHONPATH
check ray_data "$2/bin/python"
check spark "$2/bin/python"
check datatrove "$2/bin/python"
check daft "$2/bin/python"
check curator "$3/bin/python"
check arrow "$2/bin/python"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
