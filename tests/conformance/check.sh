#!/bin/bash
# check.sh BUILD PYTHON SHARE: the comparisons of this folder; the last line sums their counts. Those of characters,
# scanners, packing, Parquet, folders, what stands around texts and odd shapes of files run beside that of ids; what
# they say follows at the end, and lies in BUILD/conformance-NAME.log.
#
# A comparison must end with "N passed, N failed, N skipped" and with the exit code that says the same. One that ends
# early, for whatever reason, is a failure.
build=$1 python=$2 share=$3
here=$(dirname "$0")
programs=$build/tests/conformance
passed=0 failed=0 skipped=0

log_of() {
    echo "$build/conformance-$1.log"
}

compare() { # NAME SCRIPT ARGUMENT...: the last line of the log is the exit code
    local log
    log=$(log_of "$1")
    shift
    { "$python" -u "$@" 2>&1; echo "exit code $?"; } >"$log"
}

add() { # NAME: the counts of its log
    local log last code p f s
    log=$(log_of "$1")
    code=$(tail -n 1 "$log" | sed -n 's/^exit code \([0-9]*\)$/\1/p')
    last=$(tail -n 2 "$log" | head -n 1)
    if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed,\ ([0-9]+)\ skipped$ ]]; then
        p=${BASH_REMATCH[1]} f=${BASH_REMATCH[2]} s=${BASH_REMATCH[3]}
    else
        p=0 f=1 s=0
        echo "FAILED $1: it ended without its counts, exit code ${code:-unknown}; its last line: $last"
    fi
    case $code:$f:$((p + s)) in
    0:0:0)
        f=1
        echo "FAILED $1: it compared nothing"
        ;;
    0:0:* | 77:0:* | 1:[1-9]*) ;;
    *:0:*)
        f=1
        echo "FAILED $1: nothing failed, but its exit code is ${code:-unknown}"
        ;;
    *) [ "$f" -gt 0 ] || f=1 ;;
    esac
    passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s))
}

# each job a process group, so that it can be ended with all that it started
set -m
trap 'kill -- -"$ids" -"$beside" 2>/dev/null; exit 130' INT TERM
rm -f "$build"/conformance-*.log
quick=() strings=()
if [ "$share" = ci ]; then
    quick=(--quick) strings=(--strings 400)
fi
{
    compare characters "$here/check_unicode.py" "${quick[@]}" "$programs/unicode_dump"
    compare scanners "$here/check_scanners.py" --program "$programs/pretokens_dump" "${quick[@]}" "${strings[@]}"
    compare pack "$here/check_pack.py" "$build/leat" --share "$share"
    compare parquet "$here/check_parquet.py" "$programs/parquet_dump" --share "$share"
    compare folders "$here/check_folders.py" "$programs/ids_dump"
    compare around "$here/check_around.py" "$build/leat"
    compare shapes "$here/check_shapes.py" "$programs/ids_dump" --share "$share"
} &
beside=$!
compare ids "$here/check_ids.py" "$programs/ids_dump" --share "$share" &
ids=$!
# as it comes, until it ends
touch "$(log_of ids)"
tail -n +1 -f --pid=$ids "$(log_of ids)"
wait $ids $beside
cat "$(log_of characters)" "$(log_of scanners)" "$(log_of pack)" "$(log_of parquet)" "$(log_of folders)" \
    "$(log_of around)" "$(log_of shapes)"
for name in ids characters scanners pack parquet folders around shapes; do
    add $name
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
