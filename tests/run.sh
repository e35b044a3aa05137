#!/bin/sh
# run.sh BUILD ONLY [--list] TEST...: runs tests, several at once, a line each, and ends with "N passed, N failed, N
# skipped"; --list: only says which.
# A test that takes 5 seconds or more has them in its line, and those of CPU time.
# What a failing test printed follows its line, and its name stands once more before the last line.
# ONLY, if not empty, selects tests whose path or source names that word.
# Tests in Python are skipped without a python3 of 3.9 or newer.
# $LEAT_TEST_RUNNER, if set, is put before each test: an emulator. $LEAT_TEST_WITHOUT, if set: tests whose path matches
# this regular expression are left out. $LEAT_TEST_TURN, if set: N/OF, every OF-th test from the N-th.
# No test asks the Hugging Face Hub, whatever looks like a model's name; those of the Hub have a server of their own.
export HF_HUB_OFFLINE=1
# Helpers of tests in Python leave no compiled files in the sources.
export PYTHONDONTWRITEBYTECODE=1
# What the make above was given, as a packager's folders, is not for those that tests run.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES V PREFIX LIBDIR INCLUDEDIR BINDIR DATADIR DESTDIR
# ThreadSanitizer waits for a second at the end of each process, for races that are still to come: a test with many
# servers took minutes.
export TSAN_OPTIONS="${TSAN_OPTIONS:-atexit_sleep_ms=50}"
build=$1 only=$2 list=
shift 2
[ "$1" = --list ] && list=1 && shift
jobs=${LEAT_TEST_JOBS:-$(($(nproc 2>/dev/null || echo 2) + 4))} # some tests mostly wait

source_of() {
    case $1 in
    "$build"/*/test_gzip_with_*) echo tests/corpus/test_gzip_stream.c ;; # one source, several inflaters
    "$build"/*/test_made_streams_none) echo tests/corpus/test_made_streams.c ;;
    "$build"/*/test_hub_card_none) echo tests/corpus/test_hub_card.c ;;
    "$build"/tests/arrange/test_arranged_tiny) echo tests/arrange/test_arranged.c ;; # with small windows and batches
    "$build"/tests/device/test_loader_faults | "$build"/tests/device/test_loader_cut) echo "tests/faults/${1##*/}.c" ;;
    "$build"/tests/device/*) echo "tests/loader/${1##*/}.c" ;; # the same, on a device
    "$build"/*) echo "${1#"$build"/}.c" ;;
    *) echo "$1" ;;
    esac
}

selected() {
    at=0
    for t in "$@"; do
        if [ -n "$LEAT_TEST_WITHOUT" ] && echo "$t" | grep -qE "$LEAT_TEST_WITHOUT"; then
            continue
        fi
        if [ -n "$only" ]; then
            case $t in
            *"$only"*) ;;
            *) grep -qw "$only" "$(source_of "$t")" || continue ;;
            esac
        fi
        at=$((at + 1))
        [ -z "$LEAT_TEST_TURN" ] || [ $((at % ${LEAT_TEST_TURN#*/})) -eq "${LEAT_TEST_TURN%/*}" ] || continue
        echo "$t"
    done
}
[ -z "$list" ] || { selected "$@" && exit; }

python=
python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2>/dev/null && python=1
# One that is a script, as pyenv's, starts two hundred processes to find the real one each time: that is found once.
if [ -n "$python" ] && [ "$(head -c 2 "$(command -v python3)")" = '#!' ]; then
    real=$(python3 -c 'import sys; print(sys.executable)')
    [ ! -x "$real" ] || PATH=${real%/*}:$PATH
fi
work=$(mktemp -d "${TMPDIR:-/tmp}/leat-run-XXXXXX") || exit 1
memory=
trap 'rm -rf "$work" ${memory:+"$memory"}' EXIT
trap 'exit 130' HUP INT TERM

# Tests make and remove files by the ten thousand, which takes a disk's file system a third of all CPU time: their
# folders lie in memory if /dev/shm has 4 GiB free and lets programs start from it. Those of make check-every lie on
# the disk, and so does $LEAT_TEST_DISK, for tests that need one.
# A run that was killed leaves its folder, of many GiB even: the next one removes it, if nobody holds its lock any more.
in_memory() {
    [ -z "$LEAT_TEST_EVERY" ] || return
    find /dev/shm -maxdepth 2 -path '/dev/shm/leat-run-*/lock' -user "$(id -u)" -mmin +1 2>/dev/null |
        while read -r lock; do
            flock -n "$lock" rm -rf "${lock%/lock}" 2>/dev/null
        done
    df -Pk /dev/shm 2>/dev/null | awk 'END { exit $1 != "tmpfs" || $4 < 4194304 }' || return
    awk '/^MemAvailable:/ { exit $2 < 8388608 }' /proc/meminfo || return
    memory=$(mktemp -d /dev/shm/leat-run-XXXXXX) && exec 9>"$memory/lock" || return
    flock 9 2>/dev/null # without flock(1), the next one removes nothing, either
    printf '#!/bin/sh\n' >"$memory/program" && chmod +x "$memory/program" && "$memory/program" 2>/dev/null
}
in_memory && folders=$memory || folders=$work

