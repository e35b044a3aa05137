#!/bin/sh
# release.sh BUILD: makes and checks all packages (make.sh) in a Debian 12 of its own in BUILD/release, as root: made
# twice, in folders of different names, whose files must be equal; looked at by abi3audit, auditwheel,
# check-wheel-contents, twine and lintian; installed and used where there is nothing else, the wheels also with an older
# C library. They are in BUILD/release/out then.
# Needs debootstrap and a network; takes half an hour and 6 GiB. Ends with "N passed, N failed, N skipped".
# shellcheck disable=SC2016 # what runs in the other systems is expanded there

if [ "$(id -u)" != 0 ] || ! command -v debootstrap >/dev/null; then
    echo "skipped: needs root, and debootstrap (Debian: apt-get install debootstrap)"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi
dir=$(mkdir -p "$1/release" && cd "$1/release" && pwd) || exit 1
here=$(cd "$(dirname "$0")" && pwd)
passed=0 failed=0 skipped=0

# A command in the system of that folder, with nothing of this one but the network, and whom it trusts there.
trusted() { # ROOT
    cp /etc/resolv.conf "$1/etc/resolv.conf"
    [ ! -e /etc/pip.conf ] || cp /etc/pip.conf "$1/etc/pip.conf"
    [ ! -e /etc/ssl/certs/ca-certificates.crt ] || cp /etc/ssl/certs/ca-certificates.crt "$1/trusted.crt"
}
inside() { # ROOT COMMAND...
    root=$1
    shift
    trusted "$root"
    unshare -m sh -c 'mount -t proc proc "$1/proc" && mount --rbind /dev "$1/dev" && root=$1 && shift &&
        exec chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TERM=dumb \
            PIP_CERT=/trusted.crt DEBIAN_FRONTEND=noninteractive "$@"' sh "$root" "$@"
}

check() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$dir/$name.log" 2>&1; then
        echo "pass $name"
        passed=$((passed + 1))
    else
        echo "FAIL $name: $dir/$name.log"
        tail -n 15 "$dir/$name.log" | sed 's/^/    /'
        failed=$((failed + 1))
    fi
}

system() { # FOLDER SUITE [MIRROR]: Debian's need none
    [ -e "$dir/$1/ready" ] || { rm -rf "${dir:?}/$1" && debootstrap --variant=minbase "$2" "$dir/$1" ${3:+"$3"} &&
        touch "$dir/$1/ready"; }
}

copy() { # FROM TO: a system for one check
    rm -rf "${dir:?}/$2" && cp -a "$dir/$1" "$dir/$2"
}

libraries="libbrotli-dev libbz2-dev libcurl4-openssl-dev liblz4-dev liblzma-dev libpcre2-dev liburing-dev libxxhash-dev
libyaml-dev libzstd-dev zlib1g-dev"

# The workshop; what it has is of its first day, as with the other systems: remove the folder for a new one.
# shellcheck disable=SC2086 # words
prepare() {
    [ ! -e "$dir/workshop/prepared" ] || return 0
    system bare bookworm && copy bare workshop &&
        inside "$dir/workshop" dpkg --add-architecture arm64 &&
        inside "$dir/workshop" apt-get -q update &&
        for l in $libraries; do libraries="$libraries $l:arm64"; done &&
        inside "$dir/workshop" apt-get -qy install build-essential crossbuild-essential-arm64 debhelper git lintian \
            libisal-dev libpython3-dev:arm64 pkg-config python3-dev python3-venv \
            qemu-user-static $libraries &&
        inside "$dir/workshop" python3 -m venv /tools &&
        inside "$dir/workshop" /tools/bin/pip install -qU abi3audit auditwheel check-wheel-contents setuptools twine &&
        touch "$dir/workshop/prepared"
}

make_in() { # FOLDER: in the workshop, of the last commit
    rm -rf "$dir/workshop/$1" && git clone -q "$here/.." "$dir/workshop/$1/checkout" &&
        inside "$dir/workshop" git config --global --add safe.directory "/$1/checkout" &&
        inside "$dir/workshop" sh -c "cd /$1/checkout && PYTHON=/tools/bin/python3 packages/make.sh /$1/out"
}

# A .buildinfo has the time of the build, and .changes its checksum.
same_bytes() {
    diff -r -I '^Build-Date: ' -I '\.buildinfo$' "$dir/workshop/first/out" "$dir/workshop/a-second-time/out"
}

