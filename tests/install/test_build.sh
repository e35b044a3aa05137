#!/bin/sh
# test_build.sh: what a packager gives make is what counts: BUILD, CPPFLAGS, LIBDIR with DESTDIR; WITH_NAME=no leaves a
# library out, also of a build that had it, yes without it fails with a sentence, and other words are refused; DEPS=0
# installs nothing. Few lines are printed where there is no terminal. A module that is deleted leaves the built package.
build=${LEAT_BUILD:-build}
tmp=$(mktemp -d "${LEAT_TEST_TMP:-/tmp}/leat-build-XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
unset MAKELEVEL DEPS
failures=0
fail() {
    echo "$*" >&2
    failures=$((failures + 1))
}
quiet_make() { # WORD...: what it prints stays in $tmp/out
    make --no-print-directory "$@" >"$tmp/out" 2>&1
}
refused() { # SENTENCE WORD...
    sentence=$1
    shift
    quiet_make -n lib BUILD="$tmp/none" "$@" && fail "$* is taken"
    grep -qF -e "$sentence" "$tmp/out" || fail "$*: $(cat "$tmp/out")"
}

# ---- Libraries ------------------------------------------------------------------------------------------------------

refused 'WITH_LZ4=yes, but there is no liblz4' WITH_LZ4=yes PKG_CONFIG=false
refused 'WITH_LZ4 is auto, yes or no, not "maybe"' WITH_LZ4=maybe
refused 'unknown WITH_LZ5; there are: WITH_ISAL ' WITH_LZ5=no
own=$tmp/own
object=$own/obj/tokenize_tools/cli/with.o
with() { # WORD...: "NAME 0" or "NAME 1" of each library, as the program has them
    quiet_make "$object" BUILD="$own" "$@" || fail "make $*: $(cat "$tmp/out")"
    strings -n 4 "$object" | grep -oE '^ ?[A-Z0-9]+ [01] ' | sed 's/^ //; s/ $//'
}
with WITH=no >"$tmp/none"
grep -q ' 1$' "$tmp/none" && fail "WITH=no has libraries: $(cat "$tmp/none")"
[ "$(wc -l <"$tmp/none")" -ge 10 ] || fail "few libraries: $(cat "$tmp/none")"
with >"$tmp/auto" # the object is made anew
if grep -q '^LZ4 1' "$tmp/auto"; then
    with WITH_LZ4=no | diff - "$tmp/auto" >"$tmp/differ"
    [ "$(grep -c '^[<>]' "$tmp/differ")" -eq 2 ] || fail "WITH_LZ4=no: $(cat "$tmp/differ")"
    with WITH=no WITH_LZ4=yes | grep -c ' 1$' | grep -qx 1 || fail "WITH=no WITH_LZ4=yes has others, too"
fi
# without any of them no source has a warning: a function that nothing calls then
objects=$(grep -rl LEAT_HAVE_ src tokenize_tools --include='*.c' | sed "s|\(.*\)\.c|$tmp/bare/obj/\1.o|")
# words
# shellcheck disable=SC2086
quiet_make WITH=no WERROR=1 BUILD="$tmp/bare" $objects || fail "WITH=no WERROR=1: $(cat "$tmp/out")"
[ "$(echo "$objects" | wc -l)" -ge 10 ] || fail "few sources ask for a library: $objects"
if grep -q '^ISAL 1' "$tmp/auto" && pkg-config --exists zlib; then
    with WITH_ZLIB=yes | grep -qx 'ZLIB 1' || fail "WITH_ZLIB=yes takes isa-l"
fi

# ---- Flags and folders ----------------------------------------------------------------------------------------------

echo '#error "CPPFLAGS are left out"' >"$tmp/refuse.h"
quiet_make "$own/obj/src/names.o" BUILD="$own" CPPFLAGS="-include $tmp/refuse.h" &&
    fail "a source is compiled without CPPFLAGS"
grep -q 'CPPFLAGS are left out' "$tmp/out" || fail "CPPFLAGS: $(cat "$tmp/out")"
quiet_make "$own/obj/src/names.o" BUILD="$own" || fail "names.o: $(cat "$tmp/out")"
grep -qE ' -c |^ *CC ' "$tmp/out" && fail "each command is printed: $(cat "$tmp/out")"
rm -f "$own/obj/src/names.o"
quiet_make "$own/obj/src/names.o" BUILD="$own" CPPFLAGS=-DFOR_A_TEST V=1
grep -q ' -DFOR_A_TEST .*-c src/names.c' "$tmp/out" || fail "V=1 shows no command: $(cat "$tmp/out")"

if [ -f "$build/libleat.so" ] && ! nm "$build/libleat.so" | grep -qE ' (__asan_|__tsan_|__ubsan_|__gcov_)'; then
    quiet_make -s install BUILD="$build" PREFIX=/usr LIBDIR=/usr/lib/x DESTDIR="$tmp/stage" || fail "$(cat "$tmp/out")"
    for file in libleat.so libleat_pack.a pkgconfig/leat.pc; do
        [ -e "$tmp/stage/usr/lib/x/$file" ] || fail "LIBDIR lacks $file"
    done
    [ "$(ls "$tmp/stage/usr/lib")" = x ] || fail "there is more in usr/lib: $(ls "$tmp/stage/usr/lib")"
    before=$(cksum "$build/with" "$build/leat")
    quiet_make -s install BUILD="$build" DESTDIR="$tmp/stage" PKG_CONFIG=false || fail "install: $(cat "$tmp/out")"
    [ "$(cksum "$build/with" "$build/leat")" = "$before" ] || fail "make install builds with other libraries"
    grep -qx 'libdir=/usr/lib/x' "$tmp/stage/usr/lib/x/pkgconfig/leat.pc" || fail "leat.pc names another folder"
fi

# ---- The Python package ---------------------------------------------------------------------------------------------

package=$own/python/leat
quiet_make python-files BUILD="$own" || fail "python-files: $(cat "$tmp/out")"
mkdir -p "$package/gone/__pycache__"
touch "$package/gone.py" "$package/gone/__init__.py" "$package/gone/__pycache__/a.pyc"
quiet_make python-files BUILD="$own" || fail "python-files: $(cat "$tmp/out")"
for file in gone gone.py; do
    [ ! -e "$package/$file" ] || fail "$file, which is not in python/leat, stays importable"
done
cmp -s python/leat/__init__.py "$package/__init__.py" || fail "the package lacks what is in python/leat"

# ---- Packages -------------------------------------------------------------------------------------------------------

mkdir "$tmp/bin"
# shellcheck disable=SC2016 # for the stand-in's shell
for manager in apt-get apt-cache dnf pacman apk zypper brew sudo; do # nothing is installed here, whatever is called
    printf '#!/bin/sh\necho "%s $*" >>"%s/calls"\nexit 1\n' "$manager" "$tmp" >"$tmp/bin/$manager"
    chmod +x "$tmp/bin/$manager"
done
PATH=$tmp/bin:$PATH quiet_make deps DEPS=0 CC=cc PKG_CONFIG=false BUILD="$own" || fail "DEPS=0: $(cat "$tmp/out")"
[ ! -e "$tmp/calls" ] || fail "DEPS=0 calls $(cat "$tmp/calls")"
PATH=$tmp/bin:$PATH quiet_make deps CC=cc PKG_CONFIG=false BUILD="$own" && fail "nothing is missed"
[ -e "$tmp/calls" ] || fail "without DEPS=0 nothing is called"
[ "$failures" -eq 0 ]
