#!/bin/sh
# deps.sh [build|python|check|ci|cluster|s3]: installs what is missing from the system's packages, as root or by sudo,
# and is silent if nothing is.
#
#   build   a C compiler, pkg-config, zstd and xxHash; if anything has to be installed, also liburing, isa-l, zlib,
#           PCRE2, liblzma, libbz2, liblz4, Brotli, libyaml and libcurl: without these there are no gzip, xz, bzip2
#           and lz4, no Parquet in Brotli, no configurations of the Hugging Face Hub, no URLs, and no pattern without a
#           scanner of its own, and what needs them says so
#   python  also: python3 with its headers and venv, for `pip install .` and `make python`; PYTHON=... is another one
#   check   as build, and python3, numpy and jinja2, for tests that do things a second way, and zlib, for gzip
#   ci      as check, and isa-l, PCRE2, liblzma, libbz2, liblz4, Brotli, libyaml, libcurl, the zstd command, clang with
#           its sanitizers and fuzzer, clang-format, g++, cross compilers, qemu-user, shellcheck, Chromium
#   cluster as check, and Slurm, for tests of runs in many parts
#   s3      as check, and Ceph's gateway for S3, for tests with servers of others
#
# What `build` and `python` name must be there: without it, and without the right to install, this ends with 1 and the
# command that installs it. The rest is wanted only: where it cannot be had, the tests that need it skip, and say so.
level=${1:-build}
case $level in
build | python | check | ci | cluster | s3) ;;
*)
    echo "usage: scripts/deps.sh [build|python|check|ci|cluster|s3]" >&2
    exit 2
    ;;
esac

# ---- What is there --------------------------------------------------------------------------------------------------

python=${PYTHON:-python3}

compiles() { # COMPILER: has it a C library's headers?
    echo '#include <stdio.h>' | $1 -E - >/dev/null 2>&1
}

module() { # a library that pkg-config finds
    "${PKG_CONFIG:-pkg-config}" --exists "$1" 2>/dev/null
}

program() {
    command -v "$1" >/dev/null 2>&1
}

