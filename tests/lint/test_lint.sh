#!/bin/sh
# test_lint.sh: each check of tests/lint finds what it is for: in a copy of the tree, one thing is broken at a time.
# Lines to be added stand in single quotes as they are.
# shellcheck disable=SC2016
build=${LEAT_BUILD:-build}
case $build in
/*) ;;
*) build=$PWD/$build ;;
esac
tree=$(mktemp -d "${LEAT_TEST_TMP:-/tmp}/leat-lint-XXXXXX") || exit 1
trap 'rm -rf "$tree"' EXIT
LEAT_LINT_INSIDE=1
. tests/lint/common.sh

if [ ! -f "$build/libleat.so" ]; then
    echo "skipped: no libleat.so under $build" >&2
    exit 77
fi

# the copy: no git there, and few files, so that each check is quick
left_out='^(tests/(golden|fuzz|faults|cli|unit|format|python|support)|bench/(limits|load|peers))/|cmd_'
left_out="$left_out|/test_[^h/][^/]*$|src/(verify|writer|dataset)/[a-z]*_|_tables\.h\$|/files/|/load/data/|/vectors/"
left_out="$left_out|^tokenize_tools/(tokenizer|corpus|pack|show|render)/.*\.c\$"
scripts='^tests/lint/|/demo\.sh$|^scripts/shape|\.[^s][^/]*$|/[^.]*$|^[^/]*$'
files '*' | grep -vE "$left_out" | grep -E "$scripts" | tar -cf - -T - | tar -C "$tree" -xf -
mkdir -p "$tree/build"
cp "$build"/libleat*.a "$build"/libleat*.so* "$tree/build/"
cp -R "$build/installed" "$tree/build/"
cd "$tree" || exit 1
export GIT_DIR=/nonexistent LEAT_BUILD=build
failures=0

expect() { # CHECK TEXT: the check fails and says this
    together
    said=$("tests/lint/check_$1.sh" 2>&1)
    case $?:$said in
    77:*) echo "check_$1: ${said##*skipped: }; not tried: $2" ;;
    1:*"$2"*) ;;
    *) fail "check_$1 does not say \"$2\" but: $said" ;;
    esac
}
fail() {
    failures=$((failures + 1))
    printf '%s\n' "$*" >&2
}

spoil() { # FILE: its state is kept until mend
    together
    spoiled=$1
    rm -f kept
    [ ! -e "$1" ] || cp -p "$1" kept
}
mend() {
    if [ -e kept ]; then
        mv kept "$spoiled"
    else
        rm -f "$spoiled"
    fi
}

# Lines for one of these checks that follow each other are tried together: what it says of one does not hang on others.
waiting='' kept=build/kept
later() { # FILE LINE CHECK TEXT
    case $3 in
    includes | calls | docs | text) ;;
    *) return 1 ;;
    esac
    [ -e "$1" ] || return 1
    [ "$waiting" = "$3" ] || together
    waiting=$3
    mkdir -p "$kept/$(dirname "$1")"
    if [ ! -e "$kept/$1" ]; then
        cp -p "$1" "$kept/$1"
        echo "$1" >>build/kept-files
    fi
    printf '%s\n' "$2" >>"$1"
    printf '%s\n' "$4" >>build/kept-texts
}
together() {
    check=$waiting waiting=
    [ -n "$check" ] || return 0
    while read -r text; do
        expect "$check" "$text"
        check_said=$said
        while read -r text; do
            case $check_said in
            *"$text"*) ;;
            *) fail "check_$check does not say \"$text\" but: $check_said" ;;
            esac
        done
    done <build/kept-texts
    while read -r file; do
        mv "$kept/$file" "$file"
    done <build/kept-files
    rm -f build/kept-files build/kept-texts
}

added() { # FILE LINE CHECK TEXT: with this line at its end
    later "$@" && return
    spoil "$1"
    printf '%s\n' "$2" >>"$1"
    expect "$3" "$4"
    mend
}

removed() { # FILE PATTERN CHECK TEXT: without the lines that match
    spoil "$1"
    grep -v "$2" kept >"$1"
    expect "$3" "$4"
    mend
}

# ---- Includes, format, calls ----------------------------------------------------------------------------------------

added src/format/format.c '#include "writer/writer.h"' includes 'format may not include src/writer/writer.h (writer)'
added tokenize_tools/arrange/merge.c '#include "dataset/dataset.h"' includes \
    'arrange may not include src/dataset/dataset.h'
added tokenize_tools/commands/main.c '#include "cli/../dataset/dataset.h"' includes \
    'commands may not include src/dataset/dataset.h'
added examples/read_dataset.c '#include "leat.h"' includes 'an example includes <leat.h>'
added include/leat.h '#include <unistd.h>' includes 'a public header includes <unistd.h>'
added src/dataset/part.c '#include <zstd.h>' includes 'dataset may not include <zstd.h>'
added src/dataset/part.c '#include "none.h"' includes 'no file of the tree is called none.h'
added src/novel.c '/* novel.c: new. */' includes 'src/novel.c: no row of includes.txt fits'
added tests/lint/includes.txt 'library  low  src/low.c  high' includes 'low may include high, which does not stand'
added src/writer/sink.c 'int  sink_spaces ;' format 'src/writer/sink.c'
added src/writer/sink.c 'void f(char *a) { strcpy(a, "x"); }' calls 'strcpy(): forbidden everywhere'
added examples/read_dataset.c 'int f(void) { return system("x"); }' calls 'system(): only in tests'
added src/writer/sink.c 'void f(void) { printf("x"); }' calls 'printf(): not in a library'
added src/dataset/file_map.c 'char *f(void) { return getenv("X"); }' calls 'getenv(): not in a library'
added tokenize_tools/arrange/merge.c 'void f(void) { fputc(1, stderr); }' calls 'stderr'
added src/loader/loader.c 'int f(void) { return open("x", O_CREAT | O_WRONLY); }' calls 'opens a file to write: own'
added bench/main.c 'FILE *f(void) { return fopen("x", "we"); }' calls 'bench/main.c'
added python/leat/plan.py '    open("x", "w")' calls 'opens a file to write without opener=own_file'
added src/format/format.c '#include "writer/writer.h"' shape 'format includes writer, which leads back to it'
added src/order/skips.h '#include "plan/plan_rules.h"' shape \
    'src/order/skips.h includes src/plan/plan_rules.h, which leads back to it'
