#!/bin/bash
# check.sh BUILD PYTHON SHARE: the comparisons of this folder, one after the other; the last line sums their counts.
# A comparison without counts of its own is one.
build=$1 python=$2 share=$3
here=$(dirname "$0")
programs=$build/tests/conformance
log=$build/conformance.log
passed=0 failed=0 skipped=0

compare() {
    local code counts
    "$python" "$@" 2>&1 | tee "$log"
    code=${PIPESTATUS[0]}
    counts=$(grep -xE '[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' "$log" | tail -n 1)
    if [ "$code" -gt 1 ] && [ "$code" -ne 77 ]; then
        failed=$((failed + 1))
    elif [ -n "$counts" ]; then
        read -r p _ f _ s _ <<<"$counts"
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
    elif [ "$code" -eq 77 ]; then
        skipped=$((skipped + 1))
    else
        passed=$((passed + 1 - code)) failed=$((failed + code))
    fi
}

if [ "$share" = ci ]; then
    compare "$here/check_unicode.py" --quick "$programs/unicode_dump"
    compare "$here/check_scanners.py" --program "$programs/pieces_dump" --strings 40
else
    compare "$here/check_unicode.py" "$programs/unicode_dump"
    compare "$here/check_scanners.py" --program "$programs/pieces_dump"
fi
compare "$here/check_ids.py" "$programs/ids_dump" --share "$share"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