have() {
    case $1 in
    cc) compiles "${CC:-cc}" ;;
    pkg-config) program "${PKG_CONFIG:-pkg-config}" ;;
    zstd) module libzstd ;;
    zstd-command) program zstd ;;
    pcre2) module libpcre2-8 ;;
    xxhash) module libxxhash ;;
    uring) module liburing ;;
    isal) module libisal ;;
    zlib) module zlib ;;
    lzma) module liblzma ;;
    lz4) module liblz4 ;;
    bzip2) echo '#include <bzlib.h>' | ${CC:-cc} -E - >/dev/null 2>&1 ;;
    brotli) module libbrotlidec ;;
    yaml) module yaml-0.1 ;;
    curl) "${PKG_CONFIG:-pkg-config}" --atleast-version=7.66 libcurl 2>/dev/null ;;
    python-headers)
        "$python" -c 'import os, sysconfig as s; os.stat(s.get_path("include") + "/Python.h")' 2>/dev/null
        ;;
    venv) "$python" -c 'import ensurepip, venv' 2>/dev/null ;;
    numpy) python3 -c 'import numpy' 2>/dev/null || /usr/bin/python3 -c 'import numpy' 2>/dev/null ;;
    jinja2) python3 -c 'import jinja2' 2>/dev/null ;;
    clang-runtime) ls "$(clang -print-resource-dir 2>/dev/null)"/lib/*/libclang_rt.fuzzer* >/dev/null 2>&1 ;;
    aarch64 | s390x) compiles "$1-linux-gnu-gcc" ;;
    qemu) program qemu-aarch64 && program qemu-s390x ;;
    *) program "$1" ;;
    esac
}

# ---- What it is called ----------------------------------------------------------------------------------------------

manager=
for m in apt-get dnf pacman apk zypper brew; do
    if program $m; then
        manager=$m
        break
    fi
done

# The packages that hold a thing; nothing where the manager has none.
packages() {
    case $manager:$1 in
    *:cc)
        case ${CC:-cc}:$manager in
        *clang*:apt-get) echo clang libc6-dev ;;
        *clang*) echo clang ;;
        *:apt-get) echo gcc libc6-dev ;;
        *:apk) echo gcc musl-dev ;;
        *) echo gcc ;;
        esac
        ;;
    apt-get:pkg-config) echo pkg-config ;;
    dnf:pkg-config) echo pkgconf-pkg-config ;;
    *:pkg-config) echo pkgconf ;;
    apt-get:zstd | apt-get:xxhash) echo "lib$1-dev" ;;
    dnf:zstd | zypper:zstd) echo libzstd-devel ;;
    dnf:xxhash | zypper:xxhash) echo xxhash-devel ;;
    apk:zstd | apk:xxhash) echo "$1-dev" ;;
    pacman:zstd | brew:zstd) echo zstd ;;
    pacman:xxhash | brew:xxhash) echo xxhash ;;
    apt-get:uring | apk:uring) echo liburing-dev ;;
    dnf:uring | zypper:uring) echo liburing-devel ;;
    pacman:uring) echo liburing ;;
    apt-get:isal) echo libisal-dev ;;
    dnf:isal) echo isa-l-devel ;;
    apk:isal) echo isa-l-dev ;;
    pacman:isal | brew:isal) echo isa-l ;;
    zypper:isal) echo libisal-devel ;;
    *:zstd-command) echo zstd ;;
    apt-get:pcre2) echo libpcre2-dev ;;
    dnf:pcre2 | zypper:pcre2) echo pcre2-devel ;;
    apk:pcre2) echo pcre2-dev ;;
    pacman:pcre2 | brew:pcre2) echo pcre2 ;;
    apt-get:zlib) echo zlib1g-dev ;;
    dnf:zlib | zypper:zlib) echo zlib-devel ;;
    apk:zlib) echo zlib-dev ;;
    pacman:zlib | brew:zlib) echo zlib ;;
    apt-get:lzma) echo liblzma-dev ;;
    dnf:lzma | zypper:lzma) echo xz-devel ;;
    apk:lzma) echo xz-dev ;;
    pacman:lzma | brew:lzma) echo xz ;;
    apt-get:lz4) echo liblz4-dev ;;
    dnf:lz4) echo lz4-devel ;;
    zypper:lz4) echo liblz4-devel ;;
    apk:lz4) echo lz4-dev ;;
    pacman:lz4 | brew:lz4) echo lz4 ;;
    apt-get:bzip2) echo libbz2-dev ;;
    dnf:bzip2) echo bzip2-devel ;;
    zypper:bzip2) echo libbz2-devel ;;
    apk:bzip2) echo bzip2-dev ;;
    pacman:bzip2 | brew:bzip2) echo bzip2 ;;
    apt-get:brotli) echo libbrotli-dev ;;
    dnf:brotli) echo brotli-devel ;;
    zypper:brotli) echo libbrotli-devel ;;
    apk:brotli) echo brotli-dev ;;
    pacman:brotli | brew:brotli) echo brotli ;;
    apt-get:yaml) echo libyaml-dev ;;
    dnf:yaml | zypper:yaml) echo libyaml-devel ;;
    apk:yaml) echo yaml-dev ;;
    pacman:yaml | brew:yaml) echo libyaml ;;
    apt-get:curl) echo libcurl4-openssl-dev ;;
    dnf:curl | zypper:curl) echo libcurl-devel ;;
    apk:curl) echo curl-dev ;;
    pacman:curl | brew:curl) echo curl ;;
    pacman:python3 | brew:python3) echo python ;;
    *:python3) echo python3 ;;
    apt-get:python-headers | apk:python-headers) echo python3-dev ;;
    dnf:python-headers | zypper:python-headers) echo python3-devel ;;
    pacman:python-headers | brew:python-headers) echo python ;;
    apt-get:venv) echo python3-venv ;;
    apk:numpy) echo py3-numpy ;;
    pacman:numpy) echo python-numpy ;;
    brew:numpy) echo numpy ;;
    apk:jinja2) echo py3-jinja2 ;;
    pacman:jinja2) echo python-jinja ;;
    brew:jinja2) ;; # it has no package
    *:jinja2) echo python3-jinja2 ;;
    *:numpy) echo python3-numpy ;;
    apt-get:g++ | apk:g++) echo g++ ;;
    dnf:g++ | zypper:g++) echo gcc-c++ ;;
    pacman:g++) echo gcc ;;
    brew:clang) echo llvm ;;
    *:clang) echo clang ;;
    apt-get:clang-format | brew:clang-format) echo clang-format ;;
    dnf:clang-format) echo clang-tools-extra ;;
    apk:clang-format) echo clang-extra-tools ;;
    apt-get:clang-runtime) echo libclang-rt-14-dev ;;
    dnf:clang-runtime | pacman:clang-runtime | apk:clang-runtime) echo compiler-rt ;;
    apt-get:aarch64) echo gcc-aarch64-linux-gnu libc6-dev-arm64-cross ;;
    apt-get:s390x) echo gcc-s390x-linux-gnu libc6-dev-s390x-cross ;;
    apt-get:qemu | dnf:qemu | pacman:qemu) echo qemu-user ;;
    dnf:shellcheck | zypper:shellcheck) echo ShellCheck ;;
    *:shellcheck) echo shellcheck ;;
    apt-get:slurmctld | apt-get:slurmd | apt-get:radosgw | apt-get:ceph-mon | apt-get:ceph-osd) echo "$1" ;;
    apt-get:sbatch) echo slurm-client ;;
    apt-get:chromium) echo chromium fonts-dejavu-core ;;
    dnf:chromium | pacman:chromium | apk:chromium | zypper:chromium) echo chromium ;;
    *:git) echo git ;;
    esac
}

needed="cc pkg-config zstd xxhash"
wanted=
case $level in
python) needed="$needed python3 python-headers venv" ;;
check | ci | cluster | s3) wanted="python3 numpy jinja2 zlib" ;;
esac
[ "$level" != ci ] || wanted="$wanted isal pcre2 lzma bzip2 lz4 brotli yaml curl zstd-command g++ clang clang-runtime \
    clang-format aarch64 s390x qemu shellcheck git chromium"

[ "$level" != cluster ] || wanted="$wanted venv slurmctld slurmd sbatch"
[ "$level" != s3 ] || wanted="$wanted venv radosgw ceph-mon ceph-osd"

# The names of the given things that are missing.
missing() {
    for thing in "$@"; do
        have "$thing" || echo "$thing"
    done
}
packages_of() {
    for thing in "$@"; do
        packages "$thing"
    done | tr ' ' '\n' | sort -u | tr '\n' ' '
}

# Lists of names below are split into words on purpose.
# shellcheck disable=SC2086
lack=$(missing $needed)
# shellcheck disable=SC2086
wish=$(missing $wanted)
[ -n "$lack$wish" ] || exit 0
for extra in uring isal zlib pcre2 lzma bzip2 lz4 brotli yaml curl; do
    have $extra || wish="$wish $extra"
done
# shellcheck disable=SC2086
must=$(packages_of $lack)
# shellcheck disable=SC2086
may=$(packages_of $wish)

# ---- Getting it -----------------------------------------------------------------------------------------------------

as_root="" first=""
may_install() {
    [ -n "$manager" ] || return 1
    [ "$manager" = brew ] && return 0
    [ "$(id -u)" -eq 0 ] && return 0
    program sudo || return 1
    # a password is asked for what is needed, not for what is only wanted
    { sudo -n true 2>/dev/null || { [ -n "$lack" ] && [ -t 0 ]; }; } && as_root=sudo
}

run() {
    echo "$*"
    "$@"
}

updated=
update() {
    [ "$manager:$updated" = apt-get: ] || return 1
    updated=1
    run $as_root apt-get update -qq
}

install() { # PACKAGE...: all of them, or it fails
    if [ "$manager" = apt-get ]; then
        for package in "$@"; do
            apt-cache show "$package" >/dev/null 2>&1 || update
        done
    fi
    # shellcheck disable=SC2046
    run $as_root $(installer) "$@" && return 0
    # a list of packages from long ago names files that are gone
    # shellcheck disable=SC2046
    update && run $as_root $(installer) "$@"
}

installer() { # the words before the packages
    case $manager in
    apt-get) echo env DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends ;;
    dnf) echo dnf install -y ;;
    pacman) echo pacman -S --needed --noconfirm ;;
    apk) echo apk add ;;
    zypper) echo zypper --non-interactive install ;;
    brew) echo brew install ;;
    esac
}

stop() {
    echo "deps.sh: $*" >&2
    exit 1
}

# shellcheck disable=SC2086
if may_install; then
    echo "leat: installing $(echo $must $may | wc -w) packages that the build needs or uses"
    # all at once; if that fails, what is needed, then of the rest what can be had
    if ! install $must $may </dev/null; then
        [ -z "$must" ] || install $must </dev/null || stop "cannot install these packages: $must"
        for package in $may; do
            install "$package" </dev/null || echo "deps.sh: cannot install $package" >&2
        done
    fi
elif [ -n "$lack" ]; then
    [ -n "$manager" ] || stop "no package manager that it knows; install these and try again:" $lack
    [ "$manager" != apt-get ] || first="apt-get update && " # images come without lists
    stop "no right to install packages, and no sudo; let somebody who has it do this, then try again:
    $first$(installer) $must"
fi

# shellcheck disable=SC2086
lack=$(missing $needed)
# shellcheck disable=SC2086
wish=$(missing $wanted | tr '\n' ' ')
# shellcheck disable=SC2086
[ -z "$lack" ] || stop "still missing after the installation:" $lack
[ -z "$wish" ] || echo "deps.sh: not there, what needs it is skipped: $wish" >&2
exit 0
