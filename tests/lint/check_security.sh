#!/bin/sh
# check_security.sh: the tests, fuzzers and transcripts (NAME.t) that SECURITY.md names exist, and where several have
# one name, their folder says which.
. tests/lint/common.sh

tests=$(files '*' | sed -nE 's/\.(c|sh|py)$//p; /\.t$/p')
grep -oE '\b([a-z_]+/)*((test|fuzz)_[a-z_0-9]+|[a-z_0-9]+\.t\b)' SECURITY.md | sort -u | while read -r name; do
    case $(printf '%s\n' "$tests" | grep -cE "(^|/)$name$") in
    0) echo "SECURITY.md:1: there is no $name" ;;
    1) ;;
    *) echo "SECURITY.md:1: there are several $name: name the folder, too" ;;
    esac
done
exit 0
