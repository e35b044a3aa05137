#!/bin/sh
# test_headers.sh: the public headers, and a struct begun by each of their ..._INIT macros, compile without a warning
# (-Wall -Wextra -Wpedantic -Werror) as C99 to C17 and C++11 to C++20, with each compiler that is there; each header by
# itself, too. No struct has padding on a 64-bit machine (-Wpadded), which only a struct that is used can show.
tmp=$(mktemp -d "${LEAT_TEST_TMP:-/tmp}/leat-headers-XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
failures=0 tried=0

# struct leat_x of LEAT_X_INIT, for each that is defined
{
    echo '#include <leat_pack.h>'
    sed -n 's/^#define LEAT_\([A-Z_]*\)_INIT.*/\1/p' include/leat/*.h | while read -r name; do
        struct=$(printf '%s' "$name" | tr '[:upper:]' '[:lower:]')
        echo "extern struct leat_$struct v_$struct;"
        echo "struct leat_$struct v_$struct = LEAT_${name}_INIT;"
        echo "extern size_t s_$struct(void);"
        echo "size_t s_$struct(void) { struct leat_$struct v = LEAT_${name}_INIT; return v.size; }"
    done
} >"$tmp/all.c"
found=$(grep -c '^struct' "$tmp/all.c")
[ "$found" -ge 25 ] || { echo "only $found _INIT macros are found in the headers" >&2 && failures=1; }
{
    echo '#include <leat_pack.h>'
    sed -n 's/^struct \(leat_[a-z_]*\) {.*/extern char s_\1[sizeof(struct \1)];/p' include/leat/*.h
} >"$tmp/padded.c"
[ "$(grep -c sizeof "$tmp/padded.c")" -ge 60 ] || { echo "too few structs are found in the headers" >&2 && failures=1; }
cp "$tmp/all.c" "$tmp/all.cc"
for header in $(cd include && find . -name '*.h' | sed 's|^./||'); do
    name=first_$(printf '%s' "$header" | tr '/.' '__')
    echo "#include <$header>" | tee "$tmp/$name.c" >"$tmp/$name.cc"
done

try() { # COMPILER STANDARD SUFFIX
    if "$1" "-std=$2" -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$tmp/all.$3" "$tmp"/first_*."$3" \
        2>"$tmp/said"; then
        tried=$((tried + 1))
    elif ! : | "$1" "-std=$2" -x "$([ "$3" = cc ] && echo c++ || echo c)" -fsyntax-only - 2>"$tmp/none"; then
        echo "$1 has no -std=$2: left out"
    else
        cat "$tmp/said" >&2
        echo "$1 -std=$2: the headers do not compile without warnings" >&2
        failures=$((failures + 1))
    fi
}

for compiler in gcc clang; do
    command -v $compiler >/dev/null || continue
    if [ "$(getconf LONG_BIT)" = 64 ] && ! $compiler -Wpadded -Werror -Iinclude -fsyntax-only "$tmp/padded.c"; then
        echo "$compiler: structs of the headers have padding: put reserved numbers in its place" >&2
        failures=$((failures + 1))
    fi
    for standard in c99 c11 c17; do
        try $compiler $standard c
    done
done
for compiler in g++ clang++; do
    echo "#include <cstdio>" | $compiler -x c++ -E - >/dev/null 2>&1 || continue
    for standard in c++11 c++14 c++17 c++20; do
        try $compiler $standard cc
    done
done
if [ "$tried$failures" = 00 ]; then
    echo "skipped: neither gcc nor clang is there" >&2
    exit 77
fi
[ "$failures" -eq 0 ]