added src/writer/sink.c '{' shape 'scripts/shape.py:1: does not run'
spoil scripts/shape.py
sed 's/ - begin + 1//; s/\[:-1\] for path/ for path/' kept >scripts/shape.py
expect shape 'scripts/shape.py:1: counts '
sed 's/rooms.count(room),/1,/' kept >scripts/shape.py
expect shape 'scripts/shape.py:1: counts other files in rooms'
mend
before=$(tests/lint/check_calls.sh)
spoil src/writer/sink.c
echo '/* strcpy(a, b) */ const char *f = "abort()"; int xstrcpy(int); // exit(1)' >>src/writer/sink.c
[ "$(tests/lint/check_calls.sh)" = "$before" ] || fail "check_calls takes comments, strings or other names for calls"
mend

# ---- Rooms ----------------------------------------------------------------------------------------------------------

removed src/rows/rows.h 'The room' rooms 'src/rows:1: no header says'
removed bench/data/texts.h 'The room' rooms 'bench/data:1: no header says'
spoil src/rows/rows_line.h
sed '1s/.*/\/* rows_line.h: the room of lines. *\//' kept >src/rows/rows_line.h
expect rooms 'src/rows:1: several headers say what the room is for: rows.h rows_line.h'
mend

# ---- Libraries ------------------------------------------------------------------------------------------------------

