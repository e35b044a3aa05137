#!/bin/sh
# test_32_bits.sh: on a machine of 32 bits, whose compilers have no 128-bit integers, the build says so in one line. It
# ended with an error of the compiler about __int128 for every file that uses them.
build=${LEAT_BUILD:-build}
said=${LEAT_TEST_TMP:-/tmp}/said
sentence='leat is for 64-bit machines'
cc=${CC:-cc}
if ! echo int | $cc -m32 -E -x c - >/dev/null 2>&1; then
    echo "skipped: $cc has no -m32" >&2
    exit 77
fi
if make -n lib BUILD="$build/32-bits" CC="$cc -m32" >/dev/null 2>"$said"; then
    echo "make goes on" >&2
    exit 1
fi
if [ "$(wc -l <"$said")" -ne 1 ] || ! grep -q "$sentence" "$said"; then
    echo "make says:" >&2
    cat "$said" >&2
    exit 1
fi
# who compiles without the Makefile reads it first
if echo '#include "src/base/wide.h"' | $cc -m32 -I. -fsyntax-only -x c - 2>"$said" ||
    ! grep -q "$sentence" "$said"; then
    echo "the compiler says:" >&2
    cat "$said" >&2
    exit 1
fi
