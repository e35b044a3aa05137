#!/bin/sh
# runner.sh TEST: runs one test, whose counts of lines go to a folder of its own below $LEAT_COVERAGE_RUNS, beside the
# time that it took. `make coverage` puts it before each test (LEAT_TEST_RUNNER).
folder=$LEAT_COVERAGE_RUNS/$(echo "$1" | tr / _)
mkdir -p "$folder" || exit 1
strip=$(pwd | tr -cd / | wc -c)
export GCOV_PREFIX="$folder" GCOV_PREFIX_STRIP="$strip"
export GCOV_ERROR_FILE="$folder/errors" # counts that a killed process left half written: not what the test prints
start=$(date +%s%N)
"$@"
code=$?
echo "$1 $code $((($(date +%s%N) - start) / 1000000))" >"$folder/test" # its name, its exit code, milliseconds
exit $code