cat >extra.c <<'END'
int leat_extra(void);
int leat_extra(void)
{
    static int calls;
    return ++calls;
}
END
if "${CC:-cc}" -fPIC -c extra.c -o extra.o; then
    spoil build/libleat.a
    ar r build/libleat.a extra.o
    expect state 'variable calls'
    mend
    spoil build/libleat.so
    rm build/libleat.so
    "${CC:-cc}" -shared -pthread -Wl,--whole-archive build/libleat.a -Wl,--no-whole-archive extra.o \
        -o build/libleat.so 2>/dev/null && expect symbols 'exports leat_extra, which no header of leat declares'
    mend
fi
added include/leat/pack.h 'LEAT_API int leat_more(const char *a, int b);' symbols 'leat_more, which build/libleat_pack'
removed src/leat.map 'leat_version;' symbols 'exports leat_version LEAT_1.0, which src/leat.map does not say'
removed tokenize_tools/leat_pack.map 'leat_merge;' symbols \
    'leat_merge LEAT_PACK_1.0, which tokenize_tools/leat_pack.map'
spoil src/leat.map
sed 's/^    leat_version;/&\n    leat_fly;/' kept >src/leat.map
expect symbols 'src/leat.map says leat_fly LEAT_1.0, which build/libleat.so does not export'
mend
spoil include/leat.h
sed 's/^\(#define LEAT_VERSION_MINOR *\)0$/\13/' kept >include/leat.h
expect symbols 'include/leat.h: LEAT_VERSION is 1.0.0, its numbers are 1.3.0'
mend
removed python/leat/render.py '^VERSION = ' symbols 'python/leat/render.py: VERSION is not 1.0.0, of include/leat.h'
echo 'int fly(void); int fly(void) { return 1; }' >fly.c
if "${CC:-cc}" -fPIC -c fly.c -o fly.o; then
    for archive in build/installed/libleat.a build/installed/libleat_pack.a; do
        spoil $archive
        ar r $archive fly.o
        expect symbols "$archive has the global name fly"
        mend
    done
fi
rm -f fly.*
added include/leat_third.h '/* leat_third.h: new. */' symbols 'install installs'

# ---- Files ----------------------------------------------------------------------------------------------------------

added src/rows/rows_body.h 'int more;' ptx 'made from other sources'
added src/new.c 'int new;' purpose 'src/new.c:1: does not begin with'
added src/new.c '#include <stdio.h>' purpose 'src/new.c:1: does not begin with'
added scripts/new.sh 'echo new' purpose 'scripts/new.sh:1: does not begin with a comment'
added src/new.c '/* old.c: copied from elsewhere. */' purpose 'does not begin with "new.c: "'
added SECURITY.md 'test_nowhere' security 'there is no test_nowhere'
added SECURITY.md 'test_hostile' security 'there are several test_hostile'
added SECURITY.md 'unit/test_hostile' security 'there is no unit/test_hostile'
added docs/new.md 'no title' purpose 'docs/new.md:1: does not begin with a title'
spoil scripts/demo.sh
echo 'rm $out/*' >>scripts/demo.sh
chmod -x scripts/demo.sh
expect shell 'SC2086'
case $said in
*'scripts/demo.sh: is not executable'*) ;;
*) fail "check_shell does not say that a script is not executable, but: $said" ;;
esac
mend
added docs/limits-and-guarantees.md 'TO''DO: more' text 'a note to oneself'
added src/dataset/part.c '/* blank */ ' text 'src/dataset/part.c'
added Makefile "# $(printf '%0120d' 0)" text 'longer than 120 columns'
added CHANGELOG.md 'Say `leat' text 'code that goes on in another line'
added include/leat.h "/* $(printf '%0120d' 0) */" text 'include/leat.h:'
added include/leat_pack.h '<''<<<<<< HEAD' text 'a mark of a merge'
spoil src/dataset/part.c
printf '/* end */' >>src/dataset/part.c
expect text 'src/dataset/part.c: no newline at the end'
mend

# ---- Documents ------------------------------------------------------------------------------------------------------

