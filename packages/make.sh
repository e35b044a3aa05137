#!/bin/sh
# make.sh OUT: makes all packages of this checkout's last commit, in OUT: the sources, which are Python's sdist as well;
# wheels for x86-64 and aarch64; Debian's packages. Runs on Debian 12 with what release.sh installs; PYTHON is one with
# the setuptools that pyproject.toml asks for. The same commit gives the same bytes, wherever it is built, except the
# time in .buildinfo.
set -e
out=$(mkdir -p "$1" && cd "$1" && pwd)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
DEB_BUILD_OPTIONS=parallel=$(nproc)
export SOURCE_DATE_EPOCH DEB_BUILD_OPTIONS

rm -rf build/packages && mkdir -p build/packages
"$PYTHON" setup.py -q sdist -d "$out"

for machine in x86_64 aarch64; do
    PKG_CONFIG_LIBDIR=/usr/lib/$machine-linux-gnu/pkgconfig make -j"$(nproc)" wheel CUDA=0 WERROR=0 \
        PYTHON="$PYTHON" CC=$machine-linux-gnu-gcc BUILD=build/packages/$machine
    cp build/packages/$machine/dist/*.whl "$out"
done

version=$(sed -n 's/^#define LEAT_VERSION "\(.*\)"/\1/p' include/leat.h)
cd build/packages
cp "$out/libleat-$version.tar.gz" "libleat_$version.orig.tar.gz"
tar xf "libleat_$version.orig.tar.gz"
cd "libleat-$version"
cp -r packages/debian debian
cat >debian/changelog <<TEXT
libleat ($version-1) unstable; urgency=medium

  * See CHANGELOG.md.

 -- The leat authors <leat@localhost.localdomain>  $(date -R -u -d "@$SOURCE_DATE_EPOCH")
TEXT
licence() { # NAME: of the text on stdin
    printf '\nLicense: %s\n' "$1"
    sed 's/^ *//; s/^$/./; s/^/ /'
}
sed 1,4d LICENSE | licence MIT >>debian/copyright
sed -n '/^ *UNICODE LICENSE V3/,/^A wheel/p' NOTICE | head -n -2 | licence Unicode-3 >>debian/copyright
env -u PYTHON dpkg-buildpackage -us -uc -F
cp ../*.deb ../*.dsc ../*.debian.tar.* ../*.orig.tar.gz ../*.buildinfo ../*.changes "$out"
