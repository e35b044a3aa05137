#!/bin/sh
# test_headers.sh: the public headers, and a struct begun by each of their ..._INIT macros, compile without a warning
# (-Wall -Wextra -Wpedantic -Werror) as C99 to C17 and C++11 to C++20, with each compiler that is there; each header by
# itself, too.
tmp=$(mktemp -d "${LEAT_TEST_TMP:-/tmp}/leat-headers-XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
failures=0 tried=0

# struct leat_x of LEAT_X_INIT, for each that is defined
{
    echo '#include <leat_pack.h>'
    cat include/*.h include/leat/*.h | sed -n 's/^#define LEAT_\([A-Z_]*\)_INIT.*/\1/p' | while read -r name; do
        struct=$(printf '%s' "$name" | tr '[:upper:]' '[:lower:]')
        echo "extern struct leat_$struct v_$struct;"
        echo "struct leat_$struct v_$struct = LEAT_${name}_INIT;"
        echo "extern size_t s_$struct(void);"
        echo "size_t s_$struct(void) { struct leat_$struct v = LEAT_${name}_INIT; return v.size; }"
    done
} >"$tmp/all.c"
found=$(grep -c '^struct' "$tmp/all.c")
[ "$found" -ge 25 ] || { echo "only $found _INIT macros are found in the headers" >&2 && failures=1; }
for header in leat.h leat/run.h; do echo "#include <$header>"; done >"$tmp/first.c"
for file in all first; do
    cp "$tmp/$file.c" "$tmp/$file.cc"
done

try() { # COMPILER STANDARD SUFFIX
    if "$1" "-std=$2" -Wall -Wextra -Wpedantic -Werror -Iinclude -fsyntax-only "$tmp/all.$3" "$tmp/first.$3" \
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
