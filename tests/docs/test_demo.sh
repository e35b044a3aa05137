#!/bin/sh
# test_demo.sh: the demo runs to its end, and what docs/building.md shows of it is what it prints.
root=$PWD
build=${LEAT_BUILD:-build}
case $build in
/*) ;;
*) build=$root/$build ;;
esac
if [ ! -x "$build/examples/write_bytes" ]; then
    echo "skipped: no examples under $build" >&2
    exit 77
fi

# from a folder that looks like the tree with its usual build folder, so that the paths are those of the page
tmp=$(mktemp -d "${LEAT_TEST_TMP:-/tmp}/leat-demo-XXXXXX") || exit 1
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/build"
ln -s "$root/examples" "$root/LICENSE" "$tmp"
ln -s "$build/leat" "$build/leat-bench" "$build/examples" "$tmp/build"
cd "$tmp" || exit 1
"$root/scripts/demo.sh" build >out 2>&1 || {
    cat out >&2
    exit 1
}

grep -q '^1,000 batches, 8,000 rows, 2,048,000 tokens in ' out || {
    echo "the demo does not load batches"
    exit 1
}

if grep 'waited for batches' out; then # it takes them as fast as they come
    echo "the demo says that it waited"
    exit 1
fi

# the block of the page that begins with the demo's first line; "..." stands for lines left out, and times differ
awk '
function timeless(line) { sub(/ (checked|of text) in .*/, "", line); return line }
FNR == NR { shown[++n] = $0; next }
/^```/ { inside = !inside; found = 0; next }
inside && $0 == shown[2] { found = 1; blocks++; at = 2 }
inside && found && $0 != "..." {
    want = timeless($0)
    for (i = at; i <= n; i++) { have = timeless(shown[i]); if (have == want) break }
    if (i > n) { print page ":" FNR ": the demo does not print this, or not here: " $0; bad = 1 } else at = i + 1
}
END { if (!blocks) print page " shows nothing of the demo"; exit bad || !blocks }' page=docs/building.md \
    out "$root/docs/building.md"
