#!/bin/sh
# run.sh BUILD [DIR]: what `make bench` runs: this machine's limits, then leat's own figures beside bare loops over the
# same bytes. Measures on the disk of DIR (default: BUILD/bench); needs about 6 GiB there for the while.
set -e
build=$1
dir=${2:-$build/bench}
bench=$build/leat-bench

mkdir -p "$dir"
trap 'rm -f "$dir"/counting.* "$dir"/huge.*' EXIT
trap 'exit 130' INT TERM

echo "# What the machine allows"
"$bench" limits "$dir"
printf '\n# A dataset of 1 G tokens: writing, opening, verifying\n'
"$bench" counting --force -o "$dir/counting" --tokens 1G
"$bench" dataset "$dir/counting"
printf '\n# Opening a dataset of 1 G documents (mostly holes)\n'
rm -f "$dir"/huge.*
"$bench" sparse -o "$dir/huge" --documents 1G
"$bench" dataset --opening "$dir/huge"