# one test: its output to a file of its own, its result to another; expanded by the shell that runs it
# shellcheck disable=SC2016
run_one='
    name=$1 work=$2 build=$3 python=$4 folders=$5
    set -f
    IFS=/
    set -- $name
    IFS=_
    file=$work/$*
    unset IFS
    tmp=$folders/${file##*/}.tmp disk=$file.disk
    mkdir -p "$tmp" "$disk"
    read -r began _ </proc/uptime
    if [ -z "$python" ] && [ "${name%.py}" != "$name" ]; then
        echo "skipped: no python3 (3.9 or newer)" >"$file.out"
        code=77
    else
        [ "${name%.t}" = "$name" ] && by= || by=tests/transcript.sh
        LEAT_TEST_TMP=$tmp LEAT_TEST_DISK=$disk LEAT_BUILD=$build timeout --foreground -k 10 \
            "${LEAT_TEST_SECONDS:-300}" $LEAT_TEST_RUNNER $by "$name" >"$file.out" 2>&1 </dev/null 9>&-
        code=$?
    fi
    rm -rf "$tmp" "$disk"
    read -r ended _ </proc/uptime
    took=$((${ended%.*} - ${began%.*}))
    times >"$file.times" # its second line is of the test: 0m1.23s 0m0.45s
    [ $took -lt 5 ] && took= || took=" ($took s, $(sed "1d; y/ms/  /" "$file.times" |
        awk "{ printf \"%.0f\", 60 * (\$1 + \$3) + \$2 + \$4 }") of CPU)"
    # a shell goes on after a word that is no command, and what it was to check is not checked
    if [ $code -eq 0 ] && [ -s "$file.out" ] && [ "${name%.sh}" != "$name" ] &&
        grep -E "^([^ ]*/)?test_[^ ]*\.sh: (line )?[0-9]+: [^ ]*: (command )?not found$" "$file.out" \
        >"$file.missing"; then
        mv "$file.missing" "$file.out"
        code=1
    fi
    short=${name#"$build"/tests/}
    short=${short#tests/}
    case $code in
    0) echo "pass $short$took" ;;
    77) echo "skip $short: $(tail -n 1 "$file.out" | sed "s/^skipped: //")" ;;
    *)
        [ $code -eq 124 ] && why="still running after ${LEAT_TEST_SECONDS:-300} s" || why="exit $code"
        echo "FAIL $short ($why)"
        # a line that comes many times in a row: once, and how often
        LC_ALL=C uniq -c "$file.out" |
            LC_ALL=C sed -e "s/^ *1 /    /" -e t -e "s/^ *\([0-9]*\) \(.*\)/    \2 (\1 times)/" | tail -n 40
        ;;
    esac >"$file.result"
    cat "$file.result"
'
selected "$@" | xargs -P "$jobs" -I{} sh -c "$run_one" run_one {} "$work" "$build" "$python" "$folders"

count() {
    cat "$work"/*.result 2>/dev/null | grep -c "^$1 "
}
passed=$(count pass) failed=$(count FAIL) skipped=$(count skip)
# the names once more, below hundreds of lines; not as FAIL, which .ci/run looks for
cat "$work"/*.result 2>/dev/null | sed -n 's/^FAIL /failed: /p'
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
