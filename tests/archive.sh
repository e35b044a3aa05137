#!/bin/sh
# archive.sh: archives of small files that tests read together, such as tests/fuzz/corpus/*.tar.xz. The same files
# always make the same archive: sorted names, no times, no owners.
#
#   tests/archive.sh make ARCHIVE FOLDER       the files of FOLDER
#   tests/archive.sh add ARCHIVE FILE [NAME]   one more: what a fuzzer found, under a name in words
#   tests/archive.sh open ARCHIVE FOLDER       the files, in FOLDER, which has no others afterwards
set -e
export LC_ALL=C

usage() {
    sed -n 's/^#   //p' "$0" >&2
    exit 2
}

open_archive() { # ARCHIVE FOLDER
    rm -rf "$2"
    mkdir -p "$2"
    xz -dc "$1" >"$2.tar" # a pipe would hide that xz failed
    tar -xf "$2.tar" -C "$2"
    rm "$2.tar"
}

make_archive() { # ARCHIVE FOLDER
    (cd "$2" && find . -type f) | sed 's|^\./||' | sort |
        tar --format=ustar --owner=0 --group=0 --numeric-owner --mode=644 --mtime=@0 -C "$2" -T - -cf "$1.tar"
    xz -9e -T1 -c "$1.tar" >"$1.new"
    rm "$1.tar"
    mv "$1.new" "$1"
}

[ $# -ge 3 ] || usage
case $1 in
open) open_archive "$2" "$3" ;;
make) make_archive "$2" "$3" ;;
add)
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    open_archive "$2" "$work/files"
    cp "$3" "$work/files/${4:-$(sha1sum <"$3" | cut -c1-12)}"
    make_archive "$2" "$work/files"
    ;;
*) usage ;;
esac
