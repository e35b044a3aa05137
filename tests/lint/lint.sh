#!/bin/sh
# lint.sh BUILD: runs every tests/lint/check_*.sh, a line each; BUILD holds the libraries, built without sanitizers.
# A check prints each problem as "FILE:LINE: what is wrong" and exits 1; 77 where the tool it needs is missing.
exec tests/run.sh "${1:-build}" "" tests/lint/check_*.sh
