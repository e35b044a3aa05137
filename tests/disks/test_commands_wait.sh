#!/bin/sh
# test_commands_wait.sh: a command that reads a dataset on a file server that fails (tests/disks/far_disk.c) says that
# it waits, once, and does its work when the server is back; with --retry-seconds 0 it ends with an error. They were
# silent for up to a minute. Needs root and /dev/fuse.
. tests/cli/cli.sh

far=$build/far_disk
mkdir behind at
printf '{"text": "some words"}\n{"text": "and more of them"}\n' >in.jsonl
leat pack -o behind/d -t bytes in.jsonl >"$printed" 2>"$said" || fail "pack: $(cat "$said")"
"$far" behind at 0 1000 true >"$printed" 2>"$said"
if [ $? -eq 77 ]; then
    echo "skipped: $(cat "$said")"
    exit 77
fi
for command in info verify "cat --document 1" "find --token 1" "fit --seq-len 16" "show --tokens 0:5" \
    "order --seq-len 4 --count 2 --source"; do
    for calls in 8 32; do # opens; reads: the kernel makes a read that it had made ahead once more
        # shellcheck disable=SC2086 # its words
        run "$far" behind at 0 0 --fail $calls:1:4:5 "$build/leat" $command at/d
        case $command in
        find*) [ $code -eq 0 ] || [ $code -eq 1 ] ;;
        *) [ $code -eq 0 ] ;;
        esac || fail "leat $command, calls $calls: $code $(cat "$said")"
        [ "$(grep -c 'leat tries again, for 60 s' "$said")" -eq 1 ] ||
            fail "leat $command, calls $calls, did not say that it waits: $(cat "$said")"
    done
done
run "$far" behind at 0 0 --fail 8:1:4:5 "$build/leat" verify --retry-seconds 0 at/d
if [ $code -eq 0 ] || grep -q 'leat tries again' "$said"; then
    fail "--retry-seconds 0: $code $(cat "$said")"
fi

finish
