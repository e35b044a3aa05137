#!/bin/sh
# test_install.sh: `make install` into an empty folder; then a program outside the tree finds leat by pkg-config alone,
# in C and in C++, shared and static, and uses both libraries; then `make uninstall` leaves nothing.
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
build=${LEAT_BUILD:-build}
tmp=$(mktemp -d "${LEAT_TEST_TMP:-/tmp}/leat-install-XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
stage=$tmp/stage
failures=0

skip() {
    echo "skipped: $*" >&2
    exit 77
}
fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}

cd "$root" || exit 1
[ -f "$build/libleat.so" ] || skip "no libleat.so under $build"
command -v pkg-config >/dev/null || skip "no pkg-config"
nm "$build/libleat.so" | grep -qE ' (__asan_|__tsan_|__ubsan_|__gcov_)' &&
    skip "a library with a sanitizer or counters inside needs its runtime in every program"

make_quiet() {
    make -s --no-print-directory BUILD="$build" DESTDIR="$stage" PREFIX=/usr "$@" >"$tmp/make.out" 2>&1 || {
        fail "make $1 failed:"
        cat "$tmp/make.out" >&2
        exit 1
    }
}
make_quiet install

# ---- What is there --------------------------------------------------------------------------------------------------

version=$(sed -n 's/^#define LEAT_VERSION "\(.*\)"/\1/p' include/leat.h)
for page in leat leat-pack leat-info leat-bench leat-bench-load; do
    [ -s "$stage/usr/share/man/man1/$page.1" ] || fail "no manual page $page"
done
for file in bash-completion/completions/leat-bench zsh/site-functions/_leat_bench; do
    grep -q -e --on-damage "$stage/usr/share/$file" || fail "no completions in $file"
done
if command -v man >/dev/null; then
    man -M "$stage/usr/share/man" leat-pack 2>/dev/null | grep -q -- --max-rejects || fail "man leat-pack shows no page"
fi
headers=$(cd "$stage/usr/include" && find . -type f | sort | tr '\n' ' ')
[ "$headers" = "$(cd include && find . -name '*.h' | sort | tr '\n' ' ')" ] || fail "installed headers: $headers"
for name in leat leat_pack; do
    lib=$stage/usr/lib/lib$name.so
    soname=$(readelf -d "$lib" | sed -n 's/.*(SONAME).*\[\(.*\)\]/\1/p')
    case $soname in
    "lib$name.so."[0-9]*) ;;
    *) fail "SONAME of lib$name.so is '$soname'" ;;
    esac
    [ -e "$stage/usr/lib/$soname" ] || fail "no file or link of the SONAME $soname"
    if [ ! -f "$lib.$version" ] || [ -L "$lib.$version" ]; then
        fail "lib$name.so.$version is not the library itself"
    fi
    [ "$(readlink -f "$lib")" = "$(readlink -f "$lib.$version")" ] || fail "lib$name.so does not lead to $version"
    [ -f "$stage/usr/lib/lib$name.a" ] || fail "no lib$name.a"
    grep -q @ "$stage/usr/lib/pkgconfig/$name.pc" && fail "$name.pc still has a place to fill in"
    grep -q "$tmp" "$stage/usr/lib/pkgconfig/$name.pc" && fail "$name.pc names DESTDIR"
done
programs=$(cd "$stage/usr/bin" && echo *)
[ "$programs" = "leat leat-bench" ] || fail "installed programs: $programs"
[ -z "$(find "$stage" -name '*cuda*')" ] || fail "what tests use in place of a driver is installed"
for name in leat leat-bench; do
    [ -x "$stage/usr/bin/$name" ] || fail "no command $name"
done
"$stage/usr/bin/leat" --version | grep -qF "$version" || fail "leat --version does not say $version"

# ---- A program that knows pkg-config only ---------------------------------------------------------------------------