wheels_as_named() {
    inside "$dir/workshop" sh -c 'for w in /first/out/*.whl; do
        /tools/bin/auditwheel show "$w" | tr "\n" " " | grep -F "platform tag: \"manylinux_2_28_" || exit 1
        done; [ -z "$(find /first/out -name "*.whl" -size +8000000c)" ] &&
        /tools/bin/twine check --strict /first/out/*.whl /first/out/libleat-*.tar.gz &&
        /tools/bin/check-wheel-contents /first/out/*.whl && /tools/bin/abi3audit --strict /first/out/*.whl'
}

# These packages are no upload to Debian: there is no bug that they close, and no mailbox.
lintian_accepts() {
    inside "$dir/workshop" sh -c 'lintian --allow-root --pedantic --display-info --fail-on error,warning \
        --suppress-tags initial-upload-closes-no-bugs,bogus-mail-host,bogus-mail-host-in-debian-changelog \
        /first/out/*.dsc /first/out/*.deb'
}

deb_is_used() { # SYSTEM
    copy "$1" debian && cp "$dir"/workshop/first/out/*.deb "$dir/debian/" &&
        cp -r "$here/../examples/corpus" "$here/../tests/install/outside.c" "$dir/debian/" &&
        inside "$dir/debian" sh -e -c 'apt-get -q update; apt-get -qy install ./*.deb gcc libc6-dev pkg-config
            apt-get -qy install $(dpkg-query -Wf "\${Suggests}" libleat-dev | tr -d ,)
            leat pack -o /packed /corpus; leat verify /packed
            leat-bench load --source /packed --seq-len 128 --batch 8 --steps 10
            ls /usr/share/man/man1/leat.1.gz /usr/share/man/man1/leat-pack.1.gz
            gcc /outside.c $(pkg-config --cflags --libs leat_pack) -o /dynamic; /dynamic /made
            gcc /outside.c $(pkg-config --static --cflags --libs leat_pack | sed "s/-l\(leat[_a-z]*\)/-l:lib\1.a/g") \
                -o /static; /static /made-too
            dpkg --purge $(dpkg-query -Wf "\${binary:Package} " "leat*" "libleat*"); hash -r
            ! command -v leat || exit 1
            /static /made-without'
}

wheel_is_used() { # SYSTEM
    copy "$1" python && cp "$dir"/workshop/first/out/*x86_64.whl "$dir/python/" && mkdir "$dir/python/repository" &&
        cp -r "$here/../examples" "$here/../python" "$dir/python/repository" &&
        inside "$dir/python" sh -e -c 'apt-get -q update; apt-get -qy install python3-venv
            cd /repository; mkdir /dist; mv /*.whl /dist; python/check_wheel.sh /dist python3'
}

sdist_is_used() {
    copy bare sources && cp "$dir"/workshop/first/out/libleat-*.tar.gz "$dir/sources/" &&
        cp -r "$here/../examples/corpus" "$here/../python/check_wheel.py" "$dir/sources/" &&
        inside "$dir/sources" sh -e -c 'apt-get -q update
            apt-get -qy install gcc libc6-dev make pkg-config python3-dev python3-venv libzstd-dev libxxhash-dev
            python3 -m venv /venv; /venv/bin/pip install -q /libleat-*.tar.gz
            mkdir /run/here; cd /run/here; /venv/bin/python -I /check_wheel.py /corpus'
}

# The commands of a wheel with the C library of another system, whose Python may be too old for the rest.
with_older_libc() { # SYSTEM
    rm -rf "$dir/$1/wheel" && mkdir "$dir/$1/wheel" &&
        (cd "$dir/$1/wheel" && python3 -m zipfile -e "$dir"/workshop/first/out/*x86_64.whl .) &&
        cp -r "$here/../examples/corpus" "$dir/$1/wheel" &&
        inside "$dir/$1" sh -e -c 'cd /wheel; chmod +x leat/bin/*; leat/bin/leat pack --force -o packed corpus
            leat/bin/leat verify packed; leat/bin/leat-bench load --source packed --seq-len 128 --batch 8 --steps 10'
}

# A bare Debian 12 of arm64: its packages unpacked, not configured, which would run their programs.
system_arm64() {
    [ ! -e "$dir/arm64/ready" ] || return 0
    rm -rf "${dir:?}/arm64" &&
        debootstrap --foreign --arch=arm64 --variant=minbase --include=python3-venv bookworm "$dir/arm64" || return 1
    for package in "$dir"/arm64/var/cache/apt/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -xf - -C "$dir/arm64" --keep-directory-symlink || return 1
    done
    touch "$dir/arm64/ready"
}

# As wheel_is_used, under emulation. What the kernel starts for such programs (machine 0xb7) is set in a namespace of
# this check, and is the workshop's qemu, opened once (F): the system in which they run has none.
on_aarch64() {
    copy arm64 python && cp "$dir"/workshop/first/out/*aarch64.whl "$dir/python/" && mkdir "$dir/python/repository" &&
        cp -r "$here/../examples" "$here/../python" "$dir/python/repository" &&
        trusted "$dir/python" && unshare -U -r -m sh -e -c 'mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
            printf ":aarch64:M:18:%s::%s:F" "\\xb7\\x00" "$1/workshop/usr/bin/qemu-aarch64-static" \
                >/proc/sys/fs/binfmt_misc/register
            mount --rbind /proc "$1/python/proc"; mount --rbind /dev "$1/python/dev"
            exec chroot "$1/python" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 TERM=dumb \
                PIP_CERT=/trusted.crt sh -e -c "uname -m; mkdir /dist; mv /*.whl /dist; cd /repository;
                    python/check_wheel.sh /dist python3"' sh "$dir"
}

check prepare prepare
[ "$failed" -gt 0 ] || check made make_in first
if [ "$failed" -eq 0 ]; then
    rm -rf "$dir/out" && cp -r "$dir/workshop/first/out" "$dir/out"
    check made_again make_in a-second-time
    check same_bytes same_bytes
    check wheels_as_named wheels_as_named
    check lintian lintian_accepts
    check focal system focal focal http://archive.ubuntu.com/ubuntu
    check bullseye system bullseye bullseye
    check trixie system trixie trixie
    check deb deb_is_used bare
    check deb_13 deb_is_used trixie
    check wheel wheel_is_used bare
    check wheel_13 wheel_is_used trixie
    check sdist sdist_is_used
    check wheel_focal with_older_libc focal
    check wheel_11 with_older_libc bullseye
    check arm64 system_arm64
    check aarch64 on_aarch64
fi
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
