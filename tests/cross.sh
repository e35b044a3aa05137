#!/bin/sh
# cross.sh: builds the programs of tests/cross.mk for each of $CROSS_MACHINES and runs them under qemu. A machine whose
# compiler or emulator is missing is skipped, with the reason. Then counts instructions. Ends with "N passed, N failed,
# N skipped" of all machines; fails if a test does, or if nothing could run.
passed=0 failed=0 skipped=0
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT

skip() {
    echo "skip $1"
    skipped=$((skipped + 1))
}

# The number before a word of the runner's last line.
count() {
    tail -n 1 "$log" | sed -n "s/.*\(^\| \)\([0-9][0-9]*\) $1.*/\2/p"
}

run_machine() {
    machine=$1
    compiler=$machine-linux-gnu-gcc
    build=build/cross/$machine
    if ! command -v "$compiler" >/dev/null; then
        skip "$machine: no $compiler (Debian: apt-get install gcc-$machine-linux-gnu)"
        return
    fi
    if ! command -v "qemu-$machine" >/dev/null; then
        skip "$machine: no qemu-$machine (Debian: apt-get install qemu-user)"
        return
    fi
    if [ -z "$XXHASH_HEADER" ]; then
        skip "$machine: no xxhash.h (Debian: apt-get install libxxhash-dev)"
        return
    fi
    mkdir -p "$build/include" && ln -sf "$XXHASH_HEADER" "$build/include/xxhash.h" || exit 1
    # linked dynamically, without what a debugger needs; at -O1 gcc takes what it cannot follow for uninitialized
    if ! $MAKE --no-print-directory cross-programs BUILD="$build" CC="$compiler" PKG_CONFIG=false WITH=no CUDA=0 \
        CFLAGS="-O1 -Wno-maybe-uninitialized" PACK_FOLDERS="$CROSS_FOLDERS" \
        XXHASH_CFLAGS="-I$build/include" ZSTD_LIBS=; then
        echo "FAIL $machine: does not build"
        failed=$((failed + 1))
        return
    fi
    echo "$machine:"
    LEAT_TEST_QUICK=1 LEAT_TEST_RUNNER="qemu-$machine -L /usr/$machine-linux-gnu" \
        tests/run.sh "$build" "" "$build"/tests/*/test_* >"$log" 2>&1
    cat "$log"
    passed=$((passed + $(count passed)))
    failed=$((failed + $(count failed)))
    skipped=$((skipped + $(count skipped)))
}

for machine in $CROSS_MACHINES; do
    run_machine "$machine"
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