export PKG_CONFIG_LIBDIR="$stage/usr/lib/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$stage" PKG_CONFIG_PATH=
export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
[ "$(pkg-config --modversion leat leat_pack | sort -u)" = "$version" ] || fail "pkg-config has another version"
cp "$here/outside.c" "$tmp/outside.c"
cp "$here/outside.c" "$tmp/outside.cc"
cd "$tmp" || exit 1

try() { # NAME COMPILER...: builds the program shared and static, and runs both
    name=$1
    shift
    # flags are split into words on purpose
    # shellcheck disable=SC2046
    if "$@" $(pkg-config --cflags leat_pack) -o "$name-shared" $(pkg-config --libs leat_pack); then
        answer=$(LD_LIBRARY_PATH=$stage/usr/lib "./$name-shared" "$tmp/$name" 2>&1)
        [ "$answer" = "$version: 6 tokens" ] || fail "$name, shared: $answer"
        needs=$(readelf -d "$name-shared" | grep -c 'NEEDED.*\[libleat.*\.so\.[0-9]*\]')
        [ "$needs" = 2 ] || fail "$name, shared: does not need both libraries by their SONAME"
    else
        fail "$name, shared: does not build"
    fi
    # leat's archives; those of other libraries are not on all systems
    # shellcheck disable=SC2046
    if "$@" $(pkg-config --cflags leat_pack) -o "$name-static" \
        $(pkg-config --static --libs leat_pack | sed 's/-l\(leat[_a-z]*\)/-l:lib\1.a/g'); then
        answer=$("./$name-static" "$tmp/$name.static" 2>&1)
        [ "$answer" = "$version: 6 tokens" ] || fail "$name, static: $answer"
        readelf -d "$name-static" | grep -q 'NEEDED.*libleat' && fail "$name, static: needs a shared library of leat"
    else
        fail "$name, static: does not build"
    fi
}

# shellcheck disable=SC2086 # CC may be several words
try c ${CC:-cc} -std=c99 -Wall -Wextra -Werror outside.c
case ${CC:-cc} in
*clang*) cxx=${CXX:-clang++} ;;
*) cxx=${CXX:-c++} ;;
esac
if echo '#include <cstdio>' | "$cxx" -x c++ -E - >/dev/null 2>&1; then
    try cxx "$cxx" -Wall -Wextra -Werror outside.cc
else
    echo "no C++ compiler: the C++ half is left out"
fi

# ---- Where the loader of programs does not look: what to set ---------------------------------------------------------

own=$tmp/own
cd "$root" || exit 1
make -s --no-print-directory BUILD="$build" PREFIX="$own" install >"$tmp/own.out" 2>&1 ||
    fail "make install: $(cat "$tmp/own.out")"
# what it prints is what is needed
sed -n 's/^ *export \([A-Z_]*\)=\([^ ]*\).*/\1=\2; export \1/p' "$tmp/own.out" >"$tmp/own.sh"
if ! (
    unset PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
    # shellcheck disable=SC1091
    . "$tmp/own.sh" && cd "$tmp" || exit 1
    [ "$(command -v leat)" = "$own/bin/leat" ] || exit 1 # PATH was not named
    # shellcheck disable=SC2046,SC2086
    ${CC:-cc} $(pkg-config --cflags leat_pack) outside.c -o own-program $(pkg-config --libs leat_pack) &&
        [ "$(./own-program "$tmp/own-data")" = "$version: 6 tokens" ]
); then
    fail "a program is not built, or does not run, with what make install says is to be set: $(cat "$tmp/own.out")"
fi
make -s --no-print-directory BUILD="$build" PREFIX="$own" PATH="$PATH:$own/bin" install | grep 'PATH=.*bin' &&
    fail "make install names PATH, which has its folder"

# ---- And away -------------------------------------------------------------------------------------------------------

cd "$root" || exit 1
make_quiet uninstall
left=$(find "$stage" ! -type d)
[ -z "$left" ] || fail "make uninstall leaves: $left"

[ "$failures" -eq 0 ]
