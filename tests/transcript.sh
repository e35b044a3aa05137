#!/bin/sh
# transcript.sh FILE.t...: runs transcripts: what a person types in an empty folder, and what they see. --accept writes
# what is seen now into the files: read the difference. Cram has the form: "  $ " begins a command and "  > " goes on
# with it; its output follows, with (re) or (glob) behind a line that may differ, and [N] for an exit code of N; all
# else is read by people alone. A command that reads standard input is given one, or it reads the rest of the file.
#
# In PATH are the programs of the build; $SOURCES is the root of the tree. tests/cli/datasets.sh has what several use.
build=${LEAT_BUILD:-build}
case $build in
/*) ;;
*) build=$PWD/$build ;;
esac
cram=$(command -v cram3 || command -v cram) || {
    echo "skipped: needs cram (Debian: python3-cram)"
    exit 77
}
accept=
if [ "$1" = --accept ]; then
    accept='--interactive --yes'
    shift
fi
SOURCES=$PWD
PATH=$build:$build/examples:$PATH
# PYTHONPATH is for processes that render conversations
PYTHONPATH=$PWD/python
export SOURCES PATH PYTHONPATH TERM=xterm LEAT_BUILD="$build"
unset SOURCE_DATE_EPOCH
[ -z "$LEAT_TEST_TMP" ] || export TMPDIR="$LEAT_TEST_TMP"
# shellcheck disable=SC2086 # two words or none
said=$("$cram" $accept "$@" 2>&1)
code=$?
printf '%s\n' "$said"
for file; do
    rm -f "$file.err" # what it printed, which cram leaves after a failure; the difference was shown
done
case $said in
*', 1 skipped, 0 failed.') code=77 && echo "skipped: it ends with exit 80, where something is not installed" ;;
esac
exit $code
