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

free=$(($(df -Pk "$dir" | awk 'NR == 2 { print $4 }') / 1048576))
echo "Measuring on the disk of $dir: takes some minutes and 7 GiB of room; there are $free GiB."
[ "$free" -ge 7 ] || { echo "Too little: name a folder on another disk (bench/run.sh $build FOLDER)." >&2; exit 1; }

echo "# What the machine allows"
"$bench" limits "$dir"
printf '\n# A dataset of 1 G tokens: writing, opening, verifying\n'
"$bench" counting --force -o "$dir/counting" --tokens 1G
"$bench" dataset "$dir/counting"
printf '\n# Loading batches from it, beside bare loops\n'
"$(dirname "$0")/load_sweep.sh" "$bench" "$dir/counting"
printf '\n# Opening a dataset of 1 G documents (mostly holes)\n'
rm -f "$dir"/huge.*
"$bench" sparse -o "$dir/huge" --documents 1G
"$bench" dataset --opening "$dir/huge"
