#!/bin/sh
# cli.sh: what the tests of the commands share; each begins by sourcing it. It puts the build folder's programs into
# PATH and moves to a fresh folder; a test ends with `finish`.
build=${LEAT_BUILD:-build}
case $build in
/*) ;;
*) build=$PWD/$build ;;
esac
for program in leat leat-bench leat-bench-dev make_dataset examples/write_bytes; do
    if [ ! -x "$build/$program" ]; then
        echo "skipped: no $program under $build" >&2
        exit 77
    fi
done
PATH=$build:$build/examples:$PATH
sources=$PWD
# what a packager's machine has and a user's does not, and the reverse
unset SOURCE_DATE_EPOCH
export TERM=xterm
tmp=$(mktemp -d "${LEAT_TEST_TMP:-/tmp}/leat-cli-XXXXXX") || exit 1
leave() { # a test that forgets `finish` would pass whatever it found
    status=$?
    rm -rf "$tmp"
    [ "$status$finished" = 0 ] || exit "$status"
    echo "this test does not end with finish" >&2
    exit 1
}
finished=
trap leave EXIT
trap 'exit 1' INT TERM
script=tests/${0##*tests/}
if [ -z "$LEAT_TEST_SENTENCES" ]; then
    awk -v name="== $script" '/^== / { here = $0 == name; next } here' tests/golden/sentences.txt >"$tmp/.sentences"
else
    echo "== $script" >"$LEAT_TEST_SENTENCES/$(echo "$script" | tr / _)"
fi
cd "$tmp" || exit 1
expected=$tmp/.expected # stdout as it should be
printed=$tmp/.printed   # stdout
said=$tmp/.said         # stderr
failures=0
code=0

# `leat pack --chat` renders in Python, by the package in the sources; without jinja2 this test ends here.
renders() {
    PYTHONPATH=$sources/python
    export PYTHONPATH
    python3 -c 'import jinja2' 2>/dev/null && return
    echo "skipped: Python's jinja2 is not installed"
    exit 77
}

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

finish() {
    finished=yes
    [ "$failures" -eq 0 ]
    exit
}

# What differs from run to run, made the same: times and rates.
steady() {
    sed -e 's/"seconds": [^,}]*/"seconds": T/; s/"bytes_per_s": [^,}]*/"bytes_per_s": R/' \
        -e 's/ checked in .* (.*)\.$/ checked in T./; s/ in [0-9.]* [mun]*s\.$/ in T./' "$1"
}

# Runs a command, whose outputs and exit code can then be looked at.
run() {
    ran="$*"
    "$@" >"$printed" 2>"$said" </dev/null
    code=$?
}

# Whether the command that ran last ended with this code and said this on stderr, to the letter.
ended() { # CODE MESSAGE
    [ "$code" -eq "$1" ] || fail "$ran: exit code $code, not $1; it said: $(cat "$said")"
    [ "$(cat "$said")" = "$2" ] || fail "$ran: said
    $(cat "$said")
and not
    $2"
}

# Whether the command that ran last ended with this code, and said this among other things.
says() { # CODE PART
    [ "$code" -eq "$1" ] || fail "$ran: exit code $code, not $1; it said: $(cat "$said")"
    grep -qF -- "$2" "$said" || fail "$ran: did not say '$2' but: $(cat "$said")"
}

# Runs a command that prints headed columns; prints its rows, without the heading, with one blank between columns.
rows() { # COMMAND...
    "$@" >"$tmp/.rows" || return
    sed -n '1d; s/^ *//; s/  */ /gp' "$tmp/.rows"
}

# Lines that end in " @" go on in the next.
join_lines() {
    sed -e ':more' -e '/ @$/!b' -e N -e 's/@\n//' -e 'b more'
}

# Runs a command that must end with this code, say this on stderr, and print what comes on stdin; in both, lines that
# end in " @" go on in the next.
try() { # CODE MESSAGE COMMAND...
    try_code=$1 try_message=$(printf '%s\n' "$2" | join_lines)
    shift 2
    join_lines >"$expected"
    run "$@"
    ended "$try_code" "$try_message"
    steady "$printed" | diff "$expected" - >"$tmp/.diff" || fail "$ran: printed (>) other than expected (<):
$(cat "$tmp/.diff")"
}

# Runs a command that must end with this code, print nothing, and say on stderr what tests/golden/sentences.txt has for
# it, in which each of these words is named. NAMED '': it says nothing. `make sentences` writes that file.
refuse() { # CODE NAMED COMMAND...
    refuse_code=$1 refuse_named=$2
    shift 2
    run "$@"
    [ ! -s "$printed" ] || fail "$ran: printed $(cat "$printed")"
    if [ -z "$refuse_named" ]; then
        ended "$refuse_code" ''
        return
    fi
    [ "$code" -eq "$refuse_code" ] || fail "$ran: exit code $code, not $refuse_code; it said: $(cat "$said")"
    set -f
    for refuse_word in $refuse_named; do
        grep -qF -- "$refuse_word" "$said" || fail "$ran: did not name '$refuse_word' but said: $(cat "$said")"
    done
    set +f
    refuse_key=$(echo "$ran" | sed "s|$tmp|TMP|g; s/ *$//" | paste -sd ' ')
    printf '%s\n' "$refuse_key" >>"$tmp/.refused"
    refuse_times=$(grep -cxF -- "$refuse_key" "$tmp/.refused")
    [ "$refuse_times" -eq 1 ] || refuse_key="$refuse_key (once more: $refuse_times)"
    sed "s|$tmp|TMP|g" "$said" >"$tmp/.sentence"
    if [ -n "$LEAT_TEST_SENTENCES" ]; then
        { printf '\n$ %s\n' "$refuse_key" && cat "$tmp/.sentence"; } >>"$LEAT_TEST_SENTENCES/$(echo "$script" | tr / _)"
        return
    fi
    COMMAND="$ $refuse_key" awk '
        $0 == ENVIRON["COMMAND"] { found = 1; next }
        found && $0 == "" { exit }
        found' "$tmp/.sentences" | diff - "$tmp/.sentence" >"$tmp/.diff" || fail "$ran: said (>) other than (<)
$(cat "$tmp/.diff")
in tests/golden/sentences.txt; if that is better: make sentences"
}

# shellcheck source=tests/cli/datasets.sh
. "$sources"/tests/cli/datasets.sh
