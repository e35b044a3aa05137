#!/bin/sh
# test_refused_calls.sh: packing, arranging, verifying and loading where the kernel refuses system calls, as the seccomp
# profiles of containers do, today's and older ones: each call that leat can do without, by EPERM and by ENOSYS, changes
# no byte; without flock, fsync or all ways to rename there is an error and no dataset. Where renameat2 was refused with
# EPERM, packing failed. Each call alone is refused by one of the two, in turn; by make check-every by both. Linux only.
. tests/cli/cli.sh

if grep -q __sanitizer_ "$build/leat"; then
    echo "skipped: a sanitizer does not work without these system calls"
    exit 77
fi
refuse_calls=$build/refuse_calls
"$refuse_calls" EPERM getcpu true
if [ $? -eq 77 ]; then
    echo "skipped: no seccomp filters here"
    exit 77
fi

mkdir in
i=0
while [ $i -lt 400 ]; do
    i=$((i + 1))
    echo "{\"id\": \"d$i\", \"text\": \"text $((i % 300)) $((i * i))\"}"
done >in/a.jsonl
gzip -c in/a.jsonl >in/b.jsonl.gz
head -c 3000 in/a.jsonl >in/c.txt

# everything that is tried, by `$@` or by nothing; the results lie in the folder out
use() {
    rm -rf out
    mkdir out
    "$@" leat pack -t bytes -o out/d in &&
        "$@" leat pack -t bytes -o out/d --force in &&
        "$@" leat merge --shuffle 1 --dedup -o out/m out/d &&
        "$@" leat verify out/m &&
        "$@" leat cat out/m --document 3 >out/text &&
        for engine in auto map pread advise uring; do
            "$@" leat-bench load --source out/m --seq-len 64 --batch 8 --epochs 1 --engine $engine --checksum |
                grep checksum >>out/sums || return 1
        done
}

use env >"$printed" 2>"$said" || fail "nothing is refused: $(cat "$said")"
mv out right
if [ "$(wc -l <right/sums)" -ne 5 ] || [ "$(sort -u right/sums | wc -l)" -ne 1 ]; then
    fail "engines: $(cat right/sums)"
fi

# changes nothing: ERRNO CALLS
harmless() {
    use "$refuse_calls" "$1" "$2" >"$printed" 2>"$said" || fail "$1 for $2: $(cat "$said")"
    diff -r right out >"$printed" || fail "$1 for $2 changes bytes: $(cat "$printed")"
}

# what a container's profile refuses: Docker's of today, with and without its answer to calls that it does not know,
# and one of 2018
docker=io_uring_setup,io_uring_enter,io_uring_register,mbind,get_mempolicy,set_mempolicy
for error in EPERM ENOSYS; do
    [ $error = EPERM ] && turn=0 || turn=1
    harmless $error $docker
    harmless $error newer
    harmless $error newer,$docker,statx,copy_file_range,memfd_create,preadv2,membarrier,rseq
    for call in fadvise64 fallocate getcpu getrusage madvise mbind memfd_create mincore mlock preadv2 prlimit64 \
        readahead renameat2 sched_getaffinity sched_setaffinity sync_file_range sysinfo eventfd2 get_mempolicy \
        set_mempolicy statx copy_file_range membarrier rseq io_uring_setup io_uring_enter io_uring_register \
        close_range openat2 faccessat2 statfs fstatfs prctl getrandom; do
        turn=$((turn + 1))
        [ $((turn % 2)) -eq 1 ] || [ -n "$LEAT_TEST_EVERY" ] || continue
        harmless $error $call
    done
    harmless $error renameat2,linkat,link
done

# an error and no dataset
for error in EPERM ENOSYS; do
    for call in flock fsync rename,renameat2,link,linkat; do
        rm -rf out
        mkdir out
        run "$refuse_calls" $error $call leat pack -t bytes -o out/d in
        if [ $code -eq 0 ] || [ ! -s "$said" ] || [ -e out/d.leat ]; then
            fail "$error for $call: $code $(cat "$said")"
        fi
        if [ $error.$call = ENOSYS.flock ] && ! grep -q 'where the file system has locks' "$said"; then
            fail "what to do without locks: $(cat "$said")"
        fi
    done
done

finish
