#!/bin/sh
# check.sh BUILD PYTHON: the checks of this folder, one line each; PYTHON has leat's requirements of clusters, or is "".
passed=0 failed=0 skipped=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
check() { # NAME COMMAND...
    name=$1
    shift
    "$@" >"$log" 2>&1 </dev/null
    case $? in
    0) passed=$((passed + 1)) && echo "passed   $name" ;;
    77) skipped=$((skipped + 1)) && echo "skipped  $name: $(tail -n 1 "$log")" ;;
    *) failed=$((failed + 1)) && echo "FAILED   $name" && cat "$log" ;;
    esac
}
LEAT_BUILD=$1
export LEAT_BUILD
check slurm sh tests/cluster/check_slurm.sh
check parts sh tests/cluster/check_parts.sh
check kubernetes "${2:-python3}" tests/cluster/check_kubernetes.py "$1/leat"
check dask "${2:-python3}" tests/cluster/check_dask.py "$1/leat"
check ray env PYTHONPATH="$(cd "$1" && pwd)/python" "${2:-python3}" tests/cluster/check_ray.py
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
