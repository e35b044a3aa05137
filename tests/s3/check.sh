#!/bin/sh
# check.sh PYTHON: check_s3.py with each server, and check_azure.py with clients of others, a line each.
failed=0
for what in moto radosgw azure; do
    case $what in
    azure) "$1" tests/s3/check_azure.py ;;
    *) "$1" tests/s3/check_s3.py $what ;;
    esac
    case $? in
    0) echo "passed   $what" ;;
    77) echo "skipped  $what" ;;
    *) failed=1 && echo "FAILED   $what" ;;
    esac
done
exit $failed
