#!/bin/sh
# cli.sh: what those tests of the commands share that are scripts; each begins by sourcing it. It puts the programs of
# the build folder into PATH and moves to a fresh folder; a test ends with `finish`.
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
cd "$tmp" || exit 1
printed=$tmp/.printed # stdout
said=$tmp/.said       # stderr
failures=0
code=0

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

finish() {
    finished=yes
    [ "$failures" -eq 0 ]
    exit
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

# shellcheck source=tests/cli/datasets.sh
. "$sources"/tests/cli/datasets.sh
