#!/bin/sh
# check.sh PYTHON: check_s3.py with each server, a line each.
failed=0
for server in moto radosgw; do
    "$1" tests/s3/check_s3.py $server
    case $? in
    0) echo "passed   $server" ;;
    77) echo "skipped  $server" ;;
    *) failed=1 && echo "FAILED   $server" ;;
    esac
done
exit $failed
