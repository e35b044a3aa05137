#!/bin/sh
# runner.sh [tests/transcript.sh] TEST: runs one test, whose counts of lines go to a folder of its own below
# $LEAT_COVERAGE_RUNS, beside the time that it took. `make coverage` puts it before each test (LEAT_TEST_RUNNER).
for test; do :; done # the last word
folder=$LEAT_COVERAGE_RUNS/$(echo "$test" | tr / _)
mkdir -p "$folder" || exit 1
strip=$(pwd | tr -cd / | wc -c)
export GCOV_PREFIX="$folder" GCOV_PREFIX_STRIP="$strip"
export GCOV_ERROR_FILE="$folder/errors" # counts that a killed process left half written: not what the test prints
start=$(date +%s%N)
"$@"
code=$?
echo "$test $code $((($(date +%s%N) - start) / 1000000))" >"$folder/test" # its name, its exit code, milliseconds
exit $code
