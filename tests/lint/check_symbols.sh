#!/bin/sh
# check_symbols.sh: what libleat.so and libleat_pack.so export is what their headers declare, all of it and nothing
# else; and make install installs the headers of include/, all of them and no other.
. tests/lint/common.sh

# The functions that a header declares.
declared() {
    code "$1" | cut -d: -f3- | grep -v '^[[:space:]]*#' | tr '\n' ' ' | grep -oE 'LEAT_API[^;{]*;' |
        sed -nE 's/^[^(]*[^a-z0-9_]([a-z0-9_]+)\(.*/\1/p' | LC_ALL=C sort
}

for library in leat leat_pack; do
    so=$build/lib$library.so
    [ -f "$so" ] || { echo "no $so" && continue; }
    have=$(nm -D --defined-only "$so" | awk '{ print $3 }' | grep -vE '^(_init|_fini|_edata|_end|__bss_start)$' |
        LC_ALL=C sort)
    want=$(declared "include/$library.h")
    for name in $have; do
        printf '%s\n' "$want" | grep -qx "$name" ||
            echo "$so exports $name, which include/$library.h does not declare"
    done
    for name in $want; do
        printf '%s\n' "$have" | grep -qx "$name" ||
            echo "include/$library.h declares $name, which $so does not export"
    done
done

# make -n builds nothing; the other headers in its commands would be compiled from, not installed
plan=$(make -n install BUILD="$build" DESTDIR=/nowhere 2>/dev/null | grep -E '^(install|cp) ' |
    tr ' ' '\n' | grep '\.h$' | LC_ALL=C sort -u | tr '\n' ' ')
wish=$(files 'include/*' | tr '\n' ' ')
[ "$plan" = "$wish" ] || echo "Makefile: install installs '$plan', and include/ holds '$wish'"
exit 0
