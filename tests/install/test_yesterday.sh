#!/bin/sh
# test_yesterday.sh: a program that was compiled with headers of another day runs with today's shared libraries: with
# those of each release, which make keep-headers keeps in kept/*.tar.xz; with headers in which structs are older, by
# fields taken from their ends, and newer, by fields put behind them. The library must leave what lies behind a smaller
# struct alone and take the defaults for what it lacks; and refuse a field that it does not know, unless it is 0.
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${LEAT_BUILD:-build}
case $build in
/*) ;;
*) build=$root/$build ;;
esac
tmp=$(mktemp -d "${LEAT_TEST_TMP:-/tmp}/leat-yesterday-XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
failures=0

if [ ! -f "$build/libleat.so" ]; then
    echo "skipped: no libleat.so under $build" >&2
    exit 77
fi
if nm "$build/libleat.so" | grep -qE ' (__asan_|__tsan_|__ubsan_|__gcov_)'; then
    echo "skipped: a library with a sanitizer or counters inside needs its runtime in every program" >&2
    exit 77
fi

fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}
try() { # NAME HEADERS WISH [-DFLAG [ARGUMENT]]
    name=$1 headers=$2 wish=$3 flag=${4:--DOLD}
    shift 3
    [ $# -eq 0 ] || shift
    # shellcheck disable=SC2086 # CC may be several words
    ${CC:-cc} -std=c99 -Wall -Wextra -Werror "$flag" -I"$headers" "$here/yesterday.c" -o "$tmp/$name" -L"$build" \
        -lleat_pack -lleat || { fail "$name: does not compile" && return; }
    answer=$(LD_LIBRARY_PATH=$build "$tmp/$name" "$tmp/data-$name" "$@" 2>&1)
    [ "$answer" = "$wish" ] || fail "$name: $answer"
}
change() { # FOLDER SCRIPT...: the headers of today, changed; each script must change something
    mkdir -p "$1" && cp -r "$root"/include/* "$1" && folder=$1
    shift
    for script; do
        before=$(cat "$folder"/*.h "$folder"/leat/*.h | cksum)
        sed -i "$script" "$folder"/*.h "$folder"/leat/*.h
        [ "$(cat "$folder"/*.h "$folder"/leat/*.h | cksum)" != "$before" ] || fail "nothing is changed by: $script"
    done
}

facts="10 tokens, end 99, 18 bytes"
good="$facts
2 3 4 5 6 7, 1 batch, 77"

for archive in "$here"/kept/*.tar.xz; do
    [ -e "$archive" ] || continue # none before the first release
    release=$(basename "$archive" .tar.xz)
    if "$root/tests/archive.sh" open "$archive" "$tmp/kept-$release"; then
        try "$release" "$tmp/kept-$release/include" "$good"
    else
        fail "$archive cannot be opened"
    fi
done

# older: the last fields of structs were not there; whole words of them, since padding in their place may hold anything
change "$tmp/older-headers" \
    '/^struct leat_loader_options {/,/^};/{/struct leat_loader_outputs outputs;/d}' \
    '/^struct leat_loader_options {/,/^};/{/const char \*stats_file;/d;/uint64_t stats_ms;/d}' \
    '/^struct leat_loader_options {/,/^};/{/source_weight/d;/struct leat_loader_slice slice;/d}' \
    's/, { 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, { 0, 0, 0, 0, 0 } }, NULL, 0, NULL, 0, *.$/ }/' \
    '/^struct leat_loader_options {/,/^};/{/struct leat_loader_column/d;/column_count/d}' \
    '/LEAT_SLICE_CONTIGUOUS, 0, { 0, 0 } }, NULL, 0 }/d' \
    '/^struct leat_input {/,/^};/{/uint8_t hash/d}'
sed -i '/^#define LEAT_INPUT_INIT/s/, { 0 } }/ }/' "$tmp/older-headers/leat/dataset.h"
try older "$tmp/older-headers" "$good"

# newer: the library does not know the last fields, and one that a struct inside has in place of a reserved number
change "$tmp/newer-headers" \
    '/^struct leat_loader_options {/,/^};/s/^};/    uint64_t of_tomorrow;\n};/' \
    's/LEAT_SLICE_CONTIGUOUS, 0, { 0, 0 } }, NULL, 0 }/LEAT_SLICE_CONTIGUOUS, 0, { 0, 0 } }, NULL, 0, 0 }/' \
    '/^struct leat_loader_io {/,/^};/s/uint64_t reserved\[4\];/uint64_t reserved[3], of_tomorrow;/' \
    's/-1, 0, { 0, 0, 0, 0 } }/-1, 0, { 0, 0, 0 }, 0 }/' \
    '/^struct leat_input {/,/^};/s/^};/    uint64_t of_tomorrow;\n};/' \
    '/^#define LEAT_INPUT_INIT/s/{ 0 } }/{ 0 }, 0 }/'
try newer "$tmp/newer-headers" "$good" -DNEWER
try newer-set "$tmp/newer-headers" "$facts
refused" -DNEWER unknown
try newer-inside "$tmp/newer-headers" "$facts
refused" -DNEWER inside

[ "$failures" -eq 0 ]
