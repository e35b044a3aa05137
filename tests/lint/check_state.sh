#!/bin/sh
# check_state.sh: the libraries hold no state: no variable that can be written, whether global or static in a function.
. tests/lint/common.sh

command -v objdump >/dev/null || skip "needs objdump"
for library in leat leat_pack; do
    [ -f "$build/lib$library.a" ] || { echo "no $build/lib$library.a" && continue; }
    nm "$build/lib$library.a" 2>/dev/null | grep -qE ' (__asan_|__tsan_|__ubsan_)' && skip "not under sanitizers"
    # objects ("O" among the flags) in sections of writable memory; .data.rel.ro is constant once loaded
    objdump -t "$build/lib$library.a" | awk -v library="lib$library.a" '
    /file format/ { member = $1; sub(/:$/, "", member) }
    {
        flags = substr($0, 18, 7); rest = substr($0, 26); split(rest, word, /[ \t]+/)
        if (word[1] !~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ || word[1] ~ /^\.data\.rel\.ro/) next
        if (flags ~ /O/ || word[1] ~ /^\.t|COM/)
            print library ": " member ": variable " word[3] " in " word[1]
    }'
done
exit 0