added README.md 'Call `leat_dataset_fly()`.' docs 'nothing is called leat_dataset_fly'
added README.md 'It returns LEAT_E_FLOWN.' docs 'nothing is called LEAT_E_FLOWN'
added README.md 'Set LEAT_F''LY.' docs 'nothing is called LEAT_F'
added FORMAT.md '| `LEAT_E_IO` | 21 |' docs 'LEAT_E_IO is not 21'
added FORMAT.md '| 31 | LEAT_E_NOT_LEAT |' docs 'LEAT_E_NOT_LEAT is not 31'
added CONTRIBUTING.md 'LEAT_E_CHECKSUM (33)' docs 'LEAT_E_CHECKSUM is not 33'
added README.md 'Type `make fly`.' docs 'there is no make target fly'
added README.md 'See [wings](docs/wings.md).' docs 'there is no file docs/wings.md'
added README.md 'See `src/wings.c`.' docs 'there is no file src/wings.c'
removed src/names.c LEAT_E_MISMATCH docs 'leat_status_name() has no name for LEAT_E_MISMATCH'
spoil include/leat/error.h
sed 's/^    LEAT_E_STATE = 52/    LEAT_E_NEW = 53,\n&/' kept >include/leat/error.h
expect docs 'nothing gives LEAT_E_NEW'
mend

# ---- Hints ----------------------------------------------------------------------------------------------------------

added src/rows/rows.c 'const char *s = "replace it (--force)";' hints 'an option in a sentence'
added src/rows/rows.c 'const char *s = "--%s: is wrong";' hints 'src/rows/rows.c'
added src/rows/rows.c 's = status_argument(err, n ? "rows" : "colour", "no");' hints 'public headers have no colour'
added include/leat/error.h '    LEAT_HINT_NEW = 99,' hints 'no sentence gives LEAT_HINT_NEW'
removed python/src/core/errors.c LEAT_HINT_MERGE hints 'python/src/core/errors.c:1: no row for LEAT_HINT_MERGE'
removed tokenize_tools/cli/hints.c LEAT_HINT_MERGE hints 'tokenize_tools/cli/hints.c:1: no row for LEAT_HINT_MERGE'

# ---- Tables ---------------------------------------------------------------------------------------------------------

renamed() { # FILE FROM TO TEXT: with one word for another
    spoil "$1"
    sed "s/$2/$3/" kept >"$1"
    expect tables "$4"
    mend
}
renamed src/gather/gather.c '\[LEAT_ENGINE_PREAD\] = "pread",' '' \
    'src/gather/gather.c:1: the rows: advise map uring instead of'
renamed src/gather/gather.c '= "pread"' '= "read"' 'LEAT_ENGINE_PREAD is called read'
renamed include/leat/loader.h 'LEAT_ENGINE_MAP = 1,' 'LEAT_ENGINE_MAP = 5,' 'python/leat/options.py:1: ENGINES: '
renamed python/leat/options.py '"advise", ' '' 'python/leat/options.py:1: the engines: '
renamed python/leat/options.py '"text": 2' '"text": 3' 'python/leat/options.py:1: FORMATS: '
renamed tokenize_tools/cli/plan_options.c '"sequential"' '"in-order"' 'the values of --order: '
renamed src/plan/plan_order.c '"sequential"' '"in-order"' 'src/plan/plan_order.c:1: the rows: '
renamed src/rows/rows_outputs.h 'LOSS_MASK, ROWS' 'LOSS, ROWS' 'src/rows/rows_outputs.h:1: the rows: '
renamed python/src/loader/batch.h 'row(LABELS' 'row(TARGETS' 'python/src/loader/batch.h:1: the rows: '
renamed src/rows/rows_outputs.h 'together(labels,' 'together(targets,' 'src/rows/rows_outputs.h:1: the fields: '
renamed src/rows/rows_outputs.h ' singly(' ' together(' 'the outputs that are made singly: '
renamed include/leat/loader.h 'uint8_t \*loss_mask;' 'uint8_t *loss;' \
    'include/leat/loader.h:1: the fields of struct leat_outputs: '
renamed python/leat/batch.pyi 'cu_seqlens: Any' '' 'python/leat/batch.pyi:1: the attributes of Batch: '

together
[ "$failures" -eq 0 ]
