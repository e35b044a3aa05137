#!/bin/sh
# check_symbols.sh: what libleat.so and libleat_pack.so export is what their headers declare, all of it and nothing
# else, each with the version that their maps give it; the archives that are installed have no global name without a
# prefix of leat; the numbers of the version agree; and make install installs the headers of include/, all of them and
# no other.
. tests/lint/common.sh

# The functions that headers declare.
declared() {
    code "$@" | cut -d: -f3- | grep -v '^[[:space:]]*#' | tr '\n' ' ' | grep -oE 'LEAT_API[^;{]*;' |
        sed -nE 's/^[^(]*[^a-z0-9_]([a-z0-9_]+)\(.*/\1/p' | LC_ALL=C sort
}
# "NAME VERSION" of a map.
mapped() {
    code "$1" | cut -d: -f3- | awk '/^[A-Z]/ { version = $1 } /^ +leat_/ { sub(/;.*/, "", $1); print $1, version }' |
        LC_ALL=C sort
}
# Lines of $1 that $2 lacks, each with what is said of it.
lacking() {
    printf '%s\n--\n%s\n' "$2" "$1" | awk -v said="$3" -v what="$4" '
        $0 == "--" { asked = 1; next }
        !asked { has[$0] = 1; next }
        $0 != "" && !($0 in has) { print said " " $0 ", " what }'
}

for library in leat leat_pack; do
    so=$build/lib$library.so headers=$(files 'include/*' | groups | sed -n "s/^header $library //p") own=''
    case $library in
    leat) map=src/leat.map own=src/private.h ;;
    *) map=tokenize_tools/leat_pack.map ;;
    esac
    [ -f "$so" ] || { echo "no $so" && continue; }
    # "NAME VERSION"; "NAME -" if it has none
    exports=$(nm -D --defined-only "$so" | awk '$2 != "A" { print $3 }' |
        grep -vE '^(_init|_fini|_edata|_end|__bss_start)(@|$)' | sed 's/@@*/ /; s/^[^ ]*$/& -/' | LC_ALL=C sort)
    have=$(printf '%s\n' "$exports" | cut -d' ' -f1)
    # names of files have no spaces
    # shellcheck disable=SC2086
    want=$(declared $headers $own)
    versions=$(mapped "$map")
    lacking "$have" "$want" "$so exports" "which no header of $library declares"
    lacking "$want" "$have" "a header of $library declares" "which $so does not export"
    lacking "$exports" "$versions" "$so exports" "which $map does not say"
    lacking "$versions" "$exports" "$map says" "which $so does not export"

    archive=$build/installed/lib$library.a
    [ -f "$archive" ] || { echo "no $archive" && continue; }
    nm -g --defined-only "$archive" 2>/dev/null |
        awk -v a="$archive" 'NF == 3 && $3 !~ /^leat_/ { print a " has the global name " $3 }'
done

# the version is one: as text and as numbers, in what renders conversations, and for those who cite it
number() {
    sed -n "s/^#define LEAT_VERSION_$1 *\([0-9]*\)\$/\1/p" include/leat.h
}
text=$(sed -n 's/^#define LEAT_VERSION *"\(.*\)"$/\1/p' include/leat.h)
[ "$text" = "$(number MAJOR).$(number MINOR).$(number PATCH)" ] ||
    echo "include/leat.h: LEAT_VERSION is $text, its numbers are $(number MAJOR).$(number MINOR).$(number PATCH)"
grep -q "^VERSION = \"$text\"" python/leat/render.py ||
    echo "python/leat/render.py: VERSION is not $text, of include/leat.h"
grep -q "^version: $text\$" CITATION.cff || echo "CITATION.cff: the version is not $text, of include/leat.h"

# make -n builds nothing; the other headers in its commands would be compiled from, not installed
plan=$(make -n install BUILD="$build" DESTDIR=/nowhere 2>/dev/null | grep -E '^(install|cp) ' |
    tr ' ' '\n' | grep '\.h$' | LC_ALL=C sort -u | tr '\n' ' ')
wish=$(files 'include/*' | tr '\n' ' ')
[ "$plan" = "$wish" ] || echo "Makefile: install installs '$plan', and include/ holds '$wish'"
exit 0
