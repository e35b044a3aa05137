#!/bin/sh
# check_format.sh: clang-format would change nothing. Version 14 only: others lay out some lines differently. The
# headers of include/ and their kept copies are left out: they are the manual, and laid out by hand.
. tests/lint/common.sh

clang_format=
for name in clang-format-14 clang-format; do
    case $($name --version 2>/dev/null) in
    *"version 14."*) clang_format=$name && break ;;
    esac
done
[ -n "$clang_format" ] || skip "needs clang-format 14"
# names of files have no spaces
# shellcheck disable=SC2046
$clang_format --dry-run $(files '*.c' '*.h' | grep -v '^include/') 2>&1 |
    sed -n 's/: warning: code should be clang-formatted.*/: "make format" would change this/p'
exit 0
