#!/bin/sh
# check.sh BUILD VENV CURATOR_VENV [ENGINE]: the checks of this folder, one line each.
passed=0 failed=0 skipped=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
only=$4
check() { # ENGINE PYTHON [SECTION of docs/engines.md, whose program is run then]
    [ -z "$only" ] || [ "$only" = "$1" ] || return 0
    name=$1${3:+, the page}
    if [ -x "$2" ] && [ -n "$3" ]; then
        "$2" tests/engines/check_page.py "$3" >"$log" 2>&1 </dev/null
    elif [ -x "$2" ]; then
        "$2" "tests/engines/check_$1.py" >"$log" 2>&1 </dev/null
    else
        echo "its environment could not be made" >"$log"
        sh -c 'exit 77'
    fi
    case $? in
    0) passed=$((passed + 1)) && echo "passed   $name" ;;
    77) skipped=$((skipped + 1)) && echo "skipped  $name: $(tail -n 1 "$log")" ;;
    *) failed=$((failed + 1)) && echo "FAILED   $name" && cat "$log" ;;
    esac
}
LEAT_BUILD=$(cd "$1" && pwd)
PYTHONPATH=$LEAT_BUILD/python:$(pwd)/tests/engines
export LEAT_BUILD PYTHONPATH
check ray_data "$2/bin/python"
check ray_data "$2/bin/python" "Ray Data"
check spark "$2/bin/python"
check spark "$2/bin/python" Spark
check datatrove "$2/bin/python"
check datatrove "$2/bin/python" datatrove
check daft "$2/bin/python"
check daft "$2/bin/python" Daft
check curator "$3/bin/python"
check curator "$3/bin/python" "NeMo Curator"
check arrow "$2/bin/python"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
