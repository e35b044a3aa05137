#!/bin/sh
# test_compilers.sh: the order is the same under gcc and clang, without optimization and with all of it, -ffast-math and
# what this very machine has: each way of building prints the same number of order_sum.c, which is frozen here. On other
# machines the tests of the order run: make check-cross. Each run draws one of two pairs of these ways; make check-every
# takes all.
frozen=3661b1ff673ca1cf
tmp=${LEAT_TEST_TMP:-$(mktemp -d)}
sources="tests/order/order_sum.c src/order/permute.c src/order/blend.c src/order/sampler.c src/order/stretches.c
    src/order/decimal.c src/base/grow.c src/base/status.c src/names.c"
failures=0 ways=0

way() { # COMPILER FLAG...
    command -v "$1" >/dev/null || return
    # words
    # shellcheck disable=SC2086
    if ! "$@" -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -Itests $sources -ffunction-sections -Wl,--gc-sections \
        -o "$tmp/sum" 2>"$tmp/log"; then
        echo "$*: does not build: $(tail -n 3 "$tmp/log")"
        failures=$((failures + 1))
        return
    fi
    ways=$((ways + 1))
    got=$("$tmp/sum")
    [ "$got" = $frozen ] || { echo "$*: $got, and not $frozen"; failures=$((failures + 1)); }
}

drawn=${LEAT_TEST_DRAW:-$(date +%s)}
echo "LEAT_TEST_DRAW=$drawn"
for compiler in gcc clang; do
    if [ -n "$LEAT_TEST_EVERY" ] || [ $((drawn % 2)) -eq 0 ]; then
        way $compiler -O0
    fi
    drawn=$((drawn + 1)) # one compiler with each
    if [ -n "$LEAT_TEST_EVERY" ] || [ $((drawn % 2)) -eq 0 ]; then
        way $compiler -O3 -ffast-math -march=native -funroll-loops
    fi
done
[ $((ways + failures)) -gt 0 ] || { echo "skipped: neither gcc nor clang"; exit 77; }
echo "$ways ways of building"
[ $failures -eq 0 ]
